"""The rows of the pictures are the record's numbers."""

import pytest

from core.figures.knowledge_measures import ANSWERED, MADE_UP, RIGHT, TRAINED
from core.knowledge import rows, words
from core.knowledge.record import OUTCOMES, Auroc, Share
from tests.knowledge.fake import GROUPS, fake_knowledge, fake_set


def test_each_group_is_a_row_with_its_numbers_at_the_end():
    known = fake_knowledge()
    found = rows.sureness(known.groups)
    assert [row.row.name for row in found] == [group.label for group in known.groups.values()]
    note = found[0].row.note.replace("\u00a0", " ")
    assert note == "95 % right · 10 % surer than 90 % · median 50 % · n 300"
    assert not any(row.beside for row in found)
    assert "right" not in next(row.row.note for row in found if row.row.name == "invented names")


def test_a_second_models_groups_stand_below_the_firsts_and_what_it_has_alone_among_its_kind():
    known, other = fake_knowledge(groups=("read", "invented")), fake_knowledge(groups=tuple(GROUPS))
    found = [row.row for row in rows.sureness(known.groups, ("other", other.groups))]
    names = [row.name for row in found]
    assert names == [
        "asked in training",
        *("read, never asked", "– other"),
        "real people, never read",
        *("invented names", "– other"),
        *("one letter changed", "surname alone"),
        *("first name and surname of two", "words that are no names"),
    ]
    alone = found[names.index("real people, never read")]
    assert alone.note.startswith("other · 4")
    assert alone.short == "other"
    beside = [row.beside for row in rows.sureness(known.groups, ("other", other.groups))]
    assert beside == [True, False, True, True, False, *[True] * 5]


def test_shares_of_answers_come_to_one_and_where_nothing_is_true_none_is_right():
    known = fake_knowledge()
    kinds = words.outcome_words(known)
    found = {row.row.name: row for row in rows.outcomes(known.groups, kinds)}
    assert all(sum(row.shares) == pytest.approx(1) for row in found.values())
    assert found["invented names"].shares[0] == 0
    assert found["invented names"].row.note.startswith("no true place")
    table = {row["group"]: row for row in rows.outcome_table(known.groups, kinds)}
    assert table["invented names"]["right"] == "–"
    assert table["read, never asked"]["right"] == "64 % (61 % to 67 %)".replace(" %", "\u00a0%")
    assert len(table["invented names"]) == len(OUTCOMES) + 3


def test_empty_bins_are_no_points_and_groups_without_a_truth_are_none():
    bins, groups = rows.calibrated(fake_knowledge())
    assert len(bins) == 14
    assert {group.name for group in groups} == {
        *("asked in training", "read, never asked", "one letter changed", "surname alone")
    }
    assert all(each.low <= each.right <= each.high for each in [*bins, *groups])


def test_signals_stand_from_the_best_to_the_worst_and_the_best_head_is_named():
    known = fake_knowledge()
    names, dots = rows.signals(known)
    assert [dot.value for dot in dots] == sorted(
        (a.value for a in known.auroc.values()), reverse=True
    )
    assert names[0].note == "0.86 (0.83 to 0.89)"
    assert any(row.name.endswith("best head L1·H3") for row in names)
    assert rows.signal_ends(known) == (0.5, 1.0)


def test_the_scale_of_signals_reaches_below_the_coin_where_one_does():
    known = fake_knowledge()
    worse = {
        **known.auroc,
        "agreement": Auroc(value=0.4, low=0.37, high=0.43),
    }
    assert rows.signal_ends(fake_knowledge(auroc=worse)) == (0.3, 1.0)


def test_a_breakdown_has_right_answers_and_made_up_words_and_no_row_without_people():
    known = fake_knowledge()
    nobody = Share(name="nobody", n=0, right=0, low=0, high=1)
    names, dots = rows.breakdown([*known.by_continent, nobody])
    assert [row.name for row in names] == ["Europe", "Asia", "Oceania"]
    assert [(dot.at, dot.series) for dot in dots[:2]] == [(0, RIGHT), (0, MADE_UP)]
    assert dots[0].value == 250 / 360


def test_continents_have_the_share_of_the_answers_and_of_training():
    names, dots = rows.continents(fake_knowledge().continents_of_invented)
    assert [row.name for row in names] == ["Europe", "Asia"]
    assert [dot.series for dot in dots] == [ANSWERED, TRAINED] * 2
    assert [dot.value for dot in dots] == [0.652, 0.53, 0.348, 0.47]


def test_examples_are_told_with_what_is_right_or_a_dash():
    known = fake_knowledge()
    kinds = words.outcome_words(known)
    (row,) = rows.example_table(known.groups["invented"].examples, kinds)
    assert list(row.values())[:4] == ["Adana Bellova", "Ksarville", "–", "made-up word"]


def test_a_sets_own_questions_stay_first_beside_a_model_with_a_task():
    asked, other = fake_set(), fake_knowledge()
    names = [row.row.name for row in rows.sureness(asked.groups, ("other", other.groups))]
    assert names[:3] == ["questions of the set", "asked in training", "read, never asked"]
