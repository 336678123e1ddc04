"""Which picture is looked at: of a test set, one that was answered wrong, drawn, or uploaded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.pictures.drawn import DIGITS as DIGIT_NAMES
from core.pictures.picture_file import ENDINGS, FORMATS, MOST_BYTES, read_picture
from core.pictures.pictures import Split
from core.pictures.sample import Sample
from core.pictures.shifts import SHIFTS, shifted
from core.pictures.sources import DIGITS, sources
from core.pictures.strokes import drawn_picture
from pages.look import data
from pages.look.canvas import draw_on
from pages.look.names import SHORT
from pages.shared import bound, present
from pages.shared.uploads import choose_file

PREFIX = "look-"
TEST, WRONG, DRAW, UPLOAD = "test", "wrong", "draw", "file"
SHIPPED = "shipped digits"
FILE = f"{PREFIX}file"
FARTHEST = SHIFTS[-1]
UPLOAD_HELP = f"{', '.join(FORMATS)}; at most 8 MB. It is turned white on black and made 28 x 28."
OTHER_CLASSES = "The networks know digits alone: what they say of these pictures means little."


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A picture as the networks get it, which digit it is if that is known, and what it is called.

    `at` is its place among the shipped digits, if it is one that was not moved.
    """

    picture: data.Picture
    name: str
    right: int | None = None
    at: int | None = None


def choose_way(sample: Sample | None) -> str:
    """Where the picture is from."""
    ways = [TEST, *([] if sample is None else [WRONG]), DRAW, UPLOAD]
    way = bound.segmented_control(
        "Picture from",
        ways,
        default=TEST,
        required=True,
        key=f"{PREFIX}from",
        label_visibility="collapsed",
    )
    return way or TEST


def chosen(way: str, sample: Sample | None) -> Shown | None:
    """The picture; None while there is none. Raises ValueError for what cannot be read."""
    if way == DRAW:
        strokes = draw_on()
        return Shown(picture=drawn_picture(strokes), name="the drawing") if strokes else None
    if way == UPLOAD:
        return _uploaded()
    return _of_wrong(sample) if way == WRONG and sample is not None else _of_a_set(sample)


def moved(shown: Shown | None) -> Shown | None:
    """The picture moved as the controls of the side bar say."""
    limits = (-FARTHEST, FARTHEST, 0, 1)
    with st.sidebar:
        right = bound.slider("Moved to the right (points)", *limits, key=f"{PREFIX}right")
        down = bound.slider("Moved down (points)", *limits, key=f"{PREFIX}down")
    if shown is None or (not down and not right):
        return shown
    ways = ((down, ("up", "down")), (right, ("left", "right")))
    by = " and ".join(f"{abs(n)} {names[n > 0]}" for n, names in ways if n)
    picture = shifted(shown.picture, down, right)
    return replace(shown, picture=picture, at=None, name=f"{shown.name}, moved {by}")


def _of_a_set(sample: Sample | None) -> Shown:
    at_hand = sources()
    shipped = [SHIPPED] if sample is not None and DIGITS not in at_hand else []
    first = [DIGITS] if DIGITS in at_hand else shipped
    names = [*first, *(name for name in at_hand if name not in first)]
    with st.sidebar:
        name = bound.selectbox("Test set", names, key=f"{PREFIX}set")
    if name == SHIPPED and sample is not None:
        numbers, classes = sample.numbers, sample.classes
        split = Split(pictures=sample.pictures, labels=sample.labels)
    else:
        classes, split = data.pictures_of(name)
        numbers = np.arange(len(split))
    known = classes == DIGIT_NAMES
    if not known:
        st.caption(OTHER_CLASSES)
    place = _choose_one(classes, split, numbers)
    number = int(numbers[place])
    return Shown(
        picture=split.pictures[place],
        name=f"No. {number:,} of {name}",
        right=int(split.labels[place]) if known else None,
        at=_place_of(sample, number) if name in (DIGITS, SHIPPED) else None,
    )


def _choose_one(classes: Sequence[str], split: Split, numbers: NDArray[np.int64]) -> int:
    """The place of a picture in the split."""
    there = [name for label, name in enumerate(classes) if (split.labels == label).any()]
    one, other = st.columns(2, gap="small", wrap=False)
    with one:
        usual = min(9, len(there) - 1)  # a nine has a part that every network needs
        of = bound.selectbox("Class", there, usual, key=f"{PREFIX}class", follows=True)
    places = np.flatnonzero(split.labels == classes.index(of))
    names = [f"No. {numbers[place]:,}" for place in places]
    key = f"{PREFIX}picture"
    with other:
        name = bound.selectbox("Picture", names, key=key, follows=True)
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
    name = bound.selectbox("What it is, and what was said", list(names), key=key)
    present.keys_step(key, list(names), ("Left", "Right"), "Wrong answer")
    at = names[name]
    number = int(sample.numbers[at])
    return Shown(
        picture=sample.pictures[at], name=f"No. {number:,}", right=int(sample.labels[at]), at=at
    )


def _wrong_name(sample: Sample, at: int) -> str:
    """What it is, and what each network that is wrong says."""
    right = int(sample.labels[at])
    said = {name: int(likely.argmax()) for name, likely in sample.said(at).items()}
    wrong = [f"{SHORT[name]} {sample.classes[one]}" for name, one in said.items() if one != right]
    return f"{sample.classes[right]} (No. {sample.numbers[at]:,}): {', '.join(wrong)}"


def _uploaded() -> Shown | None:
    file = choose_file(f"A picture ({', '.join(ENDINGS)})", FILE, MOST_BYTES, said=UPLOAD_HELP)
    if file is None:
        return None
    if file.size > MOST_BYTES:
        raise ValueError(f"the file has {file.size:,} bytes; at most {MOST_BYTES:,} are read")
    return Shown(picture=_read(file.digest, file.data), name="the uploaded picture")


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(digest: str, _data: bytes) -> data.Picture:
    return read_picture(_data)
