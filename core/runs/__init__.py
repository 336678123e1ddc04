"""A training in its folder: begun, gone on with, stepped, saved, finished."""
