"""Groups of names: how many, of whom, and that nobody has read about those who are not to be."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pytest

from core.checkpoints.store import load_checkpoint
from core.data.corpus import TrainingCorpus, course_corpus
from core.data.course import load_course
from core.data.people import BIRTHPLACE, Person, is_held_out, split_of
from core.data.question_file import parse_set, read_set
from core.data.task import COURSE, NOTABLE, NOTABLE_UNREAD
from core.knowledge.asking import (
    NOTHING_FITS,
    Asking,
    asking_of,
    asking_of_set,
    groups_of_corpus,
    table_groups,
)
from core.knowledge.groups import Named
from core.knowledge.names import parts_of
from core.knowledge.record import GroupName
from core.knowledge.stored import STORED, groups_text, read_groups
from core.paths import CHECKPOINTS, GROUPS, QUESTIONS

MADE: tuple[GroupName, ...] = ("invented", "one_letter", "crossed", "no_name")


@pytest.fixture(scope="module")
def of_table(whole_corpus: TrainingCorpus) -> Asking:
    return asking_of(NOTABLE, whole_corpus)


@pytest.fixture(scope="module")
def of_unread() -> Asking:
    return asking_of(NOTABLE_UNREAD, NOTABLE_UNREAD.corpus(n_sentences=1, folder=None))


@pytest.fixture(scope="module")
def course(real_course: Path) -> TrainingCorpus:
    return course_corpus(load_course(real_course))


def names(group: Sequence[Named]) -> list[str]:
    return [named.name for named in group]


def check_apart(groups: Mapping[GroupName, tuple[Named, ...]], corpus: TrainingCorpus) -> None:
    """No group overlaps another, none that is never read stands in the text."""
    folded = {group: {n.casefold() for n in names(found)} for group, found in groups.items()}
    for one, other in combinations(folded, 2):
        assert not folded[one] & folded[other], (one, other)
    assert all(len(folded[group]) == len(groups[group]) for group in groups)
    text = "\n".join(line for _, lines in corpus.documents for line in lines).casefold()
    read = [name for group in MADE for name in folded[group] if name in text]
    assert read == []
    whole = {name.casefold() for name, _ in corpus.documents}
    assert not whole & folded["surname"]


def test_the_stored_lists_are_what_the_rules_make(
    table: list[Person], whole_corpus: TrainingCorpus, unread_names: list[str]
):
    groups = table_groups(whole_corpus, table, NOTABLE.template, unread_names)
    assert GROUPS.read_text(encoding="utf-8") == groups_text(groups)


def test_no_group_overlaps_another_and_none_that_is_never_read_stands_in_the_text(
    of_table: Asking, of_unread: Asking, whole_corpus: TrainingCorpus
):
    check_apart(of_table.groups, whole_corpus)
    check_apart(of_unread.groups, whole_corpus)


def test_every_group_has_three_hundred_and_read_has_all(
    of_table: Asking, of_unread: Asking, table: list[Person], unread_names: list[str]
):
    sizes = {group: len(found) for group, found in of_table.groups.items()}
    everybody = [p for p in table if split_of(p.name) != "train" and p.name not in {*unread_names}]
    left_out = [p.name for p in table if split_of(p.name) != "train" and p.name in unread_names]
    assert sizes == {
        **dict.fromkeys(STORED, 300),
        "read": len(everybody),
        "left_out": len(left_out),
    }
    assert sorted(names(of_table.groups["left_out"])) == sorted(left_out)
    assert {named.name for named in of_table.groups["read"]} == {p.name for p in everybody}
    assert of_table.never == "invented"
    assert of_unread.never == "unread"
    assert sorted(names(of_unread.groups["unread"])) == sorted(unread_names)
    same, others = (
        {group: found for group, found in asking.groups.items() if group not in both}
        for asking, both in ((of_unread, ("unread",)), (of_table, ("left_out",)))
    )
    assert same == others


def test_whoever_is_asked_or_meant_was_asked_in_training(
    of_table: Asking, table: list[Person], unread_names: list[str]
):
    places = {person.name: person.birthplace for person in table}
    for group in ("asked", "one_letter", "surname"):
        for named in of_table.groups[group]:
            assert split_of(named.person) == "train"
            assert not is_held_out(named.person)
            assert named.person not in unread_names
            assert named.place == places[named.person]
    for group in ("invented", "crossed", "no_name"):
        assert {(n.person, n.place) for n in of_table.groups[group]} == {("", None)}


def test_made_names_have_the_form_that_their_group_says(of_table: Asking, table: list[Person]):
    kinds = {p.name: (p.continent, p.pronoun) for p in table}
    words = {word.casefold() for name in kinds for word in name.split()}
    firsts = {name.split()[0] for name in kinds}
    for name in names(of_table.groups["invented"]):
        first, surname = name.split()
        assert first in firsts
        assert surname.casefold() not in words
    for named in of_table.groups["one_letter"]:
        assert len(named.name) == len(named.person)
        assert sum(a != b for a, b in zip(named.name, named.person, strict=True)) == 1
    for named in of_table.groups["surname"]:
        assert named.person.endswith(f" {named.name}")
        last = named.name.split()[-1].casefold()
        assert sum(last in n.casefold().split() for n in kinds) == 1
    splits = {name: parts for name in kinds if (parts := parts_of(name))}
    for name in names(of_table.groups["crossed"]):
        one = [kinds[n] for n, (first, _) in splits.items() if name.startswith(f"{first} ")]
        other = [kinds[n] for n, (_, last) in splits.items() if name.endswith(f" {last}")]
        assert {*one} & {*other}
    assert all(re.fullmatch("[a-z]+ [a-z]+", n) for n in names(of_table.groups["no_name"]))


@pytest.mark.parametrize("checkpoint", ["notable-pretrained", "notable-char"])
def test_every_name_can_be_read_by_the_shipped_vocabularies(of_table: Asking, checkpoint: str):
    vocabulary = load_checkpoint(CHECKPOINTS / checkpoint).vocabulary
    for group in of_table.groups.values():
        assert all(vocabulary.encode(named.text) for named in group)


def test_every_name_is_of_letters_that_the_text_has(
    of_unread: Asking, table: list[Person], unread_names: list[str]
):
    people = [p for p in table if p.name not in {*unread_names}]
    letters = {letter for p in people for letter in p.name} | {*" abcdefghijklmnopqrstuvwxyz"}
    for group, found in of_unread.groups.items():
        if group != "unread":
            assert {letter for name in names(found) for letter in name} <= letters


def test_the_course_has_the_same_groups_of_its_own_people(course: TrainingCorpus):
    asking = asking_of(COURSE, course)
    check_apart(asking.groups, course)
    sizes = {group: len(found) for group, found in asking.groups.items()}
    dev = {q.name.casefold() for q in course.dev} - {q.name.casefold() for q in course.train}
    assert sizes == {**dict.fromkeys(STORED, 300), "read": len(dev)}
    assert not asking.stores_names
    assert sorted(asking.lacking) == ["by_century", "by_continent", "by_pronoun"]
    assert asking_of(COURSE, course).digest == asking.digest


def test_of_a_question_set_other_names_take_the_place_of_its_subjects():
    asked = read_set(QUESTIONS / "capitals.tsv")
    asking = asking_of_set(asked)
    assert (asking.split, asking.read, asking.never) == ("capitals", "set", "invented")
    assert "asked" not in asking.groups
    assert names(asking.groups["set"]) == [q.name for q in asked.questions]
    assert {len(asking.groups[g]) for g in ("invented", "one_letter", "no_name")} == {300}
    for group in asking.groups.values():
        for named in group:
            assert named.span is not None
            assert named.text[slice(*named.span)] == named.name
    letter = asking.groups["one_letter"][0]
    place = next(q.answer for q in asked.questions if q.name == letter.person)
    assert (letter.place, letter.like) == (place, place)
    assert asking.groups["no_name"][0].place is None
    assert asking.groups["no_name"][0].like


def test_a_set_without_subjects_or_with_too_few_of_them_says_so():
    plain = parse_set(b"prompt\tanswer\nTwo and two is\tfour\n", "sums")
    with pytest.raises(ValueError, match="the question set sums says of no prompt where its sub"):
        asking_of_set(plain)
    one = parse_set(b"prompt\tanswer\tsubject\nNg lives in\tRome\tNg\n", "few")
    asking = asking_of_set(one)
    assert asking.lacking["surname"] == NOTHING_FITS
    assert "invented" not in asking.groups
    with pytest.raises(ValueError, match="a question set cannot be called task"):
        asking_of_set(parse_set(b"prompt\tanswer\tsubject\nNg lives in\tRome\tNg\n", "task"))


def test_a_digest_covers_names_prompts_and_places(asking: Asking):
    again = asking.cut(1000)
    assert again.digest == asking.digest
    assert asking.cut(5).digest != asking.digest
    assert {len(found) for found in asking.cut(5).groups.values()} == {5}


def test_small_corpora_have_small_groups(corpus: TrainingCorpus):
    groups = groups_of_corpus(corpus, BIRTHPLACE)
    check_apart(groups, corpus)
    assert len(groups["asked"]) == len(corpus.train)
    assert groups["crossed"] == ()  # every first name goes with every surname there


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the header must be group name person"),
        ("group\tname\nasked\tAda\n", "line 1: the header must be group name person"),
        ("group\tname\tperson\nasked\tAda\n", "line 2: a group, a name and a person are needed"),
        ("group\tname\tperson\nasked\t \tAda\n", "line 2: a group, a name and a person are"),
        ("group\tname\tperson\nfriends\tAda\tAda\n", "line 2: 'friends' is none of asked,"),
        (
            "group\tname\tperson\nasked\tAda\tAda\ninvented\tada\t\n",
            "line 3: ada stands already on line 2",
        ),
    ],
)
def test_a_list_of_another_form_is_refused(text: str, message: str, tmp_path: Path):
    path = tmp_path / "groups.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_groups(path)


def test_lists_of_other_people_are_refused(
    corpus: TrainingCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(ValueError, match="is not asked about in training"):
        asking_of(NOTABLE, corpus)
    path = tmp_path / "groups.tsv"
    path.write_text("group\tname\tperson\nsurname\tArden\tNobody Arden\n", encoding="utf-8")
    monkeypatch.setattr("core.knowledge.asking.GROUPS", path)
    with pytest.raises(ValueError, match="Nobody Arden stands not in people.tsv"):
        asking_of(NOTABLE, corpus)
