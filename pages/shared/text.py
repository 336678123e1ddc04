"""Typed text shown as typed, and what is invisible in it as its code point."""

import re

from core.data.characters import legible
from core.data.people import Rule, is_right
from core.intervals import Rate

MOST_SHOWN = 120  # characters of a text in a heading
# Everything that Markdown, LaTeX, emoji shortcodes or HTML could read as more than itself.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|$~:&^=\"'])")


def percent(share: float) -> str:
    """A share as a percentage with two or three significant digits: 0.34 %, 5.0 %, 80.0 %."""
    if not share:
        return "0 %"
    return f"{100 * share:#.{3 if share >= 0.1 else 2}g}".rstrip(".") + " %"


# What Streamlit replaces after the escapes are gone: arrows, dashes, comparisons and icons. An
# invisible word joiner inside keeps them apart.
_REPLACED = re.compile(r"(?<=[<>~-])(?=[>=-])|(?<=:)(?=material/|streamlit:)")
_WORD_JOINER = "\u2060"
_INDEXED = re.compile(r"([vkqμ])\\_([ab])")
_LATEX = {"μ": r"\mu"}


def plain(text: str) -> str:
    """Escape a text for `st.markdown`, titles and labels; line breaks become spaces.

    The joiner that stands between what Streamlit would replace is not part of the text: it comes
    after invisible characters were made visible.
    """
    seen = legible(" ".join(text.split()))
    return _SPECIAL.sub(r"\\\1", _REPLACED.sub(_WORD_JOINER, seen))


def whole(text: str) -> str:
    """`plain`, with numbers that stay on the line of their per cent sign."""
    return plain(text).replace(" %", "\u00a0%")


def shortened(text: str) -> str:
    """A long text by its beginning and its end, behind which something is written."""
    if len(text) <= MOST_SHOWN:
        return text
    half = MOST_SHOWN // 2
    return f"{text[:half].rsplit(' ', 1)[0]} … {text[-half:].split(' ', 1)[-1]}"


def sentence(reason: str) -> str:
    """A reason as a sentence of its own, for Markdown."""
    return f"{plain(reason[:1].upper() + reason[1:])}."


def typeset(text: str) -> str:
    """`plain`, with v_a, μ_b and their like as formulas."""
    return _INDEXED.sub(lambda found: f"${_LATEX.get(found[1], found[1])}_{found[2]}$", plain(text))


def target_badge(*, given: bool) -> str:
    """That a text is a target that was given; nothing where it was written."""
    return "  :gray-badge[target given, not written]" if given else ""


def verdict_badge(expected: str | None, answer: str, rule: Rule = "exact") -> str:
    """Right or wrong, with the right answer; nothing where that is not known."""
    if expected is None:
        return ""
    if is_right(answer, expected, rule):
        return "  :green-badge[:material/check: right]"
    return f"  :red-badge[:material/close: wrong: {plain(expected)}]"


def with_interval(rate: Rate) -> str:
    """A share in bold with its interval, in Markdown."""
    together = f"({100 * rate.low:.1f}–\u2060{100 * rate.high:.1f})"  # the joiner: on one line
    return f"**{percent(rate.value)}** {together}"
