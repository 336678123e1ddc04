"""A traced run, head scores, heads off and their effects, attribution, patching, comparison."""
