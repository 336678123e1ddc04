"""The form of the side bar: choose, see what it would take, start."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import streamlit as st

from core import paths
from core.jobs.estimate import TrainingEstimate, estimate, seconds_ahead
from core.jobs.spec import TrainSpec, train_spec
from core.jobs.state import On
from core.jobs.sweeps import Sweep, make_sweep, several
from core.training.presets import PRESETS
from pages.shared import jobs as job_kit
from pages.shared import place, starting
from pages.shared.text import plain
from pages.training import words
from pages.training.choices import (
    PAGE,
    choose_checkpoint,
    choose_length,
    choose_model,
    choose_preset,
    choose_sweep,
    zone,
)
from pages.training.device import choose_device

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
        seeds, rates = choose_sweep()
        name = st.text_input(
            "Name", placeholder=preset, key="training-name", help="A title, shown as it is typed."
        )
        overrides = choose_model(recipe, fixed=checkpoint is not None)
        device, precision = choose_device(None if on == "local" else place.devices(on))
        with buttons:
            _offer(
                lambda: _made(
                    preset,
                    seeds,
                    rates,
                    name=name or "",
                    minutes=minutes,
                    seed=seed,
                    overrides=overrides,
                    start_from=None if checkpoint is None else paths.CHECKPOINTS / checkpoint,
                    device=device,
                    precision=precision,
                ),
                on,
            )
    return on


def _made(preset: str, seeds: str, rates: str, *, seed: int, **same: Any) -> Sweep:
    """One training where no sweep is typed. Raises ValueError for what cannot be trained."""
    if not seeds.strip() and not rates.strip():
        spec = train_spec(preset, seed=seed, **same)
        return Sweep(name=spec.name, specs=(spec,))
    return make_sweep(
        [preset],
        seeds=several(seeds, int, what="seeds", example="0 1 2") or [seed],
        learning_rates=several(rates, float, what="learning rates", example="0.03 0.01"),
        **same,
    )


def _offer(make: Callable[[], Sweep], on: On) -> None:
    """The two buttons, or why there is nothing to start."""
    sweep, can_start = starting.offered(make, lambda made: made.specs)
    n = 1 if sweep is None else len(sweep.specs)
    with st.container(horizontal=True):
        starting.start_button(
            PAGE,
            "Start" if n == 1 else f"Start {n} trainings",
            sweep,
            lambda made: _begin(made, on),
            key="training-start",
            icon=":material/play_arrow:",
            can_start=can_start,
        )
        wanted = st.button(
            "Estimate",
            icon=":material/timer:",
            key="training-estimate",
            disabled=not can_start,
            help="Trains a few steps, which takes some seconds.",
        )
    if sweep is not None:
        place.show_script(on, sweep.specs[0].threads)
        _show_estimate(sweep.specs[0], n, on, wanted=wanted and can_start)


def _begin(sweep: Sweep, on: On) -> None:
    if len(sweep.specs) == 1:
        starting.begin(PAGE, sweep.specs, words.ONE, on)
    else:
        starting.begin_sweep(PAGE, sweep.specs, words.ONE, on, name=sweep.name)


def _show_estimate(spec: TrainSpec, n: int, on: On, *, wanted: bool) -> None:
    """What was measured of this very model and length; name and seed do not matter. `n` of them
    come one after the other.
    """
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
    now, whole = datetime.now(zone()), replace(found, seconds=n * found.seconds)
    if n > 1:
        st.markdown(f"Each of the {n} has, and together they take:")
    for line in words.expected(whole, ahead, now, limit_minutes=n * spec.limits.minutes):
        st.markdown(line)


@st.cache_data(max_entries=64, show_spinner="Measuring a few steps")
def measured(spec: TrainSpec) -> TrainingEstimate:
    """Size and speed of a training. Its name and seed shall be the same for all."""
    return estimate(spec)
