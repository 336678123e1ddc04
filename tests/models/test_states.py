"""States and windows in the model: causal, the same by state and by weights, stored, trained."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from core.checkpoints.store import load_checkpoint, save_checkpoint
from core.data.vocabulary import Vocabulary
from core.models.config import GPTConfig
from core.models.gpt import GPT
from core.models.state_blocks import open_gates
from core.models.state_heads import StateHeads, WindowHeads
from core.training.loop import Trainer
from tests.with_task import gpt_of

MakeGPT = Callable[..., GPT]
KINDS: dict[str, dict[str, Any]] = {
    "delta": {"attention": "delta"},
    "gated-delta": {"attention": "gated-delta", "positions": "rotary"},
    "gate": {"attention": "gate"},
    "window": {"attention": "window", "window": 6, "n_sinks": 2},
    "based": {"attention": "based", "window": 6},
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def model(kind: str, make_gpt: MakeGPT) -> GPT:
    return make_gpt(seed=2, **KINDS[kind])


def some_ids(*shape: int, seed: int = 0) -> Tensor:
    return torch.randint(2, 30, shape, generator=torch.Generator().manual_seed(seed))


@torch.inference_mode()
def test_a_changed_token_leaves_every_output_before_it_unchanged(model: GPT):
    ids = some_ids(1, 20)
    before = model(ids)
    for place in (0, 5, 19):
        changed = ids.clone()
        changed[0, place] = (ids[0, place] + 1) % 30
        after = model(changed)
        torch.testing.assert_close(after[:, :place], before[:, :place], atol=1e-4, rtol=1e-4)
        assert (after[:, place] - before[:, place]).abs().max() > 1e-4


@torch.inference_mode()
def test_a_pass_through_the_weights_equals_the_models_own(model: GPT):
    ids = some_ids(3, 24)
    stream = model.embed(ids)
    for block in model.layers:
        heads = block.heads(stream, stream)
        assert isinstance(heads, StateHeads | WindowHeads)
        scores = heads.scores()
        assert torch.equal(torch.isneginf(scores), heads.masked.expand_as(scores))
        weights = heads.weights(scores)
        assert not weights[heads.masked.expand_as(weights)].any()
        torch.testing.assert_close(weights @ heads.value, heads.output(), atol=1e-3, rtol=1e-3)
        stream = stream._replace(x=block.merge(stream.x, heads.output()))
    assert torch.equal(model.logits(stream.x), model(ids))


@torch.inference_mode()
def test_a_stored_model_is_the_model_and_its_sizes_are_in_its_file(
    kind: str, make_gpt: MakeGPT, characters: Vocabulary, tmp_path: Path
):
    model = make_gpt(seed=7, vocabulary_size=characters.size, **KINDS[kind])
    save_checkpoint(tmp_path / kind, model, characters, {}, dtype=torch.float32)
    stored = gpt_of(load_checkpoint(tmp_path / kind))
    assert stored.config == model.config
    assert torch.equal(stored(some_ids(1, 20)), model(some_ids(1, 20)))


def test_it_learns_from_the_recipe(make_trainer: Callable[..., Trainer], kind: str):
    trainer = make_trainer(n_steps=16, attention=KINDS[kind]["attention"])
    losses = [record.loss for record in trainer.steps()]
    assert sum(losses[-4:]) < sum(losses[:4]) - 4 * 0.5
    assert isinstance(trainer.model, GPT)
    rates = ("beta.weight", "gate.bias")
    for layer in trainer.model.layers:
        for name, parameter in layer.named_parameters():
            if name in ("query.weight", *rates):
                assert parameter.grad is not None
                assert parameter.grad.abs().max() > 0


def test_it_learns_to_copy(kind: str):
    """Eight tokens, then the same again: the second half is known from the first, by states and
    windows alike. Counted in steps.
    """
    generator = torch.Generator().manual_seed(4)
    sizes: dict[str, Any] = {"vocabulary_size": 8, "block_size": 16, "n_layers": 2, "width": 32}
    own: dict[str, Any] = {**KINDS[kind], "positions": "learned"}
    own |= {"window": 9} if kind == "window" else {}
    model = GPT(GPTConfig(n_heads=2, **sizes, **own), generator=generator)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses: list[float] = []
    for _ in range(120):
        half = torch.randint(0, 8, (32, 8), generator=generator)
        ids = torch.cat([half, half], 1)
        logits = model(ids)[:, 7:-1]
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 8:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert sum(losses[:5]) / 5 > 1.9  # of guessing log 8 = 2.08
    assert sum(losses[-5:]) / 5 < 1.75


def test_gates_begin_open_and_betas_at_a_half():
    config = GPTConfig(vocabulary_size=9, width=16, n_heads=4, n_layers=1, attention="gated-delta")
    model = GPT(config, generator=torch.Generator().manual_seed(0))
    (layer,) = model.layers
    parameters = dict(layer.named_parameters())
    assert torch.equal(parameters["gate.bias"].detach(), open_gates(4))
    assert (parameters["beta.bias"] == 0).all()
    gates = open_gates(5).sigmoid()
    expected = 1 - 2.0 ** -torch.arange(3.0, 8.0)
    torch.testing.assert_close(gates, expected)
    assert open_gates(1).isfinite().all()


def test_a_short_convolution_begins_uniform_and_belongs_to_no_matrix():
    sizes: dict[str, Any] = {"vocabulary_size": 10, "width": 64, "n_heads": 2, "n_layers": 1}
    config = GPTConfig(**sizes, short_convolution=4)
    model = GPT(config, generator=torch.Generator().manual_seed(0))
    nearby = dict(model.named_parameters())["blocks.0.nearby"].detach()
    assert nearby.shape == (1, 4, 64)
    assert 0.4 < float(nearby.abs().max()) <= 0.5
    assert len(model.matrices) == len(GPT(GPTConfig(**sizes)).matrices)
    assert not model.shape.keeps_past


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"window": 9}, "window belongs to attention 'window' or 'based', not 'softmax'"),
        (
            {"attention": "based", "n_sinks": 2},
            "n_sinks belongs to attention 'window', not 'based'",
        ),
        ({"attention": "window", "window": 0}, "window is 0; it must be at least 1"),
        ({"attention": "window", "n_sinks": -1}, "n_sinks is -1; it must be at least 0"),
        ({"attention": "delta", "n_latents": 4}, "which delta rule needs: n_latents must be 0"),
        (
            {"short_convolution": 17},
            "short_convolution is 17; it must be at least 0 and at most 16",
        ),
        (
            {"attention": "synthesizer", "short_convolution": 4},
            "short_convolution belongs to attention 'softmax' or 'elu' or .* not 'synthesizer'",
        ),
        ({"n_latents": 4, "short_convolution": 4}, "so none comes right before it: with n_latents"),
        ({"attention": "window", "n_latents": 4}, "which window needs: n_latents must be 0"),
        (
            {"attention": "based", "width": 512, "n_heads": 1},
            "3 Taylor terms of heads of 512 numbers are 131,841 features; at most 65,536",
        ),
    ],
)
def test_sizes_that_do_not_fit_are_refused(changes: dict[str, Any], message: str):
    sizes: dict[str, Any] = {"vocabulary_size": 10, "width": 32, "n_heads": 4}
    with pytest.raises(ValueError, match=message):
        GPTConfig(**sizes | changes)
