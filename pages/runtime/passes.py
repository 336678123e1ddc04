"""A whole pass: its time and memory against the length, and from where linear maps are faster."""

from collections.abc import Sequence

from core.bench.curves import floors, memory_curves, sizes_of, time_curves
from core.bench.record import Bench, Record, Setting
from core.bench.summary import crossovers_of
from core.catalogue import FEATURE_MAPS, label
from core.figures import runtime as figures
from core.theory.costs import crossover_length
from pages.runtime import words
from pages.runtime.controls import Looked
from pages.runtime.lines import lines, stripes
from pages.runtime.told import Picture, Told

TIME, MEMORY = ("ms", 1e3), ("MB", 1e-6)


def told(
    bench: Bench, setting: Setting, records: Sequence[Record], looked: Looked, other: Bench | None
) -> Told:
    """Of the records that are shown; `other` is the machine beside it."""
    crossings = crossovers_of(records)
    title = words.headline(crossings)
    times = [c for c in time_curves(bench, setting) if c.method not in looked.hidden]
    memory = [c for c in memory_curves(bench, setting) if c.method not in looked.hidden]
    times_there = [] if other is None else time_curves(other, setting)
    time_chart = figures.growth_chart(
        lines(times, looked, times_there),
        title="Time of one pass",
        what="time",
        unit=TIME,
        crossings=stripes(crossings, FEATURE_MAPS),
        floors=floors(bench, setting) if looked.floors else {},
        chosen=[label(method) for method in looked.pointed],
    )
    memory_chart = figures.growth_chart(
        lines(memory, looked, [] if other is None else memory_curves(other, setting)),
        title="Memory of one pass, beside its inputs",
        what="memory",
        unit=MEMORY,
        chosen=[label(method) for method in looked.pointed],
    )
    return Told(
        title=title,
        pictures=(
            Picture(name="Time", chart=time_chart, alt=f"Time against length. {title}"),
            Picture(name="Memory", chart=memory_chart, alt="Memory against length, by method"),
        ),
        how=words.HOW,
        heading="Every method in numbers: how it grows, and from where it is faster",
        rows=words.table(
            bench, times, memory, crossings, _by_operations(bench, setting), times_there
        ),
        more=words.MORE,
    )


def _by_operations(bench: Bench, setting: Setting) -> dict[str, float]:
    """The lengths at which a count of operations would let the maps win."""
    sizes = sizes_of(bench)
    return {m: crossover_length(m, setting.head_dim, sizes=sizes) for m in FEATURE_MAPS}
