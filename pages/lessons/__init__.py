"""Lessons: a list of them; their steps open the other pages."""
