"""Everything that is computed, cached by the settings; what is cached never changes."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.montecarlo import curves
from core.montecarlo.compare import law_of
from core.montecarlo.full import key_cloud
from core.montecarlo.result import Sample
from core.montecarlo.sample import sample
from core.montecarlo.spec import PerturbationSpec
from core.theory.output_law import OutputLaw

Array = NDArray[np.float64]
PLANE_BINS, N_POINTS = 40, 20_000


@st.cache_resource(max_entries=16, show_spinner="Drawing")
def draw(spec: PerturbationSpec) -> Sample:
    """The sample, binned for the histogram and for the plane."""
    return sample(spec, plane_bins=PLANE_BINS)


@st.cache_resource(max_entries=32, show_spinner="Integrating")
def law(spec: PerturbationSpec) -> OutputLaw:
    """What theory knows."""
    return law_of(spec)


@st.cache_data(max_entries=16, show_spinner=False)
def density_curve(spec: PerturbationSpec) -> tuple[Array, Array] | None:
    """Points and exact density of the share on a."""
    return curves.density_curve(law(spec))


@st.cache_data(max_entries=16, show_spinner=False)
def epsilon_curves(
    spec: PerturbationSpec,
) -> tuple[Array, list[tuple[str, Array]], Array, int] | None:
    """The share against ε."""
    return curves.epsilon_curves(spec, law(spec))


@st.cache_data(max_entries=16, show_spinner="Integrating")
def spread_curves(spec: PerturbationSpec) -> tuple[Array, list[tuple[str, Array]]]:
    """The spread of the share against β."""
    return curves.spread_curves(spec)


@st.cache_data(max_entries=16, show_spinner="Integrating")
def quantile_curves(spec: PerturbationSpec) -> tuple[Array, Array, bool]:
    """The quantiles of the share against β."""
    return curves.quantile_curves(spec, law(spec))


@st.cache_data(max_entries=16, show_spinner=False)
def cloud(spec: PerturbationSpec) -> Array:
    """Points of key a in the plane of the two means."""
    return key_cloud(spec, N_POINTS)
