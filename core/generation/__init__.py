"""Greedy answers in batches, with a key-value cache."""
