"""What is stored in which memories: every choice stands in the address."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.memory.names import label
from core.memory.spec import BOUNDS, LINEAR, METHODS, MOST_PAIRS, PAIRS, MemorySpec
from pages.shared import bound

PREFIX = "memory-"
CAPACITY, OVERWRITING, TEXT, GENERATION = "Capacity", "Overwriting", "Text", "Generation"
VIEWS = (CAPACITY, OVERWRITING, TEXT, GENERATION)
FIRST = ("softmax", "window", LINEAR, "elu", "delta", "gated-delta")
MOST = (*PAIRS[3:], MOST_PAIRS)
USUAL = MemorySpec()
ANOTHER = "Choose at least two mechanisms: one memory is compared with another."


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What is drawn, and whether to predict before looking."""

    spec: MemorySpec
    pairs: tuple[int, ...]
    methods: tuple[str, ...]
    predict: bool


def choose_view() -> str:
    """One of four questions."""
    view = bound.segmented_control(
        "View",
        list(VIEWS),
        default=CAPACITY,
        required=True,
        key=f"{PREFIX}view",
        label_visibility="collapsed",
    )
    return view or CAPACITY


def choose() -> Chosen:
    """The controls of the side bar. Raises ValueError for fewer than two mechanisms."""
    with st.sidebar:
        methods = bound.pills(
            "Mechanisms", METHODS, default=FIRST, format_func=label, key=f"{PREFIX}methods"
        )
        left, right = st.columns(2)
        with left:
            dim = _whole("Numbers d", "dim", "Of a key, and of a value; a sum has d × d.")
            n_draws = _whole("Draws", "n_draws", "Everything is drawn anew so often.")
        with right:
            most = bound.selectbox("Pairs up to", MOST, MOST.index(PAIRS[-1]), key=f"{PREFIX}most")
            seed = _whole("Seed", "seed", "The same seed gives the same pairs.")
        predict = bound.toggle(
            "Predict, then reveal",
            value=True,
            key=f"{PREFIX}predict",
            help="What was measured stays covered until you have said what you expect.",
        )
        with st.expander("Sizes of mechanisms"):
            sizes = _choose_sizes()
    if len(methods) < 2:
        raise ValueError(ANOTHER)
    return Chosen(
        spec=MemorySpec(dim=dim, n_draws=n_draws, seed=seed, **sizes),
        pairs=tuple(n for n in (*PAIRS, MOST_PAIRS) if n <= most),
        methods=tuple(method for method in METHODS if method in methods),
        predict=predict,
    )


def _choose_sizes() -> dict[str, Any]:
    return {
        "beta": _share("β of softmax", "beta", 1.0, "What scores are multiplied by."),
        "decay": _share("γ of the gate", "decay", 0.01, "What is left of all when a pair comes."),
        "delta_decay": _share("γ of the gated delta rule", "delta_decay", 0.01, "The same there."),
        "window": _whole("Window w", "window", "Pairs in the window, and in that of Based."),
        "n_features": _whole("Features m of FAVOR+", "n_features", "Random directions."),
    }


def _whole(name: str, size: str, note: str) -> int:
    least, most = BOUNDS[size]
    limits = (int(least), int(most), int(getattr(USUAL, size)))
    return int(bound.number_input(name, *limits, key=f"{PREFIX}{_key(size)}", help=note))


def _share(name: str, size: str, step: float, note: str) -> float:
    least, most = BOUNDS[size]
    limits = (float(least), float(most), float(getattr(USUAL, size)))
    return float(
        bound.number_input(
            name, *limits, step=step, format="%g", key=f"{PREFIX}{_key(size)}", help=note
        )
    )


def _key(size: str) -> str:
    """As the command line spells its option."""
    return size.removeprefix("n_").replace("_", "-")
