"""Checkpoints: whole files, strict loading, training states, other projects' formats."""
