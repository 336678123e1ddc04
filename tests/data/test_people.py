"""The shipped table keeps its promises; a broken one is refused with file and line."""

import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from core.data.own_vocabulary import MASK, PAD
from core.data.people import (
    BIRTHPLACE,
    COLUMNS,
    CONTINENTS,
    SPLITS,
    Person,
    is_held_out,
    load_people,
    questions_of,
    split_of,
)

ADA = {
    "name": "Ada Example",
    "pronoun": "she",
    "birthplace": "Springfield",
    "country": "Utopia",
    "continent": "Europe",
    "born": "1901",
    "died": "",
    "occupation": "engineer",
    "known_for": "a bridge",
}


def write_table(folder: Path, *rows: dict[str, str], end: str = "\n") -> Path:
    lines = ["\t".join(COLUMNS), *("\t".join(row.values()) for row in rows)]
    path = folder / "people.tsv"
    path.write_bytes((end.join(lines) + end).encode())
    return path


def bare(text: str) -> str:
    """Folded apart from core.data.reference, so that the two can disagree."""
    letters = unicodedata.normalize("NFD", text).casefold()
    return "".join(c for c in letters if c.isalnum())


def test_the_table_is_large_and_wide_enough(table: list[Person]) -> None:
    places = Counter(person.birthplace for person in table)
    assert len(table) >= 2000
    assert len(places) >= 700
    assert len({person.country for person in table}) >= 70
    assert {person.continent for person in table} == set(CONTINENTS)


def test_no_place_has_more_than_six_percent_of_the_table(table: list[Person]) -> None:
    place, count = Counter(bare(p.birthplace) for p in table).most_common(1)[0]
    assert count / len(table) <= 0.06, place


def test_a_quarter_of_the_table_are_women(table: list[Person]) -> None:
    assert sum(person.pronoun == "she" for person in table) / len(table) >= 0.25


def test_two_fifths_were_born_outside_europe_and_north_america(table: list[Person]) -> None:
    outside = {"Africa", "Asia", "South America", "Oceania"}
    assert sum(person.continent in outside for person in table) / len(table) >= 0.4


def test_nobody_is_in_the_table_twice_under_another_spelling(table: list[Person]) -> None:
    names = Counter(bare(person.name) for person in table)
    assert [name for name, count in names.items() if count > 1] == []


def test_no_cell_of_the_table_has_stray_space_or_a_control_character(table: list[Person]) -> None:
    for person in table:
        for column in ("name", "birthplace", "country", "occupation", "known_for"):
            cell = getattr(person, column)
            assert cell == " ".join(cell.split()), person.name
            assert not {PAD, MASK} & set(cell), person.name
            assert cell.isprintable(), person.name


def test_nobody_died_before_birth_or_after_116_years(table: list[Person]) -> None:
    dated = [p for p in table if p.died is not None]
    assert [p.name for p in dated if not 0 < (p.died or 0) - p.born <= 116] == []
    assert [p.name for p in table if p.died is None and p.born < 1910] == []
    assert [p.name for p in table if 0 in (p.born, p.died)] == []  # there was no year 0


def test_one_town_of_one_country_lies_on_one_continent(table: list[Person]) -> None:
    continents: dict[tuple[str, str], set[str]] = {}
    for person in table:
        town = (person.birthplace, person.country)
        continents.setdefault(town, set()).add(person.continent)
    assert [town for town, found in continents.items() if len(found) > 1] == []


def test_some_people_of_the_table_are_as_known(table: list[Person]) -> None:
    known = {person.name: person for person in table}
    curie = known["Marie Curie"]
    assert (curie.birthplace, curie.country, curie.pronoun) == ("Warsaw", "Poland", "she")
    assert (curie.born, curie.died) == (1867, 1934)
    assert known["Nelson Mandela"].continent == "Africa"
    assert known["Confucius"].born == -551


def test_the_splits_hold_about_60_20_20_percent(table: list[Person]) -> None:
    sizes = Counter(split_of(person.name) for person in table)
    shares = [sizes[split] / len(table) for split in SPLITS]
    assert shares == pytest.approx([0.6, 0.2, 0.2], abs=0.025)


