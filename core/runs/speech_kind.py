"""The row of trainings that hear: spoken sentences, a recogniser, what it writes of held-out ones.

Held out are questions about people of whom no sentence of training speaks ("tune" among the
spoken); dev and test are others. A recording counts as right when every character is.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from core.checkpoints.store import Checkpoint
from core.data.vocabulary import Vocabulary
from core.generation.hearing import hear
from core.runs.kind import Kind, Probe, figure
from core.speech.real_split import learned_real
from core.speech.scores import character_error
from core.speech.sentences import Split
from core.speech.spoken import Spoken, load_spoken
from core.speech.voices import TRAINED
from core.training.loop import Trainer
from core.training.recipe import Recipe
from core.training.speech import Hearable, speech_trainers, speech_vocabulary
from core.training.speech_recipe import KIND, SpeechRecipe, speech_recipe_from_dict

SPLITS: dict[str, Split] = {"held-out": "tune", "dev": "dev", "test": "test"}
N_PROBED = 100  # of those held out, while it trains


def _read_recipe(data: dict[str, Any]) -> Recipe:
    recipe = speech_recipe_from_dict(data)
    recipe.check_sizes()
    return recipe


def _load(_recipe: Recipe, folder: Path | None) -> Spoken:
    return load_spoken(folder)


def _make_vocabulary(_recipe: Recipe, _data: Spoken) -> Vocabulary:
    return speech_vocabulary()


def _make_trainers(
    recipe: Recipe, data: Spoken, vocabulary: Vocabulary, seed: int, weights: Path | None
) -> Callable[[int], Trainer]:
    heard: Sequence[Hearable] = data.utterances["train"]
    if cast(SpeechRecipe, recipe).real_voice:
        heard = with_real_voice(heard, learned_real())
    return speech_trainers(recipe, heard, vocabulary, seed, weights)


def with_real_voice(spoken: Sequence[Hearable], real: Sequence[Hearable]) -> tuple[Hearable, ...]:
    """As many of each: recordings are repeated until they are heard as often as spoken ones."""
    repeats = max(1, len(spoken) // len(real))
    return (*spoken, *tuple(real) * repeats)


def _probe(trainer: Trainer, vocabulary: Vocabulary, data: Spoken, seed: int) -> Probe:
    """Greedily, which is quick; what is measured at the end is the best of a beam."""
    asked = data.utterances["tune"][:N_PROBED]
    stored = Checkpoint(trainer.model, vocabulary)
    heard = hear(stored, [one.frames for one in asked], beam=1)
    index = seed % len(asked)
    said = [one.text for one in asked]
    written = [one.text for one in heard]
    sample = {"question": said[index], "answer": written[index], "expected": said[index]}
    n_right = sum(map(str.__eq__, said, written))
    return Probe(correct=n_right, total=len(asked), sample=sample)


def _baseline(data: Spoken) -> dict[str, Any]:
    """The first sentence that is held out, whatever is heard."""
    asked = [one.text for one in data.utterances["tune"][:N_PROBED]]
    return {"answer": asked[0], "accuracy": asked.count(asked[0]) / len(asked)}


def _measure(stored: Checkpoint, data: Spoken, split: str) -> dict[str, Any]:
    """In voices of training: exact sentences, and the share of characters that are wrong, with its
    95 % interval over people.
    """
    asked = data.of_voices(SPLITS[split], TRAINED)
    heard = hear(stored, [one.frames for one in asked])
    pairs = [(one.text, found.text) for one, found in zip(asked, heard, strict=True)]
    error = character_error(pairs, [one.sentence.name for one in asked])
    n_right = sum(said == written for said, written in pairs)
    return {
        **figure(n_right, len(pairs)),
        "character_error": round(error.value, 4),
        "character_error_range": [round(error.low, 4), round(error.high, 4)],
    }


def _tells(data: Spoken) -> dict[str, Any]:
    """The texts by their digest, the voices, and the version of what spoke them."""
    return {"spoken": {**data.settings, "minutes": round(data.minutes, 1)}}


SPEECH = Kind(
    name=KIND,
    recipe=SpeechRecipe,
    read_recipe=_read_recipe,
    load_data=_load,
    make_vocabulary=_make_vocabulary,
    make_trainers=_make_trainers,
    probe=_probe,
    baseline=_baseline,
    measure=_measure,
    splits=("held-out", "dev", "test"),
    tuning_splits=("held-out",),
    snapshot_split="held-out",
    tells=_tells,
)
