"""Figures of one answered question: where heads look, what they bring, how sure the model is.

A row is that which writes a piece of the answer; pieces are counted from 1, heads named L1·H5.
"""

import numpy as np
from numpy.typing import NDArray

from core.checkpoints.any import folder_of
from core.checkpoints.store import Checkpoint, load_checkpoint
from core.data.characters import SPACE_GLYPH
from core.data.people import Question, Split, is_right, questions_of
from core.generation.greedy import answer
from core.inspection.ablate import effect
from core.inspection.answered import answered
from core.inspection.fold import fold_columns, word_labels
from core.inspection.heads import HeadsOff, parse_head
from core.inspection.readings import read_trace
from core.inspection.scores import SCORES
from core.inspection.trace import trace
from core.inspection.traced import AttentionTrace, Step
from core.lessons.computed.once import Once

Row = NDArray[np.float64]


def weight_on_name(
    once: Once, *, checkpoint: str, question: str, head: str, piece: int = 1
) -> float:
    """Σ over the tokens of the name."""
    found = traced(once, checkpoint, question)
    return float(_row(found, head, piece)[_name(found)].sum())


def weight_on_word(
    once: Once, *, checkpoint: str, question: str, head: str, word: str, piece: int = 1
) -> float:
    """Σ over the tokens of every word that is written like this. Raises ValueError for none."""
    found = traced(once, checkpoint, question)
    words = word_labels(found.labels, found.word_starts, SPACE_GLYPH)
    if word not in words:
        raise ValueError(f"there is no word {word!r}; words: {', '.join(words)}")
    weights = fold_columns(found.weights[parse_head(head)], found.word_starts)
    row = weights[_step(found, piece).row].astype(np.float64)
    return float(row[[each == word for each in words]].sum())


def largest_weight(
    once: Once, *, checkpoint: str, question: str, head: str, piece: int = 1
) -> float:
    """The maximum over tokens."""
    return float(_row(traced(once, checkpoint, question), head, piece).max())


def effective_tokens(
    once: Once, *, checkpoint: str, question: str, head: str, piece: int = 1
) -> float:
    """exp(−Σ w ln w): 1 for a peak, the number of tokens for uniform weights."""
    row = _row(traced(once, checkpoint, question), head, piece)
    some = row[row > 0]
    return float(np.exp(-(some * np.log(some)).sum()))


def visible_tokens(once: Once, *, checkpoint: str, question: str, piece: int = 1) -> float:
    """In the first layer, as in all of a decoder."""
    found = traced(once, checkpoint, question)
    return float(found.visible[0, _step(found, piece).row].sum())


def contribution_of_name(
    once: Once, *, checkpoint: str, question: str, head: str, piece: int = 1
) -> float:
    """Σ ‖weight · value · W_O‖ over the tokens of the name."""
    found, at = traced(once, checkpoint, question), parse_head(head)
    brought = np.abs(_row(found, head, piece)) * found.value_norm[at]
    return float(brought[_name(found)].sum())


def score_of_head(once: Once, *, checkpoint: str, question: str, head: str, score: str) -> float:
    """As the page of attention shows it. Raises ValueError for an unknown score."""
    if score not in SCORES:
        raise ValueError(f"unknown score {score!r}; scores: {', '.join(SCORES)}")
    scores = read_trace(traced(once, checkpoint, question)).scores
    return float(getattr(scores, score)[parse_head(head)])


def answer_probability(once: Once, *, checkpoint: str, question: str, answer: str) -> float:
    """The product over its pieces. Raises ValueError where the model answers something else."""
    found = traced(once, checkpoint, question)
    if found.answer != answer:
        raise ValueError(f"{checkpoint} answers {found.answer!r}, not {answer!r}")
    return found.probability


def piece_probability(once: Once, *, checkpoint: str, question: str, piece: int = 1) -> float:
    """Given those before it."""
    return _step(traced(once, checkpoint, question), piece).probability


def written_pieces(once: Once, *, checkpoint: str, question: str) -> float:
    """With the one that ends the answer."""
    return float(len(traced(once, checkpoint, question).steps))


def probability_without(
    once: Once, *, checkpoint: str, question: str, off: tuple[str, ...]
) -> float:
    """Of the answer that was given with every head on; the heads that are off give zero."""
    stored = _load(once, checkpoint)
    before = once.get(
        ("answered", checkpoint, question),
        lambda: answered(stored, [Question(text=question, answer=None, name="")]),
    )
    heads = tuple(parse_head(head) for head in off)
    return float(effect(stored, before, HeadsOff(heads=heads)).former_probability[0])


def wrong_but_sure(once: Once, *, checkpoint: str, above: float, split: Split = "dev") -> float:
    """Cost: all questions of the split are answered, some seconds for those of dev."""
    stored = _load(once, checkpoint)
    if stored.task is None or not stored.task.is_shipped:
        raise ValueError(f"the questions of {checkpoint} are not shipped")
    asked = questions_of(stored.task.people(), split)
    found = once.get(("split", checkpoint, split), lambda: answer(stored, [q.text for q in asked]))
    return float(
        sum(
            given.probability > above and not is_right(given.text, question.answer or "")
            for question, given in zip(asked, found, strict=True)
        )
    )


def traced(once: Once, checkpoint: str, question: str) -> AttentionTrace:
    """Every head while a question is answered."""
    return once.get(
        ("trace", checkpoint, question), lambda: trace(_load(once, checkpoint), question)
    )


def _load(once: Once, checkpoint: str) -> Checkpoint:
    return once.get(("checkpoint", checkpoint), lambda: load_checkpoint(folder_of(checkpoint)))


def _row(found: AttentionTrace, head: str, piece: int) -> Row:
    """(L,): the weights of one head where it writes a piece. Raises ValueError for no such head."""
    layer, number = parse_head(head)
    if (layer, number) not in found.heads:
        raise ValueError(
            f"there is no head {head}: {found.n_layers} layers of {found.n_heads} heads"
        )
    return found.weights[layer, number, _step(found, piece).row].astype(np.float64)


def _step(found: AttentionTrace, piece: int) -> Step:
    if not 1 <= piece <= len(found.steps):
        raise ValueError(f"piece {piece}: the answer has pieces 1 to {len(found.steps)}")
    return found.steps[piece - 1]


def _name(found: AttentionTrace) -> list[int]:
    if not found.name_positions:
        raise ValueError(f"nobody's name is found in {found.question!r}")
    return list(found.name_positions)
