"""What a run of a page sent to the browser, as the tree of containers that it is there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.Block_pb2 import Block
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

MAIN, SIDEBAR = 0, 1  # the first step of a path


@dataclass(slots=True)
class Node:
    """An element, or a container and what is in it, by place; the roots are neither."""

    element: Element | None = None
    block: Block | None = None
    inside: "dict[int, Node]" = field(default_factory=dict[int, Any])

    def __iter__(self) -> "Iterator[Node]":
        """What is in a container, in the order in which it is seen."""
        return (self.inside[place] for place in sorted(self.inside))


def tree(messages: Iterable[ForwardMsg]) -> Node:
    """The root: below it what is in the page (MAIN) and beside it (SIDEBAR).

    What was drawn later in a place stands there; a container that comes to a place with another
    keeps what is in it, as in the browser. Passing elements (spinners) leave no trace.
    """
    root = Node()
    for message in messages:
        if message.WhichOneof("type") != "delta":
            continue
        kind = message.delta.WhichOneof("type")
        *way, place = message.metadata.delta_path
        parent = root
        for step in way:
            parent = parent.inside.setdefault(step, Node())
        if kind == "new_element":
            parent.inside[place] = Node(element=message.delta.new_element)
        elif kind == "add_block":
            before = parent.inside.get(place, Node())
            parent.inside[place] = Node(block=message.delta.add_block, inside=before.inside)
    return root
