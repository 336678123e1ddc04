"""The link for the class: this view's address, with what it hides, as a text and as a QR code."""

import io
import os
from urllib.parse import urlencode

import segno
import streamlit as st

from pages.shared import hidden, link, weights, who
from pages.shared.in_class import PUPIL

ADDRESS_VARIABLE = "EXPLORER_ADDRESS"
KEY, TITLE = "class-link", "Link for the class"
LOCAL = ("localhost", "127.0.0.1", "::1")
LOCAL_ADDRESS = (
    "This address means the machine it is opened on. Open the page by this machine's name on the "
    f"network, or set {ADDRESS_VARIABLE}."
)
PARTS = {
    hidden.TEXT: "Text: captions and explanations",
    hidden.SIDEBAR: "Sidebar",
    hidden.HEADER: "Header",
}


def offer(page: str) -> None:
    """A button at the end of the sidebar, for the page of this path; a frame in another page has
    none.
    """
    icon = ":material/qr_code_2:"
    if not st.context.is_embedded and st.sidebar.button(TITLE, icon=icon, key=KEY):
        _show(page)


@st.dialog(TITLE, width="medium")
def _show(page: str) -> None:
    controls = link.controls()
    names = {**PARTS, **{key: label for key, label in controls.items() if key not in PARTS}}
    hide = st.multiselect(
        "What it hides",
        list(names),
        default=[name for name in hidden.asked() if name in names],
        format_func=names.__getitem__,
        key=f"{KEY}-hide",
        placeholder="Nothing",
    )
    embed = st.toggle("For a frame in another page", key=f"{KEY}-embed")
    address = address_of(page, hide, embed=embed)
    st.code(address, language=None, wrap_lines=True)
    if not on_network():
        st.caption("Only this machine reaches this server: start it with --server.address 0.0.0.0")
    elif is_local(address):
        st.caption(LOCAL_ADDRESS)
    elif not embed:
        said = "QR code of this address"
        st.image(qr_code(address), caption=said, alt=said, width=260)


def address_of(page: str, hide: list[str], *, embed: bool = False) -> str:
    """The address of this view as everybody may open it, with short hashes of its weights."""
    own = {hidden.HIDE, weights.WEIGHTS, PUPIL}  # a pupil is the one who has its address
    query = {key: st.query_params.get_all(key) for key in st.query_params if key not in own}
    query |= {hidden.HIDE: hide, weights.WEIGHTS: weights.shown()}
    if embed:
        query["embed"] = ["true"]
    said = urlencode(query, doseq=True)
    return f"{page_address(page)}?{said}" if said else page_address(page)


def on_network() -> bool:
    """Whether other machines reach the server."""
    return st.get_option("server.address") not in LOCAL


def page_address(page: str) -> str:
    """That of the configured server, else the one that the browser used."""
    configured = os.environ.get(ADDRESS_VARIABLE, "") or who.server().address
    if configured:
        return f"{configured.rstrip('/')}/{page}"
    return st.context.url or f"/{page}"


def is_local(address: str) -> bool:
    """Whether an address means the machine that opens it."""
    return any(f"//{name}" in address for name in LOCAL) or "//[::1]" in address


@st.cache_data(max_entries=64, show_spinner=False)
def qr_code(address: str) -> bytes:
    """Black on white in either theme, as cameras want it."""
    picture = io.BytesIO()
    segno.make(address, micro=False).save(picture, kind="png", scale=8, border=4)
    return picture.getvalue()
