"""Which written piece of an answer is looked at. Free of torch."""

from collections.abc import Callable, Sequence

from core.inspection.traced import Step
from pages.shared import bound


def choose_step(
    steps: Sequence[Step],
    key: str,
    *,
    label: str = "Written piece",
    on_change: Callable[[], None] | None = None,
) -> int:
    """The number of the chosen piece, from 0."""
    labels = {str(i): f"{i + 1}: {step.label}" for i, step in enumerate(steps)}
    chosen = bound.select_slider(
        label,
        list(labels),
        format_func=lambda option: labels.get(option, option),
        key=key,
        on_change=on_change,
    )
    return int(chosen)
