"""From documents and questions to batches of token ids, deterministic in seed and position."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.data.objectives import (
    cued_fact,
    ordered_facts,
    question_and_answer,
    salient_span_corruption,
    salient_spans,
    shuffled_facts,
    span_corruption,
    words_before,
)
from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.training.recipe import Phase, Recipe
from core.training.shares import Whole, share_of

IGNORE = -100
FACTS = {"shuffled_facts": shuffled_facts, "ordered_facts": ordered_facts}
POOL_SIZE = 1024
_PREPOSITIONS = (" in ", " from ", " of ")


@dataclass(frozen=True, slots=True)
class Document:
    """One person's lines as ids: name, whole lines, facts, and (before, span, after) cuts.

    A fact stands in `facts` as often as the lines say it; `cued` has it behind the name and the
    words before it: (name and cue, fact).
    """

    name: tuple[int, ...]
    lines: tuple[tuple[int, ...], ...]
    facts: tuple[tuple[int, ...], ...]
    cuts: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...]
    cued: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Everything that examples are drawn from, with the ids of the mark ⁇ and of what pads."""

    documents: tuple[Document, ...]
    questions: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    mark: int
    pad: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs (B, L) and targets (B, L); targets that do not count are IGNORE.

    `n_tokens` are the real (not padded) input tokens. A share tells of its `whole`.
    """

    inputs: Tensor
    targets: Tensor
    n_tokens: int
    whole: Whole | None = None

    def share(self, part: int, n_parts: int) -> "Batch":
        """The rows of one of n_parts processes."""
        rows, whole = share_of(self.targets != IGNORE, part, n_parts)
        return replace(self, inputs=self.inputs[rows], targets=self.targets[rows], whole=whole)


def next_token_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Mean cross-entropy of the tokens that count, each given those before it.

    Of a share: its part of that mean, so that the shares' losses add up to it.
    """
    logits: Tensor = model(batch.inputs)
    flat, targets = logits.flatten(0, 1), batch.targets.flatten()
    if batch.whole is None:
        return F.cross_entropy(flat, targets, ignore_index=IGNORE)
    total = F.cross_entropy(flat, targets, ignore_index=IGNORE, reduction="sum")
    return total / batch.whole.n_counted if batch.whole.own_rows else total * 0.0


def training_data(
    documents: Sequence[tuple[str, Sequence[str]]],
    questions: Sequence[Question],
    vocabulary: Vocabulary,
    recipe: Recipe,
) -> TrainingData:
    """Tokenise (name, lines) documents and the questions that may be asked in training."""

    @lru_cache(maxsize=200_000)
    def encode(text: str) -> tuple[int, ...]:
        return tuple(vocabulary.encode(text)) if text else ()

    return TrainingData(
        tuple(_document(name, lines, recipe, encode) for name, lines in documents),
        tuple((encode(q.text), encode(q.answer)) for q in questions if q.answer is not None),
        mark=vocabulary.mask_id,
        pad=vocabulary.pad_id,
    )


def pool_of_batches(
    data: TrainingData, recipe: Recipe, phase: Phase, *, seed: int, pool: int
) -> list[Batch]:
    """The batches of one pool of examples, of similar length inside and in random order.

    The same arguments give the same batches, so a resumed run needs the pool's number only.
    """
    generator = random.Random(f"{seed}:{phase.name}:{pool}")
    examples = [draw(data, recipe, phase, generator) for _ in range(POOL_SIZE)]
    batches: list[Batch] = []
    members: list[list[int]] = []
    for example in sorted(examples, key=len):
        members.append(example)
        if _is_full(members, recipe, phase):
            batches.append(collate(members, data, answer_only=phase.answer_only))
            members = []
    if members:
        batches.append(collate(members, data, answer_only=phase.answer_only))
    generator.shuffle(batches)
    return batches


def draw(data: TrainingData, recipe: Recipe, phase: Phase, generator: random.Random) -> list[int]:
    """One example of the phase's mixture: inputs and their targets, one token later."""
    kinds = [kind for kind, weight in phase.mixture.items() if weight]
    (kind,) = generator.choices(kinds, [phase.mixture[kind] for kind in kinds])
    return _draw_kind(kind, data, recipe, generator)[: recipe.longest_input + 1]


def collate(examples: Sequence[Sequence[int]], data: TrainingData, *, answer_only: bool) -> Batch:
    """Pad to the longest; targets are the inputs shifted by one.

    With `answer_only` the loss begins after the first ⁇.
    """
    longest = max(map(len, examples))
    ids = torch.tensor([[*ids, *[data.pad] * (longest - len(ids))] for ids in examples])
    inputs, targets = ids[:, :-1], ids[:, 1:].clone()
    targets[targets == data.pad] = IGNORE
    if answer_only:
        after_mark = (inputs == data.mark).cumsum(1) > 0
        targets[~after_mark] = IGNORE
    return Batch(inputs, targets, int((inputs != data.pad).sum()))


def _is_full(members: list[list[int]], recipe: Recipe, phase: Phase) -> bool:
    n_examples = phase.examples_per_batch or recipe.examples_per_batch
    if n_examples is not None:
        return len(members) >= n_examples
    return len(members) * len(members[-1]) >= recipe.tokens_per_batch


def _document(
    name: str, lines: Sequence[str], recipe: Recipe, encode: Callable[[str], tuple[int, ...]]
) -> Document:
    facts: list[str] = []
    cuts: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = []
    cued: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for line in (whole[: recipe.fact_characters] for whole in lines):
        for start, end in salient_spans(line, numbers=recipe.numbers):
            fact = line[start:end]
            if _is_mention(name, line, start, end):
                continue
            facts.append(fact)
            cuts.append((encode(line[:start].rstrip()), encode(fact), encode(line[end:].lstrip())))
            cue = " ".join(words_before(line, start, n_most=recipe.n_cue_words))
            cued.append((encode(f"{name} {cue}".rstrip()), encode(fact)))
    return Document(
        name=encode(name),
        lines=tuple(map(encode, lines)),
        facts=tuple(map(encode, facts)),
        cuts=tuple(cuts),
        cued=tuple(cued),
    )


def _is_mention(name: str, line: str, start: int, end: int) -> bool:
    """Whether a span names the person and tells nothing: the name, a part or another form of it.

    Another form begins with the same letter and ends with the same word: Benjamin Nicholas, called
    Ben. Any is a fact behind a preposition: Leonardo da Vinci, from Vinci.
    """
    fact = line[start:end].removesuffix("'s")
    if fact == name:
        return True
    begin = line.find(name, max(0, end - len(name)))
    inside = -1 < begin <= start
    akin = fact in name or (fact[0] == name[0] and fact.split()[-1] == name.rsplit(maxsplit=1)[-1])
    return inside or (akin and not line[:start].endswith(_PREPOSITIONS))


def _draw_kind(
    kind: str, data: TrainingData, recipe: Recipe, generator: random.Random
) -> list[int]:
    if kind == "questions":
        return question_and_answer(*generator.choice(data.questions), mark=data.mark)
    document = generator.choice(data.documents)
    if kind in FACTS and document.facts:
        return FACTS[kind](
            document.name,
            document.facts,
            mark=data.mark,
            n_most=recipe.n_facts,
            generator=generator,
        )
    if kind == "cued_facts" and document.cued:
        return cued_fact(*generator.choice(document.cued), mark=data.mark)
    if kind == "salient_spans" and document.cuts:
        return salient_span_corruption(*generator.choice(document.cuts), mark=data.mark)
    line = generator.choice(document.lines)
    return span_corruption(
        line, mark=data.mark, block_size=recipe.longest_input, generator=generator
    )
