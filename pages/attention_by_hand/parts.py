"""What all examples share: inputs with their error beside them, the layout, mathematics."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, TypeVar

import streamlit as st

from core.figures.template import Figure
from core.theory.by_hand.check import Array, Check
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.text import plain

Made = TypeVar("Made")
Lines = Sequence[Sequence[str]]
HOLDS, FAR, FAILS = ":material/check:", ":material/more_horiz:", ":material/close:"
RELATIONS = {"=": "=", "→": r"\to", "≥": r"\ge", ">": ">"}
MANY_LINES = 4
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def slider(label: str, least: float, most: float, default: float, step: float, key: str) -> float:
    """A slider in the URL."""
    return bound.slider(label, least, most, default, step, key=key)


def count(label: str, least: int, most: int, default: int, key: str) -> int:
    """A whole number in the URL."""
    return int(bound.number_input(label, least, most, default, 1, key=key))


def typed(
    label: str, default: str, key: str, read: Callable[[str], Made], *, note: str = ""
) -> Made | None:
    """A text field in the URL; what cannot be read is said under it, and None is returned."""
    text = bound.text_input(label, default, key=key, help=note or None)
    return attempt(partial(read, text))


def attempt(make: Callable[[], Made]) -> Made | None:
    """What is made, or None after the reason why it cannot be."""
    try:
        return make()
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return None


def wait_for_inputs() -> None:
    """The main part while an input cannot be used."""
    st.info("One of the inputs cannot be used; the reason stands under it.")


def show(
    sentence: str,
    formulas: Lines,
    chart: Figure,
    checks: Sequence[Check],
    *,
    alt_text: str,
    note: str,
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """The meaning, lines of mathematics with its numbers, and the picture beside the checks."""
    st.markdown(f"**{sentence}**")
    st.markdown(tex_lines(formulas))
    picture, table = st.columns([1, 1.7], gap="medium")
    with picture:
        show_chart(chart, width=width, alt=alt_text, main=True)
        st.markdown(note)
    table.markdown(check_table(checks))


def tex(value: float) -> str:
    """Three significant digits, no -0; powers of ten are typeset and not broken."""
    digits, _, power = f"{value + 0.0:.3g}".partition("e")
    return rf"{{{digits}\cdot 10^{{{int(power)}}}}}" if power else digits


def tex_row(values: Array) -> str:
    """A row of numbers in parentheses; lines may break after a comma."""
    return "(" + r",\allowbreak\;".join(tex(float(value)) for value in values) + ")"


def tex_matrix(rows: Array) -> str:
    """A matrix of numbers."""
    body = r"\\".join("&".join(tex(float(value)) for value in row) for row in rows)
    return rf"\begin{{bmatrix}}{body}\end{{bmatrix}}"


def tex_lines(lines: Lines) -> str:
    """Lines of formulas, inline: a line that is too long wraps where a display would be cut off.

    Many lines stand closer together than few.
    """
    shown = [" \u2003 ".join(rf"$\displaystyle {each}$" for each in line) for line in lines]
    return ("\n\n" if len(shown) < MANY_LINES else "  \n").join(shown)


def key_names(n: int) -> list[str]:
    """k₁ … kₙ, for charts."""
    return [f"k{i}".translate(SUBSCRIPTS) for i in range(1, n + 1)]


def check_table(checks: Sequence[Check]) -> str:
    """Claims as a Markdown table: claim, number here, and the verdict with its error."""
    rows = [
        f"| {_cell(check.claim)} | ${tex(check.value)}$ | {_verdict(check)} |" for check in checks
    ]
    return "\n".join(["| claim | here | check |", "|:--|--:|:--|", *rows])


def _verdict(check: Check) -> str:
    """The claim with its icon; a limit also with how far off it is, unless `here` says so."""
    claimed = f"${RELATIONS[check.relation]} {tex(check.claimed)}$"
    if check.verdict == "fails" and check.limit is not None:
        return rf"{FAILS} $\to {tex(check.limit)}$, not ${tex(check.claimed)}$"
    if check.verdict == "fails":
        return f"{FAILS} not {claimed}"
    if check.verdict == "holds":
        return f"{HOLDS} {claimed}"
    off = f", off by ${tex(check.error)}$" if check.claimed else ""
    return f"{HOLDS if check.holds else FAR} {claimed}{off}"


def _cell(text: str) -> str:
    """A bar would end the cell of the table; in mathematics there is another one."""
    return text.replace("|", r"\vert ")
