"""Which heads seem to matter before any is switched off: for models whose heads are many."""

import numpy as np

from core.inspection.head_table import Prepared
from core.inspection.heads import Head


def strongest(prepared: Prepared, n: int) -> tuple[tuple[Head, ...], str]:
    """The `n` heads that seem to matter before any is switched off, in order of their layers; and
    the measure by which they were chosen, in words.

    That is how much a head adds directly to the logit of the first written token, either way; of a
    model that is no sum of parts, what it brings from the name. Neither sees what a head does
    through later layers. Raises ValueError for fewer than one, and where there is neither measure.
    """
    if n < 1:
        raise ValueError(f"{n} heads: at least one has to be switched off")
    for measure, values in (
        ("direct attribution", np.abs(prepared.attributed)),
        ("contribution of the name", prepared.readings.contribution),
    ):
        n_known = int(np.isfinite(values).sum())
        if n_known:
            order = np.argsort(np.where(np.isnan(values), np.inf, -values), axis=None)
            places = np.unravel_index(order[: min(n, n_known)], values.shape)
            return tuple(sorted((int(a), int(b)) for a, b in zip(*places, strict=True))), measure
    raise ValueError(
        "nothing says which heads seem to matter: this model is no sum of parts, and no question "
        "names its subject; have every head switched off"
    )
