"""A whole lesson as one HTML file: python -m pages.shared.lesson_file NAME FILE.

It is a process of its own: every step is a session of the app that nobody looks at, and those of
Streamlit's AppTest cannot be drawn where a server draws for others.
"""

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from streamlit.testing.v1 import AppTest

from core.files import write_text
from core.lessons.lesson import Lesson, Prediction, Step, number_text, right_answer, said
from core.lessons.reading import find_lesson
from core.offline.fitting import file_of
from core.offline.parts import Choice, Document, Group, Part, Table, Text
from core.paths import LESSONS, ROOT
from pages.shared.frame import LESSON
from pages.shared.keep import PRODUCT, STATE, Asked, Keeping, origin
from pages.shared.text import plain

PATIENCE = 300  # seconds for a step; the first loads torch
REFUSED = 3


def lesson_file(lesson: Lesson) -> bytes:
    """The file. Raises ValueError, naming the step, if a page cannot be drawn.

    Cost: about 10 s, then 1 to 5 s a step.
    """
    chapters, weights = list[Part](), list[tuple[str, str]]()
    for number, step in enumerate(lesson.steps, 1):
        try:
            parts, shown = page_parts(step)
        except ValueError as error:
            raise ValueError(f"{lesson.name}, step {number}: {error}") from None
        weights += shown
        chapters.append(chapter(number, step, parts))
    learns = Text(
        markdown=f"{plain(lesson.learns)} About {lesson.minutes} minutes.", tone="caption"
    )
    document = Document(
        title=f"{lesson.title} · {PRODUCT}",
        origin=origin(f"/?{urlencode({LESSON: lesson.name})}", weights),
        parts=(learns, *chapters),
    )
    return file_of(document)


def page_parts(step: Step) -> tuple[tuple[Part, ...], tuple[tuple[str, str], ...]]:
    """What the step's page draws in its state, as a fresh session does, and weights it shows."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE).run()
    if step.page:
        app.switch_page(f"pages/{step.page}/page.py")
    for key, value in step.state.items():
        app.query_params[key] = value if isinstance(value, str) else list(value)
    asked = Asked(parts_alone=True, hidden=step.hide, only=tuple(step.state))
    keeping = Keeping(asked=asked)
    app.session_state[STATE] = keeping
    app.run()
    if app.exception:
        raise ValueError(f"its page {step.page or 'home'} fails: {app.exception[0].value}")
    return keeping.parts, keeping.weights


def chapter(number: int, step: Step, page: tuple[Part, ...]) -> Group:
    """A step: what is said, what is asked, and behind the question picture and numbers."""
    seen: list[Part] = [*page]
    if step.after:
        seen.append(Text(markdown=_plain(step, step.after), tone="info"))
    if step.claims:
        seen.append(_numbers(step))
    seen.append(Choice(label="Page", value=_address(step.page, step.state)))
    parts: list[Part] = [Text(markdown=_plain(step, step.text))]
    if step.predict is None:
        parts += seen
    else:
        right = Text(markdown=f"**{plain(right_answer(step, step.predict))}**", tone="success")
        parts += [
            Text(markdown=_asked(step, step.predict)),
            Group(title="The answer, and what is seen", parts=(right, *seen), kind="folded"),
        ]
    return Group(title=f"{number}. {_plain(step, step.title)}", parts=tuple(parts), kind="chapter")


def _asked(step: Step, predict: Prediction) -> str:
    """The question with what may be answered."""
    ask = f"**Before you look:** {_plain(step, predict.ask)}"
    if not predict.of_number:
        return f"{ask}\n\n" + "\n".join(f"- {_plain(step, choice)}" for choice in predict.choices)
    low, high = predict.low or 0, predict.high or 0
    return f"{ask} ({number_text(low)} to {number_text(high, predict.unit)})"


def _plain(step: Step, text: str) -> str:
    """A text of the step as the frame shows it: no Markdown."""
    return plain(said(step, text))


def _numbers(step: Step) -> Table:
    """Every claim with how far what is computed may be off."""
    rows = tuple(
        (
            f"{claim.figure} {claim.text}",
            f"± {number_text(claim.tolerance, claim.unit)}" if claim.tolerance else "exactly",
        )
        for claim in step.claims
    )
    return Table(columns=("Computed again by the tests", "within"), rows=rows)


def _address(page: str, state: Mapping[str, object]) -> str:
    return f"/{page}?{urlencode(state, doseq=True)}" if state else f"/{page}"


def main() -> int:
    """Write the file; what is wrong is one sentence to standard error."""
    name, path = sys.argv[1:]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    logging.getLogger("streamlit").setLevel("ERROR")  # without a browser it warns of its absence
    try:
        write_text(Path(path), lesson_file(find_lesson(name, LESSONS)).decode())
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main())
