"""When does linear attention pay off: what was measured, how far off it is, and the questions."""
