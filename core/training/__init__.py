"""Recipes, examples, optimizers; a generator of step records that writes no file."""
