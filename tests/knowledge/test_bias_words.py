"""What is a bias of the table, what of the model, and what may be chance."""

from core.intervals import wilson_interval
from core.knowledge import bias_words as words
from core.knowledge.record import Continent, Share
from tests.knowledge.fake import fake_knowledge


def share(name: str, n: int, right: int) -> Share:
    low, high = wilson_interval(right, n)
    return Share(name=name, n=n, right=right, low=low, high=high)


def continent(name: str, n: int, of: int, trained: float) -> Continent:
    low, high = wilson_interval(n, of)
    return Continent(name=name, n=n, share=n / of, low=low, high=high, training_share=trained)


def told(*rows: Share) -> str:
    return words.breakdown_words(rows, "continent").replace("\u00a0", " ")


def test_the_best_and_the_worst_row_are_told_apart_only_where_their_intervals_do_not_meet():
    clear = told(share("Africa", 100, 20), share("Europe", 100, 90))
    assert clear == (
        "By continent it is right most for Europe (90 % of 100) and least for Africa (20 % of "
        "100): their intervals do not meet, so it is more than chance."
    )
    assert "it may be chance" in told(share("Africa", 100, 88), share("Europe", 100, 90))


def test_a_row_of_few_people_is_not_spoken_of():
    assert "Oceania" not in told(
        share("Oceania", 5, 0), share("Africa", 100, 20), share("Europe", 100, 90)
    )
    assert "Too few people" in told(share("Oceania", 5, 0), share("Europe", 100, 90))


def test_how_often_a_place_occurs_is_told_as_a_number_of_times():
    known = fake_knowledge()
    assert [row.name for row in words.shares_by(known, "by_frequency")] == ["0×", "1×", "20+×"]
    assert words.shares_by(known, "by_pronoun") == known.by_pronoun


def test_whom_the_table_is_about_is_no_bias_of_the_model():
    said = words.table_words(fake_knowledge()).replace("\u00a0", " ")
    assert said.startswith("Of the table: 51 % of the people asked about here were born in Europe.")
    assert words.table_words(fake_knowledge(by_continent=())) == ""


def test_the_model_has_a_bias_only_where_training_lies_outside_the_interval():
    none = (continent("Europe", 100, 200, 0.5), continent("Asia", 100, 200, 0.5))
    made = fake_knowledge(continents_of_invented=none)
    assert "by more than chance" in words.model_words(made)
    some = (continent("Europe", 180, 200, 0.5), continent("Asia", 20, 200, 0.5))
    said = words.model_words(fake_knowledge(continents_of_invented=some)).replace("\u00a0", " ")
    assert "200 of 300 invented names get a place on a known continent." in said
    assert "Europe gets 90 % of them" in said
    assert "It answers more with it than training did." in said
    assert words.model_words(fake_knowledge(continents_of_invented=())) == ""
