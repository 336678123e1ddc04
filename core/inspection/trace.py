"""Record every head of a model while it answers one question, and prove the record.

Functional: the model is only called, never hooked or changed, so two threads that trace different
questions with one shared model cannot see each other's tensors.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.attention import softmax
from core.data.course import name_in_question
from core.data.vocabulary import MASK_ID, Vocabulary
from core.generation.greedy import answer, prompt_ids
from core.inspection.record import ARRAYS, Array, AttentionTrace, Candidate, Proof, Step
from core.models.gpt import GPT

N_NEXT_BEST = 5
BEFORE_NAME = "Where was "


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer's tensors for a batch of one, as the model computes them."""

    query: Tensor
    key: Tensor
    value: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor
    value_norm: Tensor


@torch.inference_mode()
def trace(model: GPT, vocabulary: Vocabulary, question: str) -> AttentionTrace:
    """Answer a question and record everything.

    Raises ValueError for a question that the vocabulary or the block refuses. Cost: the answer,
    three forward passes and 2·n_layers·n_heads·L² numbers.
    """
    (given,) = answer(model, vocabulary, [question])
    prompt = prompt_ids(vocabulary, question, block_size=model.config.block_size)
    # The closing ⁇ is written by the last row but never read.
    read = [*prompt, *(given.ids[:-1] if given.ids[-1] == MASK_ID else given.ids)]
    ids = torch.tensor([read])
    layers = record_layers(model, ids)
    fused = model(ids)
    return AttentionTrace(
        question=question,
        answer=given.text,
        probability=given.probability,
        labels=tuple(vocabulary.label(i) for i in read),
        word_starts=tuple(vocabulary.word_starts(read)),
        name_positions=name_positions(vocabulary, question),
        steps=steps_of(fused[0], given.ids, first_row=len(prompt) - 1, vocabulary=vocabulary),
        **{name: _stack([getattr(layer, name) for layer in layers]) for name in ARRAYS},
        proof=prove(model, ids, layers, fused),
    )


def record_layers(model: GPT, ids: Tensor) -> list[Layer]:
    """Forward pass with explicit softmax in float32; ids (1, L)."""
    x, positions = model.embed(ids)
    layers: list[Layer] = []
    for block in model.layers:
        query, key, value = block.heads(x, positions)
        scores = softmax.scores(query, key)
        weights = softmax.weights(scores)
        output = weights @ value
        value_norm = block.project_by_head(value).square().sum(-1).sqrt()  # (1, H, L)
        layers.append(Layer(query, key, value, scores, weights, output, value_norm))
        x = block.merge(x, output)
    return layers


def replay(model: GPT, ids: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """Logits (1, L, vocabulary) of a pass in which the given weights take the attention's place."""
    x, positions = model.embed(ids)
    for block, shown in zip(model.layers, weights, strict=True):
        x = block.merge(x, shown @ block.heads(x, positions).value)
    return model.logits(x)


def prove(model: GPT, ids: Tensor, layers: Sequence[Layer], fused: Tensor) -> Proof:
    """Replay through the recorded weights against the model's own fused pass."""
    weights = torch.stack([layer.weights for layer in layers])
    replayed = replay(model, ids, [layer.weights for layer in layers])
    above = torch.triu(torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool), diagonal=1)
    return Proof(
        replay_max_difference=float((replayed - fused).abs().max()),
        row_sum_max_error=float((weights.sum(-1) - 1).abs().max()),
        future_exactly_zero=bool((weights[..., above] == 0).all()),
        dtype=str(weights.dtype).removeprefix("torch."),
    )


def steps_of(
    logits: Tensor, written: Sequence[int], *, first_row: int, vocabulary: Vocabulary
) -> tuple[Step, ...]:
    """For each written token: its probability and the next best, from logits (L, vocabulary)."""
    probabilities = logits.softmax(-1)
    n_best = min(N_NEXT_BEST + 1, logits.shape[-1])
    steps: list[Step] = []
    for offset, token in enumerate(written):
        row = first_row + offset
        best = probabilities[row].topk(n_best)
        others = [
            Candidate(vocabulary.label(int(i)), float(p))
            for p, i in zip(best.values, best.indices, strict=True)
            if int(i) != token
        ]
        steps.append(
            Step(
                row=row,
                position=row + 1,
                label=vocabulary.label(token),
                probability=float(probabilities[row, token]),
                next_best=tuple(others[:N_NEXT_BEST]),
            )
        )
    return tuple(steps)


def name_positions(vocabulary: Vocabulary, question: str) -> tuple[int, ...]:
    """Token positions of the name in the question; empty if the template is not followed."""
    name = name_in_question(question).strip()
    if not name or name == question.strip():
        return ()
    start = question.index(name, question.index(BEFORE_NAME) + len(BEFORE_NAME))
    # Counted from the end: a name has the same pieces alone as after a space.
    end = len(vocabulary.encode(question[: start + len(name)]))
    return tuple(range(end - len(vocabulary.encode(name)), end))


def _stack(parts: Sequence[Tensor]) -> Array:
    return np.asarray(torch.cat(list(parts)).numpy(), dtype=np.float32)
