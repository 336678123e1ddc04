"""Record every head of a model while it answers one question, and prove the record.

Functional: the model is only called, never hooked or changed, so two threads that trace different
questions with one shared model cannot see each other's tensors.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.data.vocabulary import Vocabulary
from core.generation.asked import subject_positions
from core.generation.greedy import answer, prompt_ids
from core.inspection.ablate import switched_off
from core.inspection.answered import attending
from core.inspection.heads import EVERY_HEAD_ON, Head, HeadsOff, checked_off
from core.inspection.traced import Array, AttentionTrace, Candidate, Proof, Step
from core.models.heads import DotHeads, Heads
from core.models.seam import Change, Model

N_NEXT_BEST = 5


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer's tensors for a batch of one, as the model computes them."""

    heads: Heads
    scores: Tensor
    weights: Tensor
    output: Tensor
    value_norm: Tensor


@torch.inference_mode()
def trace(checkpoint: Checkpoint, question: str, off: HeadsOff = EVERY_HEAD_ON) -> AttentionTrace:
    """Answer a question and record everything, with some heads switched off.

    Raises ValueError for a question that the vocabulary or the block refuses, and for what
    `checked_off` refuses. Cost: the answer, three forward passes and 2·n_layers·n_heads·L² numbers.
    """
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    off = checked_off(off, model.shape)
    change_at = switched_off(off)
    (given,) = answer(checkpoint, [question], change=change_at)
    prompt = prompt_ids(checkpoint, question)
    # The closing ⁇ is written by the last row but never read.
    read = [*prompt, *(given.ids[:-1] if given.ids[-1] == vocabulary.mask_id else given.ids)]
    ids, change = torch.tensor([read]), change_at(len(prompt) - 1)
    layers = record_layers(model, ids, change)
    fused = model.logits(model.run(ids, attending(change)))
    return AttentionTrace(
        question=question,
        answer=given.text,
        probability=given.probability,
        labels=tuple(vocabulary.labels(read)),
        word_starts=tuple(vocabulary.word_starts(read)),
        name_positions=name_positions(checkpoint, question),
        latent_positions=standing_latents(model, layers),
        mechanism=model.shape.mechanism,
        steps=steps_of(fused[0], given.ids, first_row=len(prompt) - 1, vocabulary=vocabulary),
        **stacked(layers, len(read), off.heads),
        ablated=off.heads,
        mode=off.mode,
        proof=prove(model, ids, layers, fused, change),
    )


def unchanged(_layer: int, _heads: Heads, output: Tensor) -> Tensor:
    """The change that changes nothing."""
    return output


def record_layers(model: Model, ids: Tensor, change: Change = unchanged) -> list[Layer]:
    """Forward pass with explicit weights in float32; ids (B, L)."""
    layers: list[Layer] = []

    def attend(index: int, heads: Heads) -> Tensor:
        scores = heads.scores()
        weights = heads.weights(scores)
        output = change(index, heads, weights @ heads.value)
        brought = model.parts(index, heads.value)
        value_norm = brought.square().sum(-1).sqrt()  # (B, H, columns)
        layers.append(Layer(heads, scores, weights, output, value_norm))
        return output

    model.run(ids, attend)
    return layers


def replay(
    model: Model, ids: Tensor, weights: Sequence[Tensor], change: Change = unchanged
) -> Tensor:
    """Logits (1, L, vocabulary) of a pass in which the given weights take the attention's place."""

    def attend(index: int, heads: Heads) -> Tensor:
        return change(index, heads, weights[index] @ heads.value)

    return model.logits(model.run(ids, attend))


def prove(
    model: Model, ids: Tensor, layers: Sequence[Layer], fused: Tensor, change: Change = unchanged
) -> Proof:
    """Replay through the recorded weights against the model's own fused pass."""
    shown = [layer.weights for layer in layers]
    later = [layer.weights[..., layer.heads.masked] for layer in layers]
    return Proof(
        replay_max_difference=float((replay(model, ids, shown, change) - fused).abs().max()),
        row_sum_max_error=max(float((weights.sum(-1) - 1).abs().max()) for weights in shown),
        future_exactly_zero=not any(bool(weights.any()) for weights in later),
        dtype=str(shown[0].dtype).removeprefix("torch."),
    )


def standing_latents(model: Model, layers: Sequence[Layer]) -> tuple[int, ...]:
    """Where a Perceiver's latents stand that the tokens can see; empty for other models."""
    if not model.shape.n_latents:
        return ()
    return tuple(cast(list[int], layers[0].heads.rows.tolist()))


def stacked(
    layers: Sequence[Layer], n_tokens: int, ablated: Collection[Head] = ()
) -> dict[str, Any]:
    """The arrays of a trace: every layer laid out over all token positions."""
    parts = [_laid_out(layer, n_tokens) for layer in layers]
    arrays = {name: _stack([part[name] for part in parts]) for name in parts[0]}
    for head in ablated:
        arrays["value_norm"][head] = 0  # whatever its weights, no key adds anything
    return arrays


def steps_of(
    logits: Tensor, written: Sequence[int], *, first_row: int, vocabulary: Vocabulary
) -> tuple[Step, ...]:
    """For each written token: its probability and the next best, from logits (L, vocabulary).

    A next best token is named as it would stand behind what was written before it.
    """
    probabilities = logits.softmax(-1)
    n_best = min(N_NEXT_BEST + 1, logits.shape[-1])
    labels = vocabulary.labels(written)
    steps: list[Step] = []
    for offset, token in enumerate(written):
        row = first_row + offset
        best = probabilities[row].topk(n_best)
        others = [
            Candidate(vocabulary.labels([*written[:offset], int(i)])[-1], float(p))
            for p, i in zip(best.values, best.indices, strict=True)
            if int(i) != token
        ]
        steps.append(
            Step(
                row=row,
                position=row + 1,
                label=labels[offset],
                probability=float(probabilities[row, token]),
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
    task, vocabulary = checkpoint.task, checkpoint.vocabulary
    span = None if task is None else task.template.name_span(question)
    if span is None or not (name := question[slice(*span)].strip()):
        return ()
    start = question.index(name, span[0])
    # Counted from the end: a name has the same pieces alone as after a space.
    end = len(vocabulary.encode(question[: start + len(name)]))
    return tuple(range(end - len(vocabulary.encode(name)), end))


def _laid_out(layer: Layer, n_tokens: int) -> dict[str, Tensor]:
    """A layer's tensors by their names in the trace; a Synthesizer has no query and no key."""
    heads, rows, columns = layer.heads, layer.heads.rows, layer.heads.columns
    tensors = {
        "value": place(heads.value, n_tokens, columns),
        "output": place(layer.output, n_tokens, rows),
        "scores": place(layer.scores, n_tokens, rows, columns, fill=-torch.inf),
        "weights": place(layer.weights, n_tokens, rows, columns),
        "value_norm": place(layer.value_norm, n_tokens, columns),
    }
    if isinstance(heads, DotHeads):
        tensors["query"] = place(heads.query, n_tokens, rows)
        tensors["key"] = place(heads.key, n_tokens, columns)
    return tensors


def place(values: Tensor, n: int, *positions: Tensor, fill: float = 0.0) -> Tensor:
    """(B, H, …) with axis 2 (and 3) spread over n positions; where nothing stands, `fill`."""
    for axis, where in enumerate(positions, start=2):
        shape = list(values.shape)
        shape[axis] = n
        values = values.new_full(shape, fill).index_copy(axis, where, values)
    return values


def _stack(parts: Sequence[Tensor]) -> Array:
    return np.asarray(torch.cat(list(parts)).numpy(), dtype=np.float32)
