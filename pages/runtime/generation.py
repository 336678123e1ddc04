"""One token more: its time and what is kept against the length of the past, by mechanism."""

from collections.abc import Sequence

from core.bench.curves import floors, kept_curves, sizes_of, time_curves
from core.bench.record import Bench, Record, Setting
from core.bench.summary import BASELINES, crossovers_of
from core.catalogue import WRITERS, label
from core.figures import runtime as figures
from pages.runtime import step_words
from pages.runtime.controls import Looked
from pages.runtime.lines import lines, stripes
from pages.runtime.told import Picture, Told

TIME, KEPT = ("µs", 1e6), ("kB", 1e-3)
STATES = tuple(method for method in WRITERS if method not in BASELINES)


def told(
    bench: Bench, setting: Setting, records: Sequence[Record], looked: Looked, other: Bench | None
) -> Told:
    """Of the records that are shown; `other` is the machine beside it."""
    crossings = crossovers_of(records)
    title = step_words.headline(crossings)
    times = [c for c in time_curves(bench, setting) if c.method not in looked.hidden]
    kept = [c for c in kept_curves(bench, setting) if c.method not in looked.hidden]
    times_there = [] if other is None else time_curves(other, setting)
    chosen = [label(method) for method in looked.pointed]
    time_chart = figures.growth_chart(
        lines(times, looked, times_there, grows=step_words.growth),
        title="Time of one token more",
        what="time",
        unit=TIME,
        crossings=stripes(crossings, looked.pointed or STATES),
        floors=floors(bench, setting) if looked.floors else {},
        chosen=chosen,
    )
    kept_chart = figures.growth_chart(
        lines(
            kept,
            looked,
            [] if other is None else kept_curves(other, setting),
            grows=step_words.growth,
        ),
        title="What is kept of the tokens before",
        what="kept",
        unit=KEPT,
        chosen=chosen,
    )
    meaning = step_words.meaning(records)
    return Told(
        title=title,
        pictures=(
            Picture(name="Time", chart=time_chart, alt=f"Time of a token against length. {title}"),
            Picture(name="Kept", chart=kept_chart, alt=f"Bytes kept against length. {meaning}"),
        ),
        how=f"{meaning} {step_words.HOW}",
        heading="Every method in numbers: what a token takes, what is kept, and from where it wins",
        rows=step_words.table(times, kept, crossings, times_there, sizes_of(bench)),
        more=step_words.MORE,
    )
