"""What is known of random tokens said twice: recorded beside the weights, or measured now.

Free of torch until something is measured.
"""

from pathlib import Path

import streamlit as st

from core.checkpoints.shelf import weights_path
from core.inspection.repeated_record import RepeatedRecord, load_repeated, repeated_file
from core.inspection.repeated_rows import Repeated
from core.paths import CHECKPOINTS
from pages.heads.controls import PREFIX, Measured
from pages.shared import who
from pages.shared.models import home_of, listed

WANTED = f"{PREFIX}wanted-twice"  # what was asked to be measured, in this session
MOST_WANTED = 20
SMALL_BYTES = 20_000_000  # of weights: a model as large takes this page about twenty seconds


def result_of(measured: Measured) -> Repeated | None:
    """The result at hand, None if it is neither recorded nor wanted. Raises ValueError for a model
    that is no decoder.
    """
    found = _found(measured)
    if isinstance(found, RepeatedRecord):
        return found.result
    if measured.digest not in st.session_state.get(WANTED, ()):
        return None
    from pages.heads.measuring import measured_repeated  # noqa: PLC0415 - loads torch

    return measured_repeated(measured)


def problem_of(measured: Measured) -> str:
    """What is wrong with the recorded file; empty if nothing is."""
    found = _found(measured)
    return found if isinstance(found, str) else ""


def is_small(measured: Measured) -> bool:
    """Whether a page measures it while somebody waits."""
    if listed(measured.checkpoint) is not None:
        return False
    path = weights_path(CHECKPOINTS / measured.checkpoint, measured.snapshot)
    return path.stat().st_size <= SMALL_BYTES


def want(measured: Measured) -> None:
    """Measure these weights from now on, in this session."""
    if who.refusal("measure"):
        return
    wanted = st.session_state.get(WANTED, ())
    st.session_state[WANTED] = (*wanted, measured.digest)[-MOST_WANTED:]


def _found(measured: Measured) -> RepeatedRecord | str | None:
    """The record of these weights, or what is wrong with its file."""
    folder = home_of(measured.checkpoint)
    try:
        status = repeated_file(folder).stat()
        return _kept(str(folder), measured.digest, status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return str(error)


@st.cache_resource(max_entries=64, show_spinner=False)
def _kept(folder: str, weights: str, modified: int, size: int) -> RepeatedRecord | None:
    return load_repeated(Path(folder), weights)
