"""What was measured: one record a method and length, and the file that keeps them. No torch.

A report is {machine, environment, records, fits, crossovers}. Its stored form is the same with more
in each record (how often it was called, and the spread of its times), so that intervals can be
computed again, and it may hold several settings, causal and not, forward and both ways. Generation
is one more `pass`, so that a reader that does not know it keeps it apart from the others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, cast

from core.bench.spec import GENERATION, PASS
from core.files import read_json, write_json

MOST_KEPT = 15  # quantiles of the times
WIDE, BUSY, REFUSED = "wide", "busy", "refused"
MEMORY, WRONG = "out of memory", "wrong"
NO_CAUSAL_FORM, CAUSAL_ALONE = "no causal form", "only a causal form"
NO_STEP = "no step"


class Setting(NamedTuple):
    """What records must share to stand in one picture."""

    causal: bool
    pass_name: str
    head_dim: int

    @property
    def question(self) -> str:
        """One of core.bench.spec.QUESTIONS."""
        return GENERATION if self.pass_name == GENERATION else PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One method at one length. Times are None where it was not run; `flags` say why, or warn.

    `peak_bytes` is what one pass takes beside query, key and value, its output included.
    `relative_error` is ‖output − softmax‖ / ‖softmax‖, softmax in float64. `quantiles` are those of
    the times at (i + ½) / n, and `repeats` how many times there were.

    In generation the time is that of one token behind `seq_len` others, and `kept_bytes` are what
    is kept of those, as counted from the tensors; no pass has them.
    """

    method: str
    causal: bool
    pass_name: str
    seq_len: int
    head_dim: int
    median_seconds: float | None = None
    p25_seconds: float | None = None
    p75_seconds: float | None = None
    peak_bytes: int | None = None
    relative_error: float | None = None
    flags: tuple[str, ...] = ()
    repeats: int = 0
    quantiles: tuple[float, ...] = ()
    kept_bytes: int | None = None

    @property
    def setting(self) -> Setting:
        return Setting(self.causal, self.pass_name, self.head_dim)

    def flagged(self, *more: str) -> "Record":
        """With more flags."""
        return replace(self, flags=(*self.flags, *more))

    def to_dict(self, *, whole: bool = True) -> dict[str, Any]:
        """As JSON has it; without what only intervals need unless `whole`."""
        data = {("pass" if key == "pass_name" else key): v for key, v in asdict(self).items()}
        data["flags"] = list(self.flags)
        if self.setting.question == PASS:
            del data["kept_bytes"]
        if not whole:
            del data["repeats"], data["quantiles"]
        else:
            data["quantiles"] = [float(f"{time:.4g}") for time in self.quantiles]
        return data


def record_from_dict(data: dict[str, Any]) -> Record:
    """The inverse of `to_dict`; other keys are passed over. Raises ValueError."""
    known = {name: data[name] for name in Record.__slots__ if name in data}
    try:
        known["pass_name"] = data["pass"]
        for name in ("flags", "quantiles"):
            known[name] = tuple(known.get(name, ()))
        record = Record(**known)
        _check(record)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a measurement: {error}") from None
    return record


def _check(record: Record) -> None:
    times = (record.median_seconds, record.p25_seconds, record.p75_seconds, *record.quantiles)
    numbers = (record.seq_len, record.head_dim, *(time for time in times if time is not None))
    if not all(isfinite(number) and number > 0 for number in numbers):
        raise ValueError("a length or a time is not above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A stored measurement: `machine` is the hardware, `environment` what else times depend on."""

    machine: dict[str, Any]
    environment: dict[str, Any]
    records: tuple[Record, ...]

    @property
    def settings(self) -> list[Setting]:
        """In the order in which they were measured."""
        return list(dict.fromkeys(record.setting for record in self.records))

    def of(self, setting: Setting) -> list[Record]:
        """The records of one setting."""
        return [record for record in self.records if record.setting == setting]


def read_bench(path: Path) -> Bench:
    """A stored measurement. Raises ValueError naming the file and what is wrong with it."""
    data = read_json(path)
    try:
        machine, environment = dict(data["machine"]), dict(data["environment"])
        records = tuple(map(record_from_dict, cast("list[dict[str, Any]]", data["records"])))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path}: {missing}") from None
    return Bench(machine=machine, environment=environment, records=records)


def write_bench(path: Path, bench: Bench, summary: dict[str, Any]) -> None:
    """Keep a measurement; `summary` holds fits and crossovers for whoever reads the file alone."""
    data: dict[str, Any] = {"machine": bench.machine, "environment": bench.environment, **summary}
    write_json(path, {**data, "records": [record.to_dict() for record in bench.records]})


def merged(old: Bench, new: Bench) -> Bench:
    """Both, the new one where they measured the same. Raises ValueError for another machine."""
    for name in ("machine", "environment"):
        ours, theirs = _comparable(getattr(new, name), getattr(old, name))
        differing = sorted(k for k in ours.keys() | theirs.keys() if ours.get(k) != theirs.get(k))
        if differing:
            raise ValueError(
                f"the file was measured with another {', '.join(differing)}: name another file"
            )
    environment = dict(new.environment)
    roofs: list[dict[str, float]] = [b.environment.get("roof") or {} for b in (old, new)]
    known = sorted(roofs[0].keys() | roofs[1].keys())
    if known:  # the best that was ever reached
        environment["roof"] = {name: max(roof.get(name, 0.0) for roof in roofs) for name in known}
    records = (*_others(old.records, new.records), *new.records)
    return replace(new, environment=environment, records=records)


def _comparable(new: dict[str, Any], old: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both, as far as they must be the same. A size that the older file does not know was of no
    method that it has.
    """
    ours, theirs = _fixed(new), _fixed(old)
    if "sizes" in ours and "sizes" in theirs:
        known = theirs["sizes"]
        ours["sizes"] = {name: size for name, size in ours["sizes"].items() if name in known}
    return ours, theirs


def _fixed(values: dict[str, Any]) -> dict[str, Any]:
    """What two measurements of one file must share."""
    return {k: v for k, v in values.items() if k not in ("date", "roof", "sdpa_backend")}


def _others(records: Sequence[Record], new: Iterable[Record]) -> list[Record]:
    measured = {(record.setting, record.method, record.seq_len) for record in new}
    return [r for r in records if (r.setting, r.method, r.seq_len) not in measured]
