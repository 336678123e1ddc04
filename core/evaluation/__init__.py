"""Accuracy on questions, baselines, intervals, and the report card's rows."""
