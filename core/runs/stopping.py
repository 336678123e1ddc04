"""A request to stop is heard between two steps: half a step is no state that can be resumed."""

import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

LOOK_EVERY_SECONDS = 0.25


@contextmanager
def stop_requests(
    asked: Callable[[], object] = lambda: None,
) -> Generator[threading.Event, None, None]:
    """An event that Ctrl-C or a termination request sets; a second request interrupts at once.

    `asked` is called at the first one, which may come between any two lines of the main thread.
    Outside the main thread, where no signal arrives, the event is never set.
    """
    stop = threading.Event()

    def ask(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        asked()

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def now_and_then(ask: Callable[[], bool]) -> Callable[[], bool]:
    """Asks a few times a second only: what goes on in between may be far shorter than a look."""
    last, answer = float("-inf"), False

    def ask_now_and_then() -> bool:
        nonlocal last, answer
        if not answer and time.monotonic() - last > LOOK_EVERY_SECONDS:
            last, answer = time.monotonic(), ask()
        return answer

    return ask_now_and_then
