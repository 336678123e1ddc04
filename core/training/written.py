"""Recipes as they are written, by their `kind`; the oldest have none. Free of torch."""

from collections.abc import Callable
from typing import Any

from core.training.recall_recipe import KIND as RECALL
from core.training.recall_recipe import recall_recipe_from_dict
from core.training.recipe import Recipe, recipe_from_dict
from core.training.speech_recipe import KIND as SPEECH
from core.training.speech_recipe import speech_recipe_from_dict

READERS: dict[str | None, Callable[[dict[str, Any]], Recipe]] = {
    None: recipe_from_dict,
    SPEECH: speech_recipe_from_dict,
    RECALL: recall_recipe_from_dict,
}
