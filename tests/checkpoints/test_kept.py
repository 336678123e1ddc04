"""What a server keeps for all its sessions: loaded once, within its bytes, errors forgotten."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from core.checkpoints.kept import NO_ROOM, WAITING, Kept
from core.checkpoints.progress import Progress

PATIENCE = 60  # seconds until a test that hangs is ended


def kept(most: int = 100) -> Kept[str]:
    return Kept("this model", lambda: most)


def of(text: str, n_bytes: int, calls: list[str] | None = None) -> Callable[..., tuple[str, int]]:
    def load(progress: Progress) -> tuple[str, int]:
        if calls is not None:
            calls.append(text)
        progress(f"loading {text}")
        return text, n_bytes

    return load


def never(_progress: Progress) -> tuple[str, int]:
    raise AssertionError("it stands there already")


class Slow:
    """A load that begins, says so, and goes on when it is told to."""

    def __init__(self, text: str, n_bytes: int, error: Exception | None = None) -> None:
        self.text, self.n_bytes, self.error = text, n_bytes, error
        self.begun, self.go = Event(), Event()

    def __call__(self, progress: Progress) -> tuple[str, int]:
        progress("half of it")
        self.begun.set()
        assert self.go.wait(PATIENCE)
        if self.error:
            raise self.error
        return self.text, self.n_bytes


def test_it_is_loaded_once_and_its_progress_told():
    shelf, said = kept(), list[str]()
    assert shelf.get("a", of("A", 40), progress=said.append) == "A"
    assert shelf.get("a", never, progress=said.append) == "A"
    assert said == ["loading A"]


def test_what_was_used_least_recently_leaves_first():
    shelf = kept()
    for key in "abc":
        shelf.get(key, of(key, 30))
    shelf.get("a", never)
    shelf.get("d", of("d", 40))
    assert shelf.keys == ["c", "a", "d"]
    shelf.get("e", of("e", 100))
    assert shelf.keys == ["e"]


def test_what_will_be_needed_leaves_room_before_it_is_loaded():
    shelf = kept()
    shelf.get("a", of("A", 60))

    def load(_progress: Progress) -> tuple[str, int]:
        assert shelf.keys == []
        return "B", 50

    assert shelf.get("b", load, n_bytes=50) == "B"


def test_one_that_is_too_large_alone_is_refused_with_the_numbers_and_costs_the_others_nothing():
    shelf = kept(2 * 10**9)
    shelf.get("a", of("A", 10**9))
    with pytest.raises(
        ValueError, match=r"^this model needs 3.00 GB .* may take 2.00 GB together$"
    ):
        shelf.get("b", never, n_bytes=3 * 10**9)
    with pytest.raises(ValueError, match=r"needs 2.50 GB"):
        shelf.get("b", of("B", 25 * 10**8))
    assert shelf.keys == ["a"]


def test_a_bound_that_is_lowered_holds_from_the_next_load_on():
    most = [100]
    shelf: Kept[str] = Kept("this trace", lambda: most[0])
    shelf.get("a", of("A", 50))
    shelf.get("b", of("B", 50))
    most[0] = 60
    shelf.get("c", of("C", 5))
    assert shelf.keys == ["b", "c"]


def test_an_error_is_not_kept():
    shelf = kept()

    def broken(_progress: Progress) -> tuple[str, int]:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        shelf.get("a", broken, n_bytes=90)
    assert shelf.keys == []
    assert shelf.get("b", of("B", 90), n_bytes=90) == "B"  # nothing is put aside for it any more
    assert shelf.get("a", of("A", 90)) == "A"


@pytest.fixture
def sessions():
    with ThreadPoolExecutor(4) as pool:
        yield pool


def hear(said: list[str], wanted: str) -> tuple[Progress, Event]:
    heard = Event()

    def progress(text: str) -> None:
        said.append(text)
        if text == wanted:
            heard.set()

    return progress, heard


def asked(pool: ThreadPoolExecutor, shelf: Kept[str], *given: Any, **more: Any) -> "Future[str]":
    return pool.submit(shelf.get, *given, **more)


def test_two_sessions_at_the_same_time_load_it_once_and_the_second_hears_of_it(
    sessions: ThreadPoolExecutor,
):
    shelf, slow, said = kept(), Slow("A", 10), list[str]()
    progress, heard = hear(said, "half of it")
    first = asked(sessions, shelf, "a", slow)
    assert slow.begun.wait(PATIENCE)
    second = asked(sessions, shelf, "a", never, progress=progress)
    assert heard.wait(PATIENCE)
    slow.go.set()
    assert first.result(PATIENCE) is second.result(PATIENCE)
    assert said == [WAITING, "half of it"]


def test_the_second_session_tries_itself_where_the_first_has_failed(sessions: ThreadPoolExecutor):
    shelf, slow, said = kept(), Slow("", 0, ValueError("no such file")), list[str]()
    progress, heard = hear(said, WAITING)
    first = asked(sessions, shelf, "a", slow)
    assert slow.begun.wait(PATIENCE)
    second = asked(sessions, shelf, "a", of("A", 10), progress=progress)
    assert heard.wait(PATIENCE)
    slow.go.set()
    with pytest.raises(ValueError, match="no such file"):
        first.result(PATIENCE)
    assert second.result(PATIENCE) == "A"
    assert said[-1] == "loading A"


def test_others_are_loaded_and_used_meanwhile(sessions: ThreadPoolExecutor):
    shelf, slow = kept(), Slow("A", 10)
    shelf.get("b", of("B", 10))
    first = asked(sessions, shelf, "a", slow)
    assert slow.begun.wait(PATIENCE)
    assert shelf.get("b", never) == "B"
    assert shelf.get("c", of("C", 10)) == "C"
    slow.go.set()
    assert first.result(PATIENCE) == "A"


def test_two_that_do_not_fit_together_are_loaded_one_after_the_other(sessions: ThreadPoolExecutor):
    shelf, slow, said = kept(), Slow("A", 60), list[str]()
    progress, heard = hear(said, NO_ROOM)
    first = asked(sessions, shelf, "a", slow, n_bytes=60)
    assert slow.begun.wait(PATIENCE)
    second = asked(sessions, shelf, "b", of("B", 60), n_bytes=60, progress=progress)
    assert heard.wait(PATIENCE)
    assert not second.done()
    slow.go.set()
    assert first.result(PATIENCE) == "A"
    assert second.result(PATIENCE) == "B"
    assert shelf.keys == ["b"]
