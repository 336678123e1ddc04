"""The table of all heads as a file: what is read is what was measured, of these very weights."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.checkpoints.shelf import CARD, content_hash
from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.files import read_json, write_json
from core.inspection.head_record import SCORES, HeadRecord, heads_file, load_record, save_record
from core.inspection.head_rows import score_dict
from core.inspection.head_table import head_tables
from core.inspection.readings import named_scores
from core.inspection.split_readings import read_split
from core.models.gpt import GPT
from core.paths import CHECKPOINTS
from tests.with_task import with_task


def one_layer_more(data: Any) -> None:
    data["scores"]["name"].append(data["scores"]["name"][0])


# A file looks the same for all others.
@pytest.fixture(scope="module", params=["learned", "synthesizer", "perceiver"])
def variant(request: pytest.FixtureRequest, make_variant: Callable[[str], GPT]) -> GPT:
    return make_variant(request.param)


@pytest.fixture(scope="module")
def recorded(variant: GPT, characters: Vocabulary, questions: list[Question]) -> HeadRecord:
    tables, means = head_tables(with_task(variant, characters), questions, questions[:3])
    return HeadRecord(
        checkpoint="tiny",
        split="dev",
        tables=tables,
        means=means,
        seconds=1.25,
        machine="a machine",
        weights="digest of weights",
        data="digest of questions",
    )


@pytest.fixture
def spoilt(recorded: HeadRecord, tmp_path: Path) -> Callable[[Callable[[Any], Any]], Path]:
    """The folder of a record whose file was changed by hand."""

    def spoil(change: Callable[[Any], Any]) -> Path:
        save_record(tmp_path, recorded)
        data = read_json(heads_file(tmp_path, "dev"))
        change(data)
        write_json(heads_file(tmp_path, "dev"), data)
        return tmp_path

    return spoil


def test_a_record_comes_back_as_it_was_saved(recorded: HeadRecord, tmp_path: Path):
    save_record(tmp_path, recorded)
    found = load_record(tmp_path, "dev", "digest of weights")
    assert found is not None
    for mode, table in recorded.tables.items():
        back = found.tables[mode]
        assert back.rows == table.rows
        assert (back.most, back.least, back.total) == (table.most, table.least, table.total)
        assert (back.accuracy, back.mode, back.agreement) == (
            *(table.accuracy, mode, table.agreement),
        )
        for name in SCORES:
            for side in ("heads", "uniform"):
                shown, expected = (getattr(t.scores, side)[name] for t in (back, table))
                np.testing.assert_allclose(shown, expected, rtol=1e-4, atol=1e-12)
        others = (back.scores.without_first, table.scores.without_first)
        for name in SCORES:
            shown, expected = (one.heads[name] for one in others if one is not None)
            np.testing.assert_allclose(shown, expected, rtol=1e-4, atol=1e-12)
        kept, expected = back.without_first, table.without_first
        assert kept is not None
        assert expected is not None
        assert [row.caption for row in kept.rows] == [row.caption for row in expected.rows]
    assert found.means.writing == pytest.approx(recorded.means.writing, rel=1e-4)
    assert found.means.reading == pytest.approx(recorded.means.reading, rel=1e-4)
    assert found.means.reading.dtype == np.float32
    kept = ("checkpoint", "split", "machine", "weights", "data")
    assert all(getattr(found, name) == getattr(recorded, name) for name in kept)


def test_the_scores_are_those_behind_the_captions(
    variant: GPT, characters: Vocabulary, recorded: HeadRecord, questions: list[Question]
):
    from core.inspection.answered import answered

    readings = read_split(
        with_task(variant, characters), answered(with_task(variant, characters), questions)
    )
    table = recorded.tables["zero"]
    assert set(named_scores(readings).heads) == set(SCORES)
    for row in table.rows:
        assert row.caption in table.scores.sentence(row.layer, row.head)
        shown = table.scores.heads["name"][row.at]
        assert (row.weight_on_name is None) == bool(np.isnan(shown))
        assert row.weight_on_name is None or row.weight_on_name == pytest.approx(shown)


def test_a_record_of_other_weights_is_ignored(recorded: HeadRecord, tmp_path: Path):
    assert load_record(tmp_path, "dev", "digest of weights") is None
    save_record(tmp_path, recorded)
    assert load_record(tmp_path, "dev", "of other weights") is None
    assert load_record(tmp_path, "test", "digest of weights") is None


@pytest.mark.parametrize("variant", ["learned"], indirect=True)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("scores"), "heads-dev.json: scores is missing"),
        (lambda data: data["modes"].pop("mean"), "heads-dev.json: mean is missing"),
        (lambda data: data["modes"]["zero"]["heads"].pop(), "mode zero: not one row for each of"),
        (lambda data: data["modes"]["zero"]["heads"][0].pop("caption"), "'caption'"),
        (lambda data: data.update(means=3), "heads-dev.json: "),
        (lambda data: data.update(total="many"), "heads-dev.json: invalid literal"),
        (lambda data: data["scores"].update(name=[0.5]), "an array of 1 axes; 2 are needed"),
        (lambda data: data.pop("uniform_without_first"), "uniform_without_first is missing"),
        (lambda data: data.pop("captions_without_first"), "captions_without_first is missing"),
        (lambda data: data["scores_without_first"].pop("name"), "heads-dev.json: name is missing"),
        (lambda data: data["scores_without_first"]["name"].pop(), "scores and means are of"),
        (one_layer_more, "scores and means are of models of different sizes"),
        (lambda data: data["uniform"]["name"].append(0.5), "scores and their baselines are of"),
        (lambda data: data["means"]["writing"].pop(), "scores and means are of models"),
    ],
)
def test_a_record_that_is_not_whole_is_named(
    spoilt: Callable[..., Path], change: Callable[[Any], Any], message: str
):
    with pytest.raises(ValueError, match=message):
        load_record(spoilt(change), "dev", "digest of weights")


def test_what_is_no_number_is_null_in_the_file(recorded: HeadRecord, tmp_path: Path):
    table = recorded.tables["zero"]
    empty = {name: np.full_like(table.scores.heads[name], np.nan) for name in SCORES}
    scores = replace(table.scores, heads=empty)
    tables = {mode: replace(one, scores=scores) for mode, one in recorded.tables.items()}
    save_record(tmp_path, replace(recorded, tables=tables))
    text = heads_file(tmp_path, "dev").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert json.loads(text)["scores"]["name"][0][0] is None


def test_a_record_of_before_scores_without_the_first_token_still_loads(
    spoilt: Callable[..., Path], recorded: HeadRecord
):
    def as_before(data: Any) -> None:
        for side in ("scores", "uniform"):
            data.pop(f"{side}_without_first")
            for name in ("next token", "sink_share"):
                data[side].pop(name)
        data.pop("captions_without_first")

    found = load_record(spoilt(as_before), "dev", "digest of weights")
    assert found is not None
    table = found.tables["zero"]
    assert table.rows == recorded.tables["zero"].rows
    assert table.without_first is None
    assert np.isnan(table.scores.heads["next token"]).all()
    expected = recorded.tables["zero"].scores.heads["sink_share"]
    np.testing.assert_allclose(table.scores.heads["sink_share"], expected, rtol=1e-4)
    numbers = score_dict(table.scores, 0, 0)
    assert numbers["scores_without_first"] is None
    assert numbers["sink_share"] == numbers["scores"]["first_token"]


def test_captions_without_the_first_token_come_back_from_the_file(
    recorded: HeadRecord, tmp_path: Path
):
    tables = {
        mode: replace(table, scores=replace(table.scores, apart=True))
        for mode, table in recorded.tables.items()
    }
    save_record(tmp_path, replace(recorded, tables=tables))
    found = load_record(tmp_path, "dev", "digest of weights")
    assert found is not None
    assert found.tables["mean"].scores.apart
    sentences = {t["mean"].scores.sentence(0, 0) for t in (found.tables, tables)}
    assert len(sentences) == 1
    assert "sink share" in sentences.pop()


@pytest.mark.parametrize(
    "path", sorted(CHECKPOINTS.glob("*/heads-dev.json")), ids=lambda path: path.parent.name
)
def test_every_shipped_record_is_of_the_weights_beside_it_and_says_what_the_card_says(path: Path):
    record = load_record(path.parent, "dev", content_hash(path.parent))
    assert record is not None
    dev = read_json(path.parent / CARD)["figures"]["dev"]
    for table in record.tables.values():
        assert table.total == dev["total"]
        assert table.accuracy == pytest.approx(dev["accuracy"], abs=1e-4)


@pytest.mark.parametrize(
    "path", sorted(CHECKPOINTS.glob("*/heads-dev.json")), ids=lambda path: path.parent.name
)
def test_captions_of_shipped_records_are_those_of_their_scores(path: Path):
    record = load_record(path.parent, "dev", content_hash(path.parent))
    assert record is not None
    for table in record.tables.values():
        assert not table.scores.apart
        assert [row.caption for row in table.rows] == [
            table.scores.caption(*row.at) for row in table.rows
        ]
