"""Figures of a recogniser: what it writes of a shipped sound and where it listens meanwhile, and
what is recorded of it over many sentences.
"""

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from core.checkpoints.any import folder_of
from core.checkpoints.shelf import content_hash
from core.checkpoints.store import Checkpoint, load_checkpoint
from core.inspection.heads import Head, HeadsOff, head_name, parse_head
from core.inspection.heard import Array, Diagonal, Listened
from core.inspection.listened import Spread, diagonals, is_dull, quiet_columns, spread, weights_of
from core.inspection.listening import listen
from core.lessons.computed.once import Once
from core.paths import SOUNDS
from core.speech.examples import Example, Shelf, load_examples, load_sound
from core.speech.features import log_mel
from core.speech.marks import marked
from core.speech.record import VOICES, SpeechFigures, Voices, load_speech
from core.speech.scores import Scores
from core.speech.verdict import WITHOUT

MEASURES = tuple(field.name for field in fields(Scores))
ABOUT_NAMES = ("name_error", "rest_error", "n", "n_groups")
Samples = NDArray[np.float32]


def heard_probability(
    once: Once, *, checkpoint: str, sound: str, text: str, off: tuple[str, ...] = ()
) -> float:
    """The product over its characters, the end too; heads that are off give zero.

    Raises ValueError where another text is written.
    """
    found = listened(once, checkpoint, sound, off)
    if found.text != text:
        raise ValueError(f"{checkpoint} writes {found.text!r} of {sound}, not {text!r}")
    return found.probability


def heard_characters(
    once: Once, *, checkpoint: str, sound: str, off: tuple[str, ...] = ()
) -> float:
    """Letters, apostrophes and spaces, without the end."""
    return float(len(listened(once, checkpoint, sound, off).text))


def heard_error(once: Once, *, checkpoint: str, sound: str, off: tuple[str, ...] = ()) -> float:
    """The character error. Raises ValueError for a sound in which nothing is said."""
    said = _example(once, sound).text
    if not said:
        raise ValueError(f"nothing right can be written of {sound}: there is no share of it")
    return marked(said, listened(once, checkpoint, sound, off).text).edits / len(said)


def near_diagonal(once: Once, *, checkpoint: str, sound: str, head: str) -> float:
    """Within a tenth of the sound, both axes taken from 0 to 1."""
    return _diagonal(once, checkpoint, sound, head).share


def near_diagonal_uniform(once: Once, *, checkpoint: str, sound: str) -> float:
    """The part of the picture that lies so near."""
    found = _diagonals(once, checkpoint, sound)
    return next(iter(found.values())).uniform


def listening_order(once: Once, *, checkpoint: str, sound: str, head: str) -> float:
    """Spearman's: 1 where a later character is always listened for later."""
    return _diagonal(once, checkpoint, sound, head).order


def listened_most(once: Once, *, checkpoint: str, sound: str, head: str, character: int) -> float:
    """Characters are counted from 1; the end is one, too."""
    return float(_row(once, checkpoint, sound, head, character).max())


def listened_at(once: Once, *, checkpoint: str, sound: str, head: str, character: int) -> float:
    """In seconds."""
    column = int(_row(once, checkpoint, sound, head, character).argmax())
    return column * listened(once, checkpoint, sound).seconds_a_column


def dull_listeners(once: Once, *, checkpoint: str, sound: str) -> float:
    """Those with less than one and a half times what a uniform head has near the diagonal."""
    return float(sum(map(is_dull, _diagonals(once, checkpoint, sound).values())))


def listened_columns(once: Once, *, checkpoint: str, sound: str, head: str) -> float:
    """1 for a peak in every row, all columns for uniform weights."""
    return _spread(once, checkpoint, sound, head).columns


def sound_columns(once: Once, *, checkpoint: str, sound: str) -> float:
    """Of what the decoder looks at."""
    return float(listened(once, checkpoint, sound).n_columns)


def weight_on_ends(once: Once, *, checkpoint: str, sound: str, head: str) -> float:
    """The mean over rows."""
    return _spread(once, checkpoint, sound, head).ends


def weight_on_quiet(once: Once, *, checkpoint: str, sound: str, head: str) -> float:
    """Where the amplitude is below a fiftieth of that of the loudest column."""
    return _spread(once, checkpoint, sound, head).quiet


