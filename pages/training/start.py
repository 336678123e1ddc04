"""The form of the side bar: choose, see what it would take, start."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import streamlit as st

from core import paths
from core.jobs.estimate import seconds_ahead
from core.jobs.spec import TrainSpec, train_spec
from core.training.presets import PRESETS
from pages.shared.text import plain
from pages.training import actions, data, words
from pages.training.choices import choose_length, choose_model, choose_origin, choose_preset

ESTIMATED = "training-estimated"


def show_form() -> None:
    """The buttons on top, for the form is long and its defaults are a good start."""
    with st.sidebar:
        st.markdown("##### Start a training")
        buttons = st.container()
        preset = choose_preset()
        recipe = PRESETS[preset]
        origin = choose_origin(recipe)
        minutes, seed = choose_length(recipe)
        name = st.text_input(
            "Name", placeholder=preset, key="training-name", help="A title, shown as it is typed."
        )
        overrides = choose_model(recipe, fixed=origin is not None)
        with buttons:
            _offer(
                lambda: train_spec(
                    preset,
                    name=name or "",
                    minutes=minutes,
                    seed=seed,
                    overrides=overrides,
                    start_from=None if origin is None else paths.CHECKPOINTS / origin,
                )
            )


def _offer(make: Callable[[], TrainSpec]) -> None:
    """The two buttons, or why there is nothing to start."""
    reason, spec = actions.obstacle(), None
    try:
        spec = make()
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/block:")
    if reason is not None:
        st.warning(plain(reason), icon=":material/info:")
    with st.container(horizontal=True):
        st.button(
            "Start",
            type="primary",
            icon=":material/play_arrow:",
            key="training-start",
            on_click=actions.begin,
            args=([spec], words.ONE),
            disabled=spec is None or reason is not None,
        )
        wanted = st.button(
            "Estimate",
            icon=":material/timer:",
            key="training-estimate",
            disabled=spec is None or reason is not None,
            help="Trains a few steps, which takes some seconds.",
        )
    if spec is not None:
        _show_estimate(spec, wanted=wanted)


def _show_estimate(spec: TrainSpec, *, wanted: bool) -> None:
    """What was measured of this very model and length; name and seed do not matter."""
    known = replace(spec, name="estimate", seed=0)
    if wanted:
        st.session_state[ESTIMATED] = known
    if st.session_state.get(ESTIMATED) != known:
        return
    try:
        found = data.measured(known)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return
    ahead = seconds_ahead(data.everything(), spec.device)
    now = datetime.now(data.zone())
    for line in words.expected(found, ahead, now, limit_minutes=spec.limits.minutes):
        st.markdown(line)
