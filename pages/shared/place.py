"""Where a job shall run: this machine, or the cluster where the server finds one.

In class the cluster needs the teacher's code; on a server that only shows it is never offered.
"""

import os

import streamlit as st

from core import paths
from core.devices import devices_at_hand
from core.jobs.cluster import Cluster, cluster_here
from core.jobs.slurm import preview
from core.jobs.state import Job, On
from core.jobs.submission import SCRIPT
from pages.shared import bound, who
from pages.shared.text import plain

NAMES: dict[On, str] = {"local": "this machine", "slurm": "cluster"}


def choose(key: str) -> On:
    """The place; a choice only where there are two.

    What was chosen before it was taken away holds for this run: a click that came with it is to be
    refused, not to be answered here.
    """
    held: On = st.session_state.get(key) or "local"
    if found() is None or who.server().mode == "show":
        return held
    if why := who.refusal("use the cluster"):
        who.say(f"The cluster: {why}")
        return held
    chosen: On | None = bound.segmented_control(
        "Where",
        list(NAMES),
        default="local",
        required=True,
        format_func=NAMES.__getitem__,
        key=key,
    )
    return chosen or "local"


def found() -> Cluster | None:
    """The cluster's settings, or what is wrong with them on the page."""
    try:
        return cluster_here(os.environ)
    except ValueError as error:
        st.caption(plain(f"No job can be sent to the cluster: {error}."))
        return None


def devices(on: On) -> list[str]:
    """What a measurement can be made with there; a node's GPU is not at hand here."""
    if on == "local":
        return devices_at_hand()
    cluster = found()
    return ["cpu", "cuda"] if cluster is not None and cluster.gpus else ["cpu"]


def show_script(on: On, threads: int) -> None:
    """What would be submitted."""
    cluster = found() if on == "slurm" else None
    if cluster is not None:
        with st.popover("The script that is submitted", icon=":material/description:"):
            st.code(preview(cluster, threads=threads), language="bash")


def show_submitted(job: Job) -> None:
    """What was submitted, as it lies in the job's folder."""
    path = paths.RUNS / job.id / SCRIPT
    if job.there is not None and path.is_file():
        st.markdown("Submitted to the cluster:")
        text = path.read_text(encoding="utf-8")
        st.code(text, language="bash", wrap_lines=True)
