"""A recogniser listens to a sound: what it writes, and where it listens."""
