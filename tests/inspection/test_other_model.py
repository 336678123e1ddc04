"""Every tool works on a model that is no GPT: the next one needs no change of the seam."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.generation.greedy import answer, attending, prompt_ids
from core.inspection.answered import answered
from core.inspection.attribution import attribution, logit_lens
from core.inspection.head_table import measure_heads, prepare
from core.inspection.heads import HeadsOff, every_head
from core.inspection.patching import Site, patch, record_run
from core.inspection.recorded import prove
from core.inspection.trace import record, trace
from core.models.seam import Model, Stream
from tests.inspection.forged import forge
from tests.other_model import DOES_NOT_WRITE, N_HEADS, N_LAYERS, OtherModel, other_model, without
from tests.with_task import with_task

QUESTION, OTHER = "Where was Ada Arden born?", "Where was Ida Arden born?"
SEED = 17  # the two answers begin with different letters, and go on


@pytest.fixture(scope="module")
def model(characters: Vocabulary) -> OtherModel:
    return other_model(characters.size, seed=SEED)


@pytest.fixture(scope="module")
def checkpoint(model: OtherModel, characters: Vocabulary) -> Checkpoint:
    return with_task(model, characters)


@pytest.fixture(scope="module")
def encoder(characters: Vocabulary) -> Checkpoint:
    return with_task(other_model(characters.size, is_encoder=True), characters)


@torch.inference_mode()
def real_logits(checkpoint: Checkpoint, step: int) -> tuple[Tensor, int]:
    """The logits (vocabulary,) of a plain pass where a token is written, and that token."""
    known = answered(checkpoint, [Question(QUESTION, None, "")])
    written = known.answers[0].ids
    ids = torch.tensor([[*known.prompts[0], *written[:step]]])
    return fused(checkpoint.model, ids)[0, -1], written[step]


def fused(model: Model, ids: Tensor) -> Tensor:
    return model.logits(model.run(ids, attending(None)))


def test_the_proof_of_a_trace_holds(checkpoint: Checkpoint):
    seen = trace(checkpoint, QUESTION)
    assert seen.proof.replay_max_difference < 1e-5
    assert seen.proof.row_sum_max_error < 1e-6
    assert seen.proof.future_exactly_zero
    assert (seen.n_layers, seen.n_heads) == (N_LAYERS, N_HEADS)
    assert seen.name_positions == tuple(range(10, 19))
    assert seen.key is not None
    np.testing.assert_array_equal(seen.key[:, 0], seen.key[:, 1])  # two queries share a key
    assert not np.allclose(seen.key[:, 1], seen.key[:, 2])


@torch.inference_mode()
def test_the_proof_notices_the_weights_of_another_layer(
    model: OtherModel, monkeypatch: pytest.MonkeyPatch
):
    ids = torch.tensor([range(2, 20)])
    own = model.run(ids, attending(None))
    recorded, replayed = record(model, ids)
    assert prove(recorded, replayed, own).replay_max_difference < 1e-5
    others = iter(recorded.arrays["weights"][::-1].copy())
    forge(monkeypatch, lambda weights, _: np.copyto(weights, next(others)))
    assert prove(*record(model, ids), own).replay_max_difference > 1e-2


@torch.inference_mode()
def test_an_answer_with_the_cache_is_that_of_whole_passes(checkpoint: Checkpoint):
    (given,) = answer(checkpoint, [QUESTION])
    assert len(given.ids) > 1
    for step, token in enumerate(given.ids):
        logits, written = real_logits(checkpoint, step)
        assert token == written == int(logits.argmax())


@pytest.mark.parametrize("head", [(0, 1), (2, 3)])
def test_a_head_that_is_off_is_one_with_erased_columns(
    model: OtherModel, characters: Vocabulary, checkpoint: Checkpoint, head: tuple[int, int]
):
    off = trace(checkpoint, QUESTION, HeadsOff(heads=(head,)))
    erased = trace(with_task(without(model, *head), characters), QUESTION)
    assert off.answer == erased.answer
    np.testing.assert_allclose(off.weights, erased.weights, atol=1e-5)
    assert off.proof.replay_max_difference < 1e-5
    on = trace(checkpoint, QUESTION)
    assert abs(on.steps[0].probability - off.steps[0].probability) > 1e-4


@pytest.mark.parametrize("step", [0, 1])
def test_all_parts_sum_to_the_logit_plain_and_above_the_mean(checkpoint: Checkpoint, step: int):
    logits, token = real_logits(checkpoint, step)
    for relative, expected in ((False, logits[token]), (True, logits[token] - logits.mean())):
        found = attribution(checkpoint, QUESTION, step=step, relative=relative)
        assert found.total == pytest.approx(float(expected), abs=1e-4)
        assert found.logit == pytest.approx(float(expected), abs=1e-4)
        assert found.norm_bias == 0
        assert not found.attention_bias.any()
        assert found.heads.all()


def test_the_lens_ends_at_the_real_logit(checkpoint: Checkpoint):
    logits, token = real_logits(checkpoint, 0)
    lens = logit_lens(checkpoint, QUESTION)
    assert len(lens.logit) == N_LAYERS + 1
    assert lens.logit[-1] == pytest.approx(float(logits[token]), abs=1e-4)
    assert lens.probability[-1] == pytest.approx(float(logits.softmax(-1)[token]), abs=1e-5)
    assert lens.rank[-1] == 0


@torch.inference_mode()
@pytest.mark.parametrize("layer", range(N_LAYERS))
def test_the_whole_stream_of_another_run_makes_it_the_other_run(
    model: OtherModel, checkpoint: Checkpoint, layer: int
):
    own, other = (torch.tensor([prompt_ids(checkpoint, text)]) for text in (QUESTION, OTHER))
    donor = record_run(model, other)

    def tap(at: int, stream: Stream) -> Stream:
        return stream._replace(x=donor.streams[layer]) if at == layer else stream

    patched = model.logits(model.run(own, attending(None), tap=tap))
    torch.testing.assert_close(patched, fused(model, other))
    assert (patched - fused(model, own)).abs().max() > 1e-3


def test_the_stream_that_the_head_reads_decides_an_answer_of_one_token(characters: Vocabulary):
    mark = len(characters.encode(QUESTION))
    model = other_model(characters.size, seed=SEED, longest_input=mark + 2)
    checkpoint = with_task(model, characters)
    last, before = Site(N_LAYERS - 1, mark), Site(N_LAYERS - 1, mark - 1)
    found = patch(checkpoint, QUESTION, OTHER, [last, before, Site(0, mark, 2)])
    assert found.answers[0] != found.answers[1]
    np.testing.assert_allclose(found.patched[0], found.other, atol=1e-5)
    np.testing.assert_allclose(found.patched[1], found.question, atol=1e-5)
    assert found.moved[:2] == pytest.approx([1, 0], abs=1e-4)
    assert not np.allclose(found.patched[2], found.question, atol=1e-5)
    with pytest.raises(ValueError, match="L3·H0 is not a head of this model: layers are 0 to 2"):
        patch(checkpoint, QUESTION, OTHER, [Site(N_LAYERS, mark)])


def test_every_head_has_its_row_in_the_table(checkpoint: Checkpoint):
    asked = [Question(text, "Lima", "") for text in (QUESTION, OTHER)]
    table = measure_heads(checkpoint, prepare(checkpoint, asked))
    assert [row.at for row in table.rows] == every_head(checkpoint.model.shape)
    assert all(row.attribution for row in table.rows)
    assert all(row.log_probability_change for row in table.rows)


@torch.inference_mode()
def test_the_proof_holds_where_nothing_is_masked(
    encoder: Checkpoint, monkeypatch: pytest.MonkeyPatch
):
    ids = torch.tensor([prompt_ids(encoder, QUESTION)])
    own = encoder.model.run(ids, attending(None))
    recorded, replayed = record(encoder.model, ids)
    proof = prove(recorded, replayed, own)
    assert proof.replay_max_difference < 1e-5
    assert proof.row_sum_max_error < 1e-6
    assert recorded.seen.all()
    assert (recorded.arrays["weights"] > 0).all()
    forge(monkeypatch, lambda weights, _: np.copyto(weights, weights[..., ::-1].copy()))
    assert prove(*record(encoder.model, ids), own).replay_max_difference > 1e-2


def test_an_encoder_fills_its_gaps_and_writes_nothing_behind_a_text(encoder: Checkpoint):
    (filled,) = answer(encoder, [QUESTION])  # whose ⁇ is a gap
    assert len(filled.ids) == 1
    found = trace(encoder, QUESTION)
    assert found.answer == filled.text
    (step,) = found.steps
    assert step.row == step.position == found.n_tokens - 1
    assert found.proof.replay_max_difference < 1e-5
    looked_at = trace(replace(encoder, task=None), QUESTION)
    assert (looked_at.answer, looked_at.steps) == ("", ())
    assert looked_at.kinds == ("encoder",) * N_LAYERS
    assert looked_at.visible.all()
    with pytest.raises(ValueError, match="there is no ⁇ in the text: an encoder fills gaps"):
        answer(replace(encoder, task=None), [QUESTION])
    assert encoder.model.cannot("answer") == DOES_NOT_WRITE
    with pytest.raises(ValueError, match=f"^{re.escape(DOES_NOT_WRITE)}$"):
        patch(encoder, QUESTION, OTHER, [])
