"""The Attention Explorer: page frame and navigation."""

import streamlit as st

st.set_page_config(page_title="Attention Explorer", page_icon=":material/grid_on:", layout="wide")
st.navigation(
    [
        st.Page("pages/home/page.py", title="Home", icon=":material/home:", default=True),
        st.Page(
            "pages/attention/page.py",
            title="Attention",
            icon=":material/grid_on:",
            url_path="attention",
        ),
    ]
).run()
