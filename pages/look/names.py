"""What the networks are called on this page."""

from core.pictures.networks import PATCHES, POOLING, STRIDES

NAMES = {
    POOLING: "convolution, max-pooling",
    STRIDES: "convolution, strides of 2",
    PATCHES: "attention over patches",
}
SHORT = {POOLING: "max-pooling", STRIDES: "strides", PATCHES: "attention"}


def offset_name(rows: int, columns: int) -> str:
    """A place beside another in words: “2 up, 1 right”."""
    down = f"{abs(rows)} {'down' if rows > 0 else 'up'}" if rows else ""
    right = f"{abs(columns)} {'right' if columns > 0 else 'left'}" if columns else ""
    return ", ".join(filter(None, (down, right))) or "itself"
