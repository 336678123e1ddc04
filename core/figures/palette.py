"""One meaning, one colour, in both themes (each at least 3:1 against either background)."""

QUERY = "#3B8FD9"
KEY = "#D97E0F"
VALUE = "#1FA37A"
WEIGHT = "#8A5CF0"
MASKED = "#8D939B"
FONT_SIZE = 14
