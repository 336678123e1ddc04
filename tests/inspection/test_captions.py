"""One sentence a head; a dull head is called dull."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.data.vocabulary import Vocabulary
from core.inspection.captions import mechanism_note, row_sentence, strongest_head
from core.inspection.trace import trace
from core.inspection.traced import AttentionTrace
from core.models.gpt import GPT
from tests.with_task import with_task

LABELS = ["·Where", "·was", "·Ada", "·Arden", "?", "⁇", "·Lima", "·x", "·y", "·z"]


def test_a_clear_key_is_named_with_its_weight_and_the_written_piece(small_trace: AttentionTrace):
    weights = [0.01, 0.04, 0.1, 0.8, 0.03, 0.02]
    sentence = row_sentence("L1·H5", 5, weights, LABELS, small_trace.steps[0])
    assert sentence == "L1·H5 looks at “·Arden” (weight 0.8) when it writes “·c”"


def test_a_row_that_wrote_nothing_is_named_by_its_own_token():
    assert row_sentence("L0·H0", 2, [0, 1, 0], LABELS, None).endswith("at “·Ada”")


@pytest.mark.parametrize("row", [6, 9])
def test_below_three_tenths_there_is_no_clear_pattern(row: int):
    rest = 0.7 / row
    clear = [rest] * row + [0.3]
    assert "looks at" in row_sentence("L0·H0", row, clear, LABELS, None)
    dull = [*clear[:-1], 0.299]
    assert row_sentence("L0·H0", row, dull, LABELS, None) == (
        f"L0·H0 has no clear pattern at “{LABELS[row]}” (largest weight 0.3)"
    )


def test_in_a_short_row_a_key_needs_twice_the_uniform_weight():
    assert "no clear" in row_sentence("L0·H0", 3, [0.49, 0.2, 0.2, 0.11], LABELS, None)
    assert "looks at “·Where”" in row_sentence("L0·H0", 3, [0.5, 0.2, 0.2, 0.1], LABELS, None)
    assert "no clear" in row_sentence("L0·H0", 0, [1.0], LABELS, None)  # it had no choice


def test_weights_after_the_row_are_never_looked_at():
    sentence = row_sentence("L0·H0", 2, np.array([0.1, 0.8, 0.1, 0.9]), LABELS, None)
    assert "looks at “·was” (weight 0.8)" in sentence


def test_the_strongest_head_is_chosen_by_contribution_not_by_weight(small_trace: AttentionTrace):
    assert (small_trace.weights[0, 0] == small_trace.weights[0, 1]).all()
    assert strongest_head(small_trace) == (0, 1)  # 0.8 · 4 from the name against 0.8 · 1


def test_without_a_name_every_token_counts(small_trace: AttentionTrace):
    contribution = small_trace.contribution[0, :, 2]
    assert contribution.sum(-1).tolist() == pytest.approx([1.8, 3.4])
    tall = replace(
        small_trace,
        name_positions=(),
        value_norm=np.array([[[90, 1, 1], [1, 4, 1]]], dtype=np.float32),
    )
    assert strongest_head(tall) == (0, 0)
    assert strongest_head(replace(tall, name_positions=(1,))) == (0, 1)


def test_a_latents_row_is_named_by_the_latent_and_the_piece_behind_it(small_trace: AttentionTrace):
    labels, weights = ["z0", "", "z1", ""], [0.1, 0, 0.9, 0]
    plain = row_sentence("L1·H0", 2, weights, labels, None, latent="z1", seen=[0, 2])
    assert plain == "At latent z1 L1·H0 has no clear pattern (largest weight 0.9)"  # 2 / 2 = 1
    weights[:3] = [0, 0, 1]
    step = small_trace.steps[0]
    assert row_sentence("L1·H0", 2, weights, labels, step, latent="z1", seen=[0, 2]) == (
        "At latent z1, the last seen when “·c” is written, L1·H0 looks at “z1” (weight 1)"
    )


def test_twice_uniform_is_counted_over_the_keys_that_a_row_sees():
    row = [0.35, 0, 0.35, 0, 0.3, 0]
    assert "no clear" in row_sentence("L0·H0", 5, row, LABELS, None, seen=[0, 2, 4])
    assert "looks at" in row_sentence("L0·H0", 5, row, LABELS, None)


def with_latents(trace: AttentionTrace, n_tokens: int, latents: range) -> AttentionTrace:
    """A trace of as many tokens; only its shape and the latents' places matter."""
    shape = (3, 2, n_tokens, n_tokens)
    return replace(
        trace,
        weights=np.zeros(shape, np.float32),
        scores=np.zeros(shape, np.float32),
        latent_positions=tuple(p for p in latents if p < n_tokens),
    )


