"""What is said of one picture, with its numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.inspection.heads import head_name
from core.pictures.drawn import DIGITS
from core.pictures.networks import GRID, N_PATCHES
from core.pictures.sample import Sample
from pages.look.controls import Shown
from pages.look.data import Said
from pages.look.names import NAMES, SHORT, offset_name
from pages.shared.text import percent

if TYPE_CHECKING:
    from core.inspection.offsets import Offsets
    from core.inspection.picture_looks import AttentionMaps, Occlusion

AS_ATTENTION = (
    "A filter of 3 x 3 gives what stands beside a point the same weight everywhere: it is "
    "attention that looks at fixed offsets, whatever is there. A head of the network of patches is "
    "free to look anywhere; its map is what it gives on average to the patch so far away."
)
WORTH_A_WORD = 0.02  # a drop of a probability
OF_OCCLUSION = (
    "A 4 x 4 part in black: orange where the answer is then less likely, blue where it is more so."
)
OF_ATTENTION = (
    "These are raw weights of one layer. What a patch holds there has passed through the layers "
    "before it, and weight is not contribution: only covering a part says that it is needed."
)


def headline(said: Said, shown: Shown | None) -> str:
    """Who says what."""
    if shown is None:
        return "What is it?"
    if not said:
        return "No network is shipped yet that could say what it is"
    answers: dict[int, list[str]] = {}
    for name, likely in said.items():
        answers.setdefault(int(likely.argmax()), []).append(SHORT[name])
    parts = [
        f"{' and '.join(names)} {'say' if len(names) > 1 else 'says'} {DIGITS[label]}"
        for label, names in answers.items()
    ]
    if len(answers) == 1 < len(said):
        parts = [f"all {len(said)} networks say {DIGITS[next(iter(answers))]}"]
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}{_verdict(shown, list(answers))}"


def _verdict(shown: Shown, labels: Sequence[int]) -> str:
    if shown.right is None:
        return ""
    is_right = list(labels) == [shown.right]
    return ", which is right" if is_right else f": it is a {DIGITS[shown.right]}"


def answers_mean(shown: Shown) -> str:
    """What a bar is."""
    green = "" if shown.right is None else " Green is the right class."
    return (
        f"A bar is how likely a class is to the network.{green} However odd a picture is, each "
        "network spreads all of 100 % over ten digits."
    )


def answers_table(said: Said) -> pd.DataFrame:
    """Every probability, a row a class."""
    return pd.DataFrame({NAMES[name]: likely for name, likely in said.items()}, index=list(DIGITS))


def occlusion_sentence(found: "Occlusion") -> str:
    """The place that is needed most."""
    at = divmod(int(found.drop.argmax()), found.drop.shape[1])
    most, digit = float(found.drop[at]), DIGITS[found.label]
    if most < WORTH_A_WORD:
        return (
            f"No part is needed for the answer {digit}: it is {percent(found.probability)} likely, "
            "and less than 2 points fewer whatever is hidden."
        )
    left = percent(max(found.probability - most, 0))
    return (
        f"Most is lost around row {2 * at[0] + 2}, column {2 * at[1] + 2} of 28: the answer "
        f"{digit} falls from {percent(found.probability)} to {left}."
    )


def attention_sentence(name: str, patches: NDArray[np.float32], itself: float) -> str:
    """Where the class token looks most, against a head that looks everywhere alike."""
    row, column = divmod(int(patches.argmax()), GRID)
    return (
        f"In {name} the class token gives most, {percent(float(patches.max()))}, to the patch in "
        f"row {row}, column {column} of 7 x 7, and {percent(itself)} to itself. To all alike it "
        f"would give {percent(1 / (N_PATCHES + 1))}."
    )


def proof(found: "AttentionMaps") -> str:
    """That these weights are those used."""
    return (
        f"Logits replayed through these weights differ by {found.replay_max_difference:.1e} at "
        f"most from the network's; rows come to 1 within {found.row_sum_max_error:.1e}."
    )


def filter_sentence(weights: NDArray[np.float32]) -> str:
    """The point that counts most."""
    row, column = divmod(int(np.abs(weights).argmax()), 3)
    place = offset_name(row - 1, column - 1)
    where = "The point itself counts" if place == "itself" else f"The point {place} counts"
    return f"{where} most ({weights[row, column]:+.2f}), wherever in the picture the filter stands."


def offsets_title(found: "Offsets") -> str:
    """Whether a head looks at a fixed offset."""
    if not found.fixed:
        at = np.unravel_index(int(found.score.argmax()), found.score.shape)
        return (
            "No head looks at a fixed offset: the highest score is "
            f"{found.score.max():.2f} ({head_name(int(at[0]), int(at[1]))})"
        )
    names = [
        f"{head_name(*head)} ({offset_name(*found.best[head].tolist())})" for head in found.fixed
    ]
    look = "head looks" if len(names) == 1 else "heads look"
    return f"{len(names)} of {found.score.size} {look} at a fixed offset: {', '.join(names)}"


def offset_sentence(name: str, found: "Offsets", head: tuple[int, int]) -> str:
    """How much a head gives to the offset that it gives most to, against all alike."""
    score, alike = float(found.score[head]), 1 / N_PATCHES
    return (
        f"{name} gives most to the patch {offset_name(*found.best[head].tolist())}: "
        f"{percent(score * (1 - alike) + alike)} on average, to all alike {percent(alike)}. That "
        f"is a score of {score:.2f} from 0 (alike) to 1 (one offset alone). At and around a patch "
        f"lie {percent(float(found.neighbours[head]))}, of a head that looks alike "
        f"{percent(found.neighbours_uniform)}. Means over the {found.n_pictures:,} shipped digits."
    )


def offset_rows(found: "Offsets") -> list[dict[str, Any]]:
    """Every head with its score, the offset that has it, and the share of the 3 x 3 around."""
    layers, heads = found.score.shape
    return [
        {
            "head": head_name(layer, head),
            "score": round(float(found.score[layer, head]), 3),
            "offset": offset_name(*found.best[layer, head].tolist()),
            "on 3 x 3": percent(float(found.neighbours[layer, head])),
        }
        for layer in range(layers)
        for head in range(heads)
    ]


def wrong_sentence(sample: Sample) -> str:
    """How many each network gets wrong."""
    missed = [
        f"{SHORT[name]} {int((likely.argmax(1) != sample.labels).sum())}"
        for name, likely in sample.probabilities.items()
    ]
    every = sum(
        all(int(one.argmax()) != sample.labels[at] for one in sample.said(at).values())
        for at in sample.wrong
    )
    return (
        f"Of {sample.n_test:,} test pictures {len(sample.wrong)} are answered wrong by at least "
        f"one of the shipped networks ({', '.join(missed)}), {every} by all of them."
    )
