"""Record every head of a model while it answers one question, and prove the record.

Functional: the model is only called, never hooked or changed, so two threads that trace different
questions with one shared model cannot see each other's tensors.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, get_args

import torch
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.data.vocabulary import Vocabulary
from core.generation.asked import subject_positions
from core.generation.greedy import Answer, answer_and_stream, attending, prompt_ids
from core.generation.target import target_ids
from core.generation.written import Reading, gaps, reading
from core.inspection.ablate import switched_off
from core.inspection.heads import EVERY_HEAD_ON, HeadsOff, checked_off
from core.inspection.recorded import (
    MOST_SCORES_BYTES,
    Recorded,
    arrays_of,
    prove,
    refuse_too_large,
    unchanged,
    value_norm,
    weights_bytes,
)
from core.inspection.traced import AttentionTrace, Candidate, Step
from core.models.heads import Heads
from core.models.seam import Ability, Change, Model, refuse_lacking

N_NEXT_BEST = 5
NOTHING = Answer("", (), 1.0)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer's tensors for a batch of one, as the model computes them."""

    heads: Heads
    scores: Tensor
    weights: Tensor
    output: Tensor
    value_norm: Tensor


@torch.inference_mode()
def trace(
    checkpoint: Checkpoint,
    question: str,
    off: HeadsOff = EVERY_HEAD_ON,
    *,
    max_new_tokens: int | None = None,
    target: str | None = None,
) -> AttentionTrace:
    """Answer a question and record everything, with some heads switched off. An encoder fills the
    gaps of a text; where there are none it is only looked at. With a `target`, for a model that
    reads a source beside it, nothing is written: the decoder reads the target's own tokens, and
    `steps` say how likely each is.

    Raises ValueError for a question that the vocabulary or the block refuses, for what
    `checked_off` and `target_ids` refuse, and for more tokens than can be held
    (`refuse_too_large`). Cost: the answer, whose own passes are what the record is held against,
    one pass more and n_layers·n_heads·L² numbers, twice that where they are few.
    """
    model = checkpoint.model
    off = checked_off(off, model.shape)
    change_at = switched_off(off)
    prompt = prompt_ids(checkpoint, question)
    refuse_too_large(model, len(prompt))
    given, own = NOTHING, None
    if target is not None:
        given = Answer(target, target_ids(checkpoint, target), 1.0)
    elif _writes(checkpoint, prompt):
        given, own = answer_and_stream(
            checkpoint, question, max_new_tokens=max_new_tokens, change=change_at
        )
    read = _read_to_the_end(checkpoint, prompt, given)
    n_source = len(read.source or ())
    refuse_too_large(model, n_source + len(read.ids))
    change = change_at(read.mark)
    ids = torch.tensor([read.ids], device=model.device)
    source = None if read.source is None else torch.tensor([read.source], device=model.device)
    recorded, replayed = record(model, ids, source, change)
    if own is None:
        own = model.run(ids, attending(change), source=source)
    steps = _steps(checkpoint, own[0], given, read)
    likely = math.prod(step.probability for step in steps)
    lacking = [*(model.cannot(what) for what in get_args(Ability)), model.shape.unclear]
    return AttentionTrace(
        question=question,
        answer=given.text,
        probability=given.probability if target is None else likely,
        teacher_forced=target is not None,
        **_of_tokens(checkpoint.vocabulary, read),
        name_positions=name_positions(checkpoint, question),
        latent_positions=standing_latents(model, recorded),
        mechanism=model.shape.mechanism,
        kinds=model.shape.kinds,
        n_source=n_source,
        n_kv_heads=model.shape.n_kv_heads,
        lacking=tuple(dict.fromkeys(why for why in lacking if why)),
        steps=steps,
        **arrays_of(recorded, off.heads),
        ablated=off.heads,
        mode=off.mode,
        proof=prove(recorded, replayed, own),
    )


def record(
    model: Model, ids: Tensor, source: Tensor | None = None, change: Change = unchanged
) -> tuple[Recorded, Tensor]:
    """One pass with explicit weights, everything of it written down, and its last stream
    (1, L, width); ids (1, L), source (1, S).
    """
    n_source = 0 if source is None else source.shape[1]
    n_tokens = n_source + ids.shape[1]
    keeps_scores = weights_bytes(model, n_tokens) <= MOST_SCORES_BYTES
    recorded = Recorded(model, n_tokens, n_source, change, keeps_scores)
    return recorded, model.run(ids, recorded.attend, source=source, tap=recorded.tap)


def record_layers(model: Model, ids: Tensor, change: Change = unchanged) -> list[Layer]:
    """Forward pass with explicit weights in float32; ids (B, L)."""
    layers: list[Layer] = []

    def attend(index: int, heads: Heads) -> Tensor:
        scores = heads.scores()
        weights = heads.weights(scores)
        output = change(index, heads, weights @ heads.value)
        norm = value_norm(model, index, heads.value)  # (B, H, columns)
        layers.append(Layer(heads, scores, weights, output, norm))
        return output

    model.run(ids, attend)
    return layers


