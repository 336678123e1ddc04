"""The readings of whole splits: the maps of every question, recorded as a model answers it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.catalogue import MECHANISMS
from core.checkpoints.store import Checkpoint
from core.inspection.answered import Answered, in_batches
from core.inspection.patterns import Places, find_places
from core.inspection.question_maps import Maps
from core.inspection.readings import Readings, averaged
from core.inspection.sinks import learned_share
from core.inspection.trace import Layer, name_positions, place, record_layers
from core.models.seam import Model

AT_ONCE = 16  # questions whose maps are held at the same time
MOST_BYTES = 1 << 26  # of these maps


@torch.inference_mode()
def read_split(checkpoint: Checkpoint, known: Answered) -> Readings:
    """The readings averaged over questions and their answers. Cost: one explicit pass over each."""
    return averaged(_recorded(checkpoint, known))


def _recorded(checkpoint: Checkpoint, known: Answered) -> Iterator[Maps]:
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    for batch in in_batches(known.readings, known.answers, model.device):
        by_places: dict[Places, list[int]] = defaultdict(list)
        for index, member in enumerate(batch.members):
            prompt = known.prompts[member]
            name = name_positions(checkpoint, known.questions[member].text)
            labels = vocabulary.labels(prompt)
            places = find_places(labels, vocabulary.word_starts(prompt), name, batch.mark)
            by_places[places].append(index)
        at_once = _at_once(model, batch.ids.shape[1])
        for places, indices in by_places.items():
            for start in range(0, len(indices), at_once):
                chosen = batch.ids[indices[start : start + at_once]]
                yield _laid_out(record_layers(model, chosen), chosen.shape[1], places, model)


def _at_once(model: Model, n_tokens: int) -> int:
    """How many questions' maps are held at the same time: at least one."""
    one = 4 * model.shape.n_layers * model.shape.n_heads * n_tokens**2
    return max(1, min(AT_ONCE, MOST_BYTES // one))


def _laid_out(layers: Sequence[Layer], n_tokens: int, places: Places, model: Model) -> Maps:
    rows = [layer.heads.rows for layer in layers]
    columns = [layer.heads.columns for layer in layers]
    weights = [
        place(layer.weights, n_tokens, row, column)
        for layer, row, column in zip(layers, rows, columns, strict=True)
    ]
    norms = [
        place(layer.value_norm, n_tokens, column)
        for layer, column in zip(layers, columns, strict=True)
    ]
    maps, latents = torch.stack(weights, 1).float().cpu().numpy(), model.shape.n_latents > 0
    return Maps(
        maps,
        torch.stack(norms, 1).float().cpu().numpy(),
        [_positions(row) for row in rows],
        [_positions(column) for column in columns],
        [_visible(layer, n_tokens) for layer in layers],
        ["decoder" if latents else _kind(layer) for layer in layers],
        [latents and index > 0 for index in range(len(layers))],
        places,
        learned_share(maps) if MECHANISMS[model.shape.mechanism].is_normalised else None,
    )


def _visible(layer: Layer, n_tokens: int) -> NDArray[np.bool_]:
    """(L, L): whether something stands at a row that may look at what stands at a column."""
    seen = np.zeros((n_tokens, n_tokens), dtype=np.bool_)
    heads = layer.heads
    seen[np.ix_(_positions(heads.rows), _positions(heads.columns))] = ~heads.masked.cpu().numpy()
    return seen


def _kind(layer: Layer) -> str:
    """What a layer's heads are by what they may look at, where none are latents."""
    heads = layer.heads
    if not torch.equal(heads.rows, heads.columns):
        return "cross"
    ahead = heads.columns > heads.rows[:, None]
    return "encoder" if bool((ahead & ~heads.masked).any()) else "decoder"


def _positions(positions: Tensor) -> tuple[int, ...]:
    return tuple(int(position) for position in positions)
