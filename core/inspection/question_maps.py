"""Maps of questions whose parts stand at the same places, and every number read off them. No torch.

Layer by layer, so that a long text needs little memory beside its maps.
"""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.inspection.patterns import (
    Numbers,
    Places,
    pattern_masks,
    pattern_scores,
    uniform_pattern_scores,
    writing_row,
)
from core.inspection.scores import SCORES, Look, head_scores, uniform_over
from core.inspection.sinks import others_visible, without_first
from core.inspection.traced import contribution

WITHOUT = "without the first token: "


class Maps(NamedTuple):
    """Recorded maps of questions with the same places: (B, n_layers, n_heads, L, L) and norms.

    `rows`, `columns`, `visible` (L, L), `kinds` and `latents_seen` are one a layer. `sink`
    (B, n_layers, n_heads, L) is the share of a learned one.
    """

    weights: NDArray[np.float32]
    value_norm: NDArray[np.float32]  # (B, n_layers, n_heads, L)
    rows: list[tuple[int, ...]]
    columns: list[tuple[int, ...]]
    visible: list[NDArray[np.bool_]]
    kinds: list[str]
    latents_seen: list[bool]
    places: Places
    sink: NDArray[np.floating[Any]] | None = None

    @property
    def n_layers(self) -> int:
        return self.weights.shape[1]

    def look(self, layer: int, *, no_first: bool = False) -> Look:
        """How the maps of a layer are read."""
        return Look(kind=self.kinds[layer], first=self.columns[layer][0], no_first=no_first)


def each_question(maps: Maps) -> dict[str, Numbers]:
    """Every number of each question, (B, …); nan where a question or a layer has none."""
    as_they_are, others = (_read(maps, no_first=no_first) for no_first in (False, True))
    apart = {f"{WITHOUT}{name}": values for name, values in others.items()}
    return {"contribution": _brought(maps), **as_they_are, **apart}


def _read(maps: Maps, *, no_first: bool) -> dict[str, Numbers]:
    """Scores and patterns of each question, with or without the first token, layer by layer."""
    found: dict[str, list[Numbers]] = defaultdict(list)
    n, same, masks = len(maps.weights), None, np.empty(0)
    for layer in range(maps.n_layers):
        look, seen = maps.look(layer, no_first=no_first), maps.visible[layer]
        rows, columns, latents = maps.rows[layer], maps.columns[layer], maps.latents_seen[layer]
        if same != (same := (rows, columns, look, latents)):  # mostly those of the layer before
            masks = pattern_masks(
                maps.places, rows, columns, len(seen), of_tokens=not latents, look=look
            )
        weights, name = maps.weights[:, layer], maps.places.name
        sink = None if maps.sink is None else maps.sink[:, layer]
        scores = head_scores(weights, name, seen, look, sink)
        baseline = uniform_over(seen[None], name, look)
        if no_first:
            weights, seen = without_first(weights, look.first), others_visible(seen, look.first)
        uniform = uniform_pattern_scores(seen, masks)
        found["patterns"].append(pattern_scores(weights, masks))
        found["uniform patterns"].append(np.broadcast_to(uniform, (n, *uniform.shape)))
        for score in SCORES:
            found[score].append(getattr(scores, score))
            found[f"uniform {score}"].append(np.stack([getattr(baseline, score)] * n))
    return {name: np.stack(values, 1) for name, values in found.items()}


def _brought(maps: Maps) -> Numbers:
    """(B, n_layers, n_heads): what each head brings of the name to the first written token."""
    found = np.full(maps.weights.shape[:3], np.nan)
    for layer in range(maps.n_layers):
        name = [position for position in maps.places.name if position in maps.columns[layer]]
        row = writing_row(maps.places, maps.rows[layer], maps.look(layer))
        if name and row is not None and not maps.latents_seen[layer]:
            weights = maps.weights[:, layer, :, row, name].astype(np.float64)  # (name, B, H)
            found[:, layer] = contribution(weights, maps.value_norm[:, layer, :, name]).sum(0)
    return found
