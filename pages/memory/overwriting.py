"""Who can overwrite, and a state while pairs arrive."""

from functools import partial

import pandas as pd
import streamlit as st

from core.figures.knowledge_measures import NEW, OLD, OWN, Dot, interval_rows
from core.figures.named_rows import Named
from core.figures.state_maps import FIRST, NOW, SECOND, Read, read_bars, state_map
from core.memory.names import label
from core.memory.overwrite import Overwriting
from core.memory.spec import MATRICES, MemorySpec
from core.memory.states import DRAWN_DIM, DRAWN_KEYS, Arrivals, Write, strongest
from pages.memory import data, words
from pages.memory.controls import PREFIX, Chosen
from pages.memory.predict import WITHOUT, cover, foreseen, verdict
from pages.shared import bound, present
from pages.shared import jobs as job_kit
from pages.shared.charts import download_json, show_chart
from pages.shared.text import whole

AXIS = "keys that read it"
WRITE = f"{PREFIX}write"
NARROWEST = 150  # pixels of a map of the state


def show_overwriting(chosen: Chosen) -> None:
    """Covered until something is said; then the shares, and a state pair by pair."""
    said = foreseen(chosen, "rewrites", words.WHO_REWRITES)
    if said is None:
        cover(chosen)
        return
    found = data.overwriting(chosen.spec)
    title = words.overwriting_title(found, chosen.methods)
    st.markdown(f"##### {whole(title)}")
    if said != WITHOUT:
        right = said if words.rewrites(found, said) else ""
        verdict(said, right, words.overwriting_verdict(found, chosen.methods, said))
    rows, dots = _rows(found, chosen.methods)
    chart = interval_rows(rows, dots, axis=AXIS)
    show_chart(chart, alt=title, main=True)
    st.markdown(whole(words.overwriting_meaning(found)))
    _show_state(chosen.spec)
    job_kit.show_files(
        "As table and files",
        {"Overwritten": chart.titled(title)},
        partial(_table, found, chosen.methods),
        key=f"{PREFIX}overwriting-files",
        more=partial(download_json, "Report", found.to_dict, "memory-overwrite"),
    )


def _rows(found: Overwriting, methods: tuple[str, ...]) -> tuple[list[Named], list[Dot]]:
    rows = [Named(label(method), *words.overwriting_note(found, method)) for method in methods]
    parts = {NEW: found.rewritten, OWN: found.kept, OLD: found.stale}
    dots = [
        Dot(at, series, rates[method].value, rates[method].low, rates[method].high)
        for series, rates in parts.items()
        for at, method in enumerate(methods)
    ]
    return rows, dots


def _show_state(spec: MemorySpec) -> None:
    """Before, what is taken and added, after; then what every key so far reads."""
    st.markdown(f"##### A state of {DRAWN_DIM} × {DRAWN_DIM} numbers while pairs arrive")
    which, when = st.columns(2, gap="medium")
    with which:
        method = bound.segmented_control(
            "State of",
            MATRICES,
            default="delta",
            required=True,
            format_func=label,
            key=f"{PREFIX}state",
        )
    pairs, writes = data.written(method or "delta", spec)
    numbers = [str(number) for number in range(1, len(writes) + 1)]
    with when:
        number = int(bound.select_slider("Write", numbers, numbers[DRAWN_KEYS], key=WRITE))
    present.keys_step(WRITE, numbers, ("Left", "Right"), "Write")
    write = writes[number - 1]
    title = words.write_title(write, number, len(writes))
    st.markdown(f"**{whole(title)}.** {whole(words.state_title(method or 'delta'))}")
    _show_maps(write, strongest(writes))
    st.markdown(whole(words.write_said(method or "delta", write)))
    show_chart(read_bars(_reads(pairs, number, write), title=""), alt=f"What keys read. {title}")
    st.caption(words.READS_MEAN)


def _show_maps(write: Write, reach: float) -> None:
    maps = {
        "before": write.before,
        "taken away": -(write.faded + write.removed),
        "added": write.added,
        "after": write.after,
    }
    grid = st.grid(len(maps), min_column_width=NARROWEST)
    for name, values in maps.items():
        with grid.cell():
            alt = f"State, {name}: {len(values)} rows along the key, as many columns"
            show_chart(state_map(values, reach, title=name), alt=alt)
    st.caption(f"Orange is more than 0, blue less; full colour is {reach:.2g}. All on one scale.")


def _reads(pairs: Arrivals, number: int, write: Write) -> list[Read]:
    last = dict(pairs.order[:number])
    return [
        Read(str(key + 1), cosine, NOW if key == write.key else SECOND if key != value else FIRST)
        for (key, value), cosine in zip(last.items(), write.reads, strict=True)
    ]


def _table(found: Overwriting, methods: tuple[str, ...]) -> pd.DataFrame:
    """A row a mechanism and share."""
    parts = {"rewritten": found.rewritten, "kept": found.kept, "stale": found.stale}
    rows = [
        {
            "mechanism": label(method),
            "share": name,
            "value": rates[method].value,
            "low": rates[method].low,
            "high": rates[method].high,
        }
        for name, rates in parts.items()
        for method in methods
    ]
    return pd.DataFrame(rows)
