"""What is recorded, and which pictures and networks are at hand, kept until a file changes. Free of
torch.
"""

from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.paths import LOOK, PICTURE_NETWORKS, pictures_folder
from core.pictures.networks import NETWORKS
from core.pictures.npz_file import ENDING
from core.pictures.pictures import Split
from core.pictures.sample import SAMPLE, Sample, read_sample
from core.pictures.sources import DRAWN, load_pictures
from core.pictures.sweep import Sweep, read_sweep
from pages.shared.records import digest

Picture = NDArray[np.uint8]
Said = dict[str, NDArray[np.floating]]  # by network: how likely each class is
Key = tuple[tuple[str, str], ...]  # networks and the digests of their files


def sample() -> Sample | None:
    """The shipped digits; None where there are none. Raises ValueError for a broken file."""
    if not SAMPLE.is_file():
        return None
    return _sample(str(SAMPLE), *_stamp(SAMPLE), *_stamp(SAMPLE.with_suffix(".png")))


def sweep() -> Sweep | None:
    """The recorded trainings; None where there are none. Raises ValueError for a broken file."""
    return _sweep(str(LOOK), *_stamp(LOOK)) if LOOK.is_file() else None


def pictures_of(name: str) -> tuple[tuple[str, ...], Split]:
    """Classes and test pictures of a set. Raises ValueError for one that cannot be read."""
    path = pictures_folder() / f"{name}{ENDING}"
    return _pictures(name, "" if name == DRAWN else str(path), *_stamp(path))


def networks_key() -> Key:
    """Which networks are at hand. Raises ValueError for a file that cannot be read."""
    paths = {name: PICTURE_NETWORKS / f"{name}.safetensors" for name in NETWORKS}
    return tuple((name, digest(path)) for name, path in paths.items() if path.is_file())


def _stamp(path: Path) -> tuple[int, int]:
    """Time and size of a file, which change with it; of one that is missing, none."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@st.cache_resource(max_entries=1, show_spinner=False)
def _sample(path: str, *stamps: int) -> Sample:
    return read_sample(Path(path))


@st.cache_resource(max_entries=1, show_spinner=False)
def _sweep(path: str, *stamps: int) -> Sweep:
    return read_sweep(Path(path))


@st.cache_resource(max_entries=3, show_spinner="Loading the pictures")
def _pictures(name: str, path: str, *stamps: int) -> tuple[tuple[str, ...], Split]:
    found = load_pictures(name)
    return found.classes, found.test
