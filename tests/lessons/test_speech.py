"""The calls about sounds: against what a recogniser is seen to do, and what they refuse."""

from collections.abc import Iterator
from typing import Any

import pytest

from core.inspection.heads import HeadsOff
from core.inspection.listened import most_diagonal, quiet_columns, spread, weights_of
from core.inspection.listening import listen
from core.lessons.check import functions
from core.lessons.computed import speech
from core.lessons.computed.once import Once
from core.paths import SOUNDS
from core.speech.distances import levenshtein
from core.speech.examples import load_examples, load_sound
from core.speech.features import log_mel
from core.speech.record import SpeechFigures, measure_texts
from tests.tiny_speech import tiny_recogniser

SOUND, SILENCE = "kofi-annan-en-gb-x-rp", "silence"
HEARD: dict[str, Any] = {"checkpoint": "tiny", "sound": SOUND}
BLIND: dict[str, Any] = {"checkpoint": "blind", "sound": SILENCE}
NOTHING: dict[str, Any] = {"checkpoint": "tiny", "sound": SILENCE}
LISTENER: dict[str, Any] = {**HEARD, "head": "L3·H1"}
PAIRS = [("where was bo born", "where was joe born"), ("where was ada born", "where was ada born")]
MADE_UP = {"checkpoint": "tiny"}


def figures(spans: Any, voices: Any) -> SpeechFigures:
    return measure_texts(
        PAIRS, ["bo", "ada"], spans, checkpoint="tiny", voices=voices, machine="none"
    )