def quiet_time(once: Once, *, checkpoint: str, sound: str) -> float:
    """What a head that looks at all alike gives them."""
    found = listened(once, checkpoint, sound)
    return float(quiet_columns(_samples(once, sound), found).mean())


def speech_figure(once: Once, *, checkpoint: str, measure: str, voices: str = "trained") -> float:
    """Errors, exact sentences, similarities, or how many sentences and people there were."""
    known = (*MEASURES, *ABOUT_NAMES)
    if measure not in known:
        raise ValueError(f"unknown measure {measure!r}; measures: {', '.join(known)}")
    found = getattr(_figures(once, checkpoint, voices), measure)
    if found is None:
        raise ValueError(f"{measure} of {voices} voices: no names are said")
    return float(found)


def speech_baseline(
    once: Once, *, checkpoint: str, measure: str, without: str, voices: str = "trained"
) -> float:
    """`without` says what is in the place of a recogniser: unrelated, fixed or shuffled."""
    if measure not in MEASURES:
        raise ValueError(f"unknown measure {measure!r}; measures: {', '.join(MEASURES)}")
    if without not in WITHOUT:
        raise ValueError(f"without is {without!r}; baselines: {', '.join(WITHOUT)}")
    return float(getattr(getattr(_figures(once, checkpoint, voices).baselines, without), measure))


def listened(once: Once, checkpoint: str, sound: str, off: tuple[str, ...] = ()) -> Listened:
    """What is written of a shipped sound, with all weights."""
    heads = tuple(sorted(map(parse_head, off)))

    def made() -> Listened:
        frames = log_mel(_samples(once, sound))
        return listen(_recogniser(once, checkpoint), frames, off=HeadsOff(heads=heads))

    return once.get(("listened", checkpoint, sound, heads), made)


def _recogniser(once: Once, checkpoint: str) -> Checkpoint:
    return once.get(("checkpoint", checkpoint), lambda: load_checkpoint(folder_of(checkpoint)))


def _example(once: Once, sound: str) -> Example:
    shelf: Shelf = once.get("sounds", lambda: load_examples(SOUNDS))
    return shelf.named(sound)


def _samples(once: Once, sound: str) -> Samples:
    return once.get(("sound", sound), lambda: load_sound(_example(once, sound), SOUNDS))


def _diagonals(once: Once, checkpoint: str, sound: str) -> dict[Head, Diagonal]:
    found = diagonals(listened(once, checkpoint, sound))
    if not found:
        raise ValueError(f"no head of {checkpoint} looks at the sound")
    return found


def _diagonal(once: Once, checkpoint: str, sound: str, head: str) -> Diagonal:
    found = _diagonals(once, checkpoint, sound)
    return found[_known(head, found)]


def _weights(once: Once, checkpoint: str, sound: str, head: str) -> Array:
    at = _known(head, _diagonals(once, checkpoint, sound))
    return weights_of(listened(once, checkpoint, sound), at)


def _row(once: Once, checkpoint: str, sound: str, head: str, character: int) -> Array:
    weights = _weights(once, checkpoint, sound, head)
    if not 1 <= character <= len(weights):
        raise ValueError(f"character {character}: 1 to {len(weights)} were written, the end too")
    found: Array = weights[character - 1]
    return found


def _spread(once: Once, checkpoint: str, sound: str, head: str) -> Spread:
    quiet = quiet_columns(_samples(once, sound), listened(once, checkpoint, sound))
    return spread(_weights(once, checkpoint, sound, head), quiet)


def _known(head: str, found: dict[Head, Diagonal]) -> Head:
    at = parse_head(head)
    if at not in found:
        names = ", ".join(head_name(*one) for one in found)
        raise ValueError(f"{head} does not look at the sound; heads that do: {names}")
    return at


def _figures(once: Once, checkpoint: str, voices: str) -> SpeechFigures:
    rows = once.get(("speech", checkpoint), lambda: _record(checkpoint))
    for known in VOICES:
        if known == voices and known in rows:
            return rows[known]
    raise ValueError(
        f"{checkpoint} has no figures of {voices!r} voices; there are: {', '.join(rows)}"
    )


def _record(checkpoint: str) -> dict[Voices, SpeechFigures]:
    folder = folder_of(checkpoint)
    found = load_speech(folder, content_hash(folder))
    if found is None:
        raise ValueError(f"what {checkpoint} hears is not recorded for its weights")
    return found
