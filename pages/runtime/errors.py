"""How well feature maps stand for exp: features, logits, terms, and why none of them is sharp."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.catalogue import label
from core.figures import approximation as figures
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.text import plain

FEATURES, LOGITS, TERMS, SHARP = "Features", "Logits", "Taylor", "Sharpness"
ORDER = "Causal only"
COUNTS = (16, 32, 64, 128, 256, 512)
SIZES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
N_TERMS, SHOWN_SIZES = (1, 2, 3, 4, 5), (1.0, 2.0, 4.0, 8.0)
B_NAME = "largest logit B = ‖q‖‖k‖/√d"


def show_errors() -> None:
    """One of five pictures and a sentence on what it means."""
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        kind = bound.segmented_control(
            "Picture",
            [FEATURES, LOGITS, TERMS, SHARP, ORDER],
            default=FEATURES,
            required=True,
            key="rt-errors",
            label_visibility="collapsed",
        )
    if kind in DRAWN:
        DRAWN[kind]()
        return
    with right:
        size = bound.select_slider(B_NAME, list(map(str, SIZES)), "1.0", key="rt-logit")
    _by_features(size)


def _by_features(size: str) -> None:
    rows = errors_by_features(float(size))
    looks: dict[str, figures.Look] = {name: "map" for name, *_ in rows}
    looks[_last(rows)] = "reference"
    at_most = {name: (error, below) for name, at, error, _, _, below in rows if at == COUNTS[-1]}
    best = min(at_most, key=lambda name: at_most[name][0])
    _show(
        rows,
        looks,
        title=f"{best.capitalize()} is closest with {COUNTS[-1]} features, at logits up to {size}",
        x_title="number of features",
        below="rows with a normaliser ≤ 0",
    )
    wrong = max(below for _, below in at_most.values())
    st.markdown(
        "Trigonometric features have the smaller error at small logits and explode at large ones, "
        f"where their normaliser may be 0 or less (here in up to {wrong:.0%} of the rows; hollow). "
        "Orthogonal rows help most where logits are small. Grey: uniform attention, which looks at "
        "nothing: an error above it is worse than not looking."
    )


def _by_logits() -> None:
    rows = errors_by_logits()
    looks: dict[str, figures.Look] = {name: "map" for name, *_ in rows}
    looks[_last(rows)] = "reference"
    _show(
        rows,
        looks,
        title="Every map fails as the logits grow, each at its own size",
        x_title=B_NAME,
        below="rows with a normaliser ≤ 0",
    )
    st.markdown(
        "128 features, d = 32. Raw N(0, 1) queries and keys have B = √32 = 5.66: there FAVOR+ with "
        "128 features is no better than uniform attention. elu+1 is no approximation of softmax at "
        "all: a model must be trained with it."
    )


def _by_terms() -> None:
    rows = errors_by_terms()
    looks: dict[str, figures.Look] = {name: "map" for name, *_ in rows}
    _show(
        rows,
        looks,
        title="More Taylor terms help as long as logits are small",
        x_title="terms K",
        below="negative weights",
        log_x=False,
    )
    share = {(name, at): below for name, at, *_, below in rows}
    st.markdown(
        "Hollow: some weights are negative. With an even number of terms the highest power is odd, "
        "and the polynomial falls below 0: 1 + s for s < −1, four terms for s < −1.596. At B = 8 "
        f"these are {share['B = 8', 2]:.0%} and {share['B = 8', 4]:.0%} of the weights; with an "
        "odd number of terms none."
    )


def _sharpness() -> None:
    rows = sharpness_rows()
    names = dict.fromkeys(name for name, *_ in rows)
    looks: dict[str, figures.Look] = {n: "exact" if n == "softmax" else "map" for n in names}
    at_8 = {name: value for name, at, value, *_ in rows if at == 8}
    _show(
        rows,
        looks,
        title="Linear maps cannot be sharp",
        x_title="logit of the one aligned key",
        y_title="weight on it",
        below="",
        log_y=False,
    )
    given = ", ".join(f"{n} {value:.2g}" for n, value in at_8.items() if n != "softmax")
    st.markdown(
        "One key lies exactly along the query, 511 others are random and as long. At a logit of 8 "
        f"softmax puts {at_8['softmax']:.2f} on it; {given}. A head that recalls one name among "
        "many must be sharp: this is what linear attention gives up for its speed."
    )


def _in_order() -> None:
    rows = errors_in_order()
    looks: dict[str, figures.Look] = {name: "state" for name, *_ in rows}
    last = _last(rows)
    looks |= {label("window"): "sparse", last: "reference"}
    at_1 = {name: error for name, at, error, *_ in rows if at == 1}
    near = [name for name, error in at_1.items() if error < at_1[last]]
    others = [name for name in at_1 if name not in (*near, last)]
    _show(
        rows,
        looks,
        title=f"{', '.join(near) or 'None'} is nearer to softmax than not looking, "
        "at logits up to 1",
        x_title=B_NAME,
        below="",
    )
    said = "; ".join(f"{name} {at_1[name]:.2g}" for name in near)
    st.markdown(
        "These five are causal only: a state, and a window, are read in the order of the tokens; "
        "the error is that of the last rows of 512 tokens. At logits up to 1 "
        f"(uniform attention to the past {at_1[last]:.2g}): {said}. "
        f"Further off than not looking: {', '.join(others)}. A window leaves most tokens out, and "
        "a delta rule and a gate do not try to be softmax: a model must be trained with them."
    )


DRAWN = {LOGITS: _by_logits, TERMS: _by_terms, SHARP: _sharpness, ORDER: _in_order}


def _show(
    rows: Sequence[figures.Row], looks: dict[str, figures.Look], *, title: str, **how: Any
) -> None:
    options: dict[str, Any] = {"y_title": "relative error of the output", **how}
    st.markdown(f"##### {plain(title)}")  # in the picture a long one would be cut off on a phone
    show_chart(figures.error_chart(rows, looks, height=260, **options), alt=title)


def _last(rows: Sequence[figures.Row]) -> str:
    """Uniform attention comes last at each size."""
    return rows[-1][0]


@st.cache_data(max_entries=16, show_spinner="Comparing with softmax")
def errors_by_features(largest_logit: float) -> list[figures.Row]:
    """Random features; torch is loaded here and not before."""
    from core.bench import approximation  # noqa: PLC0415

    return _rows(approximation.errors_by_features(COUNTS, largest_logit=largest_logit))


@st.cache_data(max_entries=2, show_spinner="Comparing with softmax")
def errors_by_logits() -> list[figures.Row]:
    """All maps."""
    from core.bench import approximation  # noqa: PLC0415

    return _rows(approximation.errors_by_logit(SIZES))


@st.cache_data(max_entries=2, show_spinner="Comparing with softmax")
def errors_by_terms() -> list[figures.Row]:
    """Taylor polynomials."""
    from core.bench import approximation  # noqa: PLC0415

    return _rows(approximation.errors_by_terms(N_TERMS, SHOWN_SIZES))


@st.cache_data(max_entries=2, show_spinner="Comparing with softmax")
def errors_in_order() -> list[figures.Row]:
    """What is causal only."""
    from core.bench import in_order  # noqa: PLC0415

    return _rows(in_order.errors_in_order(SIZES))


@st.cache_data(max_entries=2, show_spinner="Comparing with softmax")
def sharpness_rows() -> list[figures.Row]:
    """The weight on one aligned key."""
    from core.bench import approximation  # noqa: PLC0415

    return [
        (s.name, s.logit, s.weight, s.weight, s.weight, 0.0) for s in approximation.sharpness(SIZES)
    ]


def _rows(points: Sequence[Any]) -> list[figures.Row]:
    return [(p.name, p.at, p.error, p.low, p.high, p.negative_share) for p in points]
