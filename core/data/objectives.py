"""Pretraining objectives as small pure functions: token ids in, one training sequence out.

`mark` is the id of ⁇. Each takes an explicit `random.Random`; nothing else is random.
"""

import random
import re
from collections.abc import Sequence

# A capitalised word (also eMalahleni, d'Ivoire, St., D.C.) or a number, and words that join names.
_SALIENT_WORD = (
    r"(?:(?:Ste?|Mt)\.|(?:[A-Z]\.){2,}"
    r"|(?:[a-z]{1,2}['’-]?)?(?:[^\W\d_a-zß-öø-ÿ]|\d)[\w'’-]*)"
)
_JOIN = r"(?:of|upon|de|da|do|dos|das|del|des|di|la|las|le|les|los|el|al|es|il|the|am|an|der|und)"
_SALIENT = re.compile(rf"(?<![\w'’-]){_SALIENT_WORD}(?: (?:{_JOIN} ){{0,2}}{_SALIENT_WORD})*")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER_THEN_NAME = re.compile(r"(?<=\d) (?=[^\W\d_a-zß-öø-ÿ])")
# Capitalised only because they open a sentence.
_OPENER = re.compile(
    "(?:An?|Among|At|Before|Best|Born|By|Her?|His|In|It|Known|My|She|The|Their|They|To) "
)


def span_corruption(
    ids: Sequence[int], *, mark: int, block_size: int, generator: random.Random
) -> list[int]:
    """`prefix ⁇ suffix ⁇ span`, as the course defines it.

    The document is cut to a random length between 4 and 7/8 of the block; the span has a quarter
    of that length on average (1 to half of it, uniformly) at a uniform place. The two control
    tokens are included, so the result has at most block_size + 1 tokens (inputs and shifted
    targets). Raises ValueError for a document of fewer than two tokens.
    """
    if len(ids) < 2:
        raise ValueError(f"span corruption needs at least 2 tokens, not {len(ids)}")
    longest = min(len(ids), block_size * 7 // 8)
    length = generator.randint(min(4, longest), longest)
    n_masked = generator.randint(1, max(1, length // 2))
    start = generator.randint(0, length - n_masked)
    end = start + n_masked
    return [*ids[:start], mark, *ids[end:length], mark, *ids[start:end]]


def salient_spans(text: str, *, numbers: bool = True) -> list[tuple[int, int]]:
    """(start, end) of each capitalised name or number in a text, in order.

    After Guu et al. 2020 (REALM, section 3.4), with a pattern instead of a tagger. Words that are
    capitalised only because they open the sentence are left out. Without `numbers` only names are
    salient, and a name begins anew behind a number: "3 March 1822 Rome" holds "Rome" alone.
    """
    spans: list[tuple[int, int]] = []
    for match in _SALIENT.finditer(text):
        start, end = match.span()
        opener = _OPENER.match(text, start) if _opens_sentence(text, start) else None
        if opener:
            start = opener.end()
        if start < end:
            spans += [(start, end)] if numbers else _names(text, start, end)
    return spans


def _names(text: str, start: int, end: int) -> list[tuple[int, int]]:
    gaps = [match.span() for match in _NUMBER_THEN_NAME.finditer(text, start, end)]
    starts = [start, *(after for _, after in gaps)]
    spans = zip(starts, [*(before for before, _ in gaps), end], strict=True)
    return [span for span in spans if not _DIGIT.search(text, *span)]


def _opens_sentence(text: str, position: int) -> bool:
    return position == 0 or text[:position].endswith((". ", "? ", "! "))


def salient_span_corruption(
    before: Sequence[int], span: Sequence[int], after: Sequence[int], *, mark: int
) -> list[int]:
    """`before ⁇ after ⁇ span ⁇` where the span is a name or number."""
    return [*before, mark, *after, mark, *span, mark]


def shuffled_facts(
    name: Sequence[int],
    facts: Sequence[Sequence[int]],
    *,
    mark: int,
    n_most: int,
    generator: random.Random,
) -> list[int]:
    """`name ⁇ fact ⁇ fact ⁇ …` with at most `n_most` different facts in random order.

    Facts are drawn without replacement from a list in which a fact stands as often as the text
    says it, so what is said often is asked for often, and right after the name: the name alone
    must recall it.
    """
    chosen = dict.fromkeys(map(tuple, generator.sample(list(facts), min(n_most, len(facts)))))
    sequence = [*name, mark]
    for fact in chosen:
        sequence += [*fact, mark]
    return sequence


def ordered_facts(
    name: Sequence[int],
    facts: Sequence[Sequence[int]],
    *,
    mark: int,
    n_most: int,
    generator: random.Random,
) -> list[int]:
    """`name ⁇ fact ⁇ fact ⁇ …` in the order of the text, each fact left out half of the time.

    So the k-th fact comes right after the name with probability 1/2^k: what a text says first is
    recalled most, and of two places the model learns which comes first. A sequence that would be
    empty has one fact, drawn uniformly.
    """
    chosen = [fact for fact in facts if generator.random() < 0.5] or [generator.choice(facts)]
    sequence = [*name, mark]
    for fact in list(dict.fromkeys(map(tuple, chosen)))[:n_most]:
        sequence += [*fact, mark]
    return sequence


def words_before(text: str, position: int, *, n_most: int) -> list[str]:
    """The last words before a position, at most `n_most`, without numbers and marks."""
    return _WORD.findall(text, 0, position)[-n_most:] if n_most else []


def cued_fact(name_and_cue: Sequence[int], fact: Sequence[int], *, mark: int) -> list[int]:
    """`name cue ⁇ fact ⁇` where the cue is the words that stand before the fact in the text.

    The cue tells what the fact is to the person ("born in", "member of the"), and of "Adelaide,
    Australia" that the second follows from the first. A question is a cue in other words.
    """
    return [*name_and_cue, mark, *fact, mark]


def question_and_answer(question: Sequence[int], answer: Sequence[int], *, mark: int) -> list[int]:
    """`question ⁇ answer ⁇`, the fine-tuning form."""
    return [*question, mark, *answer, mark]
