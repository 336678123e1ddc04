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
from pages.shared.keep import ASKED, PARTS, PRODUCT, Asked, origin

PATIENCE = 300  # seconds for a step; the first loads torch
REFUSED = 3


def lesson_file(lesson: Lesson) -> bytes:
    """The file. Raises ValueError, naming the step, if a page cannot be drawn.

    Cost: about 10 s, then 1 to 5 s a step.
    """
    chapters: list[Part] = []
    for number, step in enumerate(lesson.steps, 1):
        try:
            parts = page_parts(step)
        except ValueError as error:
            raise ValueError(f"{lesson.name}, step {number}: {error}") from None
        chapters.append(chapter(number, step, parts))
    learns = Text(markdown=f"{lesson.learns} About {lesson.minutes} minutes.", tone="caption")
    shown = {str(step.state.get("checkpoint", "")) for step in lesson.steps}
    document = Document(
        title=f"{lesson.title} · {PRODUCT}",
        origin=origin(chapters, f"/?{urlencode({'lesson': lesson.name})}", shown),
        parts=(learns, *chapters),
    )
    return file_of(document)


def page_parts(step: Step) -> tuple[Part, ...]:
    """What the step's page draws in its state, as a fresh session does."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE).run()
    if step.page:
        app.switch_page(f"pages/{step.page}/page.py")
    for key, value in step.state.items():
        app.query_params[key] = value if isinstance(value, str) else list(value)
    app.session_state[ASKED] = Asked(parts_alone=True, hidden=step.hide)
    app.run()
    if app.exception:
        raise ValueError(f"its page {step.page or 'home'} fails: {app.exception[0].value}")
    return app.session_state[PARTS]


def chapter(number: int, step: Step, page: tuple[Part, ...]) -> Group:
    """A step: what is said, what is asked, and behind the question picture and numbers."""
    seen: list[Part] = [*page]
    if step.after:
        seen.append(Text(markdown=said(step, step.after), tone="info"))
    if step.claims:
        seen.append(_numbers(step))
    seen.append(Choice(label="Page", value=_address(step.page, step.state)))
    parts: list[Part] = [Text(markdown=said(step, step.text))]
    if step.predict is None:
        parts += seen
    else:
        right = Text(markdown=f"**{right_answer(step, step.predict)}**", tone="success")
        parts += [
            Text(markdown=_asked(step, step.predict)),
            Group(title="The answer, and what is seen", parts=(right, *seen), kind="folded"),
        ]
    return Group(title=f"{number}. {said(step, step.title)}", parts=tuple(parts), kind="chapter")


def _asked(step: Step, predict: Prediction) -> str:
    """The question with what may be answered."""
    ask = f"**Before you look:** {said(step, predict.ask)}"
    if not predict.of_number:
        return f"{ask}\n\n" + "\n".join(f"- {said(step, choice)}" for choice in predict.choices)
    low, high = predict.low or 0, predict.high or 0
    return f"{ask} ({number_text(low)} to {number_text(high, predict.unit)})"


def _numbers(step: Step) -> Table:
    """Every claim with how far what is computed may be off."""
    rows = tuple(
        (f"{claim.figure} {claim.text}", f"± {number_text(claim.tolerance, claim.unit)}")
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
