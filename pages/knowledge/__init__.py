"""What a model knows, and what it makes up."""
