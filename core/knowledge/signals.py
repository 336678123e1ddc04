"""What a model's inside says while it answers about a name, name by name in batches.

probability     of the whole answer
margin          probability of the first piece less that of the second best
entropy         of the distribution of the first piece, in nats
weight_on_name  attention weight on the tokens of the name in the row that writes the first piece,
                mean over all heads that look at tokens
contribution    what all heads bring of the name to that piece directly: over heads and name tokens
                the sum of weight · value · W_O, read as its logit above the mean logit
agreement       probability that the model's own norm and head give to the written piece when they
                read the stream after a layer, mean over all layers but the last

In a Perceiver the last latent at or before the row that writes looks in its place, in those layers
that look at tokens. Effective weights of linear attention may be negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.checkpoints.progress import Counted
from core.checkpoints.store import Checkpoint
from core.generation.greedy import Answer, answer, prompt_ids
from core.generation.written import reading
from core.inspection.answered import Batch, in_batches
from core.inspection.patterns import Numbers
from core.inspection.trace import name_positions
from core.models.heads import Heads
from core.models.seam import Model, Stream

AT_ONCE = 512  # questions between two words of progress
ONE_LAYER = "the model has one layer: there is no earlier one that could agree"
TWO_TEXTS = (
    "an encoder stands between the name and what writes: weights are not on the name's tokens"
)
LATENTS = (
    "in a Perceiver only the last layer writes to the tokens, and it looks at latents: what heads "
    "bring of the name cannot be told apart"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Of n questions: the answers; `values` (n,) by signal; `heads` (n, n_layers, n_heads) the
    weight of each head on the name. nan where a question names nobody or a layer looks at latents.
    `lacking` says in a sentence why a signal is not there.
    """

    answers: tuple[Answer, ...]
    values: dict[str, Numbers]
    heads: Numbers
    lacking: dict[str, str]


@torch.inference_mode()
def signals(
    checkpoint: Checkpoint, texts: Sequence[str], *, progress: Counted | None = None
) -> Signals:
    """Answer every question and look inside. `progress` is told how many are done.

    Cost: the answers, and one pass with explicit weights over each prompt. Raises ValueError for
    a question that does not fit, and for a model that cannot answer.
    """
    parts: list[Signals] = []
    for start in range(0, len(texts), AT_ONCE):
        parts.append(_signals(checkpoint, texts[start : start + AT_ONCE]))
        if progress is not None:
            progress(min(start + AT_ONCE, len(texts)), len(texts))
    if not parts:
        raise ValueError("no questions: at least one is needed")
    return Signals(
        answers=tuple(given for part in parts for given in part.answers),
        values={
            name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values
        },
        heads=np.concatenate([part.heads for part in parts]),
        lacking=parts[0].lacking,
    )


def lacking_signals(model: Model) -> dict[str, str]:
    """Why a signal cannot be had of a model, by its name."""
    shape = model.shape
    found: dict[str, str] = {}
    if shape.has_source:
        found |= dict.fromkeys(("weight_on_name", "best_head", "contribution"), TWO_TEXTS)
    if why := model.cannot("attribution"):
        found.setdefault("contribution", why)
    elif shape.n_latents:
        found["contribution"] = LATENTS
    if shape.has_source or (why := model.cannot("lens")):
        found["agreement"] = model.cannot("lens") or TWO_TEXTS
    elif shape.n_layers < 2:
        found["agreement"] = ONE_LAYER
    return found


def _signals(checkpoint: Checkpoint, texts: Sequence[str]) -> Signals:
    model, n = checkpoint.model, len(texts)
    given = answer(checkpoint, texts)
    first = [Answer(found.text, found.ids[:1], found.probability) for found in given]
    readings = [
        reading(checkpoint, prompt_ids(checkpoint, text), found.ids)
        for text, found in zip(texts, first, strict=True)
    ]
    names = [name_positions(checkpoint, text) for text in texts]
    lacking = lacking_signals(model)
    values = {name: np.full(n, np.nan) for name in ("margin", "entropy", *_wanted(lacking))}
    heads = np.full((n, model.shape.n_layers, model.shape.n_heads), np.nan)
    for batch in in_batches(readings, first, model.device):
        look = _look(model, batch, [names[i] for i in batch.members], lacking)
        for name, found in look.items():
            target = heads if name == "heads" else values[name]
            target[batch.members] = found.cpu().double().numpy()
    if "weight_on_name" in values:
        values["weight_on_name"] = _mean_of_heads(heads)
    values["probability"] = np.array([found.probability for found in given])
    return Signals(answers=tuple(given), values=values, heads=heads, lacking=lacking)


