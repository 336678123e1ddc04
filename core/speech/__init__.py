"""Speech: sounds, features, voices, what is spoken, and how what was heard is scored. No torch."""
