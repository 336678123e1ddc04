"""Pictures of 28 x 28 grey points with what they show: drawn, real digits, or of any file."""
