"""Greedy answers in batches, with a key-value cache.

A prompt is `question ⁇`; the answer runs until the next ⁇ or the limit. Prompts of equal length
share a batch, so nothing is ever padded.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from core.data.vocabulary import MASK_ID, Vocabulary
from core.models.gpt import GPT, Change
from core.models.heads import Heads


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and the model's probability of exactly this text (with its end)."""

    text: str
    ids: tuple[int, ...]
    probability: float


def prompt_ids(vocabulary: Vocabulary, question: str, *, block_size: int) -> list[int]:
    """`question ⁇` as ids. Raises ValueError for an empty, too long or unknown text."""
    if not question.strip():
        raise ValueError(
            "the question is empty: type a text such as 'Where was Ada Lovelace born?'"
        )
    ids = [*vocabulary.encode(question), MASK_ID]
    if len(ids) >= block_size:
        raise ValueError(
            f"the question has {len(ids) - 1} tokens; with its end mark and one token of answer "
            f"at most {block_size - 2} fit into this model's block of {block_size}"
        )
    return ids


@torch.inference_mode()
def answer(
    model: GPT,
    vocabulary: Vocabulary,
    questions: Sequence[str],
    *,
    max_new_tokens: int = 40,
    batch_size: int = 128,
    change: Callable[[int], Change] | None = None,
) -> list[Answer]:
    """Answer every question, in the given order. Cost: one pass over each prompt plus one
    position a new token. Leaves the model's mode alone (there is no dropout). `change`, made for
    the position of the ⁇ that ends the prompt, may put something in the place of what the heads
    give. Raises ValueError for a question that does not fit, and for fewer than one new token.
    """
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens is {max_new_tokens}; it must be at least 1")
    block_size = model.config.longest_input
    prompts = [prompt_ids(vocabulary, text, block_size=block_size) for text in questions]
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, prompt in enumerate(prompts):
        by_length[len(prompt)].append(index)
    answers: dict[int, Answer] = {}
    for length, members in sorted(by_length.items()):
        limit = min(max_new_tokens, block_size - length)
        for start in range(0, len(members), batch_size):
            batch = members[start : start + batch_size]
            ids = torch.tensor([prompts[i] for i in batch])
            changed = None if change is None else change(length - 1)
            new_ids, logs = greedy(model, ids, limit, change=changed)
            rows = cast(list[list[int]], new_ids.tolist())
            for index, row, log in zip(batch, rows, logs, strict=True):
                answers[index] = _cut(vocabulary, row, log)
    return [answers[index] for index in range(len(prompts))]


def greedy(
    model: GPT, prompt: Tensor, n_new: int, *, change: Change | None = None
) -> tuple[Tensor, Tensor]:
    """The likeliest next token, `n_new` times: ids and log-probabilities, each (B, n_new).

    Stops early once every row has ended; columns after a row's ⁇ mean nothing.
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
        ended |= best == MASK_ID
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
    end = ids.index(MASK_ID) + 1 if MASK_ID in ids else len(ids)
    return Answer(vocabulary.decode(ids[:end]), tuple(ids[:end]), float(logs[:end].sum().exp()))
