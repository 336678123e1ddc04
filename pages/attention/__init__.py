"""Attention: one answered question, every head of it."""
