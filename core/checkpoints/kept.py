"""What is loaded once for all sessions of a server, within a bound on the bytes that it may take.

What was used least recently leaves first. Sessions that ask for the same at the same time load it
once: the others wait, and are told the progress of the first. An error is not kept. Whoever was
given something keeps it as long as it likes; the bound is on what stands here.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Condition
from typing import Generic, TypeVar

from core.checkpoints.progress import Progress, silent

Thing = TypeVar("Thing")
Load = Callable[[Progress], tuple[Thing, int]]
WAITING = "another session is loading it"
NO_ROOM = "waiting for the memory that another session is loading into"


@dataclass(slots=True)
class _Loading:
    """What one session is loading: the bytes put aside for it, and what was said of it last."""

    n_bytes: int = 0
    n_said: int = 0
    newest: str = ""
    is_over: bool = False


class Kept(Generic[Thing]):
    """Things by key, each with its bytes. `most_bytes` is asked at every load."""

    def __init__(self, what: str, most_bytes: Callable[[], int]) -> None:
        """`what` is what an error calls one of them, as in "this model"."""
        self._what, self._most_bytes = what, most_bytes
        self._things: OrderedDict[Hashable, tuple[Thing, int]] = OrderedDict()
        self._loading: dict[Hashable, _Loading] = {}
        self._changed = Condition()

    @property
    def keys(self) -> list[Hashable]:
        """The one that would leave first comes first."""
        with self._changed:
            return list(self._things)

    def get(
        self, key: Hashable, load: Load[Thing], *, n_bytes: int = 0, progress: Progress = silent
    ) -> Thing:
        """What stands under `key`; otherwise what `load` gives, with its bytes.

        n_bytes: what it will take, as far as that is known before: others leave before it is
        loaded. Raises ValueError with the numbers for one that is too large alone, and whatever
        `load` raises, to every session that tried it itself.
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
            return self._load(key, load, n_bytes, current, progress)
        finally:
            with self._changed:
                current.is_over = True
                del self._loading[key]
                self._changed.notify_all()

    def _load(
        self,
        key: Hashable,
        load: Load[Thing],
        n_bytes: int,
        current: _Loading,
        progress: Progress,
    ) -> Thing:
        def tell(text: str) -> None:
            with self._changed:
                current.n_said, current.newest = current.n_said + 1, text
                self._changed.notify_all()
            progress(text)

        self._put_aside(n_bytes, current, tell)
        thing, n_bytes = load(tell)
        self._refuse_alone(n_bytes)
        with self._changed:
            current.n_bytes = 0
            self._make_room(n_bytes)
            self._things[key] = thing, n_bytes
        return thing

    def _put_aside(self, n_bytes: int, current: _Loading, tell: Progress) -> None:
        """Room for what is about to be loaded, beside what others are loading at the same time."""
        self._refuse_alone(n_bytes)
        with self._changed:
            if not self._make_room(n_bytes):
                tell(NO_ROOM)
                self._changed.wait_for(lambda: self._make_room(n_bytes))
            current.n_bytes = n_bytes

    def _refuse_alone(self, n_bytes: int) -> None:
        most = self._most_bytes()
        if n_bytes > most:
            raise ValueError(
                f"{self._what} needs {n_bytes / 1e9:.2f} GB of memory; all that are kept may take "
                f"{most / 1e9:.2f} GB together"
            )

    def _make_room(self, n_bytes: int) -> bool:
        """Let things go until there is room; whether there is, since what is loading stays."""
        loading = sum(other.n_bytes for other in self._loading.values())
        room = self._most_bytes() - n_bytes - loading
        taken = sum(taken for _, taken in self._things.values())
        while taken > room and self._things:
            _, (_, left) = self._things.popitem(last=False)
            taken -= left
        return taken <= room

    def _wait_for(self, current: _Loading, progress: Progress) -> None:
        """Until it is over; the newest of what is said meanwhile is told, in this thread."""
        n_told = 0

        def is_news() -> bool:
            return current.is_over or current.n_said > n_told

        progress(WAITING)
        while True:
            with self._changed:
                self._changed.wait_for(is_news)
                if current.is_over:
                    return
                n_told, newest = current.n_said, current.newest
            progress(newest)
