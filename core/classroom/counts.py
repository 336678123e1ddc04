"""What a teacher sees of a class: how often each answer was given, the explanations, all as CSV."""

import csv
import io
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from core.classroom.file import act
from core.classroom.session import Session, Teacher, allowed
from core.classroom.store import EXPLANATION

COLUMNS = ("lesson", "kind", "step", "phase", "pupil", "answer", "minute")
Row = tuple[int, str, int, str, float]  # step, phase, number of the pupil, text, time


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How often each answer was given to a step, before and after it was revealed."""

    step: int
    before: dict[str, int]
    after: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a class stands; explanations in the order of the pupils' numbers."""

    session: Session
    n_pupils: int
    n_answers: int
    steps: tuple[Counts, ...]
    explained_before: tuple[str, ...]
    explained_after: tuple[str, ...]

    def counts(self, step: int) -> Counts:
        """Of one step; of one that nobody answered, nothing."""
        empty = Counts(step=step, before={}, after={})
        return next((found for found in self.steps if found.step == step), empty)


def standing(root: Path, teacher: Teacher, *, now: float | None = None) -> Standing:
    """Raises ValueError if the class is gone or the key is not its."""
    session, rows = _read(root, teacher, now)
    steps = sorted({step for step, *_ in rows} - {EXPLANATION})
    return Standing(
        session=session,
        n_pupils=len({number for _, _, number, _, _ in rows}),
        n_answers=len(rows),
        steps=tuple(
            Counts(
                step=step,
                before=_counted(rows, step, "before"),
                after=_counted(rows, step, "after"),
            )
            for step in steps
        ),
        explained_before=tuple(_texts(rows, EXPLANATION, "before")),
        explained_after=tuple(_texts(rows, EXPLANATION, "after")),
    )


def as_csv(root: Path, teacher: Teacher, *, now: float | None = None) -> str:
    """All answers, a line each; a pupil is a number in the order of first answers."""
    session, rows = _read(root, teacher, now)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for step, phase, number, text, at in rows:
        kind = "explanation" if step == EXPLANATION else "prediction"
        when = datetime.fromtimestamp(at, UTC).isoformat(timespec="minutes")
        shown = "" if step == EXPLANATION else step
        writer.writerow([session.lesson, kind, shown, phase, number, _harmless(text), when])
    return out.getvalue()


def _read(root: Path, teacher: Teacher, now: float | None) -> tuple[Session, list[Row]]:
    with act(root, teacher.code, time.time() if now is None else now, writes=False) as connection:
        session = allowed(connection, teacher)
        rows: list[Row] = connection.execute(
            "SELECT step, phase, number, text, at FROM answers JOIN pupils USING (code, pupil) "
            "WHERE code = ? ORDER BY step, phase DESC, number",
            (teacher.code,),
        ).fetchall()
    return session, rows


def _counted(rows: Iterable[Row], step: int, phase: str) -> dict[str, int]:
    return dict(Counter(_texts(rows, step, phase)).most_common())


def _texts(rows: Iterable[Row], step: int, phase: str) -> list[str]:
    return [row[3] for row in rows if row[:2] == (step, phase)]


def _harmless(text: str) -> str:
    """A spreadsheet would run what begins like a formula; a number stays one."""
    if text[0] not in "=+-@":
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
