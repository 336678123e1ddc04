"""What came out, in sentences and tables: shares with their intervals, and what may be noise."""

from collections.abc import Sequence

from core.jobs.curves import Share, overlap, result
from core.jobs.state import Job
from pages.shared.text import percent, plain


def share(found: Share | None) -> str:
    """A share with its 95 % interval."""
    if found is None:
        return "–"
    middle, low, high = found
    return f"{percent(middle)} ({100 * low:.0f}–{100 * high:.0f})"


def noise(jobs: Sequence[Job], names: Sequence[str]) -> str:
    """Whether the best two runs differ by more than chance, by dev or else by held-out answers."""
    for split, words in (("dev", "dev"), ("held_out", "held-out")):
        found = [
            (share_, name)
            for name, job in zip(names, jobs, strict=True)
            if (share_ := result(job, split)) is not None
        ]
        if len(found) == len(jobs) > 1:
            (first, best), (second, other) = sorted(found, reverse=True)[:2]
            if overlap(first, second):
                return (
                    f"The {words} intervals of **{plain(best)}** and **{plain(other)}** overlap: "
                    "their difference may be noise."
                )
            return (
                f"**{plain(best)}** is ahead of **{plain(other)}** by more than noise: their "
                f"{words} intervals do not overlap."
            )
    return ""


def lesson(runs: Sequence[Job]) -> str:
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
