"""`lesson`: the lessons there are, every figure of one computed again, or one as a file."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from core.files import check_target
from core.lessons.check import Checked, check
from core.lessons.kept import keep_lesson
from core.lessons.lesson import Lesson
from core.lessons.reading import find_lesson, list_lessons
from core.paths import LESSONS

WRONG = 1


def add_lesson(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.description = __doc__
    parser.add_argument("name", nargs="?", metavar="NAME", help="a lesson, as --list names it")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true", help="all lessons, in their order")
    what.add_argument(
        "--check",
        action="store_true",
        help="compute every claim again; exit status 1 if one does not hold",
    )
    what.add_argument("--out", type=Path, metavar="FILE", help="the whole lesson as one HTML file")
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the lessons, check one or keep it. Returns the exit status."""
    if options.list:
        if options.name is not None:
            raise ValueError("--list names all lessons: leave NAME out")
        _list(list_lessons(LESSONS), as_json=options.json)
        return 0
    if options.name is None:
        raise ValueError("which lesson? lesson NAME --check; lesson --list names them")
    if options.out is not None:
        check_target(options.out)
        keep_lesson(find_lesson(options.name, LESSONS).name, options.out)
        return 0
    claims = check(find_lesson(options.name, LESSONS))
    _say(claims, as_json=options.json)
    return 0 if all(claim.holds for claim in claims) else WRONG


def _list(lessons: list[Lesson], *, as_json: bool) -> None:
    rows = [
        {
            "name": lesson.name,
            "title": lesson.title,
            "minutes": lesson.minutes,
            "steps": len(lesson.steps),
            "claims": len(lesson.claims),
        }
        for lesson in lessons
    ]
    if as_json:
        print(json.dumps({"lessons": rows}, ensure_ascii=False))
        return
    for lesson in lessons:
        print(
            f"{lesson.name}: {lesson.title} ({lesson.minutes} min, "
            f"{_counted(len(lesson.steps), 'step')}, {_counted(len(lesson.claims), 'claim')})"
        )


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _say(claims: list[Checked], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"claims": [asdict(claim) for claim in claims]}, ensure_ascii=False))
        return
    for claim in claims:
        verdict = "holds" if claim.holds else "DOES NOT HOLD"
        print(
            f"{verdict}: {claim.text} (computed {claim.computed:.6g}, within {claim.tolerance:g})"
        )
    n_held = sum(claim.holds for claim in claims)
    print(f"{n_held} of {len(claims)} claims hold")
