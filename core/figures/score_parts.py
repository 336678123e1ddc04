"""The scores of one query row, split into the products of its dimensions with those of each key."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.figures.elements import axis, headline, named_tokens, token_axis
from core.figures.template import Figure, hole, laid_out, table, template

MOST_PARTS = 4096  # of one row
Matrix = NDArray[np.float32]


def score_parts(
    query: NDArray[np.float32],
    key: Matrix,
    labels: Sequence[str],
    row: int,
    *,
    seen: Sequence[int] | None = None,
) -> Figure:
    """The scores of one row split into their q·k parts: key by dimension, around zero.

    query (d,), key (L, d). The parts of a key sum to its score: q·k / √d = Σ qᵢ kᵢ / √d. `seen`
    are the keys that the row may look at: 0 to `row` unless told. At most MOST_PARTS cells.
    """
    keys_seen = kept_keys(query, key, list(range(row + 1)) if seen is None else seen)
    parts = key[keys_seen] * query / np.sqrt(len(query))
    cells = [(k, dimension) for k in keys_seen for dimension in range(len(query))]
    frame = pd.DataFrame(
        {
            "k": [k for k, _ in cells],
            "dimension": [dimension for _, dimension in cells],
            "part": parts.ravel().round(4),
            "token": [f"{k} {labels[k]}" for k, _ in cells],
        }
    )
    reach = float(np.abs(parts).max()) or 1.0
    step = max(8, min(22, 420 // len(keys_seen)))
    return _score_parts().fill(
        {"parts": frame},
        **named_tokens("key", labels, step * len(keys_seen), "key", at=keys_seen),
        reach=[-reach, reach],
        step=step,
    )


@template
def _score_parts() -> alt.Chart:
    cells = (
        table("parts")
        .mark_rect()
        .encode(
            x=alt.X("dimension:O", title="dimension of the head", axis=axis(labelOverlap=True)),
            y=alt.Y("k:O", title=hole("key_title"), axis=token_axis("key", domain=False)),
            color=alt.Color(
                "part:Q",
                title="q·k part",
                scale=alt.Scale(domain=hole("reach"), domainMid=0),
            ),
            tooltip=["token:N", "dimension:O", alt.Tooltip("part:Q", format=".3f")],
        )
    )
    height = alt.Step(hole("step"))
    return laid_out(cells, width=520, height=height, title=headline(""))


def kept_keys(query: NDArray[np.float32], key: Matrix, seen: Sequence[int]) -> list[int]:
    """The keys of largest scores, as many as have room, in the order of the text."""
    most = max(1, MOST_PARTS // len(query))
    if len(seen) <= most:
        return list(seen)
    scores: dict[int, float] = {k: float(key[k] @ query) for k in seen}
    return sorted(sorted(seen, key=lambda k: -scores[k])[:most])
