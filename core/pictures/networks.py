"""The networks that look at pictures, by name, and the sizes that all know. No torch here."""

from core.pictures.pictures import SIDE

POOLING, STRIDES, PATCHES = "pooling", "strides", "patches"
NETWORKS = (POOLING, STRIDES, PATCHES)
CONVOLUTIONS = (POOLING, STRIDES)
PADDINGS = (0, 1)
PATCH = 4  # points a side
GRID = SIDE // PATCH
N_PATCHES = GRID * GRID


def check_network(kind: str, padding: int) -> None:
    """Raise ValueError for a network or a padding that there is none of."""
    if kind not in NETWORKS:
        raise ValueError(f"unknown network {kind!r:.60}; networks: {', '.join(NETWORKS)}")
    if padding not in PADDINGS:
        raise ValueError(f"padding {padding!r:.20}; 0 or 1 is allowed")
