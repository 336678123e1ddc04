"""What is drawn: every choice in the URL, and what cannot be used is said under its control."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.montecarlo.spec import MOST_DIMENSIONS, Heads, PerturbationSpec
from core.theory.by_hand.notation import read_numbers, read_rows
from pages.monte_carlo.presets import (
    DRAWS,
    FREE,
    HEADS,
    MANY,
    N_MANY,
    OWN,
    PRESETS,
    apply_preset,
    ask_again,
    preset_of,
)
from pages.shared import bound
from pages.shared.text import plain

MOST_DRAWS_HERE = 10_000_000
VALUES = ("orthonormal", "random", "typed")


@dataclass(slots=True)
class Draft:
    """The settings read so far; `complaints` stand also under their controls."""

    spec: PerturbationSpec = field(
        default_factory=lambda: PerturbationSpec(dimension=MOST_DIMENSIONS)
    )
    complaints: list[str] = field(default_factory=list)

    def accept(self, make: Callable[[], dict[str, Any]], beside: DeltaGenerator) -> None:
        """Accept settings, or say beside the control why not."""
        try:
            self.spec = replace(self.spec, **make())
        except ValueError as error:
            self.complaints.append(str(error))
            beside.error(plain(str(error)), icon=":material/block:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What to draw (None if an input cannot be used), and whether to predict before looking."""

    spec: PerturbationSpec | None
    complaints: tuple[str, ...]
    predict: bool


def choose_settings() -> Settings:
    """The controls of the sidebar."""
    draft = Draft()
    with st.sidebar:
        top = st.container()
        heads = _choose_heads()
        beside_heads = st.container()
        _choose_numbers(draft)
        draft.accept(lambda: {"heads": _read_heads(heads, draft.spec.n_keys)}, beside_heads)
        _choose_draws(draft)
        predict = bound.toggle(
            "Predict, then reveal",
            value=True,
            key="mc-predict",
            help="What was drawn stays covered until you have said what c will look like.",
        )
        with st.expander("Keys and values in detail", expanded=False):
            _choose_details(draft)
        spec = None if draft.complaints else draft.spec
        _offer_presets(top, spec)
    return Settings(spec=spec, complaints=tuple(draft.complaints), predict=predict)


def _offer_presets(place: DeltaGenerator, spec: PerturbationSpec | None) -> None:
    """The preset follows from the settings, so that it never contradicts them."""
    st.session_state["mc-preset"] = preset_of(spec)
    place.selectbox(
        "Part of the exercise", [*PRESETS, OWN], key="mc-preset", on_change=apply_preset
    )


def _choose_heads() -> tuple[str, float | str]:
    """The kind, and with it a number of heads or typed queries."""
    kind = bound.selectbox(
        "Heads",
        list(HEADS),
        key="mc-heads",
        on_change=ask_again,
        help="The output c is the mean over the heads.",
    )
    st.markdown(plain(HEADS[kind]))
    if kind == MANY:
        return kind, _number("Number of heads", N_MANY, 1, "many")
    if kind == FREE:
        return kind, _text(
            "Queries, one between semicolons",
            "1 1",
            "queries",
            "Coefficients on the means μ_a, μ_b, …; those left out are 0. β multiplies them.",
        )
    return kind, ""


def _read_heads(chosen: tuple[str, float | str], n_keys: int) -> Heads:
    kind, given = chosen
    if kind == MANY:
        return int(given)
    if kind != FREE:
        return kind
    rows = read_rows(str(given), name="queries").tolist()
    return tuple(_fill(row, n_keys, 0.0) for row in rows)


def _choose_numbers(draft: Draft) -> None:
    left, right = st.columns(2)
    with left:
        beta = _number("Scale β", 10.0, 1.0, "beta", "Length of the queries.")
    with right:
        n_keys = _number("Keys n", 6, 1, "keys")
    draft.accept(lambda: {"n_keys": int(n_keys)}, st.sidebar)
    draft.accept(lambda: {"beta": beta}, st.sidebar)
    left, right = st.columns(2)
    with left:
        note = "Radial variance: of key a's length along μ_a."
        rho = _number("Radial var. ρ", 0.5, 0.1, "rho", note)
    with right:
        note = "Noise variance: of every key in all directions."
        alpha = _number("Noise var. α", 0.0, 0.01, "alpha", note)
    draft.accept(lambda: {"radial_variance": rho}, st.sidebar)
    draft.accept(lambda: {"noise_variance": alpha}, st.sidebar)


