"""Accuracy on questions, what needs no model, wrong answers by kind; rows of the report card."""
