"""What a state of fixed size holds: pairs recalled, pairs overwritten, bytes of generation."""
