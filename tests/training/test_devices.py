"""The loop on a device, as far as it can be seen without one: what waits, and what is read when."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from core.models.gpt import GPT
from core.training.examples import IGNORE, Batch
from core.training.loop import Trainer
from core.training.muon import StackedMuon, orthogonal
from core.training.optimizers import make_optimizers, rate_factor, set_rates
from core.training.placed import in_precision, on_device, set_precision
from core.training.step import FETCH_EVERY, TrainingDivergedError
from core.training.where import HERE, PRECISIONS, Where
from tests.variants import VARIANTS

MakeTrainer = Callable[..., Trainer]


def weights(trainer: Trainer) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in trainer.model.state_dict().items()}


def assert_same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    for name, tensor in expected.items():
        assert torch.equal(found[name], tensor), name


def trained_plainly(trainer: Trainer) -> list[float]:
    """The loop on the processor written out: each number is read where it comes up."""
    recipe, losses = trainer.recipe, list[float]()
    model = cast(GPT, trainer.model)
    matrices = [p for p in model.blocks.parameters() if p.ndim == 2]
    rest = [p for p in model.parameters() if all(p is not one for one in matrices)]
    muon = torch.optim.Muon(
        matrices,
        lr=recipe.matrix_rate,
        momentum=0.95,
        weight_decay=recipe.matrix_decay,
        adjust_lr_fn="original",
    )
    adamw = torch.optim.AdamW(rest, lr=recipe.adamw_rate, betas=(0.9, 0.95), weight_decay=0.0)
    for step in range(trainer.n_steps):
        found, phase = trainer._next_batch()
        batch = cast(Batch, found)
        set_rates([muon, adamw], recipe, rate_factor(step, trainer.n_steps, recipe, phase))
        muon.zero_grad()
        adamw.zero_grad()
        logits = model(batch.inputs)
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE
        )
        losses.append(loss.item())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe.clip_norm)
        muon.step()
        adamw.step()
        trainer.cursor.step, trainer.cursor.place = step + 1, trainer.cursor.place + 1
    return losses


def test_on_the_processor_every_weight_is_that_of_the_plain_loop_bit_for_bit(
    make_trainer: MakeTrainer,
):
    trainer, plain = make_trainer(), make_trainer()
    losses = [record.loss for record in trainer.steps()]
    assert losses == trained_plainly(plain)
    assert_same(weights(trainer), weights(plain))


def test_losses_that_are_read_later_belong_to_the_same_steps(make_trainer: MakeTrainer):
    at_once, later = make_trainer(), make_trainer()
    expected = list(at_once.steps())
    later.fetch_every = 6
    stood = [(record, later.cursor.step) for record in later.steps(lambda step: step == 8)]
    assert [record for record, _ in stood] == expected
    assert [step for _, step in stood] == [6] * 6 + [8] * 2 + [14] * 6 + [16] * 2
    assert_same(weights(later), weights(at_once))


def test_a_loss_that_is_no_number_is_told_of_its_own_step_when_it_is_read(
    make_trainer: MakeTrainer,
):
    trainer = make_trainer()
    trainer.fetch_every = 4
    steps = trainer.steps()
    for _ in range(4):
        next(steps)
    good = weights(trainer)
    tensors, cursor = trainer.state()
    tensors = {name: tensor.clone() for name, tensor in tensors.items()}
    plain = trainer.loss

    def spoilt(model: nn.Module, batch: Batch) -> Tensor:
        return plain(model, batch) * (torch.nan if trainer.cursor.step == 5 else 1.0)

    trainer.loss = spoilt
    with pytest.raises(TrainingDivergedError, match="the loss is nan at step 6"):
        next(steps)
    assert trainer.cursor.step == 8  # it has gone on, with parameters that are no numbers
    again = make_trainer()
    again.load_state(tensors, cursor)
    assert_same(weights(again), good)


# The latents of a Perceiver are found by a mask: their number is asked for in every step.
@pytest.mark.parametrize("variant", [name for name in VARIANTS if "perceiver" not in name])
def test_no_step_reads_a_number_of_the_device(make_trainer: MakeTrainer, variant: str):
    """A tensor on "meta" has no numbers: who asks for one, or mixes in the processor's, fails."""
    trainer = make_trainer(**{"positions": "learned", "n_layers": 2, **VARIANTS[variant]})
    trainer.device, trainer.fetch_every = torch.device("meta"), FETCH_EVERY
    trainer.model.to(trainer.device)
    trainer.optimizers = make_optimizers(trainer.model, trainer.recipe)
    ordered = [trainer._step() for _ in range(2)]
    assert [one.record.step for one in ordered] == [1, 2]
    assert {one.loss.device.type for one in ordered} == {"meta"}
    with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
        ordered[0].loss.item()


