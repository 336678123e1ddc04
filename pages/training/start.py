"""The form of the side bar: choose, see what it would take, start."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import streamlit as st

from core import paths
from core.jobs.estimate import TrainingEstimate, estimate, seconds_ahead
from core.jobs.spec import TrainSpec, train_spec
from core.jobs.state import On
from core.training.presets import PRESETS
from pages.shared import jobs as job_kit
from pages.shared import place
from pages.shared.text import plain
from pages.training import words
from pages.training.choices import (
    PAGE,
    choose_checkpoint,
    choose_length,
    choose_model,
    choose_preset,
    zone,
)

ESTIMATED = "training-estimated"


def show_form() -> On:
    """The buttons on top, for the form is long and its defaults are a good start; returns where
    what is started shall run.
    """
    with st.sidebar:
        st.markdown("##### Start a training")
        buttons = st.container()
        on = place.choose("training-on")
        preset = choose_preset()
        recipe = PRESETS[preset]
        checkpoint = choose_checkpoint(recipe)
        minutes, seed = choose_length(recipe)
        name = st.text_input(
            "Name", placeholder=preset, key="training-name", help="A title, shown as it is typed."
        )
        overrides = choose_model(recipe, fixed=checkpoint is not None)
        with buttons:
            _offer(
                lambda: train_spec(
                    preset,
                    name=name or "",
                    minutes=minutes,
                    seed=seed,
                    overrides=overrides,
                    start_from=None if checkpoint is None else paths.CHECKPOINTS / checkpoint,
                ),
                on,
            )
    return on


def _offer(make: Callable[[], TrainSpec], on: On) -> None:
    """The two buttons, or why there is nothing to start."""
    spec, can_start = job_kit.offered(make, lambda made: made)
    with st.container(horizontal=True):
        st.button(
            "Start",
            type="primary",
            icon=":material/play_arrow:",
            key="training-start",
            on_click=job_kit.begin,
            args=(PAGE, [spec], words.ONE, on),
            disabled=not can_start,
        )
        wanted = st.button(
            "Estimate",
            icon=":material/timer:",
            key="training-estimate",
            disabled=not can_start,
            help="Trains a few steps, which takes some seconds.",
        )
    if spec is not None:
        place.show_script(on, spec.threads)
        _show_estimate(spec, on, wanted=wanted and can_start)


def _show_estimate(spec: TrainSpec, on: On, *, wanted: bool) -> None:
    """What was measured of this very model and length; name and seed do not matter."""
    known = replace(spec, name="estimate", seed=0)
    if wanted:
        st.session_state[ESTIMATED] = known
    if st.session_state.get(ESTIMATED) != known:
        return
    try:
        found = measured(known)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return
    ahead = seconds_ahead(job_kit.all_jobs(), spec.device) if on == "local" else 0.0
    now = datetime.now(zone())
    for line in words.expected(found, ahead, now, limit_minutes=spec.limits.minutes):
        st.markdown(line)


@st.cache_data(max_entries=64, show_spinner="Measuring a few steps")
def measured(spec: TrainSpec) -> TrainingEstimate:
    """Size and speed of a training. Its name and seed shall be the same for all."""
    return estimate(spec)
