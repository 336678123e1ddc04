"""Digests of files, cached by what tells a changed file from the same one. Free of torch."""

from pathlib import Path

import streamlit as st

from core.files import sha256


def digest(path: Path) -> str:
    """sha256 of a file, read anew when its time or size is another. ValueError if it cannot be."""
    try:
        status = path.stat()
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None
    return _digest(str(path), status.st_mtime_ns, status.st_size)


@st.cache_data(max_entries=64, show_spinner=False)
def _digest(path: str, modified: int, size: int) -> str:
    return sha256(Path(path))
