"""Where a training runs: what is at hand, with its memory, and how exactly a GPU is to compute."""

from collections.abc import Sequence

import streamlit as st

from core.devices import Device, kind_of, numbered
from core.jobs.at_hand import at_hand
from core.jobs.state import Job
from core.training.where import Precision, precisions_of
from pages.shared import bound, place
from pages.shared.text import plain

ASKED_AGAIN_SECONDS = 300  # other programs take memory, too
PRECISIONS: dict[Precision, str] = {
    "float32": "float32, as on the processor",
    "tf32": "TF32: products rounded to 10 bits",
    "bfloat16": "bfloat16: the forward pass in half the bits",
}


def choose_device(elsewhere: Sequence[str] | None = None) -> tuple[str, Precision]:
    """A choice where there is more than the processor; otherwise a line that says so. `elsewhere`
    are the devices of another machine, of whose memory nobody here knows.
    """
    if elsewhere is not None:
        return _choose_there(list(elsewhere))
    found, why = _at_hand()
    if why:
        st.caption(plain(f"{why}. It is trained on the processor."))
    if not found[1:]:
        st.caption(plain(f"It runs on the processor: {found[0].title}. No GPU is at hand."))
        return "cpu", "float32"
    by_name = {device.name: device for device in found}
    chosen = bound.selectbox(
        "Device",
        list(by_name),
        1,
        format_func=lambda name: _label(by_name[name]),
        key="training-device",
        help="Jobs on the same device wait for each other; others run side by side.",
    )
    st.caption(plain(_free(by_name[chosen])))
    return chosen, _choose_precision(chosen)


def places_again(job: Job) -> list[str]:
    """The devices that a run can go on with, its own first; none where there is nothing to choose.

    One that is gone is not among them.
    """
    if job.spec is None or not job.can_resume:
        return []
    here = [device.name for device in _at_hand()[0]]
    names = here if job.on == "local" else place.devices(job.on)
    if job.spec.processes > 1:
        names = list(dict.fromkeys(map(kind_of, names)))  # a card for each
    own = numbered(job.spec.device)
    return sorted(names, key=lambda name: numbered(name) != own) if len(names) > 1 else []


def choose_again(job: Job, names: list[str]) -> None:
    """One of several, where there are any."""
    if names:
        st.selectbox(
            "Device to go on with",
            names,
            key=_again(job),
            label_visibility="collapsed",
            width=100,
            help="On another device products are those of float32, whatever they were before.",
        )


def chosen_again(job: Job) -> str | None:
    """The device that stands there now; None is where it was."""
    chosen = st.session_state.get(_again(job))
    if chosen is None or job.spec is None or numbered(chosen) == numbered(job.spec.device):
        return None
    return chosen


def _again(job: Job) -> str:
    return f"training-again-{job.id}"


def _choose_there(names: list[str]) -> tuple[str, Precision]:
    if len(names) < 2:
        st.caption("It runs on the processor of a node: the settings give a job no GPU.")
        return "cpu", "float32"
    chosen = bound.selectbox("Device", names, len(names) - 1, key="training-device-there")
    return chosen, _choose_precision(chosen)


def _choose_precision(device: str) -> Precision:
    """Only a GPU has more than one."""
    able = precisions_of(kind_of(device))
    if len(able) == 1:
        return able[0]
    return bound.selectbox(
        "Precision",
        able,
        format_func=PRECISIONS.__getitem__,
        key="training-precision",
        help="What is rounded is quicker to compute; the parameters themselves stay float32.",
    )


@st.cache_data(max_entries=1, ttl=ASKED_AGAIN_SECONDS, show_spinner="Looking for GPUs")
def _at_hand() -> tuple[tuple[Device, ...], str]:
    """The devices, and why there are no more; a failure is kept as well, for asking takes long."""
    try:
        return at_hand(), ""
    except ValueError as error:
        return at_hand(ask=False), str(error)


def _label(device: Device) -> str:
    return f"{device.name}: {device.title}, {_gb(device.total_bytes)}"


def _free(device: Device) -> str:
    return f"{_gb(device.free_bytes)} of {_gb(device.total_bytes)} memory are free now."


def _gb(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.3g} GB"
