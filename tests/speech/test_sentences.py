"""Who is asked about in which split, and what a plain text is."""

import pytest

from core.data.census import census_names
from core.data.people import Person, load_people
from core.paths import PEOPLE
from core.speech.sentences import (
    CHARACTERS,
    LONGEST,
    N_PEOPLE,
    Sentence,
    is_speakable,
    places_to_say,
    plain,
    sentences,
    split_people,
    unaccented,
)
from core.speech.voices import NEW, TRAINED


@pytest.fixture(scope="module")
def people() -> list[Person]:
    return load_people(PEOPLE)


@pytest.fixture(scope="module")
def planned(people: list[Person]) -> list[Sentence]:
    return sentences(people, places_to_say(people), n_train=600, seed=0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where was Antonín Dvořák born?", "where was antonin dvorak born"),
        ("A. P. J. Abdul Kalam", "a p j abdul kalam"),
        ("  Women's   rights – 1848  ", "women's rights"),
        ("Søren Łukasz Đorđe Þór groß", "soren lukasz dorde thor gross"),
        ("日本", ""),
    ],
)
def test_a_plain_text_has_letters_apostrophes_and_single_spaces(text: str, expected: str):
    assert plain(text) == expected


def test_nobody_is_in_two_splits(people: list[Person]):
    by_split = split_people(people, seed=0)
    names = [person.name for found in by_split.values() for person in found]
    assert len(names) == len(set(names))
    assert {s: len(by_split[s]) for s in N_PEOPLE} == N_PEOPLE
    assert all(map(is_speakable, names))
    assert split_people(people, seed=1)["dev"] != by_split["dev"]


def test_no_text_of_training_names_anybody_of_another_split(
    people: list[Person], planned: list[Sentence]
):
    held = {plain(p.name) for s in N_PEOPLE for p in split_people(people, seed=0)[s]}
    train = [one for one in planned if one.split == "train"]
    assert len(train) == 600
    assert not [one.plain for one in train if any(name in one.plain for name in held)]


def test_dev_asks_about_200_people_in_four_voices_of_training_and_two_new_ones(
    planned: list[Sentence],
):
    dev = [one for one in planned if one.split == "dev"]
    by_name: dict[str, list[str]] = {}
    for one in dev:
        by_name.setdefault(one.name, []).append(one.voice.name)
        assert one.plain == f"where was {plain(one.name)} born"
    assert len(by_name) == 200
    for names in by_name.values():
        assert len(set(names)) == 6
        assert set(NEW) < set(names)
    assert {v for names in by_name.values() for v in names} == {*TRAINED, *NEW}


def test_training_hears_no_new_voice_and_nothing_too_long(planned: list[Sentence]):
    for one in planned:
        assert one.split != "train" or one.voice.name in TRAINED
        assert set(one.plain) <= set(CHARACTERS)
        assert 1 <= len(one.plain) <= LONGEST
        assert unaccented(one.text) == one.text


def test_a_third_of_training_and_more_are_surnames_of_the_census(
    people: list[Person], planned: list[Sentence]
):
    ours = {plain(name) for person in people for name in person.name.split()}
    of_census = {plain(name) for name in census_names()[1]} - ours
    named = [one.plain.split()[-2] for one in planned if one.plain.endswith(" born")]
    assert 0.25 * 600 < sum(name in of_census for name in named) < 0.45 * 600


def test_the_same_seed_says_the_same_and_other_splits_do_not_depend_on_training(
    people: list[Person], planned: list[Sentence]
):
    places = places_to_say(people)
    again = sentences(people, places, n_train=600, seed=0)
    assert again == planned
    fewer = sentences(people, places, n_train=3, seed=0)
    assert fewer[3:] == planned[600:]
    assert fewer[:3] == planned[:3]


def test_too_few_people_are_refused(people: list[Person]):
    with pytest.raises(ValueError, match="20 people: more than 500 are needed"):
        split_people([p for p in people if is_speakable(p.name)][:20], seed=0)


@pytest.mark.parametrize("name", ["14th Dalai Lama", "John Paul II", "Louis XIV"])
def test_whose_name_has_a_figure_is_left_out(name: str):
    assert not is_speakable(name)
    assert is_speakable("Ivy Compton Burnett")
