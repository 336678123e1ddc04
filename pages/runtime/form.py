"""The form of the side bar: what to measure here, what it would take, start.

What is asked is what the view shows: one token more in that of generation, else a whole pass.
"""

from typing import Any

import streamlit as st

from core.bench.estimate import estimate
from core.bench.spec import BOTH, DTYPES, FORWARD, GENERATION, spec_from_dict
from core.catalogue import METHODS, WRITERS, label
from core.jobs.bench_job import bench_job
from core.jobs.estimate import seconds_ahead
from core.jobs.spec import n_cores
from core.jobs.state import On
from pages.runtime import words
from pages.runtime.controls import PAGE
from pages.shared import bound, place, starting
from pages.shared import jobs as job_kit

USUAL = ("explicit", "sdpa", "elu", "favor", "taylor", "bigbird")
LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
HEAD_DIMS = (16, 32, 64, 128)


def show_form(view: str) -> None:
    """The button on top, for the form is long and its defaults are a good start."""
    writes = view == words.STEPS
    with st.sidebar:
        heading, offer = st.container(), st.container()
        on = place.choose("rt-on")
        where = "the cluster" if on == "slurm" else "this machine"
        what = "generation " if writes else ""
        heading.markdown(f"##### Measure {what}on {where}")
        choice = _choose_steps() if writes else _choose_pass()
        choice |= _choose_more(on)
        with offer:
            _offer(choice, on, words.STEPS if writes else words.GROWTH)


def _choose_pass() -> dict[str, Any]:
    methods = bound.pills(
        "Methods",
        list(METHODS),
        default=list(USUAL),
        format_func=label,
        key="rt-methods",
        help="Ways to attend. What each does stands in the page's table of numbers.",
    )
    low, high = bound.range_slider(
        "Tokens L",
        list(map(str, LENGTHS)),
        ("128", "1024"),
        key="rt-lengths",
    )
    causal = bound.toggle("Causal", key="rt-causal")
    backward = bound.toggle(
        "Backward too",
        key="rt-backward",
        help=f"On: {BOTH}, as in training. Off: {FORWARD} only.",
    )
    return {
        "methods": tuple(m for m in METHODS if m in methods),
        "lengths": tuple(n for n in LENGTHS if int(low) <= n <= int(high)),
        "causal": causal,
        "backward": backward,
    }


def _choose_steps() -> dict[str, Any]:
    """One token more is always causal, and has no way back."""
    methods = bound.pills(
        "Methods",
        list(METHODS),
        default=list(WRITERS),
        format_func=label,
        key="rt-writers",
        help="Those that cannot go on by one token are left out, with the reason.",
    )
    low, high = bound.range_slider(
        "Tokens before it, L",
        list(map(str, LENGTHS)),
        ("128", "4096"),
        key="rt-pasts",
    )
    return {
        "methods": tuple(m for m in METHODS if m in methods),
        "lengths": tuple(n for n in LENGTHS if int(low) <= n <= int(high)),
        "causal": True,
        "question": GENERATION,
    }


def _choose_more(on: On) -> dict[str, Any]:
    """Sizes, then device and repeats; each in the address."""
    left, right = st.columns(2)
    with left:
        head_dim = bound.selectbox("Head size d", list(map(str, HEAD_DIMS)), 1, key="rt-d")
        n_features = _number("FAVOR+ features", 128, "features")
        window = _number("Window", 64, "window")
    with right:
        n_heads = _number("Heads", 8, "heads")
        n_terms = _number("Taylor terms K", 3, "terms")
        n_sinks = _number("Sinks beside it", 4, "sinks")
    with st.expander("Device, precision, repeats"):
        device = bound.selectbox("Device", place.devices(on), key="rt-device")
        precisions = [kind for kind in DTYPES if device != "cpu" or kind != "float16"]
        dtype = bound.selectbox("Precision", precisions, key="rt-dtype")
        threads = _number(f"Threads (of {n_cores()})", 1, "threads")
        repeats = _number("Repeats, at least", 5, "repeats")
        seed = _number("Seed", 0, "seed")
    return {
        "head_dim": int(head_dim),
        "n_heads": n_heads,
        "sizes": {
            "n_features": n_features,
            "n_terms": n_terms,
            "window": window,
            "n_sinks": n_sinks,
        },
        "device": device,
        "dtype": dtype,
        "threads": threads,
        "repeats": repeats,
        "seed": seed,
    }


def _number(text: str, default: int, key: str) -> int:
    """A number in the URL, without limits of its own: the core says what is allowed."""
    return bound.number_input(text, value=default, step=1, key=f"rt-{key}")


def _offer(choice: dict[str, Any], on: On, view: str) -> None:
    """Start and what it would take, or why there is nothing to start."""
    spec, can_start = starting.offered(
        lambda: spec_from_dict(choice), lambda made: [bench_job(made)]
    )
    starting.start_button(
        PAGE,
        "Measure",
        spec,
        lambda made: starting.begin(PAGE, [bench_job(made)], view, on),
        key="rt-start",
        icon=":material/timer:",
        can_start=can_start,
    )
    if spec is not None:
        place.show_script(on, spec.threads)
        ahead = seconds_ahead(job_kit.all_jobs(), spec.device) if on == "local" else 0.0
        found = estimate(spec)
        st.markdown(words.estimated(found, len(spec.cases), ahead))
        if why := words.left_out(found):
            st.caption(why)
