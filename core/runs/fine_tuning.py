"""A training that starts from a checkpoint: sizes and vocabulary are then the checkpoint's.

Free of torch: only the card and the configuration are read.
"""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

from core.checkpoints.shelf import CARD, CONFIG, content_hash, shipped_weights
from core.files import read_json
from core.models.config import GPTConfig
from core.training.recipe import Recipe, recipe_from_dict
from core.training.speech_recipe import SpeechRecipe
from core.training.written import READERS

_SHAPE = {field.name for field in fields(GPTConfig)} & {field.name for field in fields(Recipe)}
TAKEN = (*sorted(_SHAPE), "vocabulary", "n_pieces")
HEARING = (
    "width",
    "n_heads",
    "n_layers",
    "n_decoder_layers",
    "decoder",
    "lstm_width",
    "ctc_weight",
)


def shaped_like(recipe: Recipe, checkpoint: Path) -> Recipe:
    """The recipe with the checkpoint's sizes and vocabulary.

    Raises ValueError if it was trained on another corpus, or has what no recipe can say.
    """
    trained = _recipe_of(checkpoint)
    if trained.corpus != recipe.corpus:
        raise ValueError(
            f"checkpoint {checkpoint.name} was trained on the corpus {trained.corpus!r}; "
            f"{recipe.name} reads {recipe.corpus!r}"
        )
    taken = HEARING if isinstance(trained, SpeechRecipe) else TAKEN
    shaped = replace(recipe, **{name: getattr(trained, name) for name in taken})
    config = read_json(checkpoint / CONFIG)
    expected = shaped.model_config(config.get("vocabulary_size", 1)).to_dict()
    if {**expected, **config} != expected:
        raise ValueError(f"checkpoint {checkpoint.name} has not the shape that its card describes")
    return shaped


def describe_start(checkpoint: Path) -> dict[str, Any]:
    """What the card of a fine-tuned model says about where it comes from, however far back."""
    card = read_json(checkpoint / CARD)
    before = {key: card[key] for key in ("recipe", "start_from") if key in card}
    return {"name": checkpoint.name, "weights_sha256": content_hash(checkpoint), **before}


def can_start_from(checkpoint: Path, corpus: str) -> bool:
    """Whether a training on a corpus can start there."""
    try:
        return _recipe_of(checkpoint).corpus == corpus
    except ValueError:
        return False


def _recipe_of(checkpoint: Path) -> Recipe:
    if not (checkpoint / CARD).is_file():
        raise ValueError(f"there is no checkpoint {checkpoint.name!r}")
    shipped_weights(checkpoint)  # raises where they have to be trained first
    recipe = read_json(checkpoint / CARD).get("recipe")
    if not isinstance(recipe, dict):
        raise ValueError(
            f"the card of checkpoint {checkpoint.name} has no recipe (it was trained elsewhere): "
            "nothing can start from it here"
        )
    written = cast(dict[str, Any], recipe)
    read = READERS.get(written.get("kind"), recipe_from_dict)
    try:
        return read(written)
    except ValueError as error:
        raise ValueError(f"{checkpoint / CARD}: {error}") from None
