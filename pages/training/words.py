"""What the page says: names of choices, states of jobs, titles and tables; what came out, with its
interval, and what may be noise. No Streamlit here.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from core.jobs.curves import Share, overlap, result
from core.jobs.estimate import TrainingEstimate
from core.jobs.leftovers import Leftover
from core.jobs.state import Job
from core.training.presets import Kind
from core.training.recipe import Corpus
from pages.shared import cluster_words
from pages.shared.text import percent, plain

ONE, COMPARE, LESSON = "One run", "Compare", "Lesson"
CORPORA: dict[Corpus, str] = {
    "notable": "notable people",
    "notable-unread": "all but 300 of them",
    "course": "course's files",
    "spoken": "speech",
    "pairs": "pairs",
}
KINDS: dict[Kind, str] = {
    "both": "pretrain, then fine-tune",
    "listen": "listen to sentences",
    "recall": "recall pairs (MQAR)",
    "scratch": "questions only (scratch)",
    "pretrain": "pretrain only",
    "fine-tune": "fine-tune a checkpoint",
    "ablation": "a row of the ablation",
}
AXES = {"steps": "step", "tokens": "tokens read", "seconds": "seconds of training"}
AS_PRESET = "as in the preset"
ACTIVITIES = {"loading": "loading its text", "measuring": "measuring its answers"}
SILENT_SECONDS = 60.0
HELD_OUT = (
    "Right answers: to questions that are held back and never practised, with their 95 % interval; "
    "grey: always giving the most frequent answer."
)


def labels(jobs: Sequence[Job], zone: tzinfo | None) -> dict[str, str]:
    """Jobs in a list, by id: their titles; those that occur twice with when they were asked for."""
    counts = Counter(job.name for job in jobs)
    return {
        job.id: job.name if counts[job.name] == 1 else f"{job.name} · {asked_at(job, zone)}"
        for job in jobs
    }


def asked_at(job: Job, zone: tzinfo | None) -> str:
    """When a job was started, by the viewer's clock."""
    try:
        started = datetime.strptime(job.id[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:  # digits that are no time
        return job.id
    return f"{started.astimezone(zone):%d %b %H:%M:%S}"


def state(job: Job, *, now: float, zone: tzinfo | None = None) -> str:
    """How a job stands, in a few words."""
    status = job.status
    if job.state == "queued":
        return _waits(job, zone)
    if job.state == "stopping":
        return "stopping after its step"
    if job.state in ("stopped", "lost") and not job.can_resume:
        return f"{job.state}, cannot go on"
    if job.state == "stopped":
        return "stopped, can go on"
    if job.state == "lost":
        return "lost, can be resumed"
    if job.state == "finished":
        found = result(job, "dev") or result(job, "held_out")
        which = "dev" if result(job, "dev") else "held-out"
        figure = "" if found is None else f", {share(found)} of the {which} questions right"
        return f"finished{figure}"
    if job.state == "failed" or status is None:
        return job.state
    is_heard = job.there is not None and job.there.is_alive  # whatever its clock says
    if now - status.updated_at > SILENT_SECONDS and not is_heard:
        return f"running, but without a word for {duration(now - status.updated_at)}"
    if status.activity in ACTIVITIES:
        return ACTIVITIES[status.activity]
    left = "" if status.seconds_left is None else f", about {duration(status.seconds_left)} left"
    return f"{job.progress:.0%}{left}"


def _waits(job: Job, zone: tzinfo | None) -> str:
    if job.there is not None:
        return cluster_words.waits(job, zone)
    return "waits" if job.place is None else f"waits, {job.place}. in line"


def progress(job: Job) -> str:
    """Beside the bar: step, phase, speed, size."""
    status = job.status
    if status is None:
        waits = job.there is not None and job.there.waits
        return "not begun yet" if waits else "its worker is on its way"
    steps = "" if status.n_steps is None else f"step {status.step:,} of {status.n_steps:,}"
    speed = status.tokens_per_second
    parts = [
        steps,
        "" if job.device in (None, "cpu") else f"on {job.device}",
        status.activity.removeprefix("training: ") if job.is_active else "",
        "" if speed is None else f"{speed:,.0f} tokens a second",
        "" if status.n_parameters is None else f"{status.n_parameters:,} parameters",
        "" if not status.seconds else f"{duration(status.seconds)} of training",
    ]
    return " · ".join(filter(None, parts)) or "nothing measured yet"


def sample(job: Job) -> str:
    """The question that this run is asked again and again, with its latest answer."""
    latest = None if job.status is None else job.status.sample
    if latest is None:
        return ""
    given, expected = str(latest["answer"]).strip(), str(latest["expected"])
    verdict = "right" if given == expected else f"expected: {plain(expected)}"
    answer = plain(given) or "(nothing)"
    return f"At step {latest['step']:,}: {plain(latest['question'])} → **{answer}** ({verdict})"


def left_over(found: Sequence[Leftover]) -> str:
    """What lies beside the jobs, in a line each, and what can be done."""
    lines = [f"Left over: {plain(one.text)}" for one in found]
    return "  \n".join([*lines, "`python -m core jobs clean` removes what no job needs."])


def duration(seconds: float) -> str:
    """Seconds below two minutes, minutes below two hours."""
    if seconds < 120:
        return f"{max(seconds, 0):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def loss_title(points: Sequence[tuple[float, float]]) -> str:
    """What the loss of one run has done."""
    if len(points) < 2:
        return "Loss"
    return f"Loss: {points[0][1]:.2f} at first, {points[-1][1]:.2f} now"


def accuracy_title(points: Sequence[tuple[float, float, float, float]]) -> str:
    """What one run has reached."""
    if not points:
        return "Right answers"
    at, *found = points[-1]
    return f"Right answers: {percent(found[0])} at step {at:,.0f}"


def smoothed_title(window: int) -> str:
    """The title of the loss of several runs."""
    return "Loss" if window == 1 else f"Loss, mean of {window} lines"


def smoothing(window: int) -> str:
    """What was done to the loss before it was drawn."""
    if window == 1:
        return "Loss as measured: a line of metrics is the mean of about 1/400 of a run's steps."
    return (
        f"Loss smoothed: each point is the mean of its line of metrics and the {window - 1} before."
    )


def expected(
    found: TrainingEstimate, ahead: float | None, now: datetime, *, limit_minutes: float
) -> list[str]:
    """Size, speed and time, each in a line."""
    size = f"**{found.n_parameters:,}** parameters, **{found.n_steps:,}** steps"
    lines = [f"{size}, **{found.tokens_per_second:,.0f}** tokens a second"]
    if ahead is None:
        lines.append(f"{duration(found.seconds)} of training, after jobs of unknown length")
    else:
        end = datetime.fromtimestamp(now.timestamp() + ahead + found.seconds, now.tzinfo)
        wait = f"after a wait of {duration(ahead)}, " if ahead else ""
        lines.append(f"{duration(found.seconds)} of training, {wait}until about {end:%H:%M}")
    if found.seconds > 60 * limit_minutes:
        lines.append(f"More than the limit of {limit_minutes:g} min: it would be ended there.")
    return lines


def share(found: Share | None) -> str:
    """A share with its 95 % interval."""
    if found is None:
        return "–"
    middle, low, high = found
    return f"{percent(middle)} ({100 * low:.0f}–{100 * high:.0f})"


def noise(jobs: Sequence[Job], names: Sequence[str]) -> str:
    """Whether the best two runs differ by more than chance, by dev or else by held-out answers."""
    for split, called in (("dev", "dev"), ("held_out", "held-out")):
        found = [
            (measured, name)
            for name, job in zip(names, jobs, strict=True)
            if (measured := result(job, split)) is not None
        ]
        if len(found) == len(jobs) > 1:
            (first, best), (second, other) = sorted(found, reverse=True)[:2]
            if overlap(first, second):
                return (
                    f"The {called} intervals of **{plain(best)}** and **{plain(other)}** overlap: "
                    "their difference may be noise."
                )
            return (
                f"**{plain(best)}** is ahead of **{plain(other)}** by more than noise: their "
                f"{called} intervals do not overlap."
            )
    return ""


def lesson_verdict(runs: Sequence[Job]) -> str:
    """What the two runs of the lesson, questions only and sentences first, have shown."""
    scratch, pretrained = (result(run, "dev") for run in runs)
    seen = (
        f"With sentences first it answers **{share(pretrained)}** of the dev questions right, "
        f"without them **{share(scratch)}**."
    )
    if scratch is None or pretrained is None or pretrained[1] <= scratch[2]:
        return f"{seen} This time the difference may be noise."
    return (
        f"{seen} Where somebody was born cannot be guessed from questions about others: it has to "
        "be read, and reading is what pretraining buys."
    )


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Typed text stays text; line breaks and bars too."""
    lines = [head, ["--"] * len(head)]
    body = [[plain(cell) for cell in row] for row in rows]
    table = [[plain(cell) for cell in lines[0]], lines[1], *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in table)
