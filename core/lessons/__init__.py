"""Lessons: texts that lead from page to page, and figures in them that are computed again."""
