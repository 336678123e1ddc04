"""A recorder that writes down other weights than those of the model."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.inspection.recorded import Recorded

Change = Callable[[NDArray[np.float32], Recorded], None]


def forge(monkeypatch: pytest.MonkeyPatch, change: Change, layer: int | None = None) -> None:
    """`change` alters the weights (H, L, L) of a layer, or of every one, as they are put down."""
    put: Any = Recorded._put

    def put_forged(self: Recorded, name: str, at: int, *given: Any, **how: Any) -> None:
        put(self, name, at, *given, **how)
        if name == "weights" and layer in (None, at):
            change(self.arrays["weights"][at], self)

    monkeypatch.setattr(Recorded, "_put", put_forged)
