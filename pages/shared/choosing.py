"""Which checkpoint, and at which moment of its training. Free of torch."""

from collections.abc import Sequence

import streamlit as st

from core.checkpoints.shelf import CARD, list_cards, list_checkpoints, not_shipped, snapshot_steps
from core.data.task import Task, task_of
from core.files import read_json
from core.paths import CHECKPOINTS
from pages.shared import bound, link
from pages.shared.models import model_names
from pages.shared.text import plain

DEFAULT_CHECKPOINT = "notable-pretrained"
FINISHED = "finished"
UPLOADED, TRACE = "uploaded model", "a trace"  # beside the checkpoints


def choose_model(
    *,
    prefix: str = "",
    label: str = "Checkpoint",
    others: Sequence[str] = (),
    default: str = DEFAULT_CHECKPOINT,
) -> tuple[str, int | None]:
    """The name, one of the shelf or of `others`, and the step of a snapshot or None.

    `prefix` tells the keys of the controls, which are in the URL, from those of another page.
    """
    name = choose_name(every_name(), prefix=prefix, label=label, others=others, default=default)
    steps = [] if name in others else snapshot_steps(CHECKPOINTS / name)
    return name, choose_moment(steps, prefix=prefix) if steps else None


def choose_name(
    names: Sequence[str],
    *,
    prefix: str = "",
    label: str = "Checkpoint",
    others: Sequence[str] = (),
    default: str = DEFAULT_CHECKPOINT,
) -> str:
    """One of some checkpoints; where a link names one without weights it is told why it fails."""
    _tell_not_shipped(st.query_params.get(f"{prefix}checkpoint", ""))
    return bound.selectbox(
        label,
        [*names, *others],
        names.index(default) if default in names else 0,
        key=f"{prefix}checkpoint",
        follows=default not in names,
    )


def choose_moment(
    steps: Sequence[int],
    *,
    prefix: str = "",
    label: str = "Moment of training (step)",
    default: str = FINISHED,
) -> int | None:
    """A step at which a snapshot was kept, None for the end of the training."""
    moment = bound.select_slider(
        label,
        [*map(str, steps), FINISHED],
        default,
        key=f"{prefix}moment",
        follows=default != FINISHED,
        help="Scrub through snapshots of this training.",
    )
    return None if moment == FINISHED else int(moment)


def every_name() -> list[str]:
    """All checkpoints, then anyone's models."""
    return [*shelf_names(), *model_names()]


def shelf_names() -> list[str]:
    """All checkpoints of this project; the page ends here where there is none."""
    names = list_checkpoints(CHECKPOINTS)
    if not names:
        st.error("There is no checkpoint in the folder checkpoints/.")
        st.stop()
    return names


def checkpoint_task(name: str) -> Task | None:
    """What a checkpoint of the shelf is asked; None for free texts."""
    try:
        return task_of(read_json(CHECKPOINTS / name / CARD))
    except ValueError:  # loading says what is wrong with the card
        return None


def _tell_not_shipped(asked: str) -> None:
    if asked in list_cards(CHECKPOINTS) and not_shipped(CHECKPOINTS / asked):
        link.tell(
            f"The weights of {plain(asked)} are not shipped; its card holds the command that "
            "trains them again."
        )
