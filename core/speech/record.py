"""What a recogniser is worth, in figures, and the file beside its weights that holds them.

`python -m core speech evaluate --checkpoint NAME --record` writes speech.json, a row for each kind
of voices. It counts only for the very weights whose digest it states.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, cast, get_args

from core.beside_weights import read_beside
from core.files import write_json
from core.from_json import dataclass_from_dict
from core.intervals import Rate
from core.speech.distances import Span
from core.speech.scores import (
    SEED,
    Baselines,
    Groups,
    Scores,
    Texts,
    baselines,
    character_error,
    exact,
    scores,
    split_error,
    word_error,
)

Voices = Literal["trained", "new", "real"]
VOICES: tuple[Voices, ...] = get_args(Voices)
FILE = "speech.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechFigures:
    """Of one checkpoint and one kind of voices; `n` sentences about `n_groups` people (of the real
    voice: different texts).

    Errors are edits a character or a word of what was said, `exact` and the similarities are
    shares of 1. `name_error` is the character error inside of names, `rest_error` outside; both
    are None where no names are said. Intervals hold 95 %. `beam` is that of the writing
    (core.generation.beam); 1 is greedy.
    """

    n: int
    character_error: float
    word_error: float
    exact: float
    jaccard: float
    cosine: float
    damerau_levenshtein: float
    baselines: Baselines
    checkpoint: str
    voices: Voices
    character_error_low: float
    character_error_high: float
    word_error_low: float
    word_error_high: float
    exact_low: float
    exact_high: float
    name_error: float | None
    rest_error: float | None
    n_groups: int
    machine: str
    beam: int = 1

    @property
    def rates(self) -> dict[str, Rate]:
        """The three that have an interval."""
        return {
            "character_error": Rate(
                value=self.character_error,
                low=self.character_error_low,
                high=self.character_error_high,
            ),
            "word_error": Rate(
                value=self.word_error, low=self.word_error_low, high=self.word_error_high
            ),
            "exact": Rate(value=self.exact, low=self.exact_low, high=self.exact_high),
        }


def measure_texts(
    pairs: Texts,
    groups: Groups,
    spans: Sequence[Span] | None,
    *,
    checkpoint: str,
    voices: Voices,
    machine: str,
    beam: int = 1,
    seed: int = SEED,
) -> SpeechFigures:
    """All figures of pairs (said, heard), both plain; `groups` are drawn again for the intervals.

    `spans` say where in what was said the name stands. Raises ValueError for pairs in which nothing
    is said, for fewer than two groups, and for spans that are not there.
    """
    errors = character_error(pairs, groups, seed=seed)
    of_words, right = word_error(pairs, groups, seed=seed), exact(pairs, groups, seed=seed)
    inside, outside = (None, None) if spans is None else split_error(pairs, spans)
    return SpeechFigures(
        n=len(pairs),
        **asdict(scores(pairs)),
        baselines=baselines([said for said, _ in pairs], seed),
        checkpoint=checkpoint,
        voices=voices,
        character_error_low=errors.low,
        character_error_high=errors.high,
        word_error_low=of_words.low,
        word_error_high=of_words.high,
        exact_low=right.low,
        exact_high=right.high,
        name_error=inside,
        rest_error=outside,
        n_groups=len(set(groups)),
        machine=machine,
        beam=beam,
    )


def speech_file(folder: Path) -> Path:
    """Where `speech evaluate --record` writes."""
    return folder / FILE


def load_speech(folder: Path, weights: str) -> dict[Voices, SpeechFigures] | None:
    """The rows recorded of these very weights (their digest), None if there are none.

    Raises ValueError for a file that is not whole.
    """
    return read_beside(speech_file(folder), weights, _rows)


def save_speech(folder: Path, weights: str, rows: Mapping[Voices, SpeechFigures]) -> None:
    """Write them beside the weights, in the order of VOICES."""
    found = {voices: figures_dict(rows[voices]) for voices in VOICES if voices in rows}
    write_json(speech_file(folder), {"weights_sha256": weights, "rows": found})


def figures_dict(figures: SpeechFigures) -> dict[str, Any]:
    """For JSON, in the order of the fields."""
    return asdict(figures)


def figures_from_dict(data: Mapping[str, Any]) -> SpeechFigures:
    """The inverse of `figures_dict`. Raises ValueError for anything else."""
    found = dataclass_from_dict(SpeechFigures, data, doors={"baselines": _baselines})
    _refuse_odd(found)
    return found


def _rows(data: dict[str, Any]) -> dict[Voices, SpeechFigures]:
    given = cast(dict[str, Any], data["rows"])
    if not isinstance(data["rows"], dict) or not given or not set(given) <= set(VOICES):
        raise ValueError(f"rows: an object is needed that has some of {', '.join(VOICES)}")
    rows: dict[Voices, SpeechFigures] = {
        voices: figures_from_dict(given[voices]) for voices in VOICES if voices in given
    }
    for voices, row in rows.items():
        if row.voices != voices:
            raise ValueError(f"rows: {voices} holds the figures of {row.voices} voices")
    return rows


def _baselines(data: dict[str, Any]) -> Baselines:
    return dataclass_from_dict(Baselines, data)


def _refuse_odd(found: SpeechFigures) -> None:
    """Raise ValueError for figures that cannot be, since a page draws what it is given."""
    if not 2 <= found.n_groups <= found.n:
        raise ValueError(f"{found.n_groups} groups of {found.n} sentences")
    for name, rate in found.rates.items():
        if not 0 <= rate.low <= rate.value <= rate.high:
            raise ValueError(f"{name}: {rate.value} does not lie from {rate.low} to {rate.high}")
    if found.exact_high > 1:
        raise ValueError(f"exact_high is {found.exact_high}; it is a share of 1")
    if (found.name_error is None) != (found.rest_error is None):
        raise ValueError("name_error and rest_error: one cannot be without the other")
    for error in (found.name_error, found.rest_error):
        if error is not None and error < 0:
            raise ValueError(f"an error of {error}; none is below 0")
    own = Scores(**{field.name: getattr(found, field.name) for field in fields(Scores)})
    rows = found.baselines
    for row in (own, rows.unrelated, rows.fixed, rows.shuffled):
        _refuse_outside(row)


def _refuse_outside(row: Scores) -> None:
    for name, value in asdict(row).items():
        if value < 0 or (value > 1 and not name.endswith("error")):
            raise ValueError(f"{name} is {value}; it cannot be")
