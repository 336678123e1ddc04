"""What is said of one question: which heads change its answer, and what its parts add."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.figures.heads import Beside
from core.inspection.attribution import Attribution, Lens
from core.inspection.head_rows import HeadTable, rank_agreement
from core.inspection.head_table import HeadExample
from core.inspection.heads import head_name
from core.inspection.traced import AttentionTrace
from pages.heads.overview_words import NAMES, SCORES
from pages.shared.text import percent, plain

OFFERED = {
    **{name: text for name, text in NAMES.items() if name != "accuracy_lost"},
    **SCORES,
}
MOST_NAMED = 4


def offered(found: HeadExample) -> list[str]:
    """Measures and scores that any head has here: a free text has no name."""
    return [name for name in OFFERED if any_known(found.values(name))]


def any_known(values: Sequence[float | None]) -> bool:
    """Whether there is a number at all: a decoder has no next token."""
    return any(value is not None for value in values)


def names_of(found: HeadExample) -> list[str]:
    """Every head, layer by layer."""
    return [head_name(layer, head) for layer, head in np.ndindex(found.attribution.shape)]


def what_changes(found: HeadExample, trace: AttentionTrace) -> str:
    """The heads without which another answer is written, and which."""
    changed = [
        (name, answer.text)
        for name, answer, other in zip(names_of(found), found.answers, found.changed, strict=True)
        if other
    ]
    if not changed:
        return (
            "No head alone changes this answer: switch off several on the attention page, or look "
            "at how much less likely each makes it."
        )
    listed = ", ".join(
        f"without {name} **{plain(text) or '(nothing)'}**" for name, text in changed[:MOST_NAMED]
    )
    more = len(changed) - MOST_NAMED
    rest = f", and {more} more" if more > 0 else ""
    n_heads = trace.n_layers * trace.n_heads
    return f"{len(changed)} of {n_heads} heads change the answer alone: {listed}{rest}."


def rows_beside(found: HeadExample, table: HeadTable | None, measure: str) -> list[Beside]:
    """One measure of every head, for this question and on average."""
    here = found.values(measure)
    average = [None] * len(here) if table is None else table.values(measure)
    return [Beside(*row) for row in zip(names_of(found), here, average, strict=True)]


def match(found: HeadExample, table: HeadTable | None, measure: str) -> str:
    """How far one example matches the whole."""
    if table is None:
        return "There is no table of these weights to compare with yet: see “all heads”."
    agreed = rank_agreement(found.values(measure), table.values(measure))
    if agreed is None:
        return "Too few heads have this measure, or all the same: no order to compare."
    return (
        f"Rank agreement of this question with the average of {table.total}: **{agreed:.2f}**. "
        "One example rarely matches the whole."
    ).replace("**-", "**−")


def attribution_title(added: Attribution) -> str:
    """The part that adds most."""
    layer, part = np.unravel_index(int(added.by_layer.argmax()), added.by_layer.shape)
    n_heads = added.heads.shape[1]
    names = [*(head_name(int(layer), head) for head in range(n_heads))]
    names += [f"the attention bias of L{layer}", f"the MLP of L{layer}"]
    most = added.by_layer.max()
    return f"Most is added to “{added.token}” by {names[int(part)]}: {most:.2g} logits"


def attribution_note(added: Attribution) -> str:
    """That the parts sum to the real logit, and what is not counted."""
    rest = added.embedding + added.norm_bias
    return (
        f"All parts sum to **{added.total:.3g}**, the real logit above the mean of all tokens "
        f"({added.logit:.3g}); embedding and the last norm's bias add {rest:.2g}. Full colour is "
        f"the largest head, {added.largest_head:.2g}: an MLP may go beyond. Direct only: what a "
        "part does through later layers is not counted."
    ).replace("-", "−")


def lens_title(lens: Lens) -> str:
    """After which layer the written token leads for good."""
    first = len(lens.rank)
    while first > 0 and lens.rank[first - 1] == 0:
        first -= 1
    if first == len(lens.rank):
        return f"“{lens.token}” leads after no layer"
    where = "from the start" if first == 0 else f"from the end of L{first - 1} on"
    return f"Logit lens: “{lens.token}” leads {where}"


def layer_names(lens: Lens) -> list[str]:
    """Where the stream is read."""
    return ["embedding", *(f"after L{layer}" for layer in range(len(lens.rank) - 1))]


def lens_notes(lens: Lens) -> list[str]:
    """What would be written after each layer."""
    return [
        f"{percent(float(p))}"
        if rank == 0
        else f"{percent(float(p))}, rank {rank + 1}; leads {best} {percent(float(q))}"
        for p, rank, best, q in zip(
            lens.probability, lens.rank, lens.best, lens.best_probability, strict=True
        )
    ]


def attribution_frame(added: Attribution) -> pd.DataFrame:
    """Logits that each part adds, a row a layer."""
    n_layers, n_heads = added.heads.shape
    return pd.DataFrame(
        added.by_layer,
        index=[f"L{layer}" for layer in range(n_layers)],
        columns=[*(f"H{head}" for head in range(n_heads)), "attention bias", "MLP"],
    )


def lens_frame(lens: Lens) -> pd.DataFrame:
    """What is read after each layer."""
    return pd.DataFrame(
        {
            "logit": lens.logit,
            "change of logit": lens.steps,
            "probability": lens.probability,
            "rank": lens.rank + 1,
            "leads": lens.best,
            "its probability": lens.best_probability,
        },
        index=layer_names(lens),
    )


def frame(found: HeadExample, table: HeadTable | None) -> pd.DataFrame:
    """Every measure of every head, for this question and on average."""
    columns: dict[str, list[object]] = {
        "answer without it": [answer.text for answer in found.answers],
        "changes": list(found.changed),
    }
    for measure, text in ((name, OFFERED[name]) for name in offered(found)):
        columns[text] = list(found.values(measure))
        if table is not None:
            columns[f"{text}, average"] = list(table.values(measure))
    return pd.DataFrame(columns, index=names_of(found))
