"""Two answered questions side by side: which rows of one belong to which rows of the other.

From fine to coarse, as far as the two allow it:

tokens      the same tokens, one by one (and those of the answer as long as they are the same)
positions   other tokens, but as many, and the names at the same places
words       as many words, and the names at the same places; tokens of a word together
parts       the parts of the template: Where | was | name | born | ? | ⁇; a name is one part

A source beside the text must have as many tokens, words or parts in both.

Columns of one group are summed and its rows averaged (core.inspection.fold), so rows still sum to
1. Past the ⁇ only the same tokens are aligned: what is written later follows from what was written
first. No torch.
"""

from dataclasses import dataclass
from itertools import takewhile

from core.data.characters import SPACE_GLYPH
from core.data.people import BIRTHPLACE
from core.inspection.blocks import kinds_of
from core.inspection.fold import fold, word_index, word_labels
from core.inspection.traced import Array, AttentionTrace

TOKENS, POSITIONS, WORDS, PARTS = "token by token", "position by position", "by word", "by part"
NAME = "name"
LOOKS = {"encoder": "both ways", "decoder": "back", "cross": "across"}


class AlignmentError(ValueError):
    """Two questions, or two models, whose rows do not belong together; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Groups of tokens that belong together: `starts` says for each side which tokens begin one.

    labels: one a group; both texts where they differ. how: the alignment in a sentence.
    """

    kind: str
    how: str
    labels: tuple[str, ...]
    starts: tuple[tuple[bool, ...], tuple[bool, ...]]

    def fold(self, values: Array, side: int) -> Array:
        """(…, L, L) of one side, 0 or 1, to (…, groups, groups)."""
        starts = self.starts[side]
        return fold(values[..., : len(starts), : len(starts)], starts)


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A text as tokens and as words, up to and with the row that writes first; all of it where
    nothing is written behind it. `n_source` of its words are the source's.
    """

    tokens: tuple[str, ...]
    starts: tuple[bool, ...]
    name: tuple[int, ...]
    words: tuple[str, ...]
    name_words: tuple[int, ...]
    n_source: int


def alignments(first: AttentionTrace, second: AttentionTrace) -> dict[str, Alignment]:
    """Every alignment that two traces allow, by kind, the finest first.

    Raises AlignmentError where there is none: latents that differ, layers of other kinds, or a
    question off the template.
    """
    _refuse_latents(first, second)
    _refuse_kinds(first, second)
    a, b = _prompt(first), _prompt(second)
    found = [_tokens(first, second, a, b), _positions(first, second, a, b)]
    if not first.latent_positions:
        found += [_words(a, b), _parts(a, b)]
    kept = {alignment.kind: alignment for alignment in found if alignment is not None}
    if not kept:
        raise AlignmentError(_why_not(first, second, a, b))
    return kept


def _prompt(trace: AttentionTrace) -> _Prompt:
    n = _n_prompt(trace)
    starts = trace.word_starts[:n]
    index = word_index(starts)
    return _Prompt(
        tokens=trace.labels[:n],
        starts=starts,
        name=trace.name_positions,
        words=tuple(word_labels(trace.labels[:n], starts, SPACE_GLYPH)),
        name_words=tuple(sorted({int(index[position]) for position in trace.name_positions})),
        n_source=int(index[trace.n_source]) if trace.n_source else 0,
    )


def _n_prompt(trace: AttentionTrace) -> int:
    """How many tokens stand before what is written; an encoder writes into its text."""
    writes_behind = bool(trace.steps) and bool(trace.layers_of("decoder"))
    return trace.steps[0].row + 1 if writes_behind else trace.n_tokens


def _tokens(
    first: AttentionTrace, second: AttentionTrace, a: _Prompt, b: _Prompt
) -> Alignment | None:
    if a.tokens != b.tokens or a.n_source != b.n_source:
        return None
    pairs = zip(first.labels, second.labels, strict=False)
    labels = tuple(x for x, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    each = (True,) * len(labels)
    same = len(labels) == max(first.n_tokens, second.n_tokens)
    rest = "" if same else "; after that the answers differ"
    return Alignment(
        kind=TOKENS, how=f"the same tokens, one by one{rest}", labels=labels, starts=(each, each)
    )


def _positions(
    first: AttentionTrace, second: AttentionTrace, a: _Prompt, b: _Prompt
) -> Alignment | None:
    if a.tokens == b.tokens or len(a.tokens) != len(b.tokens) or a.name != b.name:
        return None
    if first.n_source != second.n_source:
        return None
    each = (True,) * len(a.tokens)
    return Alignment(
        kind=POSITIONS,
        how=f"position by position: both have {len(each)} tokens{_name_too(a)}",
        labels=_both(a.tokens, b.tokens),
        starts=(each, each),
    )


def _words(a: _Prompt, b: _Prompt) -> Alignment | None:
    if len(a.words) != len(b.words) or a.name_words != b.name_words or a.n_source != b.n_source:
        return None
    same = a.words == b.words
    return Alignment(
        kind=WORDS,
        how="the same words, one by one" if same else f"word by word: {_as_many_words(a)}",
        labels=_both(a.words, b.words),
        starts=(a.starts, b.starts),
    )


def _parts(a: _Prompt, b: _Prompt) -> Alignment | None:
    """The name as one part; every word around it must be the same."""
    if not a.name or not b.name or _around(a) != _around(b):
        return None
    labels = _around(a)
    return Alignment(
        kind=PARTS,
        how=f"by the parts of the template: {' | '.join(labels)}",
        labels=labels,
        starts=(_name_as_one(a), _name_as_one(b)),
    )


def _name_too(prompt: _Prompt) -> str:
    return " and the name at the same places" if prompt.name else ""


def _as_many_words(prompt: _Prompt) -> str:
    who = "the names have" if prompt.name else "both have"
    return f"{who} as many words"


def _around(prompt: _Prompt) -> tuple[str, ...]:
    """The words with one word in the place of the whole name."""
    if not prompt.name_words:
        return prompt.words
    start, end = prompt.name_words[0], prompt.name_words[-1] + 1
    return (*prompt.words[:start], NAME, *prompt.words[end:])


def _name_as_one(prompt: _Prompt) -> tuple[bool, ...]:
    inside = {*prompt.name} - {prompt.name[0]}
    return tuple(starts and position not in inside for position, starts in enumerate(prompt.starts))


def _both(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(x if x == y else f"{x} | {y}" for x, y in zip(first, second, strict=True))


def _refuse_latents(first: AttentionTrace, second: AttentionTrace) -> None:
    if bool(first.latent_positions) != bool(second.latent_positions):
        raise AlignmentError(
            "one model looks through latents and the other does not: a row of the one is no row of "
            "the other"
        )
    n = min(len(first.latent_positions), len(second.latent_positions))
    if first.latent_positions[:n] != second.latent_positions[:n]:
        raise AlignmentError("the latents of the two models stand at different positions")


def _refuse_kinds(first: AttentionTrace, second: AttentionTrace) -> None:
    kinds = [kinds_of(trace) for trace in (first, second)]
    if kinds[0] != kinds[1]:
        here, there = (" and ".join(LOOKS[kind] for kind in found) for found in kinds)
        raise AlignmentError(
            f"one model has layers that look {here}, the other {there}: a row of the one is no row "
            "of the other"
        )


def _why_not(first: AttentionTrace, second: AttentionTrace, a: _Prompt, b: _Prompt) -> str:
    if first.latent_positions:
        return (
            f"{len(a.tokens)} and {len(b.tokens)} tokens: where latents look, rows stand at "
            "positions, and only questions of the same length can be laid on one another"
        )
    if not a.name and not b.name:
        return (
            f"{len(a.words)} and {len(b.words)} words: texts of different length are aligned by "
            f"what stands around a name, as in {BIRTHPLACE.question('…')!r}, and neither has one "
            "that is known"
        )
    off = [trace.question for trace, prompt in ((first, a), (second, b)) if not prompt.name]
    which = " and ".join(repr(text) for text in off) or "one of the two"
    return (
        f"{len(a.words)} and {len(b.words)} words: questions of different length are aligned by "
        f"the parts of {BIRTHPLACE.question('…')!r}, and {which} does not follow it"
    )
