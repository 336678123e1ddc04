"""The calls behind claims: each gives one number, from what the other rooms compute."""
