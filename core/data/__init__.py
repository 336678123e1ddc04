"""People, questions, corpora, vocabularies, corruption, and the task: what is asked."""
