"""What a state of fixed size holds: pairs recalled, overwritten, and the bytes that it takes."""
