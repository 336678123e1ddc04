"""Which picture is looked at: of a test set, one that was answered wrong, drawn, or uploaded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.pictures.drawn import DIGITS as DIGIT_NAMES
from core.pictures.picture_file import ENDINGS, FORMATS, MOST_BYTES, read_picture
from core.pictures.pictures import Split
from core.pictures.sample import Sample
from core.pictures.shifts import SHIFTS, shifted
from core.pictures.sources import DIGITS, sources
from core.pictures.strokes import drawn_picture
from pages.look import data
from pages.look.canvas import DRAWN
from pages.look.names import SHORT
from pages.shared import bound, present
from pages.shared.uploads import choose_file

PREFIX = "look-"
TEST, WRONG, DRAW, UPLOAD = "a test set", "wrong answers", "draw it", "a file"
SHIPPED = "shipped digits"
FILE = f"{PREFIX}file"
FARTHEST = SHIFTS[-1]
UPLOAD_HELP = f"{', '.join(FORMATS)}; at most 8 MB. It is turned white on black and made 28 x 28."


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A picture as the networks get it, which class it is if that is known, and what it is called.

    `at` is its place among the shipped digits, if it is one that was not moved.
    """

    picture: data.Picture
    name: str
    right: int | None = None
    at: int | None = None


def choose(sample: Sample | None) -> tuple[str, Shown | None]:
    """Where the picture is from, and the picture; None while there is none.

    Raises ValueError for what cannot be read.
    """
    ways = [TEST, *([] if sample is None else [WRONG]), DRAW, UPLOAD]
    with st.sidebar:
        way = bound.segmented_control(
            "Picture from", ways, default=TEST, required=True, key=f"{PREFIX}from"
        )
        chosen = _chosen(way or TEST, sample)
        down, right = _moved()
    return way or TEST, None if chosen is None else _shift(chosen, down, right)


def _chosen(way: str, sample: Sample | None) -> Shown | None:
    if way == DRAW:
        strokes = st.session_state.get(DRAWN, ())
        return Shown(picture=drawn_picture(strokes), name="the drawn digit") if strokes else None
    if way == UPLOAD:
        return _uploaded()
    return _of_wrong(sample) if way == WRONG and sample is not None else _of_a_set(sample)


def _of_a_set(sample: Sample | None) -> Shown:
    at_hand = sources()
    shipped = [SHIPPED] if sample is not None and DIGITS not in at_hand else []
    first = [DIGITS] if DIGITS in at_hand else shipped
    names = [*first, *(name for name in at_hand if name not in first)]
    name = bound.selectbox("Set", names, key=f"{PREFIX}set")
    if name == SHIPPED and sample is not None:
        numbers, classes = sample.numbers, sample.classes
        split = Split(pictures=sample.pictures, labels=sample.labels)
    else:
        classes, split = data.pictures_of(name)
        numbers = np.arange(len(split))
    known = classes == DIGIT_NAMES
    if not known:
        st.caption("The networks know digits alone: what they say of these pictures means little.")
    label = classes.index(
        bound.selectbox("Class", list(classes), _usual(classes), key=f"{PREFIX}class", follows=True)
    )
    place = _choose_one(split, numbers, label)
    number = int(numbers[place])
    return Shown(
        picture=split.pictures[place],
        name=f"test picture {number:,} of {name}",
        right=label if known else None,
        at=_place_of(sample, number) if name in (DIGITS, SHIPPED) else None,
    )


def _usual(classes: Sequence[str]) -> int:
    """A class with a shape that attention and occlusion have something to say of."""
    return min(4, len(classes) - 1)


def _choose_one(split: Split, numbers: np.ndarray, label: int) -> int:
    """The place of a picture of this class; a class may have none among the test pictures."""
    places = np.flatnonzero(split.labels == label)
    if not len(places):
        raise ValueError("this class has no test picture: choose another")
    names = [f"No. {numbers[place]:,}" for place in places]
    key = f"{PREFIX}picture"
    name = bound.selectbox("Test picture", names, key=key, follows=True)
    present.keys_step(key, names, ("Left", "Right"), "Picture")
    return int(places[names.index(name)])


def _place_of(sample: Sample | None, number: int) -> int | None:
    """Where a test picture of the digits stands in the sample, if it is there."""
    found = [] if sample is None else np.flatnonzero(sample.numbers == number)
    return int(found[0]) if len(found) else None


def _of_wrong(sample: Sample) -> Shown:
    names = {_wrong_name(sample, at): at for at in sample.wrong}
    if not names:
        raise ValueError("no shipped network gets a test picture wrong")
    key = f"{PREFIX}wrong"
    name = bound.selectbox("Wrong answer", list(names), key=key)
    present.keys_step(key, list(names), ("Left", "Right"), "Wrong answer")
    at = names[name]
    return Shown(
        picture=sample.pictures[at],
        name=f"test picture {sample.numbers[at]:,}",
        right=int(sample.labels[at]),
        at=at,
    )


def _wrong_name(sample: Sample, at: int) -> str:
    """What it is, and what each network that is wrong says."""
    said = {name: int(likely.argmax()) for name, likely in sample.said(at).items()}
    right = int(sample.labels[at])
    wrong = [
        f"{SHORT[name]} {sample.classes[label]}" for name, label in said.items() if label != right
    ]
    return f"{sample.classes[right]} (No. {sample.numbers[at]:,}): {', '.join(wrong)}"


def _uploaded() -> Shown | None:
    file = choose_file(f"A picture ({', '.join(ENDINGS)})", FILE, MOST_BYTES, said=UPLOAD_HELP)
    if file is None:
        return None
    if file.size > MOST_BYTES:
        raise ValueError(f"the file has {file.size:,} bytes; at most {MOST_BYTES:,} are read")
    return Shown(picture=_read(file.digest, file.data), name="the uploaded picture")


def _moved() -> tuple[int, int]:
    """Points down and to the right."""
    limits = (-FARTHEST, FARTHEST, 0, 1)
    right = bound.slider("Moved to the right", *limits, key=f"{PREFIX}right")
    down = bound.slider("Moved down", *limits, key=f"{PREFIX}down")
    return down, right


def _shift(chosen: Shown, down: int, right: int) -> Shown:
    if not down and not right:
        return chosen
    return Shown(
        picture=shifted(chosen.picture, down, right), name=chosen.name, right=chosen.right
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(digest: str, _data: bytes) -> data.Picture:
    return read_picture(_data)
