"""The calls against other ways to the same number, and what they refuse."""

from typing import Any

import numpy as np
import pytest

from core.lessons.check import functions
from core.lessons.computed.once import Once

QUESTION = "Where was Ada Lovelace born?"
ASKED: dict[str, Any] = {"checkpoint": "notable-pretrained", "question": QUESTION}
DRAWN: dict[str, Any] = {
    "heads": "one",
    "beta": 10.0,
    "keys": 6,
    "radial_variance": 0.5,
    "noise_variance": 0.0,
}
SAMPLED: dict[str, Any] = {**DRAWN, "draws": 20_000, "seed": 0}
MEASURED: dict[str, Any] = {
    "machine": "amd-epyc-2-cores",
    "method": "elu",
    "causal": False,
    "pass_name": "forward",
    "head_dim": 32,
}


@pytest.fixture(scope="module")
def once() -> Once:
    """One for all tests here: what they ask of a model is the same question."""
    return Once()


def call(name: str, once: Once, /, **told: Any) -> float:
    return functions()[name](once, **told)


def test_words_share_out_what_a_head_looks_at(once: Once):
    asked = {**ASKED, "head": "L1·H0"}
    words = ["Where", "was", "Ada", "Lovelace", "born", "?", "⁇"]
    shares = {word: call("weight_on_word", once, **asked, word=word) for word in words}
    assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
    assert call("weight_on_name", once, **asked) == pytest.approx(
        shares["Ada"] + shares["Lovelace"], abs=1e-6
    )


def test_a_row_is_no_more_spread_out_than_there_are_tokens(once: Once):
    asked = {**ASKED, "head": "L0·H5"}
    spread, seen = (
        call("effective_tokens", once, **asked),
        call("visible_tokens", once, **ASKED),
    )
    assert 1 / call("largest_weight", once, **asked) <= spread <= seen == 10


def test_an_answer_is_as_likely_as_its_pieces_together(once: Once):
    pieces = int(call("written_pieces", once, **ASKED))
    each = [call("piece_probability", once, **ASKED, piece=i + 1) for i in range(pieces)]
    whole = call("answer_probability", once, **ASKED, answer="London")
    assert np.prod(each) == pytest.approx(whole, rel=1e-4)
    assert call("probability_without", once, **ASKED, off=()) == pytest.approx(whole, rel=1e-4)


def test_a_head_brings_no_more_of_the_name_than_its_values_allow(once: Once):
    at = {**ASKED, "head": "L1·H0"}
    brought = call("contribution_of_name", once, **at)
    trace = once.get(("trace", *ASKED.values()), pytest.fail)
    most = float(trace.value_norm[1, 0].max())
    assert 0 < brought <= most * call("weight_on_name", once, **at)
    score = call("score_of_head", once, **at, score="first_token")
    assert 0 <= score <= 1


def test_the_card_is_counted_not_rounded(once: Once):
    of = {"checkpoint": "notable-small"}
    share, asked = (call(name, once, **of) for name in ("right_share", "asked_questions"))
    wrong = call("wrong_questions", once, **of)
    assert share * asked == pytest.approx(asked - wrong)
    assert call("right_share_at", once, **of, step=1600) == share
    assert call("training_steps", once, **of) == 1600
    lost = call("recorded_of_head", once, **of, head="L0·H0", measure="accuracy_lost")
    assert share - lost == pytest.approx(call("right_share_without", once, **of, head="L0·H0"))


def test_theory_and_sample_agree_and_ends_and_middle_are_counted(once: Once):
    theory = call("share_theory", once, quantity="p_off_center", **DRAWN)
    drawn = call("share_sample", once, quantity="p_off_center", **SAMPLED)
    assert drawn == pytest.approx(theory, abs=4 * (0.25 / 20_000) ** 0.5)
    assert call("near_an_end", once, **SAMPLED) == pytest.approx(drawn, abs=1e-3)
    assert call("near_midpoint", once, **SAMPLED) <= 1 - drawn
    assert call("weight_on_others", once, **DRAWN) < 0.01


