"""A card names its task; a model without one is given free texts and asked nothing."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.store import Checkpoint, load_checkpoint, write_card
from core.cli.main import main
from core.data import task
from core.data.corpus import make_vocabulary
from core.data.course import DEV, TEST, TRAIN, WIKI
from core.data.own_vocabulary import MASK, PAD
from core.data.people import (
    BIRTHPLACE,
    CONTINENTS,
    Person,
    Question,
    Template,
    is_right,
    leave_out,
)
from core.data.task import COURSE, NOTABLE, NOTABLE_UNREAD, TASKS, Task, task_of
from core.data.vocabulary import Vocabulary
from core.generation.greedy import answer, prompt_ids
from core.inspection.trace import trace
from core.models.gpt import GPT
from core.training.presets import preset
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
        ({"recipe": {"corpus": "notable-unread"}}, NOTABLE_UNREAD),
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
        "notable-unread": "notable-unread",
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


def test_whom_a_task_leaves_out_no_split_asks_about_and_the_rest_is_as_it_was(
    people: list[Person], people_table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(task, "PEOPLE", people_table)
    names = tmp_path / "unread.txt"
    names.write_text("Hina Arden\nAda Bello\n", encoding="utf-8")
    some = replace(NOTABLE_UNREAD, left_out=names)
    assert some.unread() == [
        Question("Where was Hina Arden born?", "Kyoto", "Hina Arden"),
        Question("Where was Ada Bello born?", "Lima", "Ada Bello"),
    ]
    assert (NOTABLE.unread(), NOTABLE.people(), COURSE.unread()) == ([], people, [])
    assert [p for p in people if p not in some.people()] == [people[7], people[8]]
    with pytest.raises(ValueError, match="no table of the people of the task 'course'"):
        COURSE.people()


def test_without_300_people_all_else_of_the_notable_corpus_is_word_by_word_the_same():
    whole = NOTABLE.corpus(n_sentences=6, folder=None)
    rest = NOTABLE_UNREAD.corpus(n_sentences=6, folder=None)
    unread = NOTABLE_UNREAD.unread()
    left_out = {question.name for question in unread}
    assert len(left_out) == len(unread) == 300
    continents = {person.name: person.continent for person in NOTABLE.people()}
    assert Counter(continents[name] for name in left_out) == dict.fromkeys(CONTINENTS, 50)
    assert rest.documents == [(n, lines) for n, lines in whole.documents if n not in left_out]
    for split in ("train", "held-out", "dev", "test"):
        expected = [q for q in whole.questions(split) if q.name not in left_out]
        assert rest.questions(split) == expected
        assert len(expected) < len(whole.questions(split))
    assert {q.text: q.answer for q in unread}.items() <= {
        q.text: q.answer for q in whole.known() + whole.dev + whole.test
    }.items()
    assert rest.digest != whole.digest


def test_no_word_of_the_corpus_tells_of_people_who_are_left_out_and_its_pieces_can_ask_about_them():
    rest, unread = NOTABLE_UNREAD.corpus(n_sentences=6, folder=None), NOTABLE_UNREAD.unread()
    texts = [line for _, lines in rest.documents for line in lines]
    texts += [q.text for q in rest.known() + rest.dev + rest.test]
    everything = "\n".join(texts).casefold()
    assert [q.name for q in unread if q.name.casefold() in everything] == []
    recipe = preset("notable-unread")
    vocabulary = make_vocabulary(rest, recipe.vocabulary, n_pieces=recipe.n_pieces)
    for question in unread:
        assert vocabulary.decode(vocabulary.encode(question.text)) == question.text


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("Ada Arden\nAda Nobody\n", "unread.txt, line 2: 'Ada Nobody' is nobody in the table"),
        ("Ada Arden\n\n", "unread.txt, line 2: '' is nobody in the table"),
        ("Ada Arden\nAda Bello\nAda Arden\n", "line 3: Ada Arden is already on line 1"),
    ],
)
def test_a_list_that_is_not_of_the_table_s_people_is_refused(
    people: list[Person], tmp_path: Path, names: str, message: str
):
    path = tmp_path / "unread.txt"
    path.write_text(names, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        leave_out(people, path)


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
        "(notable, notable-unread, course); name a question set with --questions FILE\n"
    )
