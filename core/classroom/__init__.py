"""Answers of classes, without names: sessions, predictions, explanations; one file of SQLite."""
