"""Texts of pairs: every key once and once asked, answered by its own value; splits apart."""

import numpy as np
import pytest

from core.data.pairs import (
    KEYS,
    MOST_PAIRS,
    SPLITS,
    UNASKED,
    VALUES,
    PairsData,
    draw_texts,
    held_back,
    pairs_vocabulary,
)


def test_keys_and_values_are_characters_of_their_own():
    vocabulary = pairs_vocabulary()
    assert len({*KEYS}) == len({*VALUES}) == MOST_PAIRS == 64
    assert not {*KEYS} & {*VALUES}
    assert vocabulary.size == 130
    assert vocabulary.decode(vocabulary.encode(KEYS + VALUES)) == KEYS + VALUES


@pytest.mark.parametrize("n_pairs", [1, 4, MOST_PAIRS])
def test_every_asked_key_has_the_value_that_was_told_with_it(n_pairs: int):
    vocabulary = pairs_vocabulary()
    drawn = draw_texts(n_pairs, 5, np.random.default_rng(0))
    assert drawn.inputs.shape == drawn.targets.shape == (5, 3 * n_pairs)
    for ids, targets in zip(drawn.inputs, drawn.targets, strict=True):
        text = vocabulary.decode(ids)
        told = dict(zip(text[: 2 * n_pairs : 2], text[1 : 2 * n_pairs : 2], strict=True))
        asked = text[2 * n_pairs :]
        assert len(told) == n_pairs
        assert sorted(asked) == sorted(told)
        assert {*told} <= {*KEYS}
        assert {*told.values()} <= {*VALUES}
        assert (targets[: 2 * n_pairs] == UNASKED).all()
        assert vocabulary.decode(targets[2 * n_pairs :]) == "".join(told[key] for key in asked)


def test_the_same_seed_gives_the_same_texts_and_splits_differ():
    texts = {split: held_back(split, 8, 64).inputs for split in SPLITS}
    assert all((texts[split] == held_back(split, 8, 64).inputs).all() for split in SPLITS)
    rows = [row.tobytes() for one in texts.values() for row in one]
    assert len({*rows}) == len(rows) == 3 * 8
    assert len(held_back("dev", 5, 64).inputs) == 13  # 65 asked keys


def test_more_pairs_than_keys_are_refused():
    for n_pairs in (0, 65):
        with pytest.raises(ValueError, match=f"{n_pairs} pairs: 1 to 64 are possible, a key each"):
            draw_texts(n_pairs, 1, np.random.default_rng(0))


def test_the_digest_is_the_same_everywhere():
    assert PairsData().digest == PairsData().digest
    assert PairsData().digest.startswith("5be995b0cdfe")
