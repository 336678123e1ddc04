"""Start, watch, stop, resume and compare short trainings that run in the background."""
