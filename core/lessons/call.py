"""What a call is that a claim may name. Free of torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a number is, which keywords are needed for it, and which may be left out."""

    gives: str
    needs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    may: Mapping[str, Any] = field(default_factory=dict[str, Any])
