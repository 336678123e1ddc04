"""Recognisers of speech: their errors, and which of three similarities sees any of them."""

from collections.abc import Sequence

import streamlit as st

from core.evaluation.speech_rows import SpeechRow, load_speech_rows
from core.figures.speech import measure_dots
from core.paths import CHECKPOINTS
from core.speech.record import VOICES, SpeechFigures, Voices
from core.speech.verdict import SIMILARITIES, WITHOUT, differences, reached, right_share
from pages.report_card.decoders import show_decoders
from pages.shared import bound
from pages.shared.charts import show_chart
from pages.shared.records import digest
from pages.shared.text import percent, plain, with_interval

TITLE = "Speech: who hears, and which measure sees it?"
NONE_YET = """\
**No recogniser of speech is measured yet.** Train one, then measure it; the row of the real voice
needs Debian's `asterisk-core-sounds-en` and `asterisk-core-sounds-en-wav`:
```bash
python -m core train --preset speech-attention --out checkpoints/speech-attention
python -m core speech evaluate --checkpoint speech-attention --record
```"""
LINE, HEAD = 66, 40  # pixels of the table
SAID_BY: dict[Voices, str] = {
    "trained": "voices of training",
    "new": "new voices",
    "real": "a real voice",
}
ABOUT = (
    "Dev: “where was … born?” about people whom no sentence of training names; the real voice says "
    "prompts of a telephone system. Errors are edits a character or a word of what was said, with "
    "95 % intervals over people (of the real voice: over texts)."
)
_HEAD = """\
| recogniser | spoken by | sentences | character error (95 %) | in names | elsewhere | \
word error (95 %) | exact (95 %) |
|:--|:--|--:|:--|--:|--:|:--|:--|"""


def show_speech() -> None:
    """The part of the report card; where nothing is recorded it says how that is done."""
    rows = load_speech_rows(CHECKPOINTS, digest=digest)
    with st.expander(TITLE):
        for row in rows:
            if row.problem:
                st.warning(plain(f"{row.name}: {row.problem}"), icon=":material/warning:")
        measured = [row for row in rows if row.figures]
        if not measured:
            st.markdown(NONE_YET)
            return
        _show_measured(measured)


def _show_measured(rows: Sequence[SpeechRow]) -> None:
    st.markdown(ABOUT)
    table = _table(rows)
    with st.container(height=LINE * table.count("\n") + HEAD, border=False):  # scrolls on a phone
        st.markdown(table)
    there: list[Voices] = [
        voices for voices in VOICES if any(voices in row.figures for row in rows)
    ]
    chosen: Voices | None = bound.segmented_control(
        "Sentences spoken by", there, default=there[0], key="card-voices", format_func=_said_by
    )
    of = chosen or there[0]
    found = [row.figures[of] for row in rows if of in row.figures]
    _show_measures(found, SAID_BY[of])
    st.markdown(_answer(found))
    show_decoders()


def _said_by(voices: Voices) -> str:
    return SAID_BY[voices]


def _show_measures(found: Sequence[SpeechFigures], said_by: str) -> None:
    """Each measure of each recogniser beside what needs none."""
    title = f"Four measures of the same sentences, {said_by}"
    scored = [(figures.checkpoint, True, figures) for figures in found]
    without = [(name, False, getattr(found[0].baselines, key)) for key, name in WITHOUT.items()]
    series = [
        (name, heard, [*(getattr(scores, key) for key in SIMILARITIES), right_share(scores)])
        for name, heard, scores in (*scored, *without)
    ]
    chart = measure_dots(
        [*SIMILARITIES.values(), "1 − character error"], series, axis="mean similarity"
    )
    st.markdown(f"**{title}**")
    show_chart(chart, alt=f"{title}: {', '.join(name for name, *_ in series)}")


def _answer(found: Sequence[SpeechFigures]) -> str:
    """The homework's question, answered with the numbers of these sentences."""
    best = found[0]
    rows = reached(best)
    values = ", ".join(f"{_two(row.value)} by {SIMILARITIES[row.measure]}" for row in rows)
    above = "; ".join(
        f"{SIMILARITIES[row.measure]} {_signed(row.above)} (most: {WITHOUT[row.which]}, "
        f"{_two(row.without)})"
        for row in rows
    )
    verdict = (
        "**Is there a big difference between the three similarities?** Yes, in what they see. "
        f"{plain(best.checkpoint)} reaches {values}. Above the most that needs no recogniser at "
        f"all: {above}. Jaccard and cosine count letters and ask nothing about their order; only "
        "Damerau–Levenshtein does."
    )
    between = [_between(best, found[-1])] if len(found) > 1 else []
    return "\n\n".join([verdict, _fixed_line(best), *between])


def _fixed_line(best: SpeechFigures) -> str:
    """Why even the third similarity is no zero where nothing is heard."""
    fixed = best.baselines.fixed
    return (
        f"One and the same sentence for all (“{plain(best.baselines.sentence)}”) has "
        f"{_two(fixed.damerau_levenshtein)} by that one, since sentences are alike, and a "
        f"character error of {percent(fixed.character_error)}: the error with its interval, in "
        "names and elsewhere, is what to read."
    )


def _between(best: SpeechFigures, other: SpeechFigures) -> str:
    differ = differences(best, other)
    each = ", ".join(f"{SIMILARITIES[name]} {_signed(value)}" for name, value in differ.items())
    return (
        f"Between {plain(best.checkpoint)} and {plain(other.checkpoint)}: {each}; character error "
        f"{percent(best.character_error)} and {percent(other.character_error)}."
    )


def _table(rows: Sequence[SpeechRow]) -> str:
    lines = [
        _line(row.name, voices, row.figures[voices])
        for row in rows
        for voices in VOICES
        if voices in row.figures
    ]
    return "\n".join([_HEAD, *lines])


def _line(name: str, voices: Voices, found: SpeechFigures) -> str:
    rates = found.rates
    cells = [
        plain(name),
        SAID_BY[voices],
        f"{found.n:,}",
        with_interval(rates["character_error"]),
        "–" if found.name_error is None else percent(found.name_error),
        "–" if found.rest_error is None else percent(found.rest_error),
        with_interval(rates["word_error"]),
        with_interval(rates["exact"]),
    ]
    return f"| {' | '.join(cells)} |"


def _two(share: float) -> str:
    return f"{share:.2f}"


def _signed(difference: float) -> str:
    return f"{difference:+.2f}".replace("-", "−")
