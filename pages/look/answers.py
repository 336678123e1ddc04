"""The picture and where it is chosen or drawn, beside what each network says of it."""

import streamlit as st

from core.figures.look import Answer, Picture, answer_bars
from core.figures.named_rows import Named
from core.figures.pixels import LARGE, picture_png, picture_uri
from core.pictures.drawn import DIGITS
from core.pictures.sample import Sample
from pages.look import words
from pages.look.controls import DRAW, TEST, UPLOAD, WRONG, Shown, choose_way, chosen, moved
from pages.look.data import Key, Said
from pages.look.names import NAMES
from pages.shared import present
from pages.shared.charts import download_csv, download_svg, show_chart
from pages.shared.text import percent, plain, whole

SMALL = 112  # pixels of a drawing as the networks get it
NOTHING = {
    DRAW: "Draw a digit: each network says what it is as soon as you lift the pen.",
    UPLOAD: "Choose a file with a picture of a digit.",
}


def show_answers(sample: Sample | None, key: Key) -> tuple[Shown | None, Said]:
    """The first view; returns the picture, None while there is none, and what was said of it."""
    title = st.container()
    left, right = st.columns([1, 2], gap="medium")
    with left:
        way = choose_way(sample)
        above = st.container()
        shown, problem = _chosen(way, sample)
        shown = moved(shown)
        # A place to draw on must not move while somebody draws.
        picture = st.container() if way == DRAW else above
    said = {} if shown is None or not key else _answers_of(sample, key, shown)
    title.markdown(f"#### {plain(words.headline(said, shown))}")
    if shown is not None:
        with picture:
            _show_picture(way, shown)
    with right:
        if problem:
            st.error("This picture cannot be looked at.", icon=":material/block:")
            st.text(problem)
        elif shown is None:
            st.info(NOTHING[way], icon=":material/draw:")
        elif said:
            _show_bars(said, shown)
    return shown, said


def _chosen(way: str, sample: Sample | None) -> tuple[Shown | None, str]:
    """The picture, or what is wrong with it; what is recorded is shown all the same."""
    try:
        return chosen(way, sample), ""
    except ValueError as error:
        return None, str(error)


def _answers_of(sample: Sample | None, key: Key, shown: Shown) -> Said:
    """As it was recorded with these very networks, or computed now."""
    if sample is not None and shown.at is not None and dict(sample.weights) == dict(key):
        return {**sample.said(shown.at)}
    from pages.look import looking  # noqa: PLC0415 - loads torch

    return looking.said(key, shown.picture)


def _show_picture(way: str, shown: Shown) -> None:
    said = shown.name[:1].upper() + shown.name[1:]
    if way in (DRAW, UPLOAD):
        said += ", as the networks get it"
    if way in (TEST, WRONG) and shown.right is not None:
        said += f": a {DIGITS[shown.right]}"
    side = SMALL if way == DRAW else LARGE
    st.image(picture_png(shown.picture, side), alt=said, width=side)
    st.caption(plain(said))


def _show_bars(said: Said, shown: Shown) -> None:
    title = words.headline(said, shown)
    # Presented, the chart stands alone, and the picture is seen in it.
    seen = Picture(shown.name, picture_uri(shown.picture)) if present.on() else None
    chart = answer_bars(DIGITS, [_row(name, said) for name in said], shown.right, seen)
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
