"""One answered question from a stored trace, before torch is loaded, and the way on."""
