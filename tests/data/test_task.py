"""A card names its task; a model without one is given free texts and asked nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.store import Checkpoint, load_checkpoint, write_card
from core.cli.main import main
from core.data import task
from core.data.course import DEV, TEST, TRAIN, WIKI
from core.data.own_vocabulary import MASK, PAD
from core.data.people import BIRTHPLACE, Template, is_right
from core.data.task import COURSE, NOTABLE, TASKS, Task, task_of
from core.data.vocabulary import Vocabulary
from core.generation.greedy import answer, prompt_ids
from core.inspection.trace import trace
from core.models.gpt import GPT
from tests.with_task import with_task

QUESTION = "Where was Ada Arden born?"


@pytest.fixture
def without_task(make_gpt: Callable[..., GPT], characters: Vocabulary) -> Checkpoint:
    return Checkpoint(make_gpt(vocabulary_size=characters.size, block_size=40), characters)


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        ({"task": "notable"}, NOTABLE),
        ({"task": "course"}, COURSE),
        ({"recipe": {"corpus": "notable"}}, NOTABLE),
        ({"recipe": {"corpus": "course", "name": "mine"}}, COURSE),
        ({"task": "course", "recipe": {"corpus": "notable"}}, COURSE),
        ({"task": "course", "recipe": {"corpus": "notable", "kind": "recall"}}, COURSE),
    ],
)
def test_a_card_names_its_task_itself_or_by_its_recipe(card: dict[str, Any], expected: Task):
    assert task_of(card) is expected


@pytest.mark.parametrize(
    "card",
    [
        {},
        {"recipe": {}},
        {"recipe": None},
        {"recipe": "notable"},
        {"task": "weather"},
        {"task": "weather", "recipe": {"corpus": "notable"}},
        {"task": None, "recipe": {"corpus": "notable"}},
        {"task": ["notable"]},
        {"recipe": {"corpus": "Notable"}},
        {"recipe": {"corpus": "notable", "kind": "recall"}},
    ],
)
def test_a_card_that_names_no_known_task_has_none(card: dict[str, Any]):
    assert task_of(card) is None


def test_tasks_stand_under_their_names_and_ask_by_their_template():
    assert {name: task.name for name, task in TASKS.items()} == {
        "notable": "notable",
        "course": "course",
    }
    for each in TASKS.values():
        assert each.template.name_span(each.example) is not None


def test_the_shipped_task_has_its_corpus_at_hand_and_the_other_in_a_folder(
    people_table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(task, "PEOPLE", people_table)
    one = NOTABLE.corpus(n_sentences=1, folder=None)
    assert NOTABLE.corpus(n_sentences=2, folder=None).dev == one.dev
    assert one.documents != NOTABLE.corpus(n_sentences=2, folder=None).documents
    for name, text in {
        WIKI: "Ada, of Rome.\nBo, of Lima.\nCy, of Rome.\n",
        TRAIN: "Where was Ada born?\tRome\n",
        DEV: "Where was Bo born?\tLima\n",
        TEST: "Where was Cy born?\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (asked,) = COURSE.corpus(n_sentences=1, folder=tmp_path).dev
    assert (asked.text, asked.answer, asked.name) == ("Where was Bo born?", "Lima", "Bo")
    with pytest.raises(ValueError, match="the course's files are not shipped: name their folder"):
        COURSE.corpus(n_sentences=1, folder=None)
    with pytest.raises(ValueError, match="nowhere: there is no such folder"):
        COURSE.corpus(n_sentences=1, folder=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (QUESTION, "Ada Arden"),
        ("  Where was Ada Arden born ?\n", "Ada Arden"),
        ("Where was was born?", "was"),
        ("Where was born born?", "born"),
        ("Where was J. R. R. (Bo) born?", "J. R. R. (Bo)"),
        ("Where was  Ada  born?", " Ada "),  # what was typed around it
    ],
)
def test_the_span_of_a_name_in_a_question(text: str, name: str):
    span = BIRTHPLACE.name_span(text)
    assert span is not None
    assert text[slice(*span)] == name


@pytest.mark.parametrize(
    "text",
    ["", "Ada Arden", "Where was born?", "where was Ada born?", "Where was Ada born", "Ada born?"],
)
def test_a_text_of_another_form_has_no_name(text: str):
    assert BIRTHPLACE.name_span(text) is None


def test_a_template_may_have_marks_that_mean_something_in_patterns():
    template = Template("(When) did ", " die.*?")
    asked = template.question("Ada")
    assert asked == "(When) did Ada die.*?"
    assert template.name_span(asked) == (11, 14)
    assert template.name_span("(When) did Ada dies?") is None


@pytest.mark.parametrize(
    ("given", "expected", "right"),
    [
        ("Lima", "Lima", True),
        (" Lima\n", "Lima ", True),
        ("lima", "Lima", False),
        ("Lima, Peru", "Lima", False),
        ("", "Lima", False),
    ],
)
def test_right_is_the_same_text_after_trimming(given: str, expected: str, right: bool):
    assert is_right(given, expected) is right


def test_a_vocabulary_says_which_ids_mark_and_pad(characters: Vocabulary, pieces: Vocabulary):
    for vocabulary in (characters, pieces):
        marked, padded = vocabulary.mask_id, vocabulary.pad_id
        assert vocabulary.labels([marked, padded]) == [MASK, PAD]
        assert vocabulary.decode([marked, *vocabulary.encode("Lima"), marked, padded]) == "Lima"


def test_without_a_task_a_model_is_given_the_text_alone(
    without_task: Checkpoint, characters: Vocabulary
):
    ids = characters.encode(QUESTION)
    assert prompt_ids(without_task, QUESTION) == ids
    asked = with_task(without_task.model, characters)
    assert prompt_ids(asked, QUESTION) == [*ids, characters.mask_id]
    assert prompt_ids(without_task, "a" * 39) == characters.encode("a" * 39)
    with pytest.raises(ValueError, match=r"has 40 tokens; with one token of answer at most 39 fit"):
        prompt_ids(without_task, "a" * 40)
    with pytest.raises(
        ValueError, match="39 tokens; with its end mark and one token .* at most 38"
    ):
        prompt_ids(asked, "a" * 39)
    with pytest.raises(ValueError, match="^the question is empty: type one$"):
        prompt_ids(without_task, " ")
    with pytest.raises(ValueError, match="type a text such as 'Where was Ada Lovelace born"):
        prompt_ids(asked, " ")


def test_without_a_task_a_text_is_traced_and_no_name_is_found_in_it(
    without_task: Checkpoint, characters: Vocabulary
):
    seen = trace(without_task, QUESTION)
    assert seen.name_positions == ()
    assert seen.labels[: len(QUESTION)] == tuple(characters.labels(characters.encode(QUESTION)))
    assert seen.steps[0].row == len(QUESTION) - 1
    assert seen.proof.replay_max_difference < 1e-4
    (given,) = answer(without_task, [QUESTION])
    assert (seen.answer, seen.probability) == (given.text, given.probability)
    assert trace(with_task(without_task.model, characters), QUESTION).name_positions


@pytest.mark.parametrize(
    ("card", "known"), [({"task": "weather"}, False), ({}, False), ({"task": "notable"}, True)]
)
def test_a_checkpoint_without_a_task_is_not_evaluated_and_the_command_line_says_why(
    saved: Path,
    people_table: Path,
    card: dict[str, str],
    known: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(task, "PEOPLE", people_table)
    monkeypatch.setattr("core.cli.evaluating.PEOPLE", people_table)
    write_card(saved, card)
    assert (load_checkpoint(saved).task is not None) == known
    arguments = ["evaluate", "--checkpoint", str(saved)]
    if known:
        assert main(arguments) == 0
        return
    assert main(arguments) == 2
    assert capsys.readouterr().err == (
        "error: checkpoint tiny has no questions: its card names no task known here "
        "(notable, course); name a question set with --questions FILE\n"
    )
