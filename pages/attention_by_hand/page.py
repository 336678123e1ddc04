"""Attention by hand: small exact examples, each editable, each claim checked by its number."""

from pages.attention_by_hand.tokens import show_design, show_identity
from pages.attention_by_hand.vectors import (
    show_average,
    show_copying,
    show_take_out,
    show_weights,
)
from pages.shared import bound, present

EXAMPLES = {
    "Weights": show_weights,
    "Copy": show_copying,
    "Average": show_average,
    "Take out": show_take_out,
    "Identity": show_identity,
    "Design": show_design,
}
FIRST = "Weights"


def main() -> None:
    """Choose an example on top, change it, read its meaning, numbers and checks."""
    example = bound.segmented_control(
        "Attention by hand",
        list(EXAMPLES),
        default=FIRST,
        required=True,
        key="hand-example",
        help="The last two are self-attention on three tokens.",
    )
    present.keys_step("hand-example", list(EXAMPLES), ("Left", "Right"), "Example")
    EXAMPLES[example or FIRST]()


main()
