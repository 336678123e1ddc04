"""What is said of a record is true of its numbers, whatever they are."""

from dataclasses import replace
from typing import Any

import pytest

from core.knowledge import words
from core.knowledge.record import SIGNALS, Auroc, Group, Knowledge
from tests.knowledge.fake import GROUPS, fake_group, fake_knowledge, fake_set


def with_sure(group: Group, n_sure: int) -> Group:
    """The same group, of whose answers so many are 95 % likely and the others 20 %."""
    found = (0.2,) * (group.n - n_sure) + (0.95,) * n_sure
    return replace(group, probabilities=found, probability_median=found[group.n // 2])


def known(n_never: int, n_read: int, **changed: Any) -> Knowledge:
    made = fake_knowledge()
    groups = {
        **made.groups,
        "invented": with_sure(made.groups["invented"], n_never),
        "read": with_sure(made.groups["read"], n_read),
    }
    return replace(made, groups=groups, **changed)


def plainly(text: str) -> str:
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0, "0 %"),
        (0.004, "0.4 %"),
        (0.12345, "12 %"),
        (0.998, "99.8 %"),
        (1.0, "100 %"),
        (1e-17, "0 %"),
    ],
)
def test_a_share_is_told_in_whole_percent_unless_that_would_be_none_or_all(share: float, said: str):
    assert plainly(words.percent(share)) == said


def test_steps_end_where_they_say_and_come_to_one():
    assert words.steps([0.0, 0.1, 0.9, 0.91, 1.0]) == [0.4, *[0.0] * 7, 0.2, 0.4]
    assert words.steps([]) == [0.0] * words.N_STEPS


def test_the_title_counts_the_answers_that_are_over_90_percent_likely():
    title = plainly(words.sureness_title(known(30, 550)))
    assert title == (
        "Of its answers about invented people 10 % are over 90 % likely, about people it read "
        "about 50 %"
    )
    assert words.sure(fake_knowledge().groups["no_name"]) == 0


@pytest.mark.parametrize(
    ("n_never", "n_read", "verdict"),
    [(30, 550, "It is sure less often"), (150, 550, "as often as of what it read")],
)
def test_the_sentence_below_says_whether_it_is_less_sure_of_what_it_never_read(
    n_never: int, n_read: int, verdict: str
):
    said = words.sureness_meaning(known(n_never, n_read))
    assert verdict in said
    assert "not whether it is true" in said


def test_real_people_that_it_never_read_about_come_before_invented_ones():
    made = fake_knowledge(groups=tuple(GROUPS))
    assert "real people it never read about" in words.sureness_title(made)
    assert "only 12 of all 300 are right" in words.reader_sentences(made)[1]
    none = {**made.groups["unread"].counts, "right": 0, "made_up": 72}
    groups = {**made.groups, "unread": replace(made.groups["unread"], counts=none)}
    assert "not one of all is right" in words.reader_sentences(replace(made, groups=groups))[1]


def test_of_a_question_set_nothing_is_called_a_place():
    made = fake_set()
    assert "an answer of the set" in words.outcomes_title(made)
    said = " ".join([*words.outcome_words(made).values(), words.outcomes_title(made)])
    assert "place" not in said
    assert words.outcome_words(fake_knowledge())["most_frequent"].endswith("place (London)")
    assert "(" not in words.outcome_words(fake_knowledge(most_frequent=""))["most_frequent"]


def test_the_calibration_is_told_with_its_error_and_its_direction():
    made = fake_knowledge()
    assert "it is too sure (ECE 0.062)" in words.calibration_title(made)
    bins = tuple(replace(each, right=each.n) for each in made.calibration)
    assert "it is too modest" in words.calibration_title(replace(made, calibration=bins))
    even = (replace(bins[0], n=10, right=5, confidence=0.5),)
    assert "as sure as it should be" in words.calibration_title(replace(made, calibration=even))


def auroc(value: float) -> Auroc:
    return Auroc(value=value, low=value - 0.03, high=value + 0.03)


@pytest.mark.parametrize(
    ("probability", "best_head", "verdict"),
    [
        (0.9, 0.7, "No attention score beats the probability: the best is attention weight"),
        (0.7, 0.9, "An attention score beats the probability: attention weight"),
        (0.8, 0.82, "nobody can tell from these names"),
    ],
)
def test_whether_attention_beats_the_probability_follows_from_the_intervals(
    probability: float, best_head: float, verdict: str
):
    table = {"probability": auroc(probability), "best_head": auroc(best_head)}
    made = fake_knowledge(auroc=table)
    assert verdict in words.attention_verdict(made)
    best = max(table, key=lambda name: table[name].value)
    assert words.ranked(made)[0][0] == best
    assert words.signals_title(made).startswith(f"What gives it away best is the {SIGNALS[best]}: ")


def test_a_signal_that_may_be_a_coin_gives_nothing_away():
    made = fake_knowledge(auroc={"entropy": auroc(0.52), "agreement": auroc(0.4)})
    assert words.signals_title(made).startswith("None gives it away: even the best, entropy")
    assert words.attention_verdict(made) == ""


def test_without_signals_there_is_no_verdict_and_a_reader_is_told_of_the_error():
    made = fake_knowledge(auroc={})
    assert words.signals_title(made) == "No signal was measured"
    assert "6 % on average" in plainly(words.reader_sentences(made)[2])


def test_a_reader_gets_three_sentences_with_the_numbers_of_this_model():
    first, second, third = map(plainly, words.reader_sentences(known(30, 550)))
    assert "asked about 300 invented people, it named a place that it knows for 230" in first
    assert "30 of these 300 answers are over 90 % likely" in second
    assert "none of them can be right" in second
    assert "in 14 % of all pairs" in third


def test_a_model_that_is_never_sure_is_told_to_write_as_firmly_all_the_same():
    _, second, _ = words.reader_sentences(known(0, 550))
    assert "less than 20 % likely" in plainly(second)


def test_own_names_are_told_in_a_sentence_and_without_a_truth_none_is_right():
    assert words.own_said(fake_group("surname")).endswith("50 are made up, 60 are right.")
    assert words.own_said(fake_group("invented")).endswith("70 are made up.")


def test_a_group_that_is_missing_is_named_with_the_reason():
    made = fake_knowledge(lacking={"crossed": "nobody has two names.", "entropy": "no pieces"})
    assert words.lacking_groups(made) == ["Without crossed names: nobody has two names."]


def test_to_a_model_that_read_nothing_all_are_strangers():
    made = fake_knowledge(reads=False)
    groups = {**made.groups, "read": replace(made.groups["read"], label="never asked")}
    made = replace(made, groups=groups)
    assert "people it was never asked about" in words.sureness_title(made)
    assert words.sureness_meaning(made).startswith("It read no text, so that all these people are")
    assert "people it was never asked about" in words.reader_sentences(made)[2]
    assert "it read" not in " ".join([words.sureness_title(made), words.signals_meaning(made)])
