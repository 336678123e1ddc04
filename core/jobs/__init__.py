"""Trainings and measurements as processes: their queue, states and files."""
