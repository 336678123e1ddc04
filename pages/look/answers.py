"""The picture, or the place to draw one, beside what each network says of it."""

import streamlit as st

from core.figures.look import Answer, answer_bars
from core.figures.named_rows import Named
from core.figures.pixels import LARGE, picture_png
from core.pictures.drawn import DIGITS
from core.pictures.sample import Sample
from pages.look import words
from pages.look.canvas import draw_on
from pages.look.controls import DRAW, UPLOAD, Shown
from pages.look.data import Key, Said
from pages.look.names import NAMES
from pages.shared.charts import download_csv, download_svg, show_chart
from pages.shared.text import percent, plain, whole

SMALL = 112  # pixels of a drawing as the networks get it
NOTHING = {
    DRAW: "Draw a digit: each network says what it is as soon as you lift the pen.",
    UPLOAD: "Choose a file with a picture of a digit.",
}


def answers_of(sample: Sample | None, key: Key, shown: Shown) -> Said:
    """What each network says: as it was recorded with these very networks, or computed now."""
    if sample is not None and shown.at is not None and dict(sample.weights) == dict(key):
        return {**sample.said(shown.at)}
    from pages.look import looking  # noqa: PLC0415 - loads torch

    return looking.said(key, shown.picture)


def show_answers(sample: Sample | None, key: Key, way: str, shown: Shown | None) -> Said:
    """The first view; what was said, nothing while there is no picture or no network."""
    said = {} if shown is None or not key else answers_of(sample, key, shown)
    st.markdown(f"#### {plain(words.headline(said, shown))}")
    left, right = st.columns([1, 2], gap="medium")
    with left:
        _show_picture(way, shown)
    with right:
        if shown is None:
            st.info(NOTHING[way], icon=":material/draw:")
        elif said:
            _show_bars(said, shown)
    return said


def _show_picture(way: str, shown: Shown | None) -> None:
    if way == DRAW:
        draw_on()
    if shown is None:
        return
    name = shown.name[:1].upper() + shown.name[1:]
    about = "as the networks get it, 28 x 28" if way in (DRAW, UPLOAD) else "28 x 28 points"
    is_right = "" if shown.right is None else f"; it is a {DIGITS[shown.right]}"
    side = SMALL if way == DRAW else LARGE
    st.image(
        picture_png(shown.picture, side),
        caption=f"{name}, {about}{is_right}",
        alt=f"{name}, {about}{is_right}",
        width=side,
    )


def _show_bars(said: Said, shown: Shown) -> None:
    title = words.headline(said, shown)
    chart = answer_bars(DIGITS, [_row(name, said) for name in said], shown.right)
    show_chart(chart, alt=title, main=True)
    st.markdown(whole(words.answers_mean(shown)))
    with st.container(horizontal=True):
        download_svg("Answers", chart.titled(title), "look answers", width=640)
        download_csv("Answers", words.answers_table(said), "look answers")


def _row(name: str, said: Said) -> Answer:
    likely = said[name]
    at = int(likely.argmax())
    note = f"{DIGITS[at]}: {percent(float(likely[at]))}"
    return Answer(Named(NAMES[name], note, note), [float(one) for one in likely])