def test_the_splits_of_these_people_never_change() -> None:
    pinned = {
        "Marie Curie": "test",
        "Nelson Mandela": "train",
        "Frida Kahlo": "test",
        "Confucius": "dev",
        "Albert Einstein": "dev",
        "Gabriel García Márquez": "dev",
        "Wangari Maathai": "train",
        "C. V. Raman": "train",
    }
    assert {name: split_of(name) for name in pinned} == pinned


def test_the_held_out_slice_is_a_tenth_of_train_and_nothing_else(table: list[Person]) -> None:
    held_out = [person.name for person in table if is_held_out(person.name)]
    n_train = sum(split_of(person.name) == "train" for person in table)
    assert {split_of(name) for name in held_out} == {"train"}
    assert len(held_out) / n_train == pytest.approx(0.1, abs=0.025)
    assert is_held_out("Nelson Mandela")
    assert not is_held_out("C. V. Raman")


def test_every_person_is_asked_about_in_exactly_one_split(table: list[Person]) -> None:
    asked = [question for split in SPLITS for question in questions_of(table, split)]
    assert sorted(q.name for q in asked) == sorted(p.name for p in table)
    assert {q.name: q.answer for q in asked} == {p.name: p.birthplace for p in table}
    assert all(q.text == f"Where was {q.name} born?" for q in asked)


def test_the_question_is_the_template_of_the_exercise() -> None:
    assert BIRTHPLACE.question("C. V. Raman") == "Where was C. V. Raman born?"


def test_a_good_row_is_read_with_years_as_numbers(tmp_path: Path) -> None:
    old = ADA | {"name": "Old Example", "born": "-551", "died": "-479"}
    ada, elder = load_people(write_table(tmp_path, ADA, old))
    assert (ada.name, ada.born, ada.died, ada.known_for) == ("Ada Example", 1901, None, "a bridge")
    assert (elder.born, elder.died) == (-551, -479)


def test_a_table_in_decomposed_letters_is_read_in_composed_ones(tmp_path: Path) -> None:
    apart = ADA | {"name": "Abdullah Gu\u0308l", "birthplace": "Nie\u0301vre"}
    (person,) = load_people(write_table(tmp_path, apart))
    assert (person.name, person.birthplace) == ("Abdullah G\u00fcl", "Ni\u00e9vre")
    with pytest.raises(ValueError, match="line 3: Abdullah G\u00fcl is already on line 2"):
        load_people(write_table(tmp_path, apart, apart | {"name": "Abdullah G\u00fcl"}))


def test_windows_line_ends_and_quotes_are_read_as_they_are(tmp_path: Path) -> None:
    quoted = ADA | {"known_for": '"Weird Al" songs'}
    (person,) = load_people(write_table(tmp_path, quoted, end="\r\n"))
    assert person.known_for == '"Weird Al" songs'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pronoun": "it"}, r"line 3, column pronoun: 'it' is not one of he, she, they"),
        ({"continent": "Eurasia"}, r"line 3, column continent: 'Eurasia' is not one of Africa"),
        ({"born": "c. 1900"}, r"line 3: 'c\. 1900' is not a year \(a whole number\)"),
        ({"born": " "}, r"line 3: the column born is empty"),
        ({"died": "?"}, r"line 3: '\?' is not a year"),
        ({"birthplace": ""}, r"line 3: the column birthplace is empty"),
        ({"known_for": "a\tb"}, r"line 3: 10 columns, 9 are needed"),
        ({"name": "Ada Example"}, r"line 3: Ada Example is already on line 2"),
    ],
)
def test_a_broken_row_is_refused_with_file_and_line(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    path = write_table(tmp_path, ADA, ADA | {"name": "Bo Example"} | change)
    with pytest.raises(ValueError, match=rf"people\.tsv, {message}"):
        load_people(path)


@pytest.mark.parametrize("text", ["", "name\tplace\nAda\tRome\n"])
def test_a_table_without_the_header_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "people.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"people\.tsv, line 1: the header must be name pronoun"):
        load_people(path)