def _choose_draws(draft: Draft) -> None:
    left, right = st.columns(2)
    with left:
        n_draws = _number("Draws", DRAWS, DRAWS, "draws")
    with right:
        seed = _number("Seed", 0, 1, "seed", "The same seed gives the same draws.")
    draft.accept(lambda: _limited(int(n_draws)), st.sidebar)
    draft.accept(lambda: {"seed": int(seed)}, st.sidebar)


def _limited(n_draws: int) -> dict[str, int]:
    replace(PerturbationSpec(), n_draws=n_draws)
    if n_draws > MOST_DRAWS_HERE:
        raise ValueError(
            f"draws: {n_draws:,}; this page draws up to {MOST_DRAWS_HERE:,}, "
            "`python -m core montecarlo` draws more"
        )
    return {"n_draws": n_draws}


def _choose_details(draft: Draft) -> None:
    """Dimension, further long keys, key norms, values, and what the exercise allows to ignore."""
    here = st.container()
    with here:
        dimension = _number("Dimensions d", 64, 1, "dimension")
        draft.accept(lambda: {"dimension": int(dimension)}, here)
        further = _text("ρ of the further keys", "", "further", "From key b on; the rest is 0.")
        if further.strip():
            draft.accept(lambda: {"radial_variance": _read_variances(further, draft.spec)}, here)
        norms = _text("Norms of the mean keys", "", "norms", "From μ_a on; the rest is 1.")
        if norms.strip():
            draft.accept(lambda: {"key_norms": _read_norms(norms, draft.spec)}, here)
        kind = bound.selectbox("Values", VALUES, key="mc-values")
        rows = (
            _text("Values, one between semicolons", "1 0; 0 1", "rows", "The rest is 0.")
            if kind == "typed"
            else ""
        )
        draft.accept(lambda: {"values": _read_values(kind, rows, draft.spec.n_keys)}, here)
        ignore = bound.toggle(
            "Ignore draws with k_a·q < 0",
            key="mc-ignore",
            help="The exercise allows it; theory then gives the law without these draws.",
        )
        draft.accept(lambda: {"ignore_negative": ignore}, here)


def _read_variances(text: str, spec: PerturbationSpec) -> tuple[float, ...]:
    first = float(spec.radial_variances[0])
    rest = read_numbers(text, name="ρ of the further keys").tolist()
    return _fill([first, *rest], spec.n_keys, 0.0)


def _read_norms(text: str, spec: PerturbationSpec) -> tuple[float, ...]:
    return _fill(read_numbers(text, name="norms").tolist(), spec.n_keys, 1.0)


def _read_values(kind: str, text: str, n_keys: int) -> str | tuple[tuple[float, ...], ...]:
    if kind != "typed":
        return kind
    rows = [tuple(row) for row in read_rows(text, name="values").tolist()]
    return (*rows, *[(0.0,) * len(rows[0])] * (n_keys - len(rows)))


def _fill(row: list[float], length: int, rest: float) -> tuple[float, ...]:
    """The row as a tuple with the numbers that were left out; one that is too long stays so."""
    return (*row, *[rest] * (length - len(row)))


def _number(label: str, default: float, step: float, key: str, note: str = "") -> float:
    """A number in the URL, without limits of its own: the core says what is allowed."""
    return bound.number_input(
        label,
        value=default,
        step=step,
        format="%d" if isinstance(default, int) else "%g",
        key=f"mc-{key}",
        help=note or None,
    )


def _text(label: str, default: str, key: str, note: str) -> str:
    return bound.text_input(label, default, key=f"mc-{key}", help=note) or ""
