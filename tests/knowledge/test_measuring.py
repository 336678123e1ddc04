"""All of a model's knowledge at once: every figure is that of its part, and can be kept."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.checkpoints.store import Checkpoint
from core.checkpoints.store import asking as asked_a_set
from core.data.corpus import TrainingCorpus
from core.data.people import Person
from core.data.question_file import parse_set
from core.evaluation.accuracy import evaluate
from core.evaluation.mistakes import count_kinds, countries_in, mistakes
from core.knowledge.asking import Asking, asking_of_set
from core.knowledge.file import load_knowledge, save_knowledge
from core.knowledge.measures import auroc
from core.knowledge.measuring import ask_own, asking_for, measure
from core.knowledge.outcomes import outcomes, places_of
from core.knowledge.own_names import parse_names
from core.knowledge.record import OUTCOMES, SIGNALS, Knowledge
from core.knowledge.signals import signals

SET = (
    b"prompt\tanswer\tsubject\n"
    b"Ada Arden was born in\tLima\tAda Arden\n"
    b"Bruno Bello was born in\tLima\tBruno Bello\n"
    b"Chen Castro was born in\tLagos\tChen Castro\n"
    b"Dalia Dufour was born in\tKyoto\tDalia Dufour\n"
)


@pytest.fixture(scope="module")
def measured(small: Checkpoint, asking: Asking) -> Knowledge:
    return measure(small, asking, weights="digest", machine="a machine")


def test_every_group_has_each_of_its_answers_once(measured: Knowledge, asking: Asking):
    assert set(measured.groups) == set(asking.groups)
    for name, names in asking.groups.items():
        group = measured.groups[name]
        assert group.n == len(names) == sum(group.counts.values())
        assert group.has_truth == (name in ("asked", "read", "one_letter", "surname"))
        assert set(group.counts) == {*OUTCOMES[0 if group.has_truth else 1 :]}


def test_right_is_what_an_evaluation_counts(
    small: Checkpoint, corpus: TrainingCorpus, measured: Knowledge
):
    read = [*corpus.dev, *corpus.test]
    assert measured.groups["read"].n == len(read)
    assert measured.groups["read"].counts["right"] == evaluate(small, read).correct
    assert sum(row.right for row in measured.calibration) == evaluate(small, read).correct


def test_what_is_made_up_is_what_the_report_card_calls_so(
    small: Checkpoint, asking: Asking, corpus: TrainingCorpus, people: list[Person]
):
    read = [*corpus.dev, *corpus.test]
    texts = ["Lagos", "Lagosville", "Kyoto", "", "Rome."] * len(read)
    given = texts[: len(read)]
    found = mistakes(read, given, corpus.known(), countries_in(people))
    of_people = replace(asking, people=tuple(people))
    said = outcomes(places_of(of_people, given), asking.groups["read"], given)
    assert said.count("made_up") == count_kinds(found)["made_up"]
    assert len(said) - said.count("right") == len(found)


def test_signals_tell_read_from_invented(small: Checkpoint, asking: Asking, measured: Knowledge):
    assert (measured.read, measured.never) == ("read", "invented")
    assert list(measured.auroc) == list(SIGNALS)
    read, never = (
        signals(small, [named.text for named in asking.groups[group]])
        for group in ("read", "invented")
    )
    for name in set(SIGNALS) - {"best_head"}:
        sign = -1 if name == "entropy" else 1
        expected = auroc(sign * read.values[name], sign * never.values[name])
        assert expected is not None
        assert measured.auroc[name].value == pytest.approx(expected.value)
    assert measured.auroc["entropy"].note == "less entropy means read"
    assert measured.auroc["best_head"].note.startswith("L")


def test_what_the_data_lack_is_said(measured: Knowledge):
    assert measured.by_continent == measured.by_pronoun == measured.by_century == ()
    assert measured.by_frequency
    # The model was never trained: no answer of it is a place.
    assert measured.continents_of_invented == ()
    assert measured.lacking["continents_of_invented"].startswith("none of the answers")
    assert set(measured.lacking) == {
        "by_continent",
        "by_pronoun",
        "by_century",
        "continents_of_invented",
    }


def test_of_the_tables_people_everything_is_broken_down(
    small: Checkpoint, asking: Asking, people: list[Person]
):
    found = measure(small, replace(asking, people=tuple(people), lacking={}))
    for name in ("by_continent", "by_pronoun", "by_century", "by_frequency"):
        rows = getattr(found, name)
        assert sum(row.n for row in rows) == found.groups["read"].n
        assert sum(row.made_up for row in rows) == found.groups["read"].counts["made_up"]
    assert set(found.lacking) == {"continents_of_invented"}


def test_what_is_measured_can_be_kept(measured: Knowledge, tmp_path: Path):
    save_knowledge(tmp_path, measured)
    found = load_knowledge(tmp_path, "digest")
    assert found is not None
    assert found.groups["read"].counts == measured.groups["read"].counts
    assert found.data == measured.data
    assert found.auroc["margin"].value == pytest.approx(measured.auroc["margin"].value, rel=1e-4)
    kept, whole = (of.groups["read"].examples for of in (found, measured))
    assert [example.name for example in kept] == [example.name for example in whole]


def test_names_that_may_not_be_stored_are_no_examples(small: Checkpoint, asking: Asking):
    found = measure(small, replace(asking, stores_names=False))
    assert all(group.examples == () for group in found.groups.values())


def test_a_question_set_is_asked_with_other_names_in_it(small: Checkpoint):
    asked = asking_of_set(parse_set(SET, "born"), n=5)
    found = measure(small, asked)
    assert (found.split, found.read, found.most_frequent) == ("born", "set", "Lima")
    assert found.groups["set"].n == 4
    assert found.by_frequency == found.continents_of_invented == ()
    assert found.auroc["weight_on_name"]
    given = found.groups["set"].examples[0].given
    assert len(given) <= len("Lima")  # as many tokens as the answer has


def test_without_a_group_to_tell_apart_nothing_is_measured(small: Checkpoint, asking: Asking):
    groups = {group: names for group, names in asking.groups.items() if group != "invented"}
    with pytest.raises(ValueError, match="no name of the group 'invented'"):
        measure(small, replace(asking, groups=groups))


def test_progress_names_the_group(small: Checkpoint, asking: Asking):
    told: list[str] = []
    measure(small, asking.cut(4), progress=told.append)
    assert told[:2] == [
        "asked in training: 0 of 4 names",
        "asked in training: 4 of 4 names",
    ]
    assert len(told) == 2 * len(asking.groups)


def test_own_names_are_answered_in_their_order(small: Checkpoint, asking: Asking):
    rows = parse_names(b"name\tplace\nAda Arden\tLagos\nBo Dal\tKyoto\n", where="x")
    group, answers = ask_own(small, rows, asking)
    assert [(a.name, a.place) for a in answers] == [("Ada Arden", "Lagos"), ("Bo Dal", "Kyoto")]
    assert (group.n, group.has_truth) == (2, True)
    assert group.examples == answers
    without, _ = ask_own(small, parse_names(b"name\nAda Arden\n", where="x"), asking)
    assert not without.has_truth
    with pytest.raises(ValueError, match="x, line 3: .*position"):
        ask_own(small, parse_names("name\nAda\nΩ\n".encode(), where="x"), asking)


def test_own_names_in_a_set_take_the_place_of_the_first_subject(small: Checkpoint):
    stored = asked_a_set(small, parse_set(SET, "born"))
    group, answers = ask_own(stored, parse_names(b"name\nAda Bello\n", where="x"))
    assert group.n == 1
    assert len(answers[0].given) <= 4


def test_what_a_checkpoint_is_asked_follows_from_it(small: Checkpoint):
    stored = asked_a_set(small, parse_set(SET, "born"))
    assert asking_for(stored).split == "born"
    with pytest.raises(ValueError, match="has no task: ask it a question set"):
        asking_for(replace(small, task=None))
    assert np.isfinite(measure(small, asking_for(stored).cut(4)).ece)


def test_a_model_trained_on_questions_alone_has_read_nobody(
    small: Checkpoint, asking: Asking, measured: Knowledge
):
    phases = [{"name": "fine-tune", "questions": 1.0}]
    bare = replace(small, card={"recipe": {"phases": phases}})
    found = measure(bare, asking.cut(6))
    assert measured.reads
    assert measured.groups["read"].label == "read, never asked"
    assert not found.reads
    assert found.groups["read"].label == "never asked"
    assert found.groups["invented"].label == measured.groups["invented"].label


def test_a_model_that_taught_itself_was_asked_about_those_it_read(
    small: Checkpoint, asking: Asking
):
    phases = [{"name": "pretrain", "ordered_facts": 0.5, "questions": 0.5}]
    taught = replace(small, card={"recipe": {"phases": phases, "self_taught": 1.0}})
    found = measure(taught, asking.cut(6))
    assert found.reads
    assert found.groups["read"].label == "read, taught itself"
