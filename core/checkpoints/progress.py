"""What is told while something is loaded: one line at a time, of what is being done."""

from collections.abc import Callable

Progress = Callable[[str], None]
Counted = Callable[[int, int], None]  # told how many are done, and of how many


def silent(_text: str) -> None:
    """The progress that nobody reads."""
