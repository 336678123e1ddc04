"""The readings of whole splits: the maps of every question, recorded as a model answers it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.inspection.answered import Answered, in_batches
from core.inspection.patterns import Places, find_places
from core.inspection.readings import Maps, Readings, averaged
from core.inspection.trace import Layer, name_positions, place, record_layers
from core.models.seam import Model

AT_ONCE = 16  # questions whose maps are held at the same time


@torch.inference_mode()
def read_split(checkpoint: Checkpoint, known: Answered) -> Readings:
    """The readings averaged over questions and their answers. Cost: one explicit pass over each."""
    return averaged(_recorded(checkpoint, known))


def _recorded(checkpoint: Checkpoint, known: Answered) -> Iterator[Maps]:
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    for batch in in_batches(known.prompts, known.answers):
        by_places: dict[Places, list[int]] = defaultdict(list)
        for index, member in enumerate(batch.members):
            prompt = known.prompts[member]
            name = name_positions(checkpoint, known.questions[member].text)
            labels = vocabulary.labels(prompt)
            places = find_places(labels, vocabulary.word_starts(prompt), name, batch.mark)
            by_places[places].append(index)
        for places, indices in by_places.items():
            for start in range(0, len(indices), AT_ONCE):
                chosen = batch.ids[indices[start : start + AT_ONCE]]
                yield _laid_out(record_layers(model, chosen), chosen.shape[1], places, model)


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
    return Maps(
        torch.stack(weights, 1).float().numpy(),
        torch.stack(norms, 1).float().numpy(),
        [_positions(row) for row in rows],
        [_positions(column) for column in columns],
        places,
        [model.shape.n_latents > 0 and index > 0 for index in range(len(layers))],
    )


def _positions(positions: Tensor) -> tuple[int, ...]:
    return tuple(int(position) for position in positions)
