"""What several claims need is computed once: one trace for all that is said of it."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Once:
    """Results by what they were made of (values, never objects), as long as one check lasts."""

    made: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gave for this key the first time."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]
