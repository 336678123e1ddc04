"""What is loaded once for all sessions of a server, within a bound on the bytes that it may take.

What was used least recently leaves first. Sessions that ask for the same at the same time load it
once: the others wait, and are told the progress of the first. An error is not kept. Whoever was
given something keeps it as long as it likes; the bound is on what stands here.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Condition
from typing import Generic, TypeVar

Thing = TypeVar("Thing")
Progress = Callable[[str], None]
Load = Callable[[Progress], tuple[Thing, int]]
_WAITING = "another session is loading it"


@dataclass(slots=True)
class _Loading:
    """What one session is loading, `said` so far."""

    said: list[str] = field(default_factory=list[str])
    is_over: bool = False


class Kept(Generic[Thing]):
    """Things by key, each with its bytes. `most_bytes` is asked at every load."""

    def __init__(self, what: str, most_bytes: Callable[[], int]) -> None:
        """`what` is what an error calls one of them, as in "the model"."""
        self._what, self._most_bytes = what, most_bytes
        self._things: OrderedDict[Hashable, tuple[Thing, int]] = OrderedDict()
        self._loading: dict[Hashable, _Loading] = {}
        self._changed = Condition()

    @property
    def n_bytes(self) -> int:
        """What all of them take."""
        with self._changed:
            return sum(n_bytes for _, n_bytes in self._things.values())

    @property
    def keys(self) -> list[Hashable]:
        """The one that would leave first comes first."""
        with self._changed:
            return list(self._things)

    def get(
        self,
        key: Hashable,
        load: Load[Thing],
        *,
        n_bytes: int = 0,
        progress: Progress = lambda _text: None,
    ) -> Thing:
        """What stands under `key`; otherwise what `load` gives, with its bytes.

        n_bytes: what it will take, as far as that is known before: others leave before it is
        loaded. Raises ValueError with the numbers for one that is too large alone, and whatever
        `load` raises, to every session that asked for it itself.
        """
        while True:
            with self._changed:
                if key in self._things:
                    self._things.move_to_end(key)
                    return self._things[key][0]
                current = self._loading.get(key)
                if current is None:
                    current = self._loading[key] = _Loading()
                    break
            self._wait_for(current, progress)
        try:
            return self._load(key, load, n_bytes, self._teller(current, progress))
        finally:
            with self._changed:
                current.is_over = True
                del self._loading[key]
                self._changed.notify_all()

    def drop(self, key: Hashable) -> None:
        """Let it go, if it is there."""
        with self._changed:
            self._things.pop(key, None)

    def _load(self, key: Hashable, load: Load[Thing], n_bytes: int, tell: Progress) -> Thing:
        self._make_room(n_bytes)
        thing, n_bytes = load(tell)
        with self._changed:
            self._make_room(n_bytes)
            self._things[key] = thing, n_bytes
        return thing

    def _make_room(self, n_bytes: int) -> None:
        most = self._most_bytes()
        if n_bytes > most:
            raise ValueError(
                f"{self._what} needs {n_bytes / 1e9:.2f} GB of memory; all that are kept may take "
                f"{most / 1e9:.2f} GB together"
            )
        with self._changed:
            taken = sum(taken for _, taken in self._things.values())
            while taken + n_bytes > most:
                _, (_, left) = self._things.popitem(last=False)
                taken -= left

    def _teller(self, current: _Loading, progress: Progress) -> Progress:
        def tell(text: str) -> None:
            with self._changed:
                current.said.append(text)
                self._changed.notify_all()
            progress(text)

        return tell

    def _wait_for(self, current: _Loading, progress: Progress) -> None:
        """Until it is over; what is said meanwhile is told in this thread, the newest alone."""
        progress(_WAITING)
        n_told = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: current.is_over or len(current.said) > n_told)
                if current.is_over:
                    return
                n_told, newest = len(current.said), current.said[-1]
            progress(newest)