def _wanted(lacking: dict[str, str]) -> list[str]:
    names = ("weight_on_name", "contribution", "agreement")
    return [name for name in names if name not in lacking]


def _mean_of_heads(heads: Numbers) -> Numbers:
    """(n,): over the heads that look at tokens; nan for a question that names nobody."""
    there = ~np.isnan(heads)
    total = np.where(there, heads, 0.0).sum((1, 2))
    none = np.full(len(heads), np.nan)
    return np.divide(total, there.sum((1, 2)), out=none, where=there.any((1, 2)))


def _look(
    model: Model, batch: Batch, names: Sequence[Sequence[int]], lacking: dict[str, str]
) -> dict[str, Tensor]:
    """Of each question of a batch: the signals of the row that writes its first token."""
    row, written = batch.mark, batch.written[:, 0]
    seen = _Seen(model, _on_name(names, batch.ids.shape[1]).to(model.device), row, lacking)
    agreed: list[Tensor] = []

    def tap(layer: int, stream: Stream) -> Stream:
        if "agreement" not in lacking and layer < model.shape.n_layers - 1:
            found = model.logits(stream.x[:, row]).log_softmax(-1)
            agreed.append(found.gather(-1, written[:, None])[:, 0].exp())
        return stream

    final = model.run(batch.ids, seen.attend, source=batch.source, tap=tap)[:, row]
    log = model.logits(final).log_softmax(-1)
    two = log.topk(2, -1).values.exp()
    found = {"margin": two[:, 0] - two[:, 1], "entropy": -(log.exp() * log).sum(-1)}
    if agreed:
        found["agreement"] = torch.stack(agreed).mean(0)
    if seen.weights:
        found["heads"] = torch.stack(seen.weights, 1)
    if seen.parts:
        read = model.readout(final, written, relative=True).vector
        brought = torch.einsum("blhw,bw->b", torch.stack(seen.parts, 1), read)
        found["contribution"] = brought.where(seen.named, torch.nan)
    return found


class _Seen:
    """What one pass shows of the name: each head's weight on it (B, H), and the parts of the
    stream that heads make of it (B, H, width), layer by layer.
    """

    def __init__(self, model: Model, on_name: Tensor, row: int, lacking: dict[str, str]) -> None:
        self._model, self._on_name, self._row = model, on_name, row
        self._weighs = "weight_on_name" not in lacking
        self._brings = "contribution" not in lacking
        self.named = on_name.any(-1)
        self.weights: list[Tensor] = []
        self.parts: list[Tensor] = []

    def attend(self, layer: int, heads: Heads) -> Tensor:
        if not self._weighs:
            return heads.output()
        weights = heads.weights(heads.scores())
        at = int((heads.rows <= self._row).sum()) - 1  # the last that stands before it, if a latent
        total = weights.new_full(weights.shape[:2], torch.nan)
        if at >= 0 and not (self._model.shape.n_latents and layer):
            on_name = weights[:, :, at] * self._on_name[:, None, heads.columns]  # (B, H, columns)
            total = on_name.sum(-1).where(self.named[:, None], torch.nan)
            if self._brings and self._model.writes_to_tokens(layer):
                output = on_name.to(heads.value.dtype)[:, :, None] @ heads.value
                self.parts.append(self._model.parts(layer, output)[:, :, 0])
        self.weights.append(total)
        return weights.to(heads.value.dtype) @ heads.value


def _on_name(names: Sequence[Sequence[int]], n_tokens: int) -> Tensor:
    """(B, L): 1 at the tokens of the name."""
    found = torch.zeros(len(names), n_tokens)
    for question, positions in enumerate(names):
        found[question, list(positions)] = 1
    return found
