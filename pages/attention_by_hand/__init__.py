"""Attention by hand: small exact examples, each editable, each claim checked by its number."""
