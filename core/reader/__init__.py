"""A reader that finds the birthplace in a person's own sentence, and writes questions."""
