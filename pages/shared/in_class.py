"""What the answers of a class need from a lesson's frame."""

import streamlit as st

CLASS, PUPIL = "class", "pupil"  # in the address


def told(step: int, text: str) -> None:
    """A visitor has answered the prediction of a step (from 1), in these words."""
    if CLASS not in st.query_params:
        return


def carried() -> dict[str, str]:
    """What of the address goes along from step to step."""
    return {key: st.query_params[key] for key in (CLASS, PUPIL) if key in st.query_params}
