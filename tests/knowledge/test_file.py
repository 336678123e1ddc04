"""What a model knows, as a file: what is read is what was written, of these very weights."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.files import read_json, write_json
from core.knowledge.file import (
    knowledge_dict,
    knowledge_file,
    knowledge_from_dict,
    load_knowledge,
    save_knowledge,
)
from core.knowledge.record import Knowledge
from tests.knowledge.fake import fake_group, fake_knowledge, fake_set

WEIGHTS = "digest of weights"


@pytest.mark.parametrize(
    "knowledge",
    [
        fake_knowledge(),
        fake_knowledge(groups=("asked", "read", "unread", "invented")),
        fake_knowledge(lacking={"agreement": "no lens", "by_century": "no years"}),
    ],
)
def test_what_is_recorded_comes_back_as_it_was(knowledge: Knowledge, tmp_path: Path):
    save_knowledge(tmp_path, knowledge)
    assert load_knowledge(tmp_path, WEIGHTS) == knowledge


def test_a_set_has_a_file_of_its_own(tmp_path: Path):
    save_knowledge(tmp_path, fake_set("capitals"))
    assert knowledge_file(tmp_path, "capitals").name == "knowledge-capitals.json"
    assert load_knowledge(tmp_path, WEIGHTS) is None
    assert load_knowledge(tmp_path, WEIGHTS, "capitals") == fake_set("capitals")


def test_a_record_of_other_weights_is_ignored(tmp_path: Path):
    assert load_knowledge(tmp_path, WEIGHTS) is None
    save_knowledge(tmp_path, fake_knowledge())
    assert load_knowledge(tmp_path, "of other weights") is None


def test_the_json_has_counts_under_the_names_of_outcomes_and_no_right_where_nothing_is_true():
    data = knowledge_dict(fake_knowledge())
    read, invented = data["groups"]["read"], data["groups"]["invented"]
    assert (read["n"], read["right"], read["nearest"], read["made_up"]) == (1100, 704, 90, 70)
    assert invented["right"] is None
    assert "right" not in invented["intervals"]
    assert data["auroc"]["best_head"]["note"] == "L1·H3"
    assert data["by_pronoun"][0].keys() == {"name", "n", "right", "low", "high", "made_up"}
    assert (data["weights_sha256"], data["data_sha256"]) == (WEIGHTS, "digest of data")


def test_numbers_have_five_digits():
    group = replace(fake_group("read"), probability_mean=0.123456789)
    knowledge = replace(fake_knowledge(), groups={**fake_knowledge().groups, "read": group})
    assert knowledge_dict(knowledge)["groups"]["read"]["probability_mean"] == 0.12346


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("ece"), "knowledge.json: missing keys: ece"),
        (lambda data: data.pop("groups"), "knowledge.json: groups is missing"),
        (lambda data: data.update(groups=[]), "groups: an object is needed"),
        (lambda data: data["groups"].update(friends={}), "groups: 'friends' is none of set,"),
        (lambda data: data.update(read="friends"), "read is 'friends', one of asked, read,"),
        (lambda data: data["groups"].pop("invented"), "never is 'invented', one of asked, read,"),
        (lambda data: data["groups"]["read"].update(right=705), "not those of 1100 answers"),
        (lambda data: data["groups"]["read"].update(right="x"), "read: the outcomes are not those"),
        (lambda data: data["groups"]["read"].update(right=True), "the outcomes are not those of"),
        (lambda data: data["groups"]["invented"].update(right=3), "right is 3 where nothing is"),
        (lambda data: data["groups"]["read"]["probabilities"].pop(), "1100 sorted probabilities"),
        (lambda data: data["groups"]["read"]["probabilities"].reverse(), "1100 sorted prob"),
        (
            lambda data: data["groups"]["asked"]["probabilities"].__setitem__(-1, 1.5),
            r"group asked: \(.*, 1.5\) do not go up between 0 and 1",
        ),
        (lambda data: data["groups"]["read"].update(examples={}), "examples: a list is needed"),
        (
            lambda data: data["groups"]["read"]["examples"][0].update(outcome="lucky"),
            "outcome is 'lucky', one of right, nearest,",
        ),
        (lambda data: data["groups"]["read"]["intervals"].update(right=[0.9, 0.1]), "go up"),
        (lambda data: data["groups"]["read"]["intervals"].pop("right"), "right is missing"),
        (lambda data: data["auroc"].update(luck={"value": 1, "low": 1, "high": 1}), "'luck' is n"),
        (lambda data: data["auroc"]["margin"].update(low=0.99), "auroc, margin: .* do not go up"),
        (lambda data: data["auroc"]["margin"].update(value="x"), "value is 'x', float is needed"),
        (
            lambda data: data["by_pronoun"][0].update(right=9999),
            "9999 right and 76 made up",
        ),
        (lambda data: data["by_pronoun"][0].pop("made_up"), None),
        (
            lambda data: data["by_pronoun"][0].update(right=0, made_up=651),
            "0 right and 651 made",
        ),
        (
            lambda data: data["by_pronoun"][0].update(right=-1),
            "by_pronoun: -1 right and 76",
        ),
        (lambda data: data["by_pronoun"][0].update(n=0, right=0, made_up=0), "0 made up of 0"),
        (lambda data: data["continents_of_invented"][0].update(share=2), "invented: .* do not go"),
        (lambda data: data["continents_of_invented"][0].update(n=-1), "invented: 0 of -1"),
        (lambda data: data.update(ece=1.5), r"ece: \(1.5,\) do not go up between 0 and 1"),
        (
            lambda data: data["groups"]["read"]["examples"][0].update(probability=3),
            r"group read: \(3,\) do not go up",
        ),
        (lambda data: data["calibration"][3].update(n=1), "calibration: 18 of 1"),
        (lambda data: data["calibration"][3].update(high=7), r"calibration: \(0.2, 7\) do not"),
        (lambda data: data.update(lacking=["x"]), "lacking is .*, an object is needed"),
        (lambda data: data.update(split="capitals"), "it is about 'capitals', not 'task'"),
    ],
)
def test_a_file_that_is_not_whole_is_refused(
    change: Callable[[dict[str, Any]], object], message: str | None, tmp_path: Path
):
    save_knowledge(tmp_path, fake_knowledge())
    path = knowledge_file(tmp_path)
    data = read_json(path)
    change(data)
    write_json(path, data)
    if message is None:  # made_up has a default
        assert load_knowledge(tmp_path, WEIGHTS) is not None
        return
    with pytest.raises(ValueError, match=message):
        load_knowledge(tmp_path, WEIGHTS)


def test_what_is_printed_is_read_again():
    knowledge = fake_knowledge()
    assert knowledge_from_dict(knowledge_dict(knowledge)) == knowledge