@pytest.mark.parametrize("stride", [1, 2, 3, 5])
@pytest.mark.parametrize("n_latents", [1, 2, 4, 20])
@pytest.mark.parametrize("n_tokens", range(3, 16))
def test_what_is_said_to_be_lost_is_what_the_two_masks_lose(
    small_trace: AttentionTrace, stride: int, n_latents: int, n_tokens: int
):
    seen = with_latents(small_trace, n_tokens, range(0, n_latents * stride, stride))
    latents = seen.latent_positions
    # The first layer and those between carry a token to each latent from it on, the last from
    # there to each token that sees one of them.
    lost = {
        (token, before)
        for token in range(n_tokens)
        for before in range(token)
        if not any(before <= latent <= token for latent in latents)
    }
    said = mechanism_note(seen).rsplit("backwards. ", 1)[1]
    assert said.count(".") == 1
    assert (said == "Every token reaches all later ones.") == (not lost)
    behind = [before for _, before in lost if before > latents[-1]]
    if f"position {latents[-1]}" in said:
        assert {(t, b) for t in range(n_tokens) for b in range(latents[-1] + 1, t)} <= lost
        assert behind
    if said.startswith("Tokens up to"):
        assert len(behind) == len(lost)
    if said.startswith("Every token misses"):
        most = max(sum(t == token for t, b in lost if b < latents[-1]) for token in range(n_tokens))
        assert most <= stride - 2
        assert stride > 2


def test_only_other_mechanisms_than_softmax_have_a_note(small_trace: AttentionTrace):
    assert mechanism_note(small_trace) == ""
    assert "do not depend on pairs of tokens" in mechanism_note(
        replace(small_trace, query=None, key=None, mechanism="synthesizer")
    )
    assert mechanism_note(replace(small_trace, query=None, key=None)) == ""  # not kept, no more
    assert "in L0 latents look at tokens, in L2 tokens at latents" in mechanism_note(
        with_latents(small_trace, 5, range(5))
    )


def test_a_latent_is_said_to_be_a_learned_vector(small_trace: AttentionTrace):
    note = mechanism_note(with_latents(small_trace, 5, range(5)))
    assert "latents at latents (learned vectors that take the tokens' place there)" in note


def test_later_layers_of_a_synthesizer_are_told_apart_where_there_are_any(
    small_trace: AttentionTrace,
):
    one = replace(small_trace, query=None, key=None, mechanism="dense-synthesizer")
    assert mechanism_note(one).endswith("in L0 whatever stands at the other positions.")
    two = replace(one, weights=np.concatenate([one.weights] * 2))
    assert "in later layers its vector has taken up earlier tokens" in mechanism_note(two)


@pytest.mark.parametrize("attention", ["synthesizer", "dense-synthesizer"])
def test_rows_of_a_synthesizer_hang_on_other_tokens_in_later_layers_only(
    make_gpt: Callable[..., GPT], characters: Vocabulary, attention: str
):
    model = make_gpt(vocabulary_size=characters.size, block_size=40, attention=attention)
    names = ("Ada Arden", "Ada Arcen")
    one, other = (trace(with_task(model, characters), f"Where was {name} born?") for name in names)
    here, row = names[0].index("d", 5) + len("Where was "), one.steps[0].row
    assert [i for i in range(row + 1) if one.labels[i] != other.labels[i]] == [here]
    behind = slice(here + 1, row + 1)  # the same tokens stand there in both
    rows, others = (t.weights[:, :, behind, : row + 1] for t in (one, other))
    np.testing.assert_allclose(rows[0], others[0], atol=1e-6)
    assert np.abs(rows[1] - others[1]).max() > 0.01


