"""What a page sends to the browser."""

from typing import Any

MOST_BYTES = 700_000  # of a page with a large map


def bytes_of(block: Any) -> int:
    """What all elements below a block weigh when they are sent."""
    return sum(
        bytes_of(child) if hasattr(child, "children") else child.proto.ByteSize()
        for child in block.children.values()
    )
