"""Heads: which of them matter, on average and for one question."""
