"""A row of an ablation."""

from dataclasses import dataclass

from core.training.recipe import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """A row of the ablation: what it is called, what differs from the first, how it is trained."""

    label: str
    differs: str
    recipe: Recipe
