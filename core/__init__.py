"""Attention Explorer: everything the pages do, without a browser."""
