"""The Attention Explorer: page frame and navigation.

Streamlit takes a folder `pages/` for its older kind of multipage app until st.navigation has run
once, and answers a deep link with "Page not found". So the file is also the server's `st.App`: the
server imports it before anybody comes, and the first visitor's link is known.
"""

import logging
import os
from pathlib import Path

import streamlit as st

from pages.shared import around

ICON = Path(__file__).parent / "assets" / "icon.svg"
LOGO = ICON.with_name("logo.svg")
IS_SCRIPT = __name__ == "__main__"
if not IS_SCRIPT:
    # Without a visitor there is no script context, and Streamlit would say so.
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel("ERROR")
    # Before torch is loaded: a view is small work, and a second thread spins while it waits, at the
    # cost of the other viewers. Workers set their threads themselves.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# An icon that is the page's, not part of its title, would be fetched for the tab from another
# party's server at each visit.
PAGES = {
    "home": ("home", "Home"),
    "lessons": ("menu_book", "Lessons"),
    "attention": ("grid_on", "Attention"),
    "heads": ("filter_center_focus", "Heads"),
    "knowledge": ("psychology_alt", "Knowledge"),
    "compare": ("compare", "Compare"),
    "listen": ("hearing", "Listen"),
    "look": ("image_search", "Look"),
    "monte_carlo": ("scatter_plot", "Monte Carlo"),
    "attention_by_hand": ("calculate", "By hand"),
    "memory": ("memory", "Memory"),
    "runtime": ("timer", "Runtime"),
    "training": ("model_training", "Training"),
    "report_card": ("school", "Report card"),
}
page = st.navigation(
    [
        st.Page(
            f"pages/{name}/page.py",
            title=f":material/{icon}: {title}",
            icon="",
            url_path=None if name == "home" else name,
            default=name == "home",
        )
        for name, (icon, title) in PAGES.items()
    ],
    # All pages are named, and a frame in another page shows one page, with its controls.
    expanded=True,
    position="hidden" if IS_SCRIPT and st.context.is_embedded else "sidebar",
)
if IS_SCRIPT:
    st.set_page_config(page_title="Attention Explorer", page_icon=ICON, layout="wide")
    st.logo(LOGO, size="large", icon_image=ICON)
    around.draw(page, PAGES[page.url_path or "home"][1])
else:
    from starlette.middleware import Middleware

    from pages.shared.deeper import NothingDeeper

    app = st.App(__file__, middleware=[Middleware(NothingDeeper)])
