"""Linear attention in the model: causal, the same by state and by weights, stored, trained."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from core.checkpoints.store import CheckpointError, load_checkpoint, save_checkpoint
from core.data.vocabulary import Vocabulary
from core.models.config import GPTConfig
from core.models.gpt import GPT
from core.training.loop import Trainer
from tests.with_task import gpt_of

MakeGPT = Callable[..., GPT]
KINDS: dict[str, dict[str, Any]] = {
    "elu": {"attention": "elu"},
    "elu-rotary": {"attention": "elu", "positions": "rotary"},
    "favor": {"attention": "favor", "n_features": 24},
    "taylor": {"attention": "taylor"},
    "taylor-even": {"attention": "taylor", "n_terms": 4, "positions": "rotary"},
}


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest, make_gpt: MakeGPT) -> GPT:
    return make_gpt(seed=2, **KINDS[request.param])


def some_ids(*shape: int, seed: int = 0) -> Tensor:
    return torch.randint(2, 30, shape, generator=torch.Generator().manual_seed(seed))


def first_weights(model: GPT, ids: Tensor) -> Tensor:
    """(B, H, L, L) of the first layer."""
    stream = model.embed(ids)
    heads = model.layers[0].heads(stream, stream)
    return heads.weights(heads.scores())


def plain(attention: str, **sizes: Any) -> GPT:
    """As a training starts: small parameters."""
    config: dict[str, Any] = {"vocabulary_size": 30, "n_layers": 2, "width": 16, "n_heads": 2}
    config |= {"attention": attention, **sizes}
    return GPT(GPTConfig(**config), generator=torch.Generator().manual_seed(3)).eval()


@torch.inference_mode()
def test_a_changed_token_leaves_every_output_before_it_unchanged(model: GPT):
    ids = some_ids(1, 20)
    before = model(ids)
    for place in (0, 5, 19):
        changed = ids.clone()
        changed[0, place] = (ids[0, place] + 1) % 30
        after = model(changed)
        torch.testing.assert_close(after[:, :place], before[:, :place], atol=1e-5, rtol=1e-5)
        assert (after[:, place] - before[:, place]).abs().max() > 1e-4


@torch.inference_mode()
def test_a_pass_through_effective_weights_equals_the_models_own(model: GPT):
    ids = some_ids(3, 24)
    stream = model.embed(ids)
    for block in model.layers:
        heads = block.heads(stream, stream)
        output = heads.weights(heads.scores()) @ heads.value
        torch.testing.assert_close(output, heads.output(), atol=1e-3, rtol=1e-3)
        stream = stream._replace(x=block.merge(stream.x, heads.output()))
    assert torch.equal(model.logits(stream.x), model(ids))


@torch.inference_mode()
def test_effective_weights_are_the_scores_over_their_sum_and_sum_to_one(model: GPT):
    stream = model.embed(some_ids(2, 20))
    heads = model.layers[0].heads(stream, stream)
    scores = heads.scores()
    future = torch.ones(20, 20, dtype=torch.bool).triu(1)
    assert torch.equal(torch.isneginf(scores), future.expand_as(scores))
    shown = scores.masked_fill(future, 0.0)
    weights = heads.weights(scores)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 20), atol=2e-3, rtol=0)
    torch.testing.assert_close(weights, shown / shown.sum(-1, keepdim=True), atol=1e-3, rtol=1e-3)
    assert not weights[..., future].any()


@torch.inference_mode()
@pytest.mark.parametrize(
    ("kind", "negative"),
    [("elu", False), ("favor", False), ("taylor", False), ("taylor-even", True)],
)
def test_only_an_odd_highest_power_gives_negative_weights(
    make_gpt: MakeGPT, kind: str, negative: bool
):
    weights = first_weights(make_gpt(seed=2, **KINDS[kind]), some_ids(2, 20))
    assert bool((weights < 0).any()) is negative


@torch.inference_mode()
def test_more_terms_come_closer_to_softmax_and_one_term_is_uniform():
    exact = plain("softmax")
    with torch.no_grad():
        for block in exact.layers:
            for name, parameter in block.named_parameters():
                if name in ("query.weight", "key.weight"):
                    parameter.mul_(5)  # the largest logit is 0.47
    ids = some_ids(1, 20)
    expected, errors = exact(ids), list[float]()
    for n_terms in (1, 2, 3, 4):
        series = plain("taylor", n_terms=n_terms)
        series.load_state_dict(exact.state_dict())
        errors.append(float((series(ids) - expected).abs().max()))
        if n_terms == 1:
            uniform = torch.ones(20, 20).tril()
            uniform /= uniform.sum(-1, keepdim=True)
            torch.testing.assert_close(first_weights(series, ids)[0, 0], uniform)
    assert errors[0] > 4 * errors[1] > 16 * errors[2] > 64 * errors[3] > 0


def test_features_are_drawn_last_and_are_no_parameters():
    exact, random = plain("softmax"), plain("favor", n_features=24)
    assert random.n_parameters == exact.n_parameters
    state = exact.state_dict()
    for name, tensor in random.state_dict().items():
        assert torch.equal(tensor, state[name]) is True if name in state else "projection" in name
    first, second = (layer.get_buffer("projection") for layer in random.layers)
    assert first.shape == (24, 8)
    assert not torch.equal(first, second)
    assert torch.equal(first, plain("favor", n_features=24).layers[0].get_buffer("projection"))


@torch.inference_mode()
def test_a_stored_model_keeps_the_features_it_was_made_with(
    make_gpt: MakeGPT, characters: Vocabulary, tmp_path: Path
):
    for name, sizes in KINDS.items():
        model = make_gpt(seed=7, vocabulary_size=characters.size, **sizes)
        save_checkpoint(tmp_path / name, model, characters, {}, dtype=torch.float32)
        stored = gpt_of(load_checkpoint(tmp_path / name))
        assert stored.config == model.config
        assert torch.equal(stored(some_ids(1, 20)), model(some_ids(1, 20)))
        assert torch.equal(stored(some_ids(1, 20)), stored(some_ids(1, 20)))


def test_a_checkpoint_without_its_features_is_refused(
    make_gpt: MakeGPT, characters: Vocabulary, tmp_path: Path
):
    model = make_gpt(vocabulary_size=characters.size, attention="favor")
    for layer in model.layers:
        layer.register_buffer("projection", layer.get_buffer("projection"), persistent=False)
    save_checkpoint(tmp_path / "bare", model, characters, {})
    with pytest.raises(CheckpointError, match=r"the tensor blocks\.0\.projection is missing"):
        load_checkpoint(tmp_path / "bare")


@pytest.mark.parametrize("attention", ["elu", "favor", "taylor"])
def test_it_learns_and_leaves_its_features_alone(
    make_trainer: Callable[..., Trainer], attention: str
):
    trainer = make_trainer(n_steps=16, attention=attention)
    before = {name: t.clone() for name, t in trainer.model.named_buffers()}
    losses = [record.loss for record in trainer.steps()]
    assert sum(losses[-4:]) < sum(losses[:4]) - 4 * 0.5
    for name, tensor in trainer.model.named_buffers():
        assert torch.equal(tensor, before[name])
    assert isinstance(trainer.model, GPT)
    for layer in trainer.model.layers:
        gradient = dict(layer.named_parameters())["query.weight"].grad
        assert gradient is not None
        assert gradient.abs().max() > 0


def test_training_goes_on_from_a_state_with_its_features(make_trainer: Callable[..., Trainer]):
    whole = make_trainer(n_steps=6, attention="favor")
    records = [record.loss for record in whole.steps()]
    half, other = (make_trainer(n_steps=6, attention="favor", seed=seed) for seed in (0, 0))
    steps = half.steps()
    for _ in range(3):
        next(steps)
    assert isinstance(other.model, GPT)
    for layer in other.model.layers:
        layer.get_buffer("projection").zero_()
    other.load_state(*half.state())
    assert [record.loss for record in other.steps()] == records[3:]
