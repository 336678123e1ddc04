"""Attention Explorer: everything the pages do, without a browser.

`from core import record` is the way in for notebooks; torch is loaded when it is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.inspection.recording import record

__all__ = ["record"]


def __getattr__(name: str) -> Any:
    if name != "record":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from core.inspection.recording import record  # noqa: PLC0415 - loads torch

    return record
