"""What the page says of models that were trained to recall pairs."""

from collections.abc import Sequence

from core.memory import mqar
from core.memory.mqar import Recall
from pages.shared.text import percent

WHO_RECALLS = "Prediction: models are trained to recall pairs of a text. Who recalls least of many?"
NOT_TRAINED = (
    "Trained were softmax, elu+1, the delta rule, the gated delta rule and a window: choose two of "
    "them among the mechanisms."
)
RATES_MEAN = (
    "Share of held-out keys that are answered right, over all numbers of pairs, from one seed. "
    "Whoever compares models at one learning rate compares how far it is from each one's own."
)
TASK = (
    "Each model reads k₁ v₁ k₂ v₂ … and is then asked every key. A trained model can choose keys "
    "that overlap less than random directions do; what does not fit into its state is still lost."
)
WITHOUT_CONVOLUTION = (
    "A short convolution in front of queries, keys and values lets a value know the key before it. "
    "Softmax alone, without one, answers {} of 8 pairs after as many steps."
)


def recalls_least(record: Recall, models: Sequence[str]) -> str:
    """Of the most pairs."""
    return min(record.of(models), key=lambda one: one.at(record.pairs[-1]).value).model


def title(record: Recall, models: Sequence[str]) -> str:
    """Who recalls most and who least of the most pairs."""
    most = record.pairs[-1]
    found = sorted(record.of(models), key=lambda one: one.at(most).value)
    last, first = (
        f"{mqar.label(one.model)} recalls {percent(one.at(most).value)}"
        for one in (found[0], found[-1])
    )
    return f"Of {most} pairs in a text {first}, {last}"


def recalled_least(record: Recall, model: str) -> str:
    """Whoever expected another."""
    (found,) = record.of([model])
    most = record.pairs[-1]
    return f"It is {mqar.label(model)}: {percent(found.at(most).value)} of {most} pairs."


def rows(record: Recall, models: Sequence[str]) -> list[dict[str, str]]:
    """A row a model: its share at each number of pairs."""
    return [
        {
            "recalled, %": mqar.label(found.model),
            **{str(n): f"{100 * found.at(n).value:.0f}" for n in record.pairs},
        }
        for found in record.of(models)
    ]


def rate_rows(record: Recall, models: Sequence[str]) -> list[dict[str, str]]:
    """A row a model: the share at each learning rate; the best is the one that is drawn."""
    return [
        {
            "learning rate": mqar.label(found.model),
            **{rate: percent(share) for rate, share in found.tried.items()},
            "taken": f"{found.rate:g}",
        }
        for found in record.of(models)
    ]


def meaning(record: Recall, models: Sequence[str]) -> str:
    """What it means, of what is drawn."""
    if mqar.ALONE not in models:
        return TASK
    (alone,) = record.of([mqar.ALONE])
    return f"{TASK} {WITHOUT_CONVOLUTION.format(percent(alone.at(8).value))}"


def how(record: Recall) -> str:
    """What was trained, where, and how it is asked."""
    n_seeds = max(len(found.seeds) for found in record.found)
    return (
        f"Multi-query associative recall, two layers of width 64, {record.n_steps} steps, each "
        "model at the learning rate that is best on held-out texts. Means over "
        f"{n_seeds} seeds, on other texts; bands: 95 %, Student's t. {record.machine}"
    )
