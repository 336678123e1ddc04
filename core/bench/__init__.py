"""Time, memory and error of mechanisms over lengths of text, and what the figures say."""
