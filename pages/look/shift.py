"""What a shift changes: of all test pictures as it was recorded, and of this picture."""

import numpy as np
import streamlit as st

from core.evaluation.picture_figures import Mean, accuracy_by_shift
from core.figures.look import Curve, curves
from core.pictures.drawn import DIGITS
from core.pictures.shifts import SHIFTS
from core.pictures.sweep import Sweep
from pages.look import sweep_words as words
from pages.look.controls import Shown
from pages.look.data import Key, Said
from pages.look.names import NAMES
from pages.shared.charts import show_chart
from pages.shared.text import whole

AXIS = "points that the picture is moved"
BANDS = "Lines are means over up, down, left and right, bands reach from the least to the most."


def show_shift(sweep: Sweep | None, key: Key, shown: Shown | None, said: Said) -> None:
    """Two pictures side by side; nothing where there is neither."""
    if sweep is None and (shown is None or not said):
        return
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
    title = words.shift_title(found)
    st.markdown(f"**{whole(title)}**")
    _draw([_curve(name, means) for name, means in found.items() if means], "right answers", title)
    st.markdown(whole(words.shift_meaning(sweep)))


def _curve(name: str, means: list[Mean]) -> Curve:
    points = zip(SHIFTS, means, strict=True)
    return Curve(NAMES[name], [(by, mean.mean, *words.ends_of(mean)) for by, mean in points])


def _show_this(key: Key, shown: Shown, said: Said) -> None:
    from pages.look import looking  # noqa: PLC0415 - loads torch

    together = np.sum(list(said.values()), axis=0)
    label = int(together.argmax()) if shown.right is None else shown.right
    found = looking.said_when_shifted(key, shown.picture)
    title = f"This picture: how likely a {DIGITS[label]} is when it is moved"
    st.markdown(f"**{whole(title)}**")
    lines = [
        Curve(
            NAMES[name],
            [
                (by, float(row.mean()), float(row.min()), float(row.max()))
                for by, row in zip(SHIFTS, likely[:, :, label], strict=True)
            ],
        )
        for name, likely in found.items()
    ]
    _draw(lines, "probability", title)
    st.markdown(BANDS)


def _draw(lines: list[Curve], upwards: str, alt: str) -> None:
    chart = curves(lines, axis=AXIS, upwards=upwards, ends=(0, 1), places=SHIFTS)
    show_chart(chart, alt=alt)
