"""Reading a pickle from anywhere without running it.

The pickle is a list of instructions for a small machine. Here the machine is our own: it makes
dictionaries, lists, tuples, texts, numbers, True, False and None, and nothing else. A name that
stands for code stays a name; what would call it is handed to `call`, which knows what it lets
through. An instruction that no such file needs is refused, so that there is nothing to be run.

Cost: one pass over the bytes, and memory of their order, whatever they claim: no length is believed
that is not there. Keys are texts and small numbers, whose hashes cannot be chosen to collide, and
nothing ever walks through what was made: lists that hold themselves cost nothing.
"""

import pickletools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from core.checkpoints.store import CheckpointError

MOST_PICKLE_BYTES = 8_000_000
MOST_KEY = 2**31
_PROTOCOLS = (2, 3, 4, 5)
_MARK = object()

_IGNORED = {"PROTO", "FRAME"}
_CONSTANTS: dict[str, object] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_NUMBERS = {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"}
_TEXTS = {"BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"}
_EMPTY: dict[str, Callable[[], object]] = {"EMPTY_DICT": dict, "EMPTY_LIST": list}
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


@dataclass(frozen=True, slots=True)
class Named:
    """What a pickle asks for by module and name; it is never looked up."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """What is let through beside plain values; without them nothing is.

    `calls` by the name that is called, `names` that are never called, and `hold`, which gets the
    parts of what a pickle says of something that lies outside it.
    """

    calls: Mapping[str, Callable[..., object]] = field(
        default_factory=dict[str, Callable[..., object]]
    )
    names: Collection[str] = ()
    hold: Callable[..., object] | None = None
    expected: str = "plain values"


@dataclass(slots=True)
class _Machine:
    doors: Doors
    stack: list[object] = field(default_factory=list[object])
    memo: dict[int, object] = field(default_factory=dict[int, object])

    def pop(self) -> object:
        value = self.stack.pop()
        if value is _MARK:
            raise IndexError
        return value

    def to_mark(self) -> list[object]:
        """What stands above the last mark, which goes too."""
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise IndexError
        values = self.stack[at + 1 :]
        del self.stack[at:]
        return values

    def top(self, kind: type) -> Any:
        """What the values just taken are put into."""
        value = self.stack[-1]
        if type(value) is not kind:
            raise TypeError
        return value


def read_pickle(data: bytes, doors: Doors) -> object:
    """What a pickle makes. Raises CheckpointError in one sentence for anything it may not do."""
    if len(data) > MOST_PICKLE_BYTES:
        raise CheckpointError(
            f"holds a pickle of {len(data):,} bytes; at most {MOST_PICKLE_BYTES:,} are read"
        )
    try:
        return _run(_Machine(doors), data)
    except CheckpointError:
        raise
    except (ValueError, IndexError, KeyError, TypeError, OverflowError):
        raise CheckpointError("holds a broken pickle") from None


def _run(machine: _Machine, data: bytes) -> object:
    for operation, argument, _ in pickletools.genops(data):
        if operation.name != "STOP":
            _step(machine, operation.name, argument)
    (value,) = machine.stack
    return value


def _step(machine: _Machine, name: str, argument: Any) -> None:
    if name in _IGNORED:
        if name == "PROTO" and argument not in _PROTOCOLS:
            raise CheckpointError(f"holds a pickle of protocol {argument}, which is not read")
    elif name in _CONSTANTS:
        machine.stack.append(_CONSTANTS[name])
    elif name in _NUMBERS:
        machine.stack.append(argument)
    elif name in _TEXTS:
        argument.encode()  # half a character is no text
        machine.stack.append(argument)
    elif name in _EMPTY:
        machine.stack.append(_EMPTY[name]())
    elif name == "MARK":
        machine.stack.append(_MARK)
    elif name in _TUPLES:
        values = [machine.pop() for _ in range(_TUPLES[name])]
        machine.stack.append(tuple(reversed(values)))
    elif name in _ACTIONS:
        _ACTIONS[name](machine, argument)
    else:
        raise CheckpointError(
            f"holds a pickle with the instruction {name}, which no such file needs; nothing of it "
            "was run"
        )


def _fill_dict(machine: _Machine, values: list[object]) -> None:
    into: dict[object, object] = machine.top(dict)
    if len(values) % 2:
        raise IndexError
    for key, value in zip(values[::2], values[1::2], strict=True):
        if type(key) is not str and not (type(key) is int and abs(key) < MOST_KEY):
            raise CheckpointError(
                f"a dictionary in it has a {type(key).__name__} as a key; texts and small numbers "
                "are read"
            )
        into[key] = value


def _set_item(machine: _Machine, _: object) -> None:
    value, key = machine.pop(), machine.pop()
    _fill_dict(machine, [key, value])


def _append(machine: _Machine, _: object) -> None:
    value = machine.pop()
    machine.top(list).append(value)


def _appends(machine: _Machine, _: object) -> None:
    values = machine.to_mark()
    machine.top(list).extend(values)


def _remember(machine: _Machine, place: int) -> None:
    if machine.stack[-1] is _MARK:
        raise IndexError
    machine.memo[place] = machine.stack[-1]


def _name(machine: _Machine, asked: str) -> None:
    machine.stack.append(_admitted(machine, asked.replace(" ", ".")))


def _name_above(machine: _Machine, _: object) -> None:
    name, module = machine.pop(), machine.pop()
    if type(name) is not str or type(module) is not str:
        raise TypeError
    machine.stack.append(_admitted(machine, f"{module}.{name}"))


def _admitted(machine: _Machine, name: str) -> Named:
    if name not in machine.doors.calls and name not in machine.doors.names:
        shown = ".".join(name.split())
        raise CheckpointError(
            f"holds more than {machine.doors.expected}: it asks for {shown:.60}, and nothing of it "
            "was run"
        )
    return Named(name)


def _call(machine: _Machine, _: object) -> None:
    arguments, called = machine.pop(), machine.pop()
    if not isinstance(called, Named) or type(arguments) is not tuple:
        raise TypeError
    machine.stack.append(machine.doors.calls[called.name](*cast(tuple[object, ...], arguments)))


def _hold(machine: _Machine, _: object) -> None:
    parts = machine.pop()
    if type(parts) is not tuple or machine.doors.hold is None:
        raise TypeError
    machine.stack.append(machine.doors.hold(*cast(tuple[object, ...], parts)))


def _attributes(machine: _Machine, _: object) -> None:
    """Attributes are left out: of a dictionary torch keeps versions of its modules in them."""
    machine.pop()
    machine.top(dict)


_ACTIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.to_mark())),
    "SETITEM": _set_item,
    "SETITEMS": lambda machine, _: _fill_dict(machine, machine.to_mark()),
    "APPEND": _append,
    "APPENDS": _appends,
    "BINPUT": _remember,
    "LONG_BINPUT": _remember,
    "MEMOIZE": lambda machine, _: _remember(machine, len(machine.memo)),
    "BINGET": lambda machine, place: machine.stack.append(machine.memo[place]),
    "LONG_BINGET": lambda machine, place: machine.stack.append(machine.memo[place]),
    "GLOBAL": _name,
    "STACK_GLOBAL": _name_above,
    "REDUCE": _call,
    "BINPERSID": _hold,
    "BUILD": _attributes,
}
