"""Training as a generator of records. It knows nothing of files, jobs or clocks.

Whoever consumes it decides when to save: `trainer.state()` after any record of the step at which
the trainer stands is enough to go on bit for bit on the same machine, because batches are a
function of seed and position. On the processor that is every record.

On a device a step is only ordered, and its loss read later: whoever asks for a number waits until
all is done that was ordered before it. So FETCH_EVERY steps are ordered at once, and their records
follow with what was found. A Perceiver and torch's CTC loss ask for a number inside a step, and so
wait once in each.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from core.checkpoints.store import load_weights
from core.models.families import OwnModel, make_model
from core.training.examples import POOL_SIZE, next_token_loss, pool_of_batches
from core.training.optimizers import make_optimizers, rate_factor, set_rates, state_for
from core.training.placed import in_precision, on_device, set_precision
from core.training.recipe import Phase, Recipe, phase_at
from core.training.shares import Shareable
from core.training.step import (
    CountedBatch,
    Cursor,
    Ordered,
    StepRecord,
    check_finite,
    fetch_every,
)
from core.training.team import device_of, team_of
from core.training.where import HERE, Where

IsDue = Callable[[int], bool]
MakePool = Callable[..., Sequence[CountedBatch]]
Loss = Callable[[Any, Any], Tensor]


class Trainer:
    """A model, its optimizers and the place in the data.

    What a batch is, `make_pool` and `loss` know alone: it makes the batches of a pool from data,
    recipe, phase, seed and number of the pool, always the same; `loss` is a batch's, to be lowered.
    `where` it trains: the model is moved there. Raises ValueError for several processes if this is
    none of them, or if batches cannot be shared out.
    """

    def __init__(
        self,
        model: OwnModel,
        data: Any,
        recipe: Recipe,
        *,
        n_steps: int,
        seed: int,
        make_pool: MakePool = pool_of_batches,
        loss: Loss = next_token_loss,
        where: Where = HERE,
    ) -> None:
        if n_steps < 1:
            raise ValueError(f"{n_steps} steps: at least 1 is needed")
        self.team, self.device = team_of(where), torch.device(device_of(where))
        set_precision(where)
        self.model, self.data, self.recipe = model.to(self.device), data, recipe
        self.make_pool, self.loss, self.where = make_pool, loss, where
        self.n_steps, self.seed = n_steps, seed
        self.optimizers = make_optimizers(model, recipe)
        self.cursor = Cursor()
        self.fetch_every = fetch_every(self.device)
        self._batches: Sequence[CountedBatch] = ()
        self._batches_of: tuple[int, int] | None = None

    def steps(self, is_due: IsDue = lambda _: False) -> Iterator[StepRecord]:
        """Train from where the cursor stands to the last step.

        The trainer stands at the step of a record if that `is_due`, the last, or that of a look at
        the losses; else it may be ahead of it.
        """
        while (step := self.cursor.step) < self.n_steps:
            ordered = [self._step()]
            while not self._is_read(self.cursor.step, since=step, is_due=is_due):
                ordered.append(self._step())
            yield from self._read(ordered)

    def _is_read(self, step: int, *, since: int, is_due: IsDue) -> bool:
        return step == self.n_steps or step - since >= self.fetch_every or is_due(step)

    def state(self) -> tuple[dict[str, Tensor], dict[str, int]]:
        """(tensors, cursor): model, optimizer moments and position."""
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        for index, optimizer in enumerate(self.optimizers):
            for parameter, moments in optimizer.state_dict()["state"].items():
                for key, value in moments.items():
                    tensors[f"optimizer.{index}.{parameter}.{key}"] = torch.as_tensor(value)
        cursor = {name: getattr(self.cursor, name) for name in Cursor.__slots__}
        return {name: tensor.cpu() for name, tensor in tensors.items()}, cursor

    def load_state(self, tensors: dict[str, Tensor], cursor: dict[str, int]) -> None:
        """Go back to a state. Raises ValueError if it belongs to another model."""
        model = {k.removeprefix("model."): t for k, t in tensors.items() if k.startswith("model.")}
        try:
            self.model.load_state_dict(model)
            for index, optimizer in enumerate(self.optimizers):
                optimizer.load_state_dict(state_for(optimizer, index, tensors))
            self.cursor = self._place(**cursor)
        except (RuntimeError, KeyError, TypeError) as error:
            raise ValueError(f"the saved state does not fit this model: {error}") from None

    def _place(self, **cursor: int) -> Cursor:
        """Raises ValueError for a place that this run never comes to, TypeError for other keys."""
        found = Cursor(**cursor)
        limits = {"step": self.n_steps, "phase": len(self.recipe.phases) - 1, "place": POOL_SIZE}
        for name in Cursor.__slots__:
            value, most = getattr(found, name), limits.get(name, self.n_steps)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
                raise ValueError(
                    f"the saved state has {name} {value!r:.40}; 0 to {most:,} are possible"
                )
        return found

    def _step(self) -> Ordered:
        batch, phase = self._next_batch()
        factor = rate_factor(self.cursor.step, self.n_steps, self.recipe, phase)
        set_rates(self.optimizers, self.recipe, factor)
        loss, norm = self._update(batch)
        self.cursor.step, self.cursor.place = self.cursor.step + 1, self.cursor.place + 1
        record = StepRecord(
            step=self.cursor.step,
            phase=phase.name,
            loss=math.nan,
            rate_factor=factor,
            n_tokens=batch.n_tokens,
        )
        return Ordered(record, loss, norm)

    def _update(self, batch: CountedBatch) -> tuple[Tensor, Tensor]:
        """(loss, norm of the gradient) of the whole batch; where reading them waits for nobody they
        are looked at before anything is changed.
        """
        at_once, step = self.fetch_every == 1, self.cursor.step + 1
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        with in_precision(self.where):
            loss = self.loss(self.model, on_device(self._own(batch), self.device))
        if at_once and self.team.size == 1:  # one of several must not end before the others
            check_finite("loss", loss.item(), step)
        loss.backward()
        parameters = list(self.model.parameters())
        loss = self.team.add_up(parameters, loss)
        norm = nn.utils.clip_grad_norm_(parameters, self.recipe.clip_norm)
        if at_once:
            check_finite("loss", loss.item(), step)
            check_finite("gradient", norm.item(), step)
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.detach(), norm

    def _own(self, batch: CountedBatch) -> CountedBatch:
        """What of a batch this process does."""
        if self.team.size == 1:
            return batch
        if not isinstance(batch, Shareable):
            raise ValueError(
                f"trainings of recipe {self.recipe.name} run in one process: their batches cannot "
                "be shared out"
            )
        return batch.share(self.team.rank, self.team.size)

    def _read(self, ordered: Sequence[Ordered]) -> Iterator[StepRecord]:
        """The records with their losses. Raises TrainingDivergedError at the first bad step."""
        losses = cast("list[float]", torch.stack([one.loss for one in ordered]).tolist())
        norms = cast("list[float]", torch.stack([one.norm for one in ordered]).tolist())
        for one, loss, norm in zip(ordered, losses, norms, strict=True):
            check_finite("loss", loss, one.record.step)
            check_finite("gradient", norm, one.record.step)
        for one, loss in zip(ordered, losses, strict=True):
            yield replace(one.record, loss=loss)

    def _next_batch(self) -> tuple[CountedBatch, Phase]:
        cursor = self.cursor
        index = phase_at(self.recipe, cursor.step, self.n_steps)
        if index != cursor.phase:
            cursor.phase, cursor.pool, cursor.place = index, 0, 0
        if cursor.place >= len(self._batches_at(index, cursor.pool)):
            cursor.pool, cursor.place = cursor.pool + 1, 0
        return self._batches_at(index, cursor.pool)[cursor.place], self.recipe.phases[index]

    def _batches_at(self, phase: int, pool: int) -> Sequence[CountedBatch]:
        if self._batches_of != (phase, pool):
            self._batches = self.make_pool(
                self.data, self.recipe, self.recipe.phases[phase], seed=self.seed, pool=pool
            )
            self._batches_of = (phase, pool)
        return self._batches


def trainer_factory(
    recipe: Recipe,
    data: Any,
    *,
    vocabulary_size: int,
    seed: int,
    weights: Path | None = None,
    make_pool: MakePool = pool_of_batches,
    loss: Loss = next_token_loss,
    where: Where = HERE,
) -> Callable[[int], Trainer]:
    """Trainers of a number of steps, each from the seed's own first parameters or a file's.

    Raises CheckpointError for weights that do not fit the recipe's model.
    """

    def make(n_steps: int) -> Trainer:
        generator = torch.Generator().manual_seed(seed)
        model = make_model(recipe.model_config(vocabulary_size), generator=generator)
        if weights is not None:
            load_weights(model, weights)
        return Trainer(
            model,
            data,
            recipe,
            n_steps=n_steps,
            seed=seed,
            make_pool=make_pool,
            loss=loss,
            where=where,
        )

    return make
