"""Tokens said twice as a file: what is read is what was measured, of these very weights."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from core.data.vocabulary import Vocabulary
from core.files import read_json, write_json
from core.inspection.repeated import measure_repeated
from core.inspection.repeated_record import (
    ESTIMATES,
    RepeatedRecord,
    load_repeated,
    repeated_dict,
    repeated_file,
    save_repeated,
)
from core.inspection.repeated_rows import SCORES, Score
from core.models.gpt import GPT
from tests.with_task import with_task


@pytest.fixture(scope="module", params=["learned", "taylor"])
def recorded(
    request: pytest.FixtureRequest, make_gpt: Callable[..., GPT], characters: Vocabulary
) -> RepeatedRecord:
    sizes: dict[str, Any] = {"attention": "taylor", "n_terms": 2}
    model = make_gpt(
        5, vocabulary_size=characters.size, **(sizes if request.param == "taylor" else {})
    )
    return RepeatedRecord(
        result=measure_repeated(with_task(model, characters), n_sequences=3, begin=4),
        seconds=1.25,
        machine="a machine",
        weights="digest of weights",
    )


def test_a_record_comes_back_as_it_was_saved(recorded: RepeatedRecord, tmp_path: Path):
    save_repeated(tmp_path, recorded)
    found = load_repeated(tmp_path, "digest of weights")
    assert found is not None
    assert (found.machine, found.weights) == ("a machine", "digest of weights")
    back, result = found.result, recorded.result
    assert repeated_dict(back).keys() == repeated_dict(result).keys()
    for row, expected in zip(back.rows, result.rows, strict=True):
        assert row.at == expected.at
        for name in SCORES:
            shown, measured = (asdict(r.score(name)) for r in (row, expected))
            assert [v is None for v in shown.values()] == [v is None for v in measured.values()]
            known = {key: value for key, value in measured.items() if value is not None}
            assert {key: shown[key] for key in known} == pytest.approx(known, rel=1e-4)
    assert back.losses.best == result.losses.best
    assert [d.heads for d in back.losses.draws] == [d.heads for d in result.losses.draws]
    assert back.losses.range == pytest.approx(result.losses.range, rel=1e-4)
    for name in ESTIMATES:
        shown, measured = (asdict(getattr(r.losses, name)) for r in (back, result))
        assert shown == pytest.approx(measured, rel=1e-4)
    same = {"rows": (), "losses": result.losses}
    assert replace(back, **same) == replace(result, **same)


def test_a_record_of_other_weights_is_ignored(recorded: RepeatedRecord, tmp_path: Path):
    assert load_repeated(tmp_path, "digest of weights") is None
    save_repeated(tmp_path, recorded)
    assert load_repeated(tmp_path, "of other weights") is None


@pytest.mark.parametrize("recorded", ["learned"], indirect=True)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("losses"), "repeated.json: losses is missing"),
        (lambda data: data["heads"].pop(1), "heads: not one row for each head of each layer"),
        (lambda data: data.update(heads=[]), "repeated.json: heads: not one row for each"),
        (lambda data: data["heads"][0].pop("induction"), "missing keys: induction"),
        (lambda data: data["heads"][0]["induction"].update(weight="x"), "weight is 'x'"),
        (lambda data: data["losses"].update(draws=[]), "draws: there is none"),
        (lambda data: data["losses"].update(best=["first"]), "'FIRST' is not a head such as"),
        (lambda data: data["losses"].update(second=3), "repeated.json: "),
        (lambda data: data.update(heads=3), "repeated.json: 'int' object is not iterable"),
        (lambda data: data.update(sequences="many"), "repeated.json: invalid literal"),
        (lambda data: data.update(ordinary_tokens=0), "ordinary_tokens is 0, at least 1"),
    ],
)
def test_a_record_that_is_not_whole_is_named(
    recorded: RepeatedRecord, tmp_path: Path, change: Callable[[Any], Any], message: str
):
    save_repeated(tmp_path, recorded)
    data = read_json(repeated_file(tmp_path))
    change(data)
    write_json(repeated_file(tmp_path), data)
    with pytest.raises(ValueError, match=message):
        load_repeated(tmp_path, "digest of weights")


@pytest.mark.parametrize(
    ("weight", "uniform", "is_clear"),
    [(0.3, 0.1, True), (0.29, 0.1, False), (0.45, 0.25, False), (0.5, 0.25, True)],
)
def test_a_score_is_clear_from_three_tenths_on_and_twice_uniform(
    weight: float, uniform: float, is_clear: bool
):
    score = Score(weight=weight, uniform=uniform, without_first=None, uniform_without_first=uniform)
    assert score.is_clear is is_clear
