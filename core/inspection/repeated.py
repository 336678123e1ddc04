"""Random tokens said twice, put to any decoder: what every head looks at, and what it is worth.

Scores and losses are those of core.inspection.repeated_rows. Of a layer's weights only sums are
kept, so what is held at once is one layer's weights of one batch, or the logits of one half.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from core.checkpoints.progress import Counted
from core.checkpoints.store import Checkpoint
from core.generation.greedy import attending
from core.inspection.ablate import switched_off
from core.inspection.head_rows import n_together
from core.inspection.heads import Head, HeadsOff, every_head
from core.inspection.repeated_rows import (
    SCORES,
    Draw,
    Estimate,
    Losses,
    Repeated,
    RepeatedRow,
    Score,
)
from core.inspection.repeated_tokens import N_DRAWS, N_SEQUENCES, Twice, drawn_heads, said_twice
from core.models.heads import Heads
from core.models.seam import Attend, Model

BATCH_BYTES = 150_000_000
Z_95 = 1.96
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """With every head on. weights (2, layers, heads, scores) and uniform (2, layers, scores), with
    and without the first token; losses (2, sequences), half by half.
    """

    weights: Numbers
    uniform: Numbers
    losses: Numbers


@torch.inference_mode()
def look(model: Model, twice: Twice) -> Looked:
    """Scores and losses with every head on. Cost: one pass over each sequence.

    Raises ValueError for a model that sees later tokens.
    """
    shape, n_sequences = model.shape, len(twice.ids)
    weights = np.zeros((2, shape.n_layers, shape.n_heads, len(SCORES)))
    uniform = np.zeros((2, shape.n_layers, len(SCORES)))
    losses = list[Numbers]()
    attend = _adding(twice, weights, uniform)
    for ids in _batches(twice, model):
        x = model.run(ids, attend)
        losses.append(np.stack([_loss(model, x, ids, twice.half(half)) for half in (0, 1)]))
    return Looked(
        weights=weights / n_sequences,
        uniform=uniform,
        losses=np.concatenate(losses, axis=1),
    )


@torch.inference_mode()
def loss_without(model: Model, twice: Twice, heads: Sequence[Head]) -> Numbers:
    """(sequences,) of the second half with these heads off together: their output is zero.

    Cost: one pass over each sequence.
    """
    attend = attending(switched_off(HeadsOff(heads=tuple(heads)))(0))
    return np.concatenate(
        [_loss(model, model.run(ids, attend), ids, twice.half(1)) for ids in _batches(twice, model)]
    )


def best_heads(looked: Looked) -> tuple[Head, ...]:
    """The heads with the largest induction scores: five, but never all of a small model.

    Raises ValueError for a model with a single head.
    """
    scores = looked.weights[0, :, :, SCORES.index("induction")]
    if scores.size < 2:
        raise ValueError("a model with one head: there is no other to be switched off instead")
    order = np.argsort(-scores, axis=None, kind="stable")[: n_together(scores.size)]
    return tuple((int(at) // scores.shape[1], int(at) % scores.shape[1]) for at in order)


def heads_off(model: Model, twice: Twice, looked: Looked) -> list[tuple[Head, ...]]:
    """What is switched off, one set after the other: the best heads, then those of each draw."""
    best = best_heads(looked)
    return [best, *drawn_heads(model.shape, best, twice.seed).values()]


def measure_repeated(
    checkpoint: Checkpoint,
    *,
    n_sequences: int = N_SEQUENCES,
    seed: int = 0,
    begin: int | None = None,
    progress: Counted = lambda _done, _total: None,
) -> Repeated:
    """All of it. `progress` is told (passes done, passes) after each pass over all sequences.

    Cost: 2 + N_DRAWS passes over each sequence. Raises ValueError for a model that is no decoder,
    and for what `said_twice` refuses.
    """
    model, n_passes = checkpoint.model, 2 + N_DRAWS
    twice = said_twice(checkpoint, n_sequences=n_sequences, seed=seed, begin=begin)
    looked, without = look(model, twice), list[Numbers]()
    for heads in heads_off(model, twice, looked):
        progress(1 + len(without), n_passes)
        without.append(loss_without(model, twice, heads))
    progress(n_passes, n_passes)
    return repeated(checkpoint, twice, looked, without)


def repeated(
    checkpoint: Checkpoint, twice: Twice, looked: Looked, without: Sequence[Numbers]
) -> Repeated:
    """The result of all passes; `without`: (sequences,) for each set of `heads_off`."""
    shape = checkpoint.model.shape
    return Repeated(
        checkpoint=checkpoint.name,
        mechanism=shape.mechanism,
        n_sequences=len(twice.ids),
        n_tokens=twice.n_tokens,
        seed=twice.seed,
        begin=twice.begin,
        n_ordinary=twice.n_ordinary,
        rows=tuple(_row(looked, *at) for at in every_head(shape)),
        losses=_losses(checkpoint.model, twice, looked, without),
    )


def estimate(values: Numbers) -> Estimate:
    """Mean and interval of one value a sequence."""
    mean, error = float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5)
    return Estimate(mean=mean, low=mean - Z_95 * error, high=mean + Z_95 * error)


def on_targets(weights: Tensor, targets: Tensor) -> Tensor:
    """(2, H, scores): mean weight over rows on their targets, summed over the batch, from weights
    (B, H, rows, L); then the same with column 0 left out and what remains of a row renormalised.
    A row with nothing left counts 0.
    """
    picked = weights[:, :, torch.arange(targets.shape[1]), targets].double()  # (B, H, scores, rows)
    rest = weights[..., 1:].sum(-1, dtype=torch.float64)[:, :, None]
    shares = torch.where((rest != 0) & (targets > 0), picked / rest, 0.0)
    counted = (targets > 0).sum(-1)
    return torch.stack([picked.mean(-1).sum(0), shares.sum((0, 3)) / counted])


def _adding(twice: Twice, weights: Numbers, uniform: Numbers) -> Attend:
    """The model's own attention, which adds what it sees to the sums; a head with a negative
    weight gets nan where its weights would be renormalised.
    """
    targets, second = twice.targets, slice(twice.start + twice.n_tokens, None)

    def attend(layer: int, heads: Heads) -> Tensor:
        visible = ~heads.masked.cpu()  # sums are in float64, which not every device knows
        if bool(visible.triu(1).any()):
            raise ValueError(
                "this model sees later tokens: tokens said twice need a decoder, in which every "
                "layer looks from tokens back at tokens"
            )
        seen = visible[second].double()
        even = on_targets((seen / seen.sum(-1, keepdim=True))[None, None], targets)
        uniform[:, layer] = even[:, 0].numpy()
        rows = heads.weights(heads.scores())[:, :, second].cpu()
        weights[:, layer] += on_targets(rows, targets).numpy()
        weights[1, layer, (rows < 0).any(-1).any(-1).any(0).numpy()] = np.nan
        return heads.output()

    return attend


def _batches(twice: Twice, model: Model) -> Iterator[Tensor]:
    """On the model's device, as many sequences at once as BATCH_BYTES allow: logits of a half and
    their logarithms, and scores, weights and what is made of them in one layer.
    """
    length, shape = twice.ids.shape[1], model.shape
    numbers = 2 * twice.n_tokens * shape.vocabulary_size + 4 * shape.n_heads * length**2
    n_rows = max(1, BATCH_BYTES // (4 * numbers))
    for first in range(0, len(twice.ids), n_rows):
        yield twice.ids[first : first + n_rows].to(model.device)


def _loss(model: Model, x: Tensor, ids: Tensor, rows: slice) -> Numbers:
    """(B,): mean over these rows of the nats that the next token costs."""
    logits = model.logits(x[:, rows]).float()
    following = ids[:, rows.start + 1 : rows.stop + 1]
    losses = F.cross_entropy(logits.flatten(0, 1), following.flatten(), reduction="none")
    return losses.view_as(following).cpu().double().mean(-1).numpy()


def _losses(model: Model, twice: Twice, looked: Looked, without: Sequence[Numbers]) -> Losses:
    (first, second), (cut, *others), best = looked.losses, without, best_heads(looked)
    drawn, mean = drawn_heads(model.shape, best, twice.seed), np.mean(others, axis=0)
    return Losses(
        first=estimate(first),
        second=estimate(second),
        saved=estimate(first - second),
        best=best,
        without_best=estimate(cut),
        without_random=estimate(mean),
        added_by_best=estimate(cut - second),
        added_by_random=estimate(mean - second),
        best_above_random=estimate(cut - mean),
        draws=tuple(
            Draw(seed=seed, heads=heads, loss=float(loss.mean()))
            for (seed, heads), loss in zip(drawn.items(), others, strict=True)
        ),
    )


def _row(looked: Looked, layer: int, head: int) -> RepeatedRow:
    def score(name: str) -> Score:
        index = SCORES.index(name)
        weight, rest = (float(value) for value in looked.weights[:, layer, head, index])
        uniform, uniform_rest = (float(value) for value in looked.uniform[:, layer, index])
        return Score(
            weight=weight,
            uniform=uniform,
            without_first=None if np.isnan(rest) else rest,
            uniform_without_first=uniform_rest,
        )

    return RepeatedRow(
        layer=layer,
        head=head,
        previous_token=score("previous_token"),
        duplicate_token=score("duplicate_token"),
        induction=score("induction"),
    )
