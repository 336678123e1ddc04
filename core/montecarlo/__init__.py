"""Seeded draws of attention under perturbed keys; numpy only."""
