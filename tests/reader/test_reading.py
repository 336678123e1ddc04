"""Readers learn from pairs alone, and find what they have not seen."""

import pytest
import torch

from core.reader.reading import read, train_readers
from core.reader.words import Pair


def test_readers_find_in_new_sentences_what_training_taught_them(pairs: list[Pair]):
    told: list[tuple[int, int]] = []
    readers = train_readers(
        pairs[:32], seed=0, n_nets=2, n_epochs=40, progress=lambda n, total: told.append((n, total))
    )
    assert told == [(n + 1, 80) for n in range(80)]
    found = read(readers, pairs[32:])
    assert [one.answer for one in found] == [pair.answer for pair in pairs[32:]]
    assert all(0.5 < one.probability <= 1 for one in found)
    new = read(
        readers, [Pair(name="Ida Bell", text="Ida Bell of Rome was born in Brno.", answer=None)]
    )
    assert new[0].answer == "Brno"  # a place of no training answer


def test_answers_are_not_looked_at_when_reading(pairs: list[Pair]):
    readers = train_readers(pairs[:8], seed=0, n_nets=1, n_epochs=1)
    other = [Pair(name=pair.name, text=pair.text, answer="Rome") for pair in pairs]
    assert read(readers, other) == read(readers, pairs)


def test_the_same_seed_gives_the_same_readers_and_leaves_the_global_seed_alone(pairs: list[Pair]):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    one, same, other = (
        train_readers(pairs[:8], seed=seed, n_nets=1, n_epochs=2) for seed in (0, 0, 1)
    )
    assert torch.equal(torch.rand(3), expected)
    assert read(one, pairs) == read(same, pairs) != read(other, pairs)


def test_nothing_is_found_in_an_empty_text(pairs: list[Pair]):
    readers = train_readers(pairs[:8], seed=0, n_nets=1, n_epochs=1)
    empty, _ = read(readers, [Pair(name="D", text="", answer=None), pairs[0]])
    assert (empty.answer, empty.probability) == ("", 0.0)


def test_pairs_whose_texts_hold_no_answer_teach_nothing(pairs: list[Pair]):
    lost = [Pair(name=pair.name, text=pair.text, answer="Nowhere") for pair in pairs[:3]]
    with pytest.raises(ValueError, match="none of 3 texts holds its answer"):
        train_readers(lost, seed=0)
