"""What cannot be opened as a model, and how the names that a file holds are said."""

from collections.abc import Collection


class NotAModel(ValueError):  # noqa: N818 - it is said, not raised for programmers
    """What cannot be opened, and why, in one sentence."""


def listed(names: Collection[str]) -> str:
    """The first few: a file may hold any number, of any length."""
    shown = [f"{repr(name)[1:-1]:.60}" for name in sorted(names)[:3]]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + more
