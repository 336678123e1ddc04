"""Greedy answers in batches, with a key-value cache.

A prompt of a task is `question ⁇`, without a task it is the text alone; the answer runs until the
next ⁇ or the limit. Prompts of equal length share a batch, so nothing is ever padded.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.data.vocabulary import Vocabulary
from core.generation.asked import most_tokens
from core.models.heads import Heads
from core.models.seam import Change, Model, refuse_lacking


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and the model's probability of exactly this text (with its end)."""

    text: str
    ids: tuple[int, ...]
    probability: float


def prompt_ids(checkpoint: Checkpoint, text: str) -> list[int]:
    """What the model reads of a question or, without a task, of a text.

    Raises ValueError for an empty, too long or unknown text.
    """
    task, vocabulary = checkpoint.task, checkpoint.vocabulary
    longest = checkpoint.model.shape.longest_input
    if not text.strip():
        like = "type one" if task is None else f"type a text such as {task.example!r}"
        raise ValueError(f"the question is empty: {like}")
    ends = [] if task is None else [vocabulary.mask_id]
    ids = vocabulary.encode(text)
    if len(ids) + len(ends) >= longest:
        mark = "its end mark and " if ends else ""
        raise ValueError(
            f"the question has {len(ids)} tokens; with {mark}one token of answer "
            f"at most {longest - 1 - len(ends)} fit into this model's block of {longest}"
        )
    return [*ids, *ends]


@torch.inference_mode()
def answer(
    checkpoint: Checkpoint,
    questions: Sequence[str],
    *,
    max_new_tokens: int = 40,
    batch_size: int = 128,
    change: Callable[[int], Change] | None = None,
) -> list[Answer]:
    """Answer every question, in the given order. Cost: one pass over each prompt plus one
    position a new token. Leaves the model's mode alone (there is no dropout). `change`, made for
    the position of the last token of the prompt, may put something in the place of what the heads
    give. A prompt of a question set gets no more tokens than its answer has. Raises ValueError for
    a question that does not fit, for fewer than one new token, and for a model that cannot write.
    """
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    refuse_lacking(model, "answer")
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens is {max_new_tokens}; it must be at least 1")
    prompts = [prompt_ids(checkpoint, text) for text in questions]
    by_length: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (text, prompt) in enumerate(zip(questions, prompts, strict=True)):
        by_length[len(prompt), most_tokens(checkpoint, text, max_new_tokens)].append(index)
    answers: dict[int, Answer] = {}
    for (length, most), members in sorted(by_length.items()):
        limit = min(most, model.shape.longest_input - length)
        for start in range(0, len(members), batch_size):
            batch = members[start : start + batch_size]
            ids = torch.tensor([prompts[i] for i in batch])
            changed = None if change is None else change(length - 1)
            new_ids, logs = greedy(model, ids, limit, end=vocabulary.mask_id, change=changed)
            rows = cast(list[list[int]], new_ids.tolist())
            for index, row, log in zip(batch, rows, logs, strict=True):
                answers[index] = _cut(vocabulary, row, log)
    return [answers[index] for index in range(len(prompts))]


def greedy(
    model: Model, prompt: Tensor, n_new: int, *, end: int, change: Change | None = None
) -> tuple[Tensor, Tensor]:
    """The likeliest next token, `n_new` times: ids and log-probabilities, each (B, n_new).

    Stops early once every row has written `end`; columns behind it mean nothing.
    """
    past = Past(change)
    ids, start = prompt, 0
    new_ids: list[Tensor] = []
    logs: list[Tensor] = []
    ended = torch.zeros(len(prompt), dtype=torch.bool)
    for _ in range(n_new):
        x = model.run(ids, past.attend, start=start)
        log, best = model.logits(x[:, -1]).log_softmax(-1).max(-1)
        new_ids.append(best)
        logs.append(log)
        ended |= best == end
        if bool(ended.all()):
            break
        start += ids.shape[1]
        ids = best[:, None]
    return torch.stack(new_ids, 1), torch.stack(logs, 1)


class Past:
    """The key-value cache: what the layers have seen so far, whatever their mechanism keeps."""

    def __init__(self, change: Change | None = None) -> None:
        self._seen: dict[int, Heads] = {}
        self._change = change

    def attend(self, layer: int, heads: Heads) -> Tensor:
        """The output of new rows that look at the past and at each other, or its change."""
        if layer in self._seen:
            heads = heads.after(self._seen[layer])
        output, self._seen[layer] = heads.step()
        return output if self._change is None else self._change(layer, heads, output)


def _cut(vocabulary: Vocabulary, ids: list[int], logs: Tensor) -> Answer:
    mark = vocabulary.mask_id
    end = ids.index(mark) + 1 if mark in ids else len(ids)
    return Answer(vocabulary.decode(ids[:end]), tuple(ids[:end]), float(logs[:end].sum().exp()))
