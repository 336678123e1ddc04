"""Networks that look at pictures: what they say, what they make of one, whether pooling helps."""

import streamlit as st

from pages.look import data
from pages.look.answers import show_answers
from pages.look.convolution import show_convolution
from pages.look.offsets import show_offsets
from pages.look.pooling import show_pooling
from pages.look.shift import show_shift
from pages.look.training import choose_sweep, show_training
from pages.look.where import show_where
from pages.look.wrong import show_wrong


def main() -> None:
    """One picture: what is said and seen of it, what a shift costs; then whether pooling helps."""
    try:
        sample, sweep, key = data.sample(), data.sweep(), data.networks_key()
        shown, said = show_answers(sample, key)
        if shown is not None and said:
            show_convolution(key, shown)
            show_where(key, shown, said)
        sweep = choose_sweep(sweep)
        show_shift(sweep, key, shown, said)
        show_offsets(key, sample)
        if sample is not None:
            show_wrong(sample)
        if sweep is not None:
            show_pooling(sweep)
        show_training()
    except ValueError as error:
        st.error("", icon=":material/block:")
        st.text(str(error))


main()
