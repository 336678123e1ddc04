"""The seam behind which a model is looked at, and our own models."""
