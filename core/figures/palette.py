"""One meaning, one colour, in both themes (each at least 3:1 against either background)."""

QUERY = "#3B8FD9"
KEY = "#D97E0F"
VALUE = "#1FA37A"
WEIGHT = "#8A5CF0"
MASKED = "#8D939B"
# Trainings side by side: first, second, third, fourth; they mean nothing else.
RUNS = ("#D1477F", "#0E86A8", "#8A8A12", "#A8653A")
# Kinds of attention by what they do about L²: exact, feature map, low rank, sparse, no pairs,
# state.
FAMILIES = ("#E8361A", "#5256CC", "#C04FD0", "#3F9B2E", "#7A6A6A", "#CC006D")
# Kinds of tokens as points: special, first, digit, punctuation, start of a word, inside a word.
TOKENS = ("#CC0000", "#FF1A8C", "#0C8C00", "#B9866D", "#0D5EFF", "#9500FF")
# Wrong answers: a real place, a word that is none. Right ones are green.
WRONG = ("#4C7E8D", "#B710B4")
# What a new pair does to what is kept: fades all of it, or takes away what stood at its key.
FADES, TAKES_AWAY = "#B44800", "#007860"
FONT_SIZE = 14