def standing_latents(model: Model, recorded: Recorded) -> tuple[int, ...]:
    """Where a Perceiver's latents stand that the tokens can see; empty for other models."""
    if not model.shape.n_latents:
        return ()
    return tuple(int(position) for position in recorded.rows[0])


def steps_of(
    logits: Tensor,
    written: Sequence[int],
    places: Sequence[tuple[int, int]],
    vocabulary: Vocabulary,
) -> tuple[Step, ...]:
    """For each written token: its probability and the next best, from its logits (written,
    vocabulary); `places` are the row that wrote it and where it stands itself.

    A next best token is named as it would stand behind what was written before it.
    """
    probabilities = logits.softmax(-1)
    n_best = min(N_NEXT_BEST + 1, logits.shape[-1])
    labels = vocabulary.labels(written)
    steps: list[Step] = []
    for offset, (token, (row, position)) in enumerate(zip(written, places, strict=True)):
        best = probabilities[offset].topk(n_best)
        others = [
            Candidate(vocabulary.labels([*written[:offset], int(i)])[-1], float(p))
            for p, i in zip(best.values, best.indices, strict=True)
            if int(i) != token
        ]
        steps.append(
            Step(
                row=row,
                position=position,
                label=labels[offset],
                probability=float(probabilities[offset, token]),
                next_best=tuple(others[:N_NEXT_BEST]),
            )
        )
    return tuple(steps)


def name_positions(checkpoint: Checkpoint, question: str) -> tuple[int, ...]:
    """Token positions of the name in the question; empty where the task's template is not followed,
    and without a task. Of a question set's prompt: those of its subject.
    """
    if (subject := subject_positions(checkpoint, question)) is not None:
        return subject
    task = checkpoint.task
    span = None if task is None else task.template.name_span(question)
    if span is None or not (name := question[slice(*span)].strip()):
        return ()
    start = question.index(name, span[0])
    return checkpoint.vocabulary.positions(question, (start, start + len(name)))


def place(values: Tensor, n: int, *positions: Tensor, fill: float = 0.0) -> Tensor:
    """(B, H, …) with axis 2 (and 3) spread over n positions; where nothing stands, `fill`."""
    for axis, where in enumerate(positions, start=2):
        shape = list(values.shape)
        shape[axis] = n
        values = values.new_full(shape, fill).index_copy(axis, where, values)
    return values


def _writes(checkpoint: Checkpoint, prompt: Sequence[int]) -> bool:
    """Whether the model is to write: an encoder that has gaps to fill, or a decoder.

    Raises ValueError for gaps that the model cannot fill.
    """
    model = checkpoint.model
    if "decoder" in model.shape.kinds or not model.shape.kinds:
        return not model.cannot("answer")
    has_gaps = bool(gaps(checkpoint, prompt))
    if has_gaps:
        refuse_lacking(model, "logits")
    return has_gaps


def _read_to_the_end(checkpoint: Checkpoint, prompt: Sequence[int], given: Answer) -> Reading:
    """What is read for an answer. The ⁇ that closes one is written by the last row, never read; an
    answer that came to the limit is read to its last token.
    """
    vocabulary = checkpoint.vocabulary
    ended = not given.ids or given.ids[-1] in vocabulary.end_ids
    fills = "encoder" in checkpoint.model.shape.kinds and not checkpoint.model.shape.has_source
    if ended or fills:
        return reading(checkpoint, prompt, given.ids)
    whole = reading(checkpoint, prompt, (*given.ids, vocabulary.pad_id))
    return replace(whole, rows=whole.rows[:-1])


def _both(label: Callable[[Sequence[int]], list[T]], read: Reading) -> list[T]:
    """Of the tokens of the source and of those read beside it, each for themselves."""
    return [*label(read.source or ()), *label(read.ids)]


def _of_tokens(vocabulary: Vocabulary, read: Reading) -> dict[str, Any]:
    """What a trace says of every token, by the names of its fields."""
    return {
        "labels": tuple(_both(vocabulary.labels, read)),
        "word_starts": tuple(_both(vocabulary.word_starts, read)),
        "special": tuple(vocabulary.special([*(read.source or ()), *read.ids])),
    }


def _steps(checkpoint: Checkpoint, final: Tensor, given: Answer, read: Reading) -> tuple[Step, ...]:
    """From the last stream (L, width). A filling stands in its own row, a written token behind."""
    if not given.ids:
        return ()
    model, n_source = checkpoint.model, len(read.source or ())
    behind = 0 if "encoder" in model.shape.kinds and read.source is None else 1
    places = [(n_source + row, n_source + row + behind) for row in read.rows]
    logits = model.logits(final[list(read.rows)]).cpu()
    return steps_of(logits, given.ids, places, checkpoint.vocabulary)