@pytest.fixture(scope="module")
def once() -> Iterator[Once]:
    """One for all tests here, with recognisers that have learned nothing in the place of those
    that are shipped.
    """
    made = {"tiny": tiny_recogniser(), "blind": tiny_recogniser("lstm-blind")}
    rows = {"trained": figures([(10, 12), (10, 13)], "trained"), "real": figures(None, "real")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(speech, "load_checkpoint", lambda folder: made[folder.name])
        patch.setattr(speech, "content_hash", lambda _: "")
        patch.setattr(
            speech, "load_speech", lambda folder, _: rows if folder.name == "tiny" else None
        )
        yield Once()


def call(name: str, once: Once, /, **told: Any) -> float:
    return functions()[name](once, **told)


def test_what_is_written_is_as_likely_as_its_characters_and_as_wrong_as_its_edits(once: Once):
    example = load_examples().named(SOUND)
    heard = listen(tiny_recogniser(), log_mel(load_sound(example)))
    assert call("heard_probability", once, **HEARD, text=heard.text) == pytest.approx(
        heard.probability, rel=1e-4
    )
    assert call("heard_characters", once, **HEARD) == len(heard.text)
    assert example.text is not None
    (edits,) = levenshtein([(example.text, heard.text)])
    assert call("heard_error", once, **HEARD) == pytest.approx(edits / len(example.text))


def test_heads_that_are_off_are_off(once: Once):
    sound = log_mel(load_sound(load_examples().named(SOUND)))
    off = listen(tiny_recogniser(), sound, off=HeadsOff(heads=((3, 0), (3, 1), (5, 0), (5, 1))))
    told: dict[str, Any] = {**HEARD, "off": ("L5·H1", "L3·H0", "L5·H0", "L3·H1")}
    assert call("heard_probability", once, **told, text=off.text) == pytest.approx(
        off.probability, rel=1e-4
    )
    assert call("heard_characters", once, **told) == len(off.text)


def test_a_head_is_measured_as_the_page_measures_it(once: Once):
    heard = speech.listened(once, "tiny", SOUND)
    at = most_diagonal(heard)
    assert at is not None
    shares = {
        (layer, head): call("near_diagonal", once, **HEARD, head=f"L{layer}·H{head}")
        for layer in (3, 5)
        for head in (0, 1)
    }
    assert max(shares, key=lambda one: shares[one]) == at
    uniform = call("near_diagonal_uniform", once, **HEARD)
    assert 0.15 < uniform < 0.25
    assert call("dull_listeners", once, **HEARD) == sum(
        share < 1.5 * uniform for share in shares.values()
    )
    assert -1 <= call("listening_order", once, **LISTENER) <= 1


def test_weight_is_spread_over_columns(once: Once):
    heard = speech.listened(once, "tiny", SOUND)
    samples = load_sound(load_examples().named(SOUND), SOUNDS)
    found = spread(weights_of(heard, (3, 1)), quiet_columns(samples, heard))
    columns = call("sound_columns", once, **HEARD)
    assert columns == heard.n_columns
    assert 1 <= call("listened_columns", once, **LISTENER) == found.columns <= columns
    assert call("weight_on_ends", once, **LISTENER) == found.ends
    assert call("weight_on_quiet", once, **LISTENER) == found.quiet
    assert call("quiet_time", once, **HEARD) == found.quiet_time
    assert call("quiet_time", once, **NOTHING) == 1


def test_while_a_character_is_written_a_head_listens_most_at_one_moment(once: Once):
    heard = speech.listened(once, "tiny", SOUND)
    row = weights_of(heard, (3, 1))[1]
    told: dict[str, Any] = {**LISTENER, "character": 2}
    assert call("listened_most", once, **told) == pytest.approx(float(row.max()))
    assert call("listened_at", once, **told) == pytest.approx(0.05 * int(row.argmax()))


def test_what_is_recorded_is_told(once: Once):
    of = {**MADE_UP, "voices": "trained"}
    assert call("speech_figure", once, **MADE_UP, measure="n") == 2
    assert call("speech_figure", once, **of, measure="exact") == 0.5
    names, rest = (
        call("speech_figure", once, **of, measure=what) for what in ("name_error", "rest_error")
    )
    assert (names, rest) == (pytest.approx(2 / 5), 0)
    for measure in ("jaccard", "cosine"):
        assert call("speech_baseline", once, **of, measure=measure, without="shuffled") == 1
    fixed = call("speech_baseline", once, **of, measure="character_error", without="fixed")
    assert 0 < fixed < 1


@pytest.mark.parametrize(
    ("name", "told", "why"),
    [
        ("heard_probability", {**HEARD, "text": "nobody"}, "tiny writes '.*' of kofi-annan.*not"),
        ("heard_error", NOTHING, "nothing right can be written of silence"),
        ("heard_characters", {**HEARD, "sound": "music"}, "no sound 'music'; sounds: alfred"),
        ("heard_characters", {**HEARD, "off": ("L9·H0",)}, "9"),
        ("near_diagonal", {**HEARD, "head": "L0·H0"}, "does not look at the sound; .*: L3·H0, L3"),
        ("near_diagonal", {**HEARD, "head": "L3"}, "is not a head"),
        ("listened_most", {**LISTENER, "character": 0}, "character 0: 1 to .* were written"),
        ("listened_at", {**LISTENER, "character": 999}, "character 999: 1 to"),
        ("dull_listeners", BLIND, "no head of blind looks at the sound"),
        ("weight_on_ends", {**BLIND, "head": "L3·H0"}, "no head of blind looks at the sound"),
        ("speech_figure", {**MADE_UP, "measure": "wit"}, "'wit'; measures: character_error, word"),
        ("speech_figure", {**MADE_UP, "measure": "n", "voices": "new"}, "'new' .*: trained, real"),
        (
            "speech_figure",
            {**MADE_UP, "measure": "name_error", "voices": "real"},
            "name_error of real voices: no names are said",
        ),
        (
            "speech_figure",
            {"checkpoint": "blind", "measure": "n"},
            "what blind hears is not recorded for its weights",
        ),
        (
            "speech_baseline",
            {**MADE_UP, "measure": "n", "without": "fixed"},
            "unknown measure 'n'",
        ),
        (
            "speech_baseline",
            {**MADE_UP, "measure": "exact", "without": "luck"},
            "'luck'; baselines: shuffled, fixed, unrelated",
        ),
    ],
)
def test_what_cannot_be_told_is_refused(once: Once, name: str, told: dict[str, Any], why: str):
    with pytest.raises(ValueError, match=why):
        call(name, once, **told)
