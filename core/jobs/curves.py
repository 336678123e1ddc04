"""What jobs measured, as curves and tables to be laid side by side. Free of torch."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.intervals import wilson_interval
from core.jobs.spec import TrainSpec
from core.jobs.state import Job
from core.runs.journal import METRICS

AXES = {"steps": "step", "tokens": "tokens", "seconds": "seconds"}  # how to count, key of a row
NEEDED = ("step", "phase", "loss", "tokens", "seconds")
Rows = Sequence[Mapping[str, Any]]
Share = tuple[float, float, float]  # share of right answers, its 95 % interval


def whole(rows: Rows) -> Rows:
    """The lines themselves. Raises ValueError naming the first that lacks what a curve needs."""
    for number, row in enumerate(rows, 1):
        if missing := [name for name in NEEDED if name not in row]:
            raise ValueError(f"{METRICS}, line {number}: {', '.join(missing)} is missing")
    return rows


def loss_points(rows: Rows, axis: str, *, window: int = 1) -> list[tuple[float, float]]:
    """(x, mean loss of this line and the window − 1 before it) of every line of metrics."""
    losses = [float(row["loss"]) for row in rows]
    means: list[float] = []
    for end in range(1, len(losses) + 1):
        last = losses[max(0, end - window) : end]
        means.append(sum(last) / len(last))
    return [(float(row[AXES[axis]]), mean) for row, mean in zip(rows, means, strict=True)]


def accuracy_points(rows: Rows, axis: str) -> list[tuple[float, float, float, float]]:
    """(x, share, low, high) of every line that has an answer to the held-out questions."""
    return [
        (float(row[AXES[axis]]), *share_of(row["held_out"])) for row in rows if "held_out" in row
    ]


def phase_begins(rows: Rows, axis: str) -> list[tuple[float, str]]:
    """(x, name) of every phase, up to the distance of two lines."""
    begins: list[tuple[float, str]] = []
    before, at = "", 0.0
    for row in rows:
        if row["phase"] != before:
            begins.append((at, row["phase"]))
        before, at = row["phase"], float(row[AXES[axis]])
    return begins


def flat_rows(rows: Rows) -> list[dict[str, Any]]:
    """The lines of metrics as rows of a table; what was not asked at a line is None."""
    plain = "step phase loss rate tokens seconds tokens_per_second".split()
    return [
        {name: row.get(name) for name in plain}
        | {
            "held_out_correct": row.get("held_out", {}).get("correct"),
            "held_out_total": row.get("held_out", {}).get("total"),
            "sample": row.get("sample"),
        }
        for row in rows
    ]


def share_of(figure: Mapping[str, Any]) -> Share:
    """{correct, total} as a share with its 95 % interval."""
    correct, total = figure["correct"], figure["total"]
    return correct / total, *wilson_interval(correct, total)


def result(job: Job, split: str) -> Share | None:
    """The latest share of right answers of a job; dev is measured at its end only."""
    if job.status is None:
        return None
    figure = (job.status.figures or {}).get(split)
    if figure is None and split == "held_out":
        figure = job.status.held_out
    return None if figure is None else share_of(figure)


def overlap(one: Share, other: Share) -> bool:
    """Whether two intervals have a share in common, so that a difference may be noise."""
    return one[1] <= other[2] and other[1] <= one[2]


def baselines(jobs: Sequence[Job]) -> list[tuple[str, float]]:
    """(constant answer, its share) of some jobs, each once."""
    found = [job.status.baseline for job in jobs if job.status is not None]
    return list({(one["answer"], float(one["accuracy"])): None for one in found if one})


def differences(specs: Sequence[TrainSpec | None]) -> list[tuple[str, list[str]]]:
    """(setting, its value for each spec) where not all are the same.

    "–" stands for a phase that a training does not have, "?" for a spec that cannot be read.
    """
    found = [None if spec is None else settings(spec) for spec in specs]
    names = dict.fromkeys(name for one in found for name in one or {})
    rows = [(name, ["?" if one is None else one.get(name, "–") for one in found]) for name in names]
    return [(name, values) for name, values in rows if len(set(values)) > 1]


def settings(spec: TrainSpec) -> dict[str, str]:
    """All that decides how a training goes, in words; its name does not."""
    recipe = spec.recipe.to_dict()
    phases = recipe.pop("phases")
    for name in ("name", "minutes", "n_steps"):  # those of the preset; the job has its own
        recipe.pop(name)
    return {
        "preset": spec.preset,
        "starts from": spec.start_from or "nothing",
        "length": f"{spec.steps} steps" if spec.minutes is None else f"{spec.minutes:g} min",
        "seed": str(spec.seed),
        "threads": str(spec.threads),
        **{f"phase {phase['name']}": _phase(phase) for phase in phases},
        **{name.removeprefix("n_").replace("_", " "): _value(v) for name, v in recipe.items()},
    }


def _phase(phase: dict[str, Any]) -> str:
    plain = ("name", "share", "answer_only", "rate")
    mixture = [f"{kind} {v:g}" for kind, v in phase.items() if kind not in plain and v]
    more = ["answers only"] if phase["answer_only"] else []
    more += [] if phase["rate"] is None else [f"rate {phase['rate']:g}"]
    return f"{phase['share']:g} of the steps: " + ", ".join([*mixture, *more]).replace("_", " ")


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
