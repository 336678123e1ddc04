"""Head scores, patterns and contributions, of one example or averaged over a split.

One example rarely matches the whole, so both come in the same form and can stand side by side.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.inspection.answered import Answered, in_batches
from core.inspection.head_rows import Scores
from core.inspection.patterns import PATTERNS, Numbers, Places, caption, find_places, places_of
from core.inspection.question_maps import WITHOUT, Maps, each_question
from core.inspection.scores import SCORES, HeadScores
from core.inspection.sinks import learned_share
from core.inspection.trace import Layer, name_positions, place, record_layers
from core.inspection.traced import AttentionTrace
from core.models.seam import Model

AT_ONCE = 16  # questions whose maps are held at the same time
MOST_BYTES = 1 << 26  # of these maps


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Means over `n_questions`, beside heads that attend uniformly to all they can see.

    scores: (n_layers, n_heads) each, uniform_scores (n_layers, 1). patterns (n_layers, n_heads,
    len(PATTERNS)), uniform_patterns (n_layers, len(PATTERNS)). contribution (n_layers, n_heads):
    Σ ‖weight · value · W_O‖ over the tokens of the name, in the row that writes the first token of
    the answer. nan where there is nothing to average: no name, or a layer that looks at latents.
    `without_first`: the same, each row renormalised over the keys but the first.
    """

    n_questions: int
    scores: HeadScores
    uniform_scores: HeadScores
    patterns: Numbers
    uniform_patterns: Numbers
    contribution: Numbers
    without_first: "Readings | None" = None

    @property
    def weight_on_name(self) -> Numbers:
        """(n_layers, n_heads): in the row that writes the first token of the answer."""
        return self.patterns[..., PATTERNS.index("name")]

    def caption(self, layer: int, head: int, *, apart: bool = False) -> str:
        """The clearest pattern of a head, or that there is none; with `apart` that of the rows
        without their first token, and beside it the share of the sink.
        """
        if apart and self.without_first is not None:
            other = self.without_first
            sink = float(self.scores.sink_share[layer, head])
            return caption(other.patterns[layer, head], other.uniform_patterns[layer], sink)
        return caption(self.patterns[layer, head], self.uniform_patterns[layer])


def named_scores(readings: Readings, *, apart: bool = False) -> Scores:
    """The scores by name, as tables and pages keep them; with `apart` captions are decided on those
    without the first token.
    """
    other = readings.without_first
    without = None if other is None else replace(_named(other), renormalised=True)
    return replace(_named(readings), without_first=without, apart=apart and other is not None)


def _named(readings: Readings) -> Scores:
    heads = {name: readings.patterns[..., index] for index, name in enumerate(PATTERNS)}
    uniform = {name: readings.uniform_patterns[..., index] for index, name in enumerate(PATTERNS)}
    for name in ("normalised_entropy", "distance", "sink_share"):
        heads[name] = getattr(readings.scores, name)
        uniform[name] = getattr(readings.uniform_scores, name)[:, 0]
    heads["contribution"] = readings.contribution
    uniform["contribution"] = np.full(len(readings.contribution), np.nan)
    return Scores(heads=heads, uniform=uniform)


def read_trace(trace: AttentionTrace) -> Readings:
    """The readings of the example at hand. Cost: numpy passes over its maps, layer by layer."""
    layers, visible = range(trace.n_layers), trace.visible
    maps = Maps(
        trace.weights[None],
        trace.value_norm[None],
        [trace.rows(layer) for layer in layers],
        [trace.columns(layer) for layer in layers],
        [visible[layer] for layer in layers],
        [trace.kind(layer) for layer in layers],
        [trace.latents_seen(layer) for layer in layers],
        places_of(trace),
        None if trace.sink is None else trace.sink[None],
    )
    return _averaged(iter([maps]))


@torch.inference_mode()
def read_split(checkpoint: Checkpoint, known: Answered) -> Readings:
    """The readings averaged over questions and their answers. Cost: one explicit pass over each."""
    return _averaged(_recorded(checkpoint, known))


def _recorded(checkpoint: Checkpoint, known: Answered) -> Iterator[Maps]:
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    for batch in in_batches(known.readings, known.answers):
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
    maps, latents = torch.stack(weights, 1).float().numpy(), model.shape.n_latents > 0
    return Maps(
        maps,
        torch.stack(norms, 1).float().numpy(),
        [_positions(row) for row in rows],
        [_positions(column) for column in columns],
        [_visible(layer, n_tokens) for layer in layers],
        ["decoder" if latents else _kind(layer) for layer in layers],
        [latents and index > 0 for index in range(len(layers))],
        places,
        learned_share(maps),
    )


def _visible(layer: Layer, n_tokens: int) -> NDArray[np.bool_]:
    """(L, L): whether something stands at a row that may look at what stands at a column."""
    seen = np.zeros((n_tokens, n_tokens), dtype=np.bool_)
    heads = layer.heads
    seen[np.ix_(_positions(heads.rows), _positions(heads.columns))] = ~heads.masked.numpy()
    return seen


def _kind(layer: Layer) -> str:
    """What a layer's heads are by what they may look at, where none are latents."""
    heads = layer.heads
    if not torch.equal(heads.rows, heads.columns):
        return "cross"
    ahead = heads.columns > heads.rows[:, None]
    return "encoder" if bool((ahead & ~heads.masked).any()) else "decoder"


def _averaged(recorded: Iterator[Maps]) -> Readings:
    """The mean over all questions of each number that a question has."""
    sums: dict[str, Numbers] = {}
    counts: dict[str, Numbers] = {}
    n_questions = 0
    for maps in recorded:
        n_questions += len(maps.weights)
        for name, values in each_question(maps).items():
            there = ~np.isnan(values)
            sums[name] = sums.get(name, 0.0) + np.where(there, values, 0.0).sum(0)
            counts[name] = counts.get(name, 0.0) + there.sum(0)
    none = {name: np.full_like(total, np.nan) for name, total in sums.items()}
    means = {
        name: np.divide(total, counts[name], out=none[name], where=counts[name] > 0)
        for name, total in sums.items()
    }
    return replace(
        _readings(means, n_questions), without_first=_readings(means, n_questions, WITHOUT)
    )


def _readings(means: dict[str, Numbers], n_questions: int, which: str = "") -> Readings:
    """The readings whose numbers are named after `which`."""
    return Readings(
        n_questions=n_questions,
        scores=HeadScores(**{name: means[f"{which}{name}"] for name in SCORES}),
        uniform_scores=HeadScores(**{name: means[f"{which}uniform {name}"] for name in SCORES}),
        patterns=means[f"{which}patterns"],
        uniform_patterns=means[f"{which}uniform patterns"],
        contribution=means["contribution"],
    )


def _positions(positions: Tensor) -> tuple[int, ...]:
    return tuple(int(position) for position in positions)
