"""Training as a generator of records. It knows nothing of files, jobs or clocks.

Whoever consumes it decides when to save: `trainer.state()` after any record is enough to go on
bit for bit on the same machine, because batches are a function of seed and position.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.checkpoints.store import load_weights
from core.models.families import OwnModel, make_model
from core.training.examples import IGNORE, POOL_SIZE, Batch, pool_of_batches
from core.training.optimizers import make_optimizers, rate_factor, set_rates
from core.training.recipe import Phase, Recipe
from core.training.where import HERE, Where


class CountedBatch(Protocol):
    """What a step is made of; `n_tokens` are its real ones, whatever a token is."""

    @property
    def n_tokens(self) -> int: ...


MakePool = Callable[..., Sequence[CountedBatch]]
Loss = Callable[[Any, Any], Tensor]


class TrainingDivergedError(RuntimeError):
    """The loss or its gradient is not a number; all is as it was before the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One optimizer step. `step` counts finished steps; `n_tokens` are real ones."""

    step: int
    phase: str
    loss: float
    rate_factor: float
    n_tokens: int


@dataclass(slots=True)
class Cursor:
    """Where in the data a run stands: finished steps, phase, pool and place in the pool."""

    step: int = 0
    phase: int = 0
    pool: int = 0
    place: int = 0


def next_token_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Mean cross-entropy of the tokens that count, each given those before it."""
    logits: Tensor = model(batch.inputs)
    return F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)


class Trainer:
    """A model, its optimizers and the place in the data.

    What a batch is, `make_pool` and `loss` know alone: it makes the batches of a pool from data,
    recipe, phase, seed and number of the pool, always the same; `loss` is a batch's, to be lowered.
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
        self.model, self.data, self.recipe = model, data, recipe
        self.make_pool, self.loss, self.where = make_pool, loss, where
        self.n_steps, self.seed = n_steps, seed
        self.optimizers = make_optimizers(model, recipe)
        self.cursor = Cursor()
        self._batches: Sequence[CountedBatch] = ()
        self._batches_of: tuple[int, int] | None = None

    def steps(self) -> Iterator[StepRecord]:
        """Train from where the cursor stands to the last step."""
        while self.cursor.step < self.n_steps:
            yield self._step()

    def state(self) -> tuple[dict[str, Tensor], dict[str, int]]:
        """(tensors, cursor): model, optimizer moments and position."""
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        for index, optimizer in enumerate(self.optimizers):
            for parameter, moments in optimizer.state_dict()["state"].items():
                for key, value in moments.items():
                    tensors[f"optimizer.{index}.{parameter}.{key}"] = torch.as_tensor(value)
        cursor = {name: getattr(self.cursor, name) for name in Cursor.__slots__}
        return tensors, cursor

    def load_state(self, tensors: dict[str, Tensor], cursor: dict[str, int]) -> None:
        """Go back to a state. Raises ValueError if it belongs to another model."""
        model = {k.removeprefix("model."): t for k, t in tensors.items() if k.startswith("model.")}
        try:
            self.model.load_state_dict(model)
            for index, optimizer in enumerate(self.optimizers):
                optimizer.load_state_dict(_optimizer_state(optimizer, index, tensors))
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

    def _step(self) -> StepRecord:
        batch, phase = self._next_batch()
        factor = rate_factor(self.cursor.step, self.n_steps, self.recipe, phase)
        set_rates(self.optimizers, self.recipe, factor)
        loss = self._update(batch)
        self.cursor.step, self.cursor.place = self.cursor.step + 1, self.cursor.place + 1
        return StepRecord(
            step=self.cursor.step,
            phase=phase.name,
            loss=loss,
            rate_factor=factor,
            n_tokens=batch.n_tokens,
        )

    def _update(self, batch: CountedBatch) -> float:
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss = self.loss(self.model, batch)
        value = loss.item()
        if not math.isfinite(value):
            raise TrainingDivergedError(f"the loss is {value} at step {self.cursor.step + 1}")
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip_norm).item()
        if not math.isfinite(norm):
            raise TrainingDivergedError(f"the gradient is {norm} at step {self.cursor.step + 1}")
        for optimizer in self.optimizers:
            optimizer.step()
        return value

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


def phase_at(recipe: Recipe, step: int, n_steps: int) -> int:
    """Index of the phase that step (zero-based) belongs to, by the phases' shares."""
    total = sum(phase.share for phase in recipe.phases)
    end = 0.0
    for index, phase in enumerate(recipe.phases):
        end += phase.share / total * n_steps
        if step < round(end):
            return index
    return len(recipe.phases) - 1


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


def _optimizer_state(
    optimizer: torch.optim.Optimizer, index: int, tensors: dict[str, Tensor]
) -> dict[str, object]:
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith(f"optimizer.{index}."):
            _, _, parameter, key = name.split(".")
            state.setdefault(int(parameter), {})[key] = tensor
    return {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
