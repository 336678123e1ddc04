"""The Attention Explorer: page frame and navigation.

Streamlit takes a folder `pages/` for its older kind of multipage app until st.navigation has run
once, and answers a deep link with "Page not found". So the file is also the server's `st.App`: the
server imports it before anybody comes, and the first visitor's link is known.
"""

import logging
from pathlib import Path

import streamlit as st

from pages.shared import link

# Of our own: Streamlit takes a named icon for the tab from another party's server at each visit.
ICON = Path(__file__).parent / "assets" / "icon.svg"
IS_SCRIPT = __name__ == "__main__"
if not IS_SCRIPT:  # without a visitor there is no script context, and Streamlit would say so
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel("ERROR")

page = st.navigation(
    [
        st.Page("pages/home/page.py", title="Home", icon=":material/home:", default=True),
        st.Page(
            "pages/attention/page.py",
            title="Attention",
            icon=":material/grid_on:",
            url_path="attention",
        ),
        st.Page(
            "pages/heads/page.py",
            title="Heads",
            icon=":material/filter_center_focus:",
            url_path="heads",
        ),
        st.Page(
            "pages/compare/page.py",
            title="Compare",
            icon=":material/compare:",
            url_path="compare",
        ),
        st.Page(
            "pages/monte_carlo/page.py",
            title="Monte Carlo",
            icon=":material/scatter_plot:",
            url_path="monte_carlo",
        ),
        st.Page(
            "pages/attention_by_hand/page.py",
            title="By hand",
            icon=":material/calculate:",
            url_path="attention_by_hand",
        ),
        st.Page(
            "pages/runtime/page.py",
            title="Runtime",
            icon=":material/timer:",
            url_path="runtime",
        ),
        st.Page(
            "pages/training/page.py",
            title="Training",
            icon=":material/model_training:",
            url_path="training",
        ),
        st.Page(
            "pages/report_card/page.py",
            title="Report card",
            icon=":material/school:",
            url_path="report_card",
        ),
    ]
)
if IS_SCRIPT:
    st.set_page_config(page_title="Attention Explorer", page_icon=ICON, layout="wide")
    notice = st.container()
    link.open_page(page.url_path)
    try:
        page.run()
    finally:  # a page may stop where it is
        link.say(notice)
else:
    from starlette.middleware import Middleware

    from pages.shared.deeper import NothingDeeper

    app = st.App(__file__, middleware=[Middleware(NothingDeeper)])
