"""What a SLURM cluster is asked for: the file in TOML that EXPLORER_CLUSTER names, checked once.

partition  where jobs run; the cluster's own choice unless told
account    who pays; the user's own unless told
time       the longest that a job may run: minutes, hours:minutes:seconds or days-hours:minutes
gpus       how many of a node's GPUs a job gets
setup      lines of bash before the worker (modules, an environment)
python     what runs the worker on a node; this server's own unless told
runs       the folder of all jobs under the name that nodes know; this server's name unless told
options    more options of sbatch, such as --qos=low

Whoever writes the file may run what they like on the cluster anyway: setup and options are theirs.
What visitors of a page type never comes here.
"""

import re
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from core.from_json import dataclass_from_dict
from core.reading import read_bytes

VARIABLE = "EXPLORER_CLUSTER"
MOST_BYTES, MOST_LINES, LONGEST_LINE = 100_000, 100, 1000
MOST_GPUS, MOST_SECONDS = 64, 30 * 86400
WARNING_SECONDS = 60  # before the end of its time a job is told to save
LEAST_SECONDS = 2 * WARNING_SECONDS
LISTS = ("setup", "options")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,-]{0,99}")
_OPTION = re.compile(r"--[a-z][a-z-]*(?:=[^\s'\"\\]*)?")
_TIME = re.compile(r"(?:(\d{1,3})-)?(\d{1,5})(?::(\d{1,2}))?(?::(\d{1,2}))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A job's share of the cluster. Raises ValueError: the key, its value, what is allowed."""

    partition: str = ""
    account: str = ""
    time: str = "1:00:00"
    gpus: int = 0
    setup: tuple[str, ...] = ()
    python: str = ""
    runs: str = ""
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("partition", "account"):
            value = getattr(self, name)
            if value and _NAME.fullmatch(value) is None:
                raise ValueError(f"{name} is {value!r:.120}: letters, digits and . _ - are needed")
        if not 0 <= self.gpus <= MOST_GPUS:
            raise ValueError(f"gpus is {self.gpus}: 0 to {MOST_GPUS} are possible")
        if not LEAST_SECONDS <= seconds_of(self.time) <= MOST_SECONDS:
            raise ValueError(f"time is {self.time!r}: 2 minutes to 30 days are possible")
        for name in LISTS:
            _check_lines(name, getattr(self, name))
        if not self.python.isprintable():
            raise ValueError(f"python is {self.python!r:.120}: the path of a program is needed")
        if self.runs and not (self.runs.isprintable() and Path(self.runs).is_absolute()):
            raise ValueError(f"runs is {self.runs!r:.120}: a path that begins with / is needed")
        for option in self.options:
            if _OPTION.fullmatch(option) is None:
                raise ValueError(f"options has {option!r:.120}: --name or --name=value is needed")

    def asked(
        self, *, partition: str | None = None, time: str | None = None, gpus: int | None = None
    ) -> "Cluster":
        """The same with what one job wants otherwise."""
        given = {"partition": partition, "time": time, "gpus": gpus}
        return replace(self, **{key: value for key, value in given.items() if value is not None})


def read_cluster(environment: Mapping[str, str]) -> Cluster | None:
    """The settings; None where the environment names no file. Raises ValueError in one sentence."""
    named = environment.get(VARIABLE, "").strip()
    if not named:
        return None
    data = _read(Path(named))
    try:
        return dataclass_from_dict(Cluster, data)
    except ValueError as error:
        raise ValueError(f"{named}: {error}") from None


def cluster_here(environment: Mapping[str, str]) -> Cluster | None:
    """The settings where jobs can be sent: sbatch is there, too. Raises ValueError."""
    return None if shutil.which("sbatch") is None else read_cluster(environment)


def seconds_of(time: str) -> int:
    """A limit of time as SLURM reads it: minutes, minutes:seconds, hours:minutes:seconds, and with
    days- before it hours, hours:minutes or hours:minutes:seconds. Raises ValueError.
    """
    found = _TIME.fullmatch(time)
    if found is None:
        raise ValueError(f"time is {time!r:.120}: such as 90, 4:00:00 or 1-12:00 is needed")
    days, *rest = (int(part) if part else None for part in found.groups())
    parts = [part for part in rest if part is not None]
    if any(part > 59 for part in parts[1:]):
        raise ValueError(f"time is {time!r:.120}: at most 59 minutes and seconds")
    if days is None and len(parts) < 3:  # minutes come first
        parts.insert(0, 0)
    hours, minutes, seconds = (*parts, 0, 0)[:3]
    return (days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds


def _read(path: Path) -> dict[str, Any]:
    data = read_bytes(path, MOST_BYTES)
    try:
        found = tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not TOML ({error})") from None
    for name in LISTS:
        if name not in found:
            continue
        lines: Any = found[name]
        if not isinstance(lines, list) or {*map(type, cast(list[Any], lines))} - {str}:
            raise ValueError(f"{path}: {name} is {lines!r:.80}, a list of texts is needed")
        found[name] = tuple(cast(list[str], lines))
    return found


def _check_lines(name: str, lines: tuple[str, ...]) -> None:
    if len(lines) > MOST_LINES:
        raise ValueError(f"{name} has {len(lines)} lines: at most {MOST_LINES} are possible")
    for line in lines:
        if len(line) > LONGEST_LINE or "\n" in line or "\0" in line:
            raise ValueError(
                f"{name} has {line[:60]!r}: one line of at most {LONGEST_LINE} characters is needed"
            )
