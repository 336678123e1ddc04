"""Head scores, patterns and contributions, of one example or averaged over a split.

One example rarely matches the whole, so both come in the same form and can stand side by side.
No torch: a trace from a file is read, too. core.inspection.split_readings records whole splits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from core.inspection.head_rows import Scores
from core.inspection.patterns import PATTERNS, Numbers, places_of
from core.inspection.question_maps import WITHOUT, Maps, each_question
from core.inspection.scores import SCORES, HeadScores
from core.inspection.traced import AttentionTrace


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
    return averaged(iter([maps]))


def averaged(recorded: Iterator[Maps]) -> Readings:
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
