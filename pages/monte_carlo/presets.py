"""The parts of the exercise as settings of the page."""

import streamlit as st

from core.montecarlo.spec import PerturbationSpec

OWN = "own settings"
MANY, FREE = "many", "free"
N_MANY, DRAWS = 8, 100_000
HEADS = {
    "one": "q = β(μ_a + μ_b)",
    "two": "q₁ = βμ_a, q₂ = βμ_b",
    "two-equal": "q₁ = q₂ = β(μ_a + μ_b)",
    MANY: "Each head: βμ_a or βμ_b by a fair coin from the seed",
    "one-balanced": "q ∝ ‖μ_b‖² μ_a + ‖μ_a‖² μ_b, for unequal norms",
    FREE: "q = β times your sum of means",
}
PRESETS = {
    "One head, small noise": PerturbationSpec(radial_variance=0.0, noise_variance=1e-4),
    "One head, long keys": PerturbationSpec(),
    "Two heads": PerturbationSpec(heads="two"),
    "Two equal heads": PerturbationSpec(heads="two-equal"),
    "Many heads": PerturbationSpec(heads=N_MANY),
}


def preset_of(spec: PerturbationSpec | None) -> str:
    """The preset that these settings are, whatever the number of draws and the seed."""
    for name, preset in PRESETS.items():
        if spec is not None and _essence(spec) == _essence(preset):
            return name
    return OWN


def apply_preset() -> None:
    """Put the chosen preset into the controls; the answer is asked for again."""
    state = st.session_state
    preset = PRESETS.get(state["mc-preset"])
    if preset is None:
        return
    many = isinstance(preset.heads, int)
    state["mc-heads"] = MANY if many else preset.heads
    if many:
        state["mc-many"] = preset.heads
    state["mc-beta"], state["mc-keys"] = preset.beta, preset.n_keys
    state["mc-rho"], state["mc-alpha"] = preset.radial_variance, preset.noise_variance
    state["mc-dimension"], state["mc-values"] = preset.dimension, preset.values
    state["mc-further"] = state["mc-norms"] = ""
    state["mc-ignore"] = False
    ask_again()


def ask_again() -> None:
    """Another kind of setting: what was said about the last one does not count."""
    st.session_state["mc-answer"] = None


def _essence(spec: PerturbationSpec) -> tuple[object, ...]:
    return (
        spec.heads,
        spec.beta,
        spec.n_keys,
        spec.dimension,
        spec.radial_variance,
        spec.noise_variance,
        spec.key_norms,
        spec.values,
        spec.ignore_negative,
    )