def test_a_faster_method_is_beyond_its_crossing(once: Once):
    of = {**MEASURED, "baseline": "sdpa"}
    crossing = call("crossing_length", once, **of)
    for tokens in (128, 256, 8192):
        faster = call("times_as_fast", once, **of, tokens=tokens) > 1
        assert faster == (tokens > crossing)
    doubled = [call("seconds", once, **MEASURED, tokens=n) for n in (4096, 8192)]
    assert np.log2(doubled[1] / doubled[0]) == pytest.approx(
        call("growth", once, **MEASURED), abs=0.3
    )
    assert call("peak_bytes", once, **MEASURED, tokens=8192) > 0


@pytest.mark.parametrize(
    ("name", "told", "why"),
    [
        ("weight_on_name", {**ASKED, "head": "L7·H0"}, "no head L7·H0: 2 layers of 8 heads"),
        ("weight_on_name", {**ASKED, "head": "L0·H0", "piece": 3}, "has pieces 1 to 2"),
        ("weight_on_word", {**ASKED, "head": "L0·H0", "word": "Babbage"}, "words: Where, was, Ada"),
        ("score_of_head", {**ASKED, "head": "L0·H0", "score": "wit"}, "unknown score 'wit'"),
        ("answer_probability", {**ASKED, "answer": "Paris"}, "answers 'London', not 'Paris'"),
        ("right_share", {"checkpoint": "notable-small", "split": "all"}, "no figures of 'all'"),
        ("right_share_at", {"checkpoint": "notable-small", "step": 3}, "step 3; steps: .25, 50"),
        ("right_share_at", {"checkpoint": "notable-scratch", "step": 3}, "no figures of snapshots"),
        (
            "recorded_of_head",
            {"checkpoint": "notable-small", "head": "L0·H0", "measure": "wit"},
            "unknown measure 'wit'",
        ),
        ("right_share_without", {"checkpoint": "notable-small", "head": "L5·H0"}, "no head L5·H0"),
        (
            "right_share_without",
            {"checkpoint": "notable-small", "head": "L0·H0", "mode": "half"},
            "modes: zero, mean",
        ),
        ("softmax_weight", {"scores": (1.0,), "beta": 1.0, "key": 2}, "keys 1 to 1"),
        ("copying_beta", {"keys": 1}, "2 to 12 are allowed"),
        ("averaging_weight", {"query": "long", "key": "a", "beta": 1.0}, "plain or balanced"),
        ("design_error", {"beta": 1.0, "output": 3}, "1 or 2 is allowed"),
        ("share_theory", {**DRAWN, "quantity": "luck"}, "unknown quantity 'luck'"),
        (
            "share_theory",
            {**DRAWN, "noise_variance": 0.1, "quantity": "p_off_center"},
            "theory does not know p_off_center",
        ),
        (
            "share_sample",
            {**SAMPLED, "draws": 1, "quantity": "variance_share_a"},
            "the draws do not tell",
        ),
        ("seconds", {**MEASURED, "tokens": 7}, "elu was not measured at 7 tokens"),
        ("seconds", {**MEASURED, "head_dim": 7, "tokens": 128}, "was not measured with Setting"),
        ("crossing_length", {**MEASURED, "baseline": "luck"}, "no number for one crossing of elu"),
        ("growth", {**MEASURED, "method": "synthesizer"}, "time of synthesizer: too uncertain"),
        ("growth", {**MEASURED, "method": "luck"}, "time of luck: nothing measured"),
        ("map_error", {"name": "luck", "logit": 1.0}, "unknown map 'luck'; maps: FAVOR"),
    ],
)
def test_what_cannot_be_told_is_refused(once: Once, name: str, told: dict[str, Any], why: str):
    with pytest.raises(ValueError, match=why):
        call(name, once, **told)
