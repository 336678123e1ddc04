"""The corpus says every fact in many wordings, the same for a seed."""

import re
import string
from collections import Counter
from collections.abc import Callable

import pytest

from core.data.biographies import PATTERNS, Biography, biographies, documents, sentence, year_text
from core.data.people import Person

PersonMaker = Callable[..., Person]


def fields_of(pattern: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(pattern) if name]


def test_there_are_at_least_15_different_patterns() -> None:
    assert len(PATTERNS) >= 15
    assert len(set(PATTERNS)) == len(PATTERNS)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_pattern_names_the_person_and_the_birthplace_once(
    make_person: PersonMaker, pattern: str
) -> None:
    text = sentence(make_person(), pattern)
    assert text.count("Ada Example") == text.count("Springfield") == 1
    assert text[0].isupper()
    assert text.endswith(".")
    assert not re.search(r"[{}]|  ", text)


def test_the_birthplace_stands_before_and_after_the_name_and_at_many_places() -> None:
    orders = Counter(p.index("{place}") < p.index("{name}") for p in PATTERNS)
    assert min(orders[True], orders[False]) >= 4
    assert len({fields_of(p).index("place") for p in PATTERNS}) >= 4
    before = {p[: p.index("{place}")].split()[-1:][0] for p in PATTERNS if p[:7] != "{place}"}
    assert len(before) >= 4


def test_a_sentence_is_filled_in_with_all_facts(make_person: PersonMaker) -> None:
    pattern = "{name}|{place}|{country}|{born}|{life}|{an} {occupation}|{known_for}"
    assert sentence(make_person(), pattern) == (
        "Ada Example|Springfield|Utopia|1901|1901–1980|an engineer|the first bridge of glass"
    )
    assert sentence(make_person(occupation="poet"), "{an} {occupation}") == "a poet"
    for vowel in ("actor", "engineer", "Impressionist", "Olympian", "umpire"):
        assert sentence(make_person(occupation=vowel), "{an} {occupation}") == f"an {vowel}"


@pytest.mark.parametrize(
    ("pronoun", "expected"),
    [
        ("he", "He was, his, he, his, him"),
        ("she", "She was, Her, she, her, her"),
        ("they", "They were, Their, they, their, them"),
    ],
)
def test_the_pronoun_has_its_forms(make_person: PersonMaker, pronoun: str, expected: str) -> None:
    text = sentence(make_person(pronoun=pronoun), "{He} {was}, {His}, {he}, {his}, {him}")
    assert text.casefold() == expected.casefold()
    assert text[0] == expected[0]


def test_the_shipped_sentences_speak_of_her_as_her(make_person: PersonMaker) -> None:
    hers = " ".join(sentence(make_person(pronoun="she"), pattern) for pattern in PATTERNS)
    his = " ".join(sentence(make_person(pronoun="he"), pattern) for pattern in PATTERNS)
    assert not re.search(r"\b(he|his|him|they|their|them)\b", hers, re.IGNORECASE)
    assert not re.search(r"\b(she|her|they|their|them)\b", his, re.IGNORECASE)


def test_years_before_the_common_era_are_said_so(make_person: PersonMaker) -> None:
    assert (year_text(-551), year_text(1867)) == ("551 BC", "1867")
    old = make_person(born=-551, died=-479)
    assert sentence(old, "({life}) in {born}") == "(551 BC–479 BC) in 551 BC"


def test_somebody_alive_has_no_year_of_death(make_person: PersonMaker) -> None:
    assert sentence(make_person(died=None), "({life})") == "(born 1901)"


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another(
    table: list[Person],
) -> None:
    some = table[:50]
    first = biographies(some, n_sentences=6, seed=0)
    assert first == biographies(some, n_sentences=6, seed=0)
    assert first != biographies(some, n_sentences=6, seed=1)


def test_the_corpus_of_seed_0_never_changes(make_person: PersonMaker) -> None:
    lines = [b.text for b in biographies([make_person()], n_sentences=2, seed=0)]
    assert lines == [
        "Springfield is the birthplace of Ada Example, known for the first bridge of glass.",
        "Known for the first bridge of glass, Ada Example was a native of Springfield.",
    ]


def test_a_persons_lines_do_not_depend_on_who_else_is_in_the_table(table: list[Person]) -> None:
    some = table[:40]
    together = biographies(some, n_sentences=4, seed=3)
    alone = [line for p in reversed(some) for line in biographies([p], n_sentences=4, seed=3)]
    assert sorted(together, key=lambda line: line.name) == sorted(alone, key=lambda b: b.name)


def test_everybody_has_as_many_different_lines_as_asked_for_with_the_birthplace(
    table: list[Person],
) -> None:
    by_name = dict(documents(biographies(table, n_sentences=6, seed=0)))
    assert len(by_name) == len(table)
    for person in table:
        lines = by_name[person.name]
        assert len(set(lines)) == 6, person.name
        assert all(person.name in line and person.birthplace in line for line in lines)


def test_every_pattern_is_used_about_equally_often(table: list[Person]) -> None:
    corpus = biographies(table[:600], n_sentences=6, seed=0)
    known = {p.name: p for p in table}
    used = Counter(
        pattern
        for line in corpus
        for pattern in PATTERNS
        if sentence(known[line.name], pattern) == line.text
    )
    # 600 · 6 lines over 18 patterns: 200 each, 11.5 the standard deviation of one count.
    expected = 600 * 6 / len(PATTERNS)
    assert set(used) == set(PATTERNS)
    assert all(abs(count - expected) < 4.5 * expected**0.5 for count in used.values())


def test_all_patterns_at_once_are_each_used_once(make_person: PersonMaker) -> None:
    person = make_person()
    lines = biographies([person], n_sentences=len(PATTERNS), seed=0)
    assert {line.text for line in lines} == {sentence(person, pattern) for pattern in PATTERNS}


@pytest.mark.parametrize("n_sentences", [0, -1, len(PATTERNS) + 1])
def test_a_number_of_sentences_out_of_reach_is_refused(
    make_person: PersonMaker, n_sentences: int
) -> None:
    with pytest.raises(
        ValueError, match=rf"{n_sentences} sentences a person: 1 to 18 are possible"
    ):
        biographies([make_person()], n_sentences=n_sentences, seed=0)


def test_documents_gather_the_lines_of_each_person_in_order() -> None:
    corpus = [Biography("B", "b1"), Biography("B", "b2"), Biography("A", "a1")]
    assert documents(corpus) == [("B", ["b1", "b2"]), ("A", ["a1"])]
    assert documents([]) == []
