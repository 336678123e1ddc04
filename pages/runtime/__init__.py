"""When does linear attention pay off: time, memory and error against the length of a text."""
