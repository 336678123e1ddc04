"""What a shift changes: of all test pictures as it was recorded, and of this picture."""

import numpy as np
import streamlit as st

from core.evaluation.picture_figures import accuracy_by_shift
from core.figures.look import Curve, curves
from core.pictures.drawn import DIGITS
from core.pictures.shifts import SHIFTS
from core.pictures.sweep import Sweep
from pages.look import words
from pages.look.controls import Shown
from pages.look.data import Key, Said
from pages.look.names import NAMES
from pages.shared.charts import show_chart
from pages.shared.text import whole

AXIS = "points that the picture is moved"


def show_shift(sweep: Sweep | None, key: Key, shown: Shown | None, said: Said) -> None:
    """Two pictures side by side."""
    st.markdown("#### What if it is moved?")
    every, this = st.columns(2, gap="medium")
    if sweep is not None:
        with every:
            _show_all(sweep)
    if shown is not None and said:
        with this:
            _show_this(key, shown, said)


def _show_all(sweep: Sweep) -> None:
    found = {name: accuracy_by_shift(sweep, name) for name in sweep.spec.networks}
    lines = [
        Curve(NAMES[name], [(s, m.mean, *_ends(m)) for s, m in zip(SHIFTS, means, strict=True)])
        for name, means in found.items()
        if means
    ]
    title = words.shift_title(found)
    st.markdown(f"**{whole(title)}**")
    chart = curves(lines, axis=AXIS, upwards="right answers", ends=(0, 1), places=SHIFTS)
    show_chart(chart, alt=title)
    st.markdown(whole(words.shift_meaning(sweep)))


def _show_this(key: Key, shown: Shown, said: Said) -> None:
    from pages.look import looking  # noqa: PLC0415 - loads torch

    label = shown.right
    if label is None:
        label = int(sum(said.values()).argmax())
    found = looking.said_when_shifted(key, shown.picture)
    lines = [
        Curve(
            NAMES[name],
            [
                (shift, float(np.mean(row)), float(row.min()), float(row.max()))
                for shift, row in zip(SHIFTS, likely[:, :, label], strict=True)
            ],
        )
        for name, likely in found.items()
    ]
    title = f"This picture: how likely a {DIGITS[label]} is when it is moved"
    st.markdown(f"**{whole(title)}**")
    show_chart(
        curves(lines, axis=AXIS, upwards="probability", ends=(0, 1), places=SHIFTS), alt=title
    )
    st.markdown("Lines are means over up, down, left and right, bands reach from least to most.")
