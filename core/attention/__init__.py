"""Attention mechanisms, one a file: pure functions on (batch, head, position, head_dim)."""
