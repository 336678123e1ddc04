"""Time and memory against the length, the verdicts below them, and the files."""

import json
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.bench.curves import Curve, floors, memory_curves, not_run, sizes_of, time_curves
from core.bench.fits import Crossover
from core.bench.record import Bench, Record, Setting
from core.bench.summary import crossovers_of, report_of
from core.catalogue import FEATURE_MAPS, METHODS, family, label
from core.figures import runtime as figures
from core.figures.template import Figure
from core.jobs.state import Job
from core.mechanisms import FAMILIES
from core.theory.costs import crossover_length
from pages.runtime import controls, words
from pages.runtime.controls import Looked
from pages.shared import cluster_words
from pages.shared import jobs as job_kit
from pages.shared.charts import download, show_chart
from pages.shared.text import plain

TIME, MEMORY = ("ms", 1e3), ("MB", 1e-6)
TABLES_KEY = "rt-tables"
NARROWEST = 400  # pixels of a picture: narrower, and little is left beside the names at its edge
STATES = {
    "queued": "waits for its turn",
    "running": "measuring",
    "stopping": "is being stopped",
    "stopped": "was stopped",
    "lost": "was lost",
    "failed": "failed",
    "finished": "measured",
}


def show_growth(looked: Looked) -> None:
    """From the state of a job down to the files; a damaged measurement says what is wrong."""
    source = controls.all_sources().get(looked.source)
    if source is None:
        st.info(words.EMPTY, icon=":material/timer:")
        return
    if source.job is not None:
        _show_job(source.job)
    try:
        bench = controls.read_source(source)
    except (ValueError, OSError) as error:
        st.error("", icon=":material/block:")
        st.text(str(error))
        return
    setting = looked.setting
    records = [] if setting is None else _shown(bench.of(setting), looked.hidden)
    if setting is None or not records:
        st.info("The first points appear when the shortest texts are measured.")
        return
    _show_measured(bench, setting, records, looked)


def _show_job(job: Job) -> None:
    heading, buttons = st.columns([2.2, 1], vertical_alignment="bottom")
    with heading:
        st.markdown(f"**{plain(job.name)}**: {plain(_state(job))}")
    with buttons:
        controls.show_actions(job)
    if job.is_active:
        st.progress(min(max(job.progress, 0.0), 1.0))
    if where := cluster_words.told(job):
        st.caption(plain(where))
    if job.message:
        show = st.error if job.state == "failed" else st.info
        show(plain(job.message), icon=":material/info:")


def _state(job: Job) -> str:
    """How a measurement stands, with what it does now."""
    status = job.status
    text = STATES[job.state]
    if job.state == "queued" and job.place is not None:
        text = f"waits for its turn ({job.place}. in line)"
    if job.state == "queued" and job.there is not None:
        text = cluster_words.waits(job, None)
    if status is None or job.state not in ("running", "stopping"):
        return text
    left = f", about {words.duration(status.seconds_left)} left" if status.seconds_left else ""
    now = status.activity.removeprefix("measuring: ")
    return f"{text}: {now}{left}"


def _shown(records: list[Record], hidden: tuple[str, ...]) -> list[Record]:
    return [record for record in records if record.method not in hidden]


def _show_measured(bench: Bench, setting: Setting, records: list[Record], looked: Looked) -> None:
    """The two pictures, the verdicts, and what the times depend on."""
    crossings = crossovers_of(records)
    title = words.headline(crossings)
    st.markdown(f"##### {plain(title)}")
    times = [c for c in time_curves(bench, setting) if c.method not in looked.hidden]
    memory = [c for c in memory_curves(bench, setting) if c.method not in looked.hidden]
    other = _beside(looked.beside, setting)
    time_chart = figures.growth_chart(
        _lines(times, looked, [] if other is None else time_curves(other, setting)),
        title="Time of one pass",
        what="time",
        unit=TIME,
        crossings=_stripes(crossings),
        floors=floors(bench, setting) if looked.floors else {},
        chosen=[label(method) for method in looked.pointed],
    )
    memory_chart = figures.growth_chart(
        _lines(memory, looked, [] if other is None else memory_curves(other, setting)),
        title="Memory of one pass, beside its inputs",
        what="memory",
        unit=MEMORY,
        chosen=[label(method) for method in looked.pointed],
    )
    pictures = st.grid(2, min_column_width=NARROWEST)
    with pictures.cell():
        show_chart(time_chart, alt=f"Time against length. {title}", main=True)
    with pictures.cell():
        show_chart(memory_chart, alt="Memory against length, by method")
    st.markdown(words.HOW)
    with st.expander("Every method in numbers: how it grows, and from where it is faster"):
        _show_table(words.table(bench, times, memory, crossings, _by_operations(bench, setting)))
        st.markdown(words.MORE)
        _show_left_out(records)
        st.caption(plain(words.conditions(bench)))
    charts: dict[str, Figure] = {"Time": time_chart, "Memory": memory_chart}
    show_files(bench, setting, records, charts)


