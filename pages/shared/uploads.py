"""Uploaded files: their bytes stay in the session, a name is shown and used for nothing."""

import hashlib
from dataclasses import dataclass

import streamlit as st

from pages.shared import who
from pages.shared.text import plain

KEPT = "kept-"


@dataclass(frozen=True, slots=True)
class File:
    """An uploaded file; `data` is empty where there were too many bytes to keep."""

    name: str
    size: int
    data: bytes
    digest: str


def choose_file(label: str, key: str, most_bytes: int, said: str | None = None) -> File | None:
    """The file that is kept, though another page or checkpoint was looked at meanwhile."""
    refused = who.refusal("upload")
    st.file_uploader(
        label,
        key=key,
        max_upload_size=max(1, most_bytes // 2**20),
        on_change=_keep,
        args=(key, most_bytes),
        disabled=bool(refused),
        help=said,
    )
    who.say(refused)
    return _kept(key)


def choose_recording(
    label: str, key: str, most_bytes: int, *, rate: int, said: str | None = None
) -> File | None:
    """The same of what the visitor's microphone hears, so many samples a second."""
    refused = who.refusal("upload")
    st.audio_input(
        label,
        sample_rate=rate,
        key=key,
        on_change=_keep,
        args=(key, most_bytes),
        disabled=bool(refused),
        help=said,
    )
    who.say(refused)
    return _kept(key)


def _kept(key: str) -> File | None:
    kept: File | None = st.session_state.get(KEPT + key)
    if kept is not None and st.session_state[key] is None:
        st.caption(f"In memory: {plain(kept.name[:60])}, {kept.size:,} bytes")
    return kept


def _keep(key: str, most_bytes: int) -> None:
    uploaded = st.session_state[key]
    if uploaded is None or who.refusal("upload"):
        st.session_state.pop(KEPT + key, None)
        return
    data = uploaded.getvalue()
    size, kept = len(data), data if len(data) <= most_bytes else b""
    digest = hashlib.sha256(kept).hexdigest()
    st.session_state[KEPT + key] = File(uploaded.name, size, kept, digest)