def test_the_processor_gives_a_batch_as_it_is_and_a_device_all_of_its_tensors():
    batch = Batch(torch.zeros(1, 2, dtype=torch.long), torch.ones(1, 2, dtype=torch.long), 2)
    assert on_device(batch, torch.device("cpu")) is batch
    moved = on_device(batch, torch.device("meta"))
    assert (moved.inputs.device.type, moved.targets.device.type) == ("meta", "meta")
    assert moved.n_tokens == 2


def test_autocast_is_on_where_it_was_chosen():
    with in_precision(HERE):
        assert not torch.is_autocast_enabled("cpu")
    chosen = in_precision(Where(device="mps", precision="bfloat16"))
    assert isinstance(chosen, torch.autocast)
    assert (chosen.device, chosen.fast_dtype) == ("mps", torch.bfloat16)


def stepped(kind: type[torch.optim.Muon]) -> tuple[list[Tensor], dict[str, Any]]:
    """Parameters of three shapes after 4 steps, of which one has no gradient, and the state."""
    draw = torch.Generator().manual_seed(0)
    shapes = [(8, 12), (12, 8), (8, 12), (8, 8), (12, 8), (4, 4)]
    parameters = [nn.Parameter(torch.randn(shape, generator=draw)) for shape in shapes]
    muon = kind(parameters, lr=0.02, momentum=0.95, weight_decay=0.05, adjust_lr_fn="original")
    for _ in range(4):
        for parameter in parameters[:-1]:
            parameter.grad = torch.randn(parameter.shape, generator=draw)
        muon.step()
    return [parameter.detach() for parameter in parameters], muon.state_dict()["state"]


def test_stacked_muon_steps_as_torch_does():
    (found, state), (expected, other) = stepped(StackedMuon), stepped(torch.optim.Muon)
    for one, same in zip(found, expected, strict=True):
        torch.testing.assert_close(one, same, rtol=0, atol=1e-3)  # of 0.02 a step, in bfloat16
    assert sorted(state) == sorted(other) == [0, 1, 2, 3, 4]
    for index, kept in state.items():
        assert torch.equal(kept["momentum_buffer"], other[index]["momentum_buffer"])


def test_stacked_muon_takes_no_closure():
    with pytest.raises(ValueError, match="this optimizer takes no closure"):
        StackedMuon([nn.Parameter(torch.eye(2))]).step(lambda: 0.0)


@pytest.mark.parametrize("shape", [(2, 6, 10), (2, 10, 6)])
def test_what_newton_and_schulz_make_is_nearly_orthogonal(shape: tuple[int, int, int]):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    made = orthogonal(matrices, (3.4445, -4.775, 2.0315), 5, 1e-7).float()
    assert made.shape == matrices.shape
    sizes = torch.linalg.svdvals(made)
    assert sizes.min() > 0.4
    assert sizes.max() < 1.4


def test_optimizers_of_a_device_do_many_parameters_at_once(make_trainer: MakeTrainer):
    trainer = make_trainer()
    assert [type(one) for one in trainer.optimizers] == [torch.optim.Muon, torch.optim.AdamW]
    trainer.model.to("meta")
    muon, _ = make_optimizers(trainer.model, replace(trainer.recipe))
    assert type(muon) is StackedMuon


def test_tf32_is_taken_where_it_was_asked_for_and_nowhere_else():
    cudnn = cast(Any, torch.backends.cudnn)
    rooms: list[Any] = [torch.backends.cuda.matmul, cudnn.conv, cudnn.rnn]
    before = [room.fp32_precision for room in rooms]
    try:
        wanted = {"tf32": "tf32", "float32": "ieee", "bfloat16": "ieee"}
        for precision in PRECISIONS:
            set_precision(Where(device="cuda", precision=precision))
            set_precision(HERE)  # changes nothing
            assert [room.fp32_precision for room in rooms] == [wanted[precision]] * 3
    finally:
        for room, value in zip(rooms, before, strict=True):
            room.fp32_precision = value