def test_the_strongest_head_of_a_perceiver_is_one_that_looks_at_tokens(small_trace: AttentionTrace):
    doubled = {
        name: np.concatenate([getattr(small_trace, name)] * 2)
        for name in ("weights", "scores", "value_norm", "query", "key", "value", "output")
    }
    doubled["value_norm"][0, 0] *= 50
    doubled["value_norm"][1] *= 1000
    seen = replace(small_trace, latent_positions=(0,), **doubled)
    # The only latent stands at position 0 and sees no token of the name there.
    assert strongest_head(seen) == (0, 0)
    assert strongest_head(replace(seen, name_positions=(0,))) == (0, 0)
    assert strongest_head(replace(seen, latent_positions=()))[0] == 1


def test_a_row_of_an_encoder_may_look_ahead():
    row = [0.1, 0.0, 0.1, 0.8]
    assert "no clear" in row_sentence("L0·H0", 1, row, LABELS, None)
    sentence = row_sentence("L0·H0", 1, row, LABELS, None, seen=range(4))
    assert sentence == "L0·H0 looks at “·Arden” (weight 0.8) at “·was”"


def test_without_the_first_token_its_share_is_said():
    row, seen = [0, 0.75, 0.25], [1, 2]
    assert row_sentence("L0·H0", 2, row, LABELS, None, seen=seen, sink=0.6) == (
        "L0·H0 has no clear pattern at “·Ada” (largest weight 0.75 without the first token, which "
        "has 0.6)"
    )
    sentence = row_sentence("L0·H0", 5, [0, 0, 0.9, 0.1, 0, 0], LABELS, None, sink=0.6)
    assert "looks at “·Ada” (weight 0.9 without the first token, which has 0.6)" in sentence
    assert row_sentence("L0·H0", 2, [0, 0, 0], LABELS, None, seen=seen, sink=1.0) == (
        "L0·H0 looks at nothing but the first token (sink share 1) at “·Ada”"
    )
    assert row_sentence("L0·H0", 0, [0, 0, 0], LABELS, None, seen=[], sink=1.0) == (
        "L0·H0 looks at nothing but the first token (sink share 1) at “·Where”"
    )


def test_where_nothing_is_written_every_row_counts(small_trace: AttentionTrace):
    silent = replace(small_trace, steps=())
    taken = small_trace.weights[0].sum(1)[:, 1] * small_trace.value_norm[0][:, 1]
    assert strongest_head(silent) == (0, int(taken.argmax()))
    tall = replace(silent, name_positions=(), value_norm=silent.value_norm * [[[1], [0.1]]])
    assert strongest_head(tall) == (0, 0)


def test_a_layer_that_does_not_look_from_the_answer_at_the_name_is_never_the_strongest(
    two_texts: AttentionTrace,
):
    assert strongest_head(two_texts)[0] == 2  # only across does the text look at the source
    free = replace(two_texts, name_positions=())
    assert strongest_head(free)[0] in (1, 2)
    loud = replace(two_texts, value_norm=two_texts.value_norm * [[[100]], [[1]], [[1]]])
    assert strongest_head(loud)[0] == 2
    nowhere = replace(two_texts, kinds=("encoder",) * 3)  # whatever it is, it gets an answer
    assert strongest_head(nowhere) == (0, 0)


def test_where_sinks_are_set_apart_the_first_token_does_not_make_a_head_the_strongest(
    small_trace: AttentionTrace,
):
    resting = small_trace.weights.copy()
    resting[0, 0, 2] = [0.98, 0.01, 0.01]
    opened = replace(small_trace, name_positions=(), weights=resting)
    assert strongest_head(opened) == (0, 0)  # 0.98 · 9
    assert strongest_head(replace(opened, kinds=("decoder",))) == (0, 1)


def test_notes_say_who_looks_at_whom_and_what_a_learned_sink_takes(
    small_trace: AttentionTrace, two_texts: AttentionTrace
):
    assert "may look both ways" in mechanism_note(replace(small_trace, kinds=("encoder",)))
    assert "by cross-attention, at all of the source" in mechanism_note(two_texts)
    sink = np.full((1, 2, 3), 0.25, dtype=np.float32)
    assert mechanism_note(replace(small_trace, sink=sink)) == (
        "Learned sinks take 25 % of the weight: rows of keys sum to less than 1, and what is "
        "lacking belongs to no token."
    )
