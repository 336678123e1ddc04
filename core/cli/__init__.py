"""The command line: everything a page does, without a browser."""
