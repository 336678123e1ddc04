"""Words about sweeps: in the list, above their runs, of their means. No Streamlit here."""

from collections import Counter
from collections.abc import Sequence
from datetime import tzinfo

from core.jobs.over_seeds import (
    SPLITS,
    Group,
    behind_the_best,
    mean_result,
    names_of_groups,
    points,
    settled_split,
)
from core.jobs.state import Job
from pages.shared.text import percent
from pages.training import words

BANDS = (
    "Bands and intervals: where the mean of many more seeds would lie (95 %, Student's t). All "
    "seeds are asked the same questions."
)
Table = tuple[list[str], list[list[str]]]


def labels(jobs: Sequence[Job], zone: tzinfo | None) -> dict[str, str]:
    """Jobs in a list, by id, the newest first; those of a sweep stand below it in their order."""
    names, listed = words.labels(jobs, zone), dict[str, str]()
    counts = Counter(job.sweep.name for job in {j.sweep: j for j in jobs}.values() if job.sweep)
    for job in jobs:
        if job.sweep is None:
            listed[job.id] = names[job.id]
        elif job.sweep.id not in listed:
            own = sorted((one for one in jobs if one.sweep == job.sweep), key=lambda one: one.id)
            when = f" · {words.asked_at(own[0], zone)}" if counts[job.sweep.name] > 1 else ""
            listed[job.sweep.id] = f"{job.sweep.name}{when}: sweep of {len(own)}"
            listed |= {one.id: f"– {names[one.id]}" for one in own}
    return listed


def group_labels(groups: Sequence[Group]) -> dict[str, str]:
    """Groups in a list, by id."""
    return {
        group.id: f"{name}, {len(group.jobs)} {'seed' if len(group.jobs) == 1 else 'seeds'}"
        for name, group in zip(names_of_groups(groups), groups, strict=True)
    }


def runs(jobs: Sequence[Job], *, now: float) -> Table:
    """Every run of a sweep in a row."""
    return ["run", "state", "held-out right (95 %)"], [
        [job.name, words.state(job, now=now), words.share(words.result(job, "held_out"))]
        for job in jobs
    ]


def about_curves(groups: Sequence[Group], names: Sequence[str], window: int) -> list[str]:
    """What was averaged, and what makes it less than it seems."""
    said = [f"{words.smoothing(window)} {words.HELD_OUT.partition(',')[0]}. {BANDS}"]
    part = [
        f"{name} {len(group.counted)} of {len(group.jobs)}"
        for name, group in zip(names, groups, strict=True)
        if 0 < len(group.counted) < len(group.jobs)
    ]
    if part:
        said.append(words.plain(f"Finished runs are counted: {', '.join(part)}."))
    steps = {job.status.n_steps for group in groups for job in group.jobs if job.status is not None}
    if len(steps - {None}) > 1:
        low, high = min(filter(None, steps)), max(filter(None, steps))
        said.append(
            f"The runs have {low:,} to {high:,} steps, for their length was told in minutes: what "
            "they differ in is more than the seed."
        )
    return said


def results(groups: Sequence[Group], names: Sequence[str]) -> Table:
    """Means with their intervals, and by how much each is behind the best."""
    split, behind = settled_split(groups), dict[int, str]()
    if split is not None and len(groups) > 1:
        best, others = behind_the_best(groups, split)
        told = {number: "–" if found is None else points(found) for number, found in others}
        is_ahead = all(found is None or found.value > 0 for _, found in others)
        behind = {best: "the best" if is_ahead else "–"} | told
    head = ["runs", "seeds", *(f"{called} right (95 %)" for called in SPLITS.values())]
    head += ["behind the best (95 %)"] if behind else []
    rows = [
        [name, f"{len(group.counted)} of {len(group.jobs)}", *(_mean(group, s) for s in SPLITS)]
        + ([behind[number]] if behind else [])
        for number, (name, group) in enumerate(zip(names, groups, strict=True))
    ]
    return head, rows


def _mean(group: Group, split: str) -> str:
    found = mean_result(group, split)
    if found is None:
        return "–"
    if len(group.shares(split)) < 2:
        return f"{percent(found.value)} (one seed)"
    if found.low == found.high:
        return f"{percent(found.value)} (all seeds alike)"
    return f"{percent(found.value)} ({100 * found.low:.1f}–{100 * found.high:.1f})"