def _show_table(rows: list[dict[str, str]]) -> None:
    """On a narrow screen it moves sideways under its first column."""
    st.dataframe(
        rows,
        hide_index=True,
        height="content",
        column_config={words.FIRST: st.column_config.TextColumn(pinned=True)},
    )


def _stripes(crossings: Mapping[tuple[str, str], Crossover]) -> list[figures.Crossing]:
    """Where linear maps overtake the fused form of softmax."""
    return [
        figures.Crossing(
            text=f"{label(method)} {words.verdict(found)}",
            family=FAMILIES.index(family(method)),
            at=found.seq_len,
            low=found.low,
            high=found.high,
        )
        for (method, baseline), found in crossings.items()
        if method in FEATURE_MAPS and baseline == "sdpa"
        if found.seq_len is not None and found.low is not None and found.high is not None
    ]


def _by_operations(bench: Bench, setting: Setting) -> dict[str, float]:
    """The lengths at which a count of operations would let the maps win."""
    sizes = sizes_of(bench)
    return {m: crossover_length(m, setting.head_dim, sizes=sizes) for m in FEATURE_MAPS}


def _beside(other: str | None, setting: Setting) -> Bench | None:
    """Another machine's measurement, if it has this setting."""
    source = None if other is None else controls.all_sources().get(other)
    if source is None:
        return None
    try:
        bench = controls.read_source(source)
    except (ValueError, OSError) as error:
        st.text(str(error))
        return None
    if setting not in bench.settings:
        st.caption(
            f"{plain(source.label)} was not measured with this setting: "
            f"{plain(words.setting_label(setting))}."
        )
        return None
    return bench


def _lines(curves: list[Curve], looked: Looked, others: list[Curve]) -> list[figures.Line]:
    beside = {curve.method: curve for curve in others}
    return [
        figures.Line(
            method=label(curve.method),
            grows=words.growth(curve),
            family=FAMILIES.index(family(curve.method)),
            shape=_shape(curve.method),
            points=[
                (point.seq_len, point.value, point.low, point.high, "; ".join(point.flags))
                for point in curve.points
            ],
            predicted=curve.predicted if looked.formulas else (),
            other=[(p.seq_len, p.value) for p in beside[curve.method].points]
            if curve.method in beside
            else (),
        )
        for curve in curves
        if curve.points
    ]


def _shape(method: str) -> int:
    """The same wherever a method stands; one of a later version shares the last."""
    last = len(figures.SHAPES) - 1
    return METHODS.index(method) % (last + 1) if method in METHODS else last


def _show_left_out(records: list[Record]) -> None:
    """What has no time, with its reason, each reason once a method."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for method, length, why in not_run(records):
        reasons.setdefault((method, why), []).append(f"{length:,}")
    if reasons:
        st.markdown(
            "Not run: "
            + "; ".join(
                f"{label(method)} at {', '.join(lengths)} tokens ({plain(why)})"
                for (method, why), lengths in reasons.items()
            )
            + "."
        )


def show_files(
    bench: Bench, setting: Setting, records: Sequence[Record], charts: Mapping[str, Figure]
) -> None:
    """The files of one picture, and the report of its setting."""

    def offer_report() -> None:
        make = partial(report, bench, setting)
        download("Report (JSON)", make, "bench.json", "application/json")

    job_kit.show_files(
        "As table and files", charts, lambda: _table(records), key=TABLES_KEY, more=offer_report
    )


def _table(records: Sequence[Record]) -> pd.DataFrame:
    """One line a record; its flags as one text."""
    return pd.DataFrame([{**r.to_dict(whole=False), "flags": "; ".join(r.flags)} for r in records])


def report(bench: Bench, setting: Setting) -> bytes:
    """The JSON that `python -m core bench --json` prints, of one setting."""
    one = Bench(
        machine=bench.machine, environment=bench.environment, records=tuple(bench.of(setting))
    )
    return json.dumps(report_of(one), ensure_ascii=False, indent=1).encode()
