"""The recorded trainings on pairs: what is shipped, its reader, and which rate is the best."""

import copy
from pathlib import Path
from typing import Any

import pytest

from core.files import read_json
from core.memory.mqar import (
    ALONE,
    MODELS,
    RATES,
    RECORD,
    SEEDS,
    best,
    label,
    load_recall,
    recall_from_dict,
)


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return read_json(RECORD)


def test_every_model_was_trained_at_every_rate_and_at_the_best_from_every_seed():
    record = load_recall()
    assert [one.model for one in record.found] == [model.name for model in MODELS]
    for found in record.found:
        assert [float(rate) for rate in found.tried] == list(RATES)
        assert found.rate == best(found.tried)
        assert tuple(one.seed for one in found.seeds) == SEEDS
        for one in found.seeds:
            assert [int(n) for n in one.recalled] == list(record.pairs)


def test_softmax_recalls_eight_pairs_and_without_the_convolution_it_does_not():
    softmax, alone = load_recall().of(["softmax", ALONE])
    assert all(one.recalled["8"] >= 0.95 for one in softmax.seeds)
    assert alone.at(8).high < softmax.at(8).low


def test_a_record_comes_back_as_it_was_written(written: dict[str, Any]):
    record = recall_from_dict(written)
    assert recall_from_dict(record.to_dict()) == record


def test_an_interval_is_one_over_seeds_and_stays_a_share(written: dict[str, Any]):
    found = recall_from_dict(written).found[0]
    rate = found.at(64)
    shares = [one.recalled["64"] for one in found.seeds]
    assert rate.value == pytest.approx(sum(shares) / len(shares))
    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    one = copy.deepcopy(written)
    one["found"][0]["seeds"] = one["found"][0]["seeds"][:1]
    alone = recall_from_dict(one).found[0].at(64)
    assert alone.low == alone.value == alone.high


def test_of_equal_rates_the_least_is_taken():
    assert best({"0.02": 0.9, "0.01": 0.9, "0.04": 0.1}) == 0.01
    assert best({"0.005": 0.2, "0.04": 0.9}) == 0.04


def test_what_is_no_record_is_refused(written: dict[str, Any], tmp_path: Path):
    wrong = copy.deepcopy(written)
    wrong["found"][0]["seeds"][0]["recalled"]["4"] = "all"
    with pytest.raises(ValueError, match=r"not a record of recall: .*found\[0\].seeds"):
        recall_from_dict(wrong)
    del wrong["machine"]
    with pytest.raises(ValueError, match="not a record of recall"):
        recall_from_dict(wrong)
    with pytest.raises(ValueError, match="none.json: cannot be read"):
        load_recall(tmp_path / "none.json")


def test_models_are_called_by_their_mechanism():
    assert label("delta") == "delta rule"
    assert label(ALONE) == "softmax alone"
