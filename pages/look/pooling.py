"""Does pooling help? Trainings from several seeds at each rate, as they were recorded."""

import pandas as pd
import streamlit as st

from core.evaluation.picture_figures import best_rate, epoch_means
from core.figures.knowledge_measures import interval_rows
from core.figures.look import Curve, curves
from core.pictures.networks import CONVOLUTIONS
from core.pictures.sweep import Sweep
from pages.look import sweep_words as words
from pages.look.controls import PREFIX
from pages.look.names import NAMES
from pages.shared import bound
from pages.shared.charts import download_csv, download_svg, show_chart
from pages.shared.text import whole

EPOCHS = "epochs (passes over the pictures)"
MEASURES = {"validation_loss": "loss (nats)", "validation_accuracy": "right answers"}


def show_pooling(sweep: Sweep) -> None:
    """The answer with its interval, the differences by rate, and how the trainings went."""
    title = words.pooling_title(sweep)
    st.markdown(f"#### Does pooling help?\n**{whole(title)}.**")
    rows, dots, ends = words.difference_rows(sweep)
    chart = interval_rows(rows, dots, axis=words.AXIS, ends=ends, line=0.0, in_percent=False)
    show_chart(chart, alt=title)
    st.markdown(whole(words.pooling_meaning(sweep)))
    networks = [name for name in sweep.spec.networks if name in CONVOLUTIONS]
    rates = list(sweep.spec.rates)
    rate = bound.segmented_control(
        "Learning rate",
        rates,
        default=best_rate(sweep, networks[0]),
        required=True,
        format_func=_spelled,
        key=f"{PREFIX}rate",
    )
    _show_curves(sweep, networks, rate or rates[0])
    table = pd.DataFrame(words.network_rows(sweep))
    st.dataframe(table, hide_index=True)
    st.caption(whole(words.origin(sweep)))
    with st.container(horizontal=True):
        download_svg("Differences", chart.titled(title), "look pooling", width=700)
        download_csv("Networks", table, "look networks")
    st.markdown(whole(words.COUNTS))


def _spelled(rate: float) -> str:
    return f"{rate:g}"


def _show_curves(sweep: Sweep, networks: list[str], rate: float) -> None:
    for place, (what, upwards) in zip(st.columns(2, gap="medium"), MEASURES.items(), strict=True):
        lines = [_curve(sweep, name, rate, what) for name in networks]
        drawn = [line for line in lines if line.points]
        title = f"{upwards[:1].upper()}{upwards[1:]} on validation pictures at rate {rate:g}"
        with place:
            st.markdown(f"**{whole(title)}**")
            if not drawn:
                st.info("No training went well at this rate.", icon=":material/info:")
                continue
            in_percent = what == "validation_accuracy"
            chart = curves(drawn, axis=EPOCHS, upwards=upwards, in_percent=in_percent)
            show_chart(chart, alt=title)
    st.caption(whole(words.curves_said(sweep, networks, rate)))


def _curve(sweep: Sweep, name: str, rate: float, what: str) -> Curve:
    means = epoch_means(sweep, name, rate, what)
    points = [(epoch, mean.mean, *words.ends_of(mean)) for epoch, mean in enumerate(means, 1)]
    return Curve(NAMES[name], points)
