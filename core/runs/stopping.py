"""A request to stop is heard between two steps: half a step is no state that can be resumed."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def stop_requests() -> Generator[threading.Event, None, None]:
    """An event that Ctrl-C or a termination request sets; a second request interrupts at once.

    Outside the main thread, where no signal arrives, the event is never set.
    """
    stop = threading.Event()

    def ask(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
