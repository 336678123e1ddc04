"""What visitors of a server may do: its mode and limits, from the environment or one file.

open   everything; one's own machine
class  look, predict, start short jobs; what others could miss needs the teacher's code or is for
       whoever started it
show   look; nothing is started, uploaded or changed

EXPLORER_MODE names the mode, EXPLORER_SERVER a file in TOML with the mode and the rest; where both
name one, EXPLORER_MODE counts.
"""

import hashlib
import hmac
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from core.from_json import dataclass_from_dict
from core.reading import read_bytes

Mode = Literal["open", "class", "show"]
Action = Literal[
    "start",
    "stop",
    "resume",
    "remove",
    "keep",
    "upload",
    "measure",
    "open a class",
    "answer",
    "use the cluster",
]
ACTIONS: tuple[Action, ...] = get_args(Action)
MODES: tuple[Mode, ...] = get_args(Mode)
MODE_VARIABLE, FILE_VARIABLE = "EXPLORER_MODE", "EXPLORER_SERVER"
ANYBODYS: tuple[Action, ...] = ("start", "measure", "answer")  # in class
OWNERS: tuple[Action, ...] = ("stop", "resume", "remove", "keep")
MOST_BYTES = 100_000
LEAST_CODE, MOST_KEEP_DAYS, MOST_WAITING, MOST_MINUTES = 8, 60, 20, 720.0
SHOWS = "this server only shows: nothing is started, uploaded or changed here"
NEEDS_CODE = "only with the teacher's code"
NEEDS_CODE_OR_OWN = "only with the teacher's code, or for who started it"
NO_CODE = f"and this server has none: teacher_code in the file that {FILE_VARIABLE} names sets it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server's mode and, in class, its limits.

    `address` is what pupils type, where it is not the one the browser used; `waiting_jobs` and
    `minutes` are what the jobs of one pupil, waiting or running, may come to; `teachers` are
    addresses of people who are teachers once Streamlit's own login has let them in.
    """

    mode: Mode = "open"
    teacher_code: str = field(default="", repr=False)
    address: str = ""
    keep_days: int = 7
    waiting_jobs: int = 2
    minutes: float = 10.0
    teachers: tuple[str, ...] = ()


def read_server(environment: Mapping[str, str], *, usual: Mode = "open") -> Server:
    """What is set; `usual` is the mode where none is. Raises ValueError in one sentence."""
    named = environment.get(FILE_VARIABLE, "").strip()
    data = _read(Path(named)) if named else {}
    if mode := environment.get(MODE_VARIABLE, "").strip():
        if mode not in MODES:
            raise ValueError(f"{MODE_VARIABLE} is {mode[:40]!r}; modes: {', '.join(MODES)}")
        data["mode"] = mode
    where = named or MODE_VARIABLE
    try:
        server = dataclass_from_dict(Server, {"mode": usual, **data})
        _check(server)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return server


def refusal(server: Server, action: Action, *, is_teacher: bool, owns: bool = False) -> str:
    """Why an action is not for somebody, who `owns` what it is done to or not; "" if it is."""
    if server.mode == "open" or (server.mode == "class" and is_teacher):
        return ""
    if server.mode == "show":
        return SHOWS
    if action in ANYBODYS or (owns and action in OWNERS):
        return ""
    needs = NEEDS_CODE_OR_OWN if action in OWNERS else NEEDS_CODE
    return needs if server.teacher_code or server.teachers else f"{needs}, {NO_CODE}"


def is_code(server: Server, typed: str) -> bool:
    """Whether it is the teacher's code, compared in constant time; never where none is set."""
    digests = [hashlib.sha256(text.encode()).digest() for text in (typed, server.teacher_code)]
    return hmac.compare_digest(*digests) and bool(server.teacher_code)


def _read(path: Path) -> dict[str, Any]:
    data = read_bytes(path, MOST_BYTES)
    try:
        found = tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not TOML ({error})") from None
    if "teachers" in found:
        teachers: Any = found["teachers"]
        if not isinstance(teachers, list) or {*map(type, cast(list[Any], teachers))} - {str}:
            raise ValueError(f"{path}: teachers is {teachers!r:.80}, a list of addresses is needed")
        found["teachers"] = tuple(cast(list[str], teachers))
    return found


def _check(server: Server) -> None:
    if server.teacher_code and len(server.teacher_code) < LEAST_CODE:
        raise ValueError(f"teacher_code has fewer than {LEAST_CODE} characters: easily guessed")
    limits = {
        "keep_days": (1, MOST_KEEP_DAYS),
        "waiting_jobs": (0, MOST_WAITING),
        "minutes": (0, MOST_MINUTES),
    }
    for name, (least, most) in limits.items():
        value = getattr(server, name)
        if not least <= value <= most:
            raise ValueError(f"{name} is {value}: {least} to {most:g} are possible")
