"""Worked examples on vectors and tokens, as the page By hand edits them; numpy only."""
