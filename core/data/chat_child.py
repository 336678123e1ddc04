"""One chat template, run in a process of its own: it is a program of whoever made the model.

jinja's sandbox keeps it from files and from Python, but nothing there ends a loop or bounds a text;
the system does both for a process. Run as a script, it knows nothing else of this project: a JSON
object comes in, the text goes out, and what is wrong is one line on standard error.
"""

import json
import sys
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

BYTES = 1_000_000_000
REFUSED, ENDLESS = 3, 4
ODD = (TemplateError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError)


class Generation(Extension):
    """{% generation %}: marks what a model has said; the text in it is text like any other."""

    tags = {"generation"}  # noqa: RUF012 - jinja's own form

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def bound(seconds: int) -> None:
    """Seconds and bytes, where the system can bound them; the parent waits a little longer."""
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def render(asked: dict[str, Any]) -> str:
    """The text that a template makes of what is asked."""
    environment: Any = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals.update(raise_exception=_refuse, strftime_now=_now)
    return environment.from_string(asked["template"]).render(**asked["values"])


def main() -> int:
    """Returns the exit status."""
    asked = json.load(sys.stdin)
    bound(asked["seconds"])
    try:
        text = render(asked)
    except (MemoryError, RecursionError):
        return ENDLESS
    except ODD as error:
        print(" ".join(str(error).split())[:200], file=sys.stderr)
        return REFUSED
    sys.stdout.buffer.write(text.encode(errors="replace"))
    return 0


def _to_json(value: Any, ensure_ascii: bool = False, **how: Any) -> str:  # noqa: FBT001, FBT002 - as templates call it
    return json.dumps(value, ensure_ascii=ensure_ascii, **how)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)


if __name__ == "__main__":
    sys.exit(main())
