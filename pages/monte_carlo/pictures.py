"""What is given, what c does, theory beside the sample, and where the law comes from."""

import streamlit as st

from core.figures import montecarlo_curves as curves
from core.figures.montecarlo import share_histogram
from core.figures.planes import key_cloud, output_plane
from core.montecarlo.compare import compare, variance_along, variance_slip
from core.montecarlo.curves import N_DRAWS_A_BETA, limit_variance, quantiles_of
from core.montecarlo.result import Sample
from core.montecarlo.spec import PerturbationSpec
from pages.monte_carlo import data, words
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.text import plain

EPSILON, BETA, BANDS, CLOUD = "Share and ε", "Spread and β", "Quantiles and β", "Key's cloud"
N_BARS = 50


def show_cloud(spec: PerturbationSpec, *, main: bool = False) -> None:
    """What is given: the cloud of key a; the `main` picture while nothing else is drawn."""
    mean_a, mean_b = spec.norms[:2].tolist()
    title = "Cloud of key a in the plane of the means μ_a and μ_b"
    chart = key_cloud(data.cloud(spec), (mean_a, mean_b), title=title)
    show_chart(chart, width="content", alt=title, main=main)
    variance = float(spec.radial_variances[0])
    st.markdown(
        f"Its length along μ_a has variance ρ = {variance:.3g}; α = {spec.noise_variance:.3g} in "
        f"all directions. {data.N_POINTS:,} draws."
    )


def show_output(drawn: Sample) -> None:
    """The plane of v_a and v_b with c in it; the share on a with the exact density over it."""
    spec = drawn.spec
    plane, share = st.columns([1, 1.25])
    with plane:
        counts = drawn.plane_counts
        if counts is not None:
            mean_a, mean_b = drawn.mean_weights[:2].tolist()
            title = "Where c lies, in the plane of v_a and v_b"
            chart = output_plane(counts, (mean_a, mean_b), title=title)
            show_chart(chart, width="content", alt=f"{title}: {words.shape_of(drawn)}")
            st.markdown("What is missing to the dashed segment lies on the other values.")
    with share:
        curve = data.density_curve(spec)
        title = f"Share on a: {words.count_of_draws(drawn)} (bars)"
        title += ", exact density (line)" if curve is not None else ", density: sample only"
        chart = share_histogram(
            drawn.coarse_counts(N_BARS),
            drawn.mean_share_a.value,
            drawn.deviation_share_a.value,
            title=title,
            density=curve,
        )
        show_chart(chart, alt=f"{title}; {words.shape_of(drawn)}", main=True)
        st.markdown(words.peaks_sentence(drawn))


def show_agreement(drawn: Sample) -> None:
    """Theory beside the sample, number by number."""
    law = data.law(drawn.spec)
    rows = compare(drawn, law)
    with st.columns(1, wrap=False)[0]:
        st.markdown(words.agreement_table(rows))
    reason = words.steadier_not_certain(rows, drawn.spec)
    st.markdown(f"Theory: {plain(law.method)}. {words.agreement_note(drawn)} {reason}")


def show_why(drawn: Sample) -> None:
    """One of four pictures of where the law comes from, and the common slip beside it."""
    chosen = bound.segmented_control(
        "Picture",
        [EPSILON, BETA, BANDS, CLOUD],
        default=EPSILON,
        required=True,
        key="mc-picture",
        label_visibility="collapsed",
    )
    picture, slip = st.columns([1.15, 1])
    with picture:
        _show_picture(chosen or EPSILON, drawn)
    with slip:
        _show_slip(drawn)


def _show_picture(chosen: str, drawn: Sample) -> None:
    if chosen == CLOUD:
        show_cloud(drawn.spec)
        return
    show = {EPSILON: _share_and_epsilon, BETA: _spread_and_beta, BANDS: _quantiles_and_beta}
    show[chosen](drawn)


def _show_slip(drawn: Sample) -> None:
    formula, text = words.common_slip(drawn, *variance_slip(drawn), variance_along(drawn))
    st.markdown("**A common slip**")
    st.latex(formula)
    st.markdown(text)


def _share_and_epsilon(drawn: Sample) -> None:
    found = data.epsilon_curves(drawn.spec)
    if found is None:
        st.info(
            "The share is a function of one length ε only where a single key's length varies, "
            "without noise (α = 0, ρ > 0 for one key that is looked at). Here it is not."
        )
        return
    epsilon, shares, density, long_key = found
    key = {0: "key a", 1: "key b"}.get(long_key, f"key {long_key + 1}")
    title = f"Share on a as a function of ε, the length of {key}"
    chart = curves.share_against_epsilon(epsilon, shares, density, key=key, title=title)
    show_chart(chart, width="content", alt=title)
    st.markdown(
        "Below: how likely each ε is. Where the curve is steep, a small change of length moves "
        "c all the way from one value to the other."
    )


def _spread_and_beta(drawn: Sample) -> None:
    spec = drawn.spec
    betas, lines = data.spread_curves(spec)
    deviation = drawn.deviation_share_a
    title = "Spread of the share on a, by number of heads"
    chart = curves.spread_against_beta(
        betas, lines, spec.beta, title=title, sampled=(deviation.value, deviation.standard_error)
    )
    show_chart(chart, alt=f"{title}, against β")
    st.markdown(words.why_not_steadier(spec))
    limits = [limit_variance(spec, heads) for heads in ("one", "two")]
    if None in limits:
        st.markdown("Lines: theory, where it knows. Point: this sample, ± 4 standard errors.")
        return
    st.markdown(
        "Lines: theory. Point: this sample, ± 4 standard errors. For β → ∞ the variance of the "
        f"share tends to {limits[0]:.3g} with one head and to {limits[1]:.3g} with two."
    )


def _quantiles_and_beta(drawn: Sample) -> None:
    betas, quantiles, known = data.quantile_curves(drawn.spec)
    title = "Share on a: median, middle 50 %, middle 90 %"
    chart = curves.quantile_bands(
        betas, quantiles, drawn.spec.beta, quantiles_of(drawn), title=title
    )
    show_chart(chart, alt=f"{title}, against β")
    source = "exact" if known else f"sampled ({N_DRAWS_A_BETA:,} draws each at most)"
    st.markdown(f"Bands: {source}. Points: 5, 25, 50, 75, 95 % of this sample at β.")
