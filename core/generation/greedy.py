"""Greedy answers in batches, with a key-value cache where the model's past is one.

A prompt of a task is `question ⁇`, without a task it is the text alone; the answer runs until a
token that ends it or the limit. Prompts of equal length share a batch, so nothing is ever padded.
With an encoder beside the decoder the prompt is what the encoder reads. An encoder alone fills the
gaps of its prompt, all at once; its answer is the fillings.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.data.vocabulary import Vocabulary
from core.generation.asked import most_tokens
from core.generation.written import begin_of, gaps
from core.models.heads import Heads
from core.models.seam import Attend, Change, Model, refuse_lacking

NO_GAP = "there is no {} in the text: an encoder fills gaps and writes nothing behind a text"


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
    shape = checkpoint.model.shape
    if not text.strip():
        like = "type one" if task is None else f"type a text such as {task.example!r}"
        raise ValueError(f"the question is empty: {like}")
    ends = [] if task is None else [vocabulary.mask_id]
    ids = vocabulary.encode(text)
    if not ids:
        raise ValueError("the tokenizer makes no token of this text: type another one")
    n_answer = 0 if "encoder" in shape.kinds else 1
    if len(ids) + len(ends) + n_answer > shape.longest_input:
        mark = "its end mark and " if ends else ""
        room = f"with {mark}one token of answer " if n_answer else ""
        raise ValueError(
            f"the question has {len(ids)} tokens; {room}"
            f"at most {shape.longest_input - n_answer - len(ends)} fit into this model's block of "
            f"{shape.longest_input}"
        )
    return [*ids, *ends]


@torch.inference_mode()
def answer(
    checkpoint: Checkpoint,
    questions: Sequence[str],
    *,
    max_new_tokens: int | None = None,
    batch_size: int = 128,
    change: Callable[[int], Change] | None = None,
) -> list[Answer]:
    """Answer every question, in the given order. Cost: one pass over each prompt plus one
    position a new token (a pass over all, where the past is no key-value cache). Leaves the model's
    mode alone (there is no dropout). An answer has at most `max_new_tokens`, the checkpoint's limit
    unless told; one to a prompt of a question set no more than the right answer has. `change`, made
    for the position from which rows write, may put something in the place of what the heads give.
    Raises ValueError for a question that does not fit, for fewer than one new
    token, and for a model that cannot write.
    """
    model = checkpoint.model
    fills = "encoder" in model.shape.kinds and not model.shape.has_source
    refuse_lacking(model, "logits" if fills else "answer")
    limit = checkpoint.limit if max_new_tokens is None else max_new_tokens
    if limit < 1:
        raise ValueError(f"max_new_tokens is {limit}; it must be at least 1")
    prompts = [prompt_ids(checkpoint, text) for text in questions]
    if fills:
        return [_filled(checkpoint, prompt, change) for prompt in prompts]
    by_length: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (text, prompt) in enumerate(zip(questions, prompts, strict=True)):
        by_length[len(prompt), most_tokens(checkpoint, text, limit)].append(index)
    answers: dict[int, Answer] = {}
    for (_, most), members in sorted(by_length.items()):
        for start in range(0, len(members), batch_size):
            batch = members[start : start + batch_size]
            written = _write(checkpoint, [prompts[i] for i in batch], most, change)
            answers |= dict(zip(batch, written, strict=True))
    return [answers[index] for index in range(len(prompts))]


def greedy(
    model: Model,
    prompt: Tensor,
    n_new: int,
    *,
    ends: Collection[int],
    change: Change | None = None,
    source: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The likeliest next token, `n_new` times: ids and log-probabilities, each (B, n_new).

    Stops early once every row has written one of `ends`; columns behind it mean nothing.
    """
    steps, past = model.shape.keeps_past and source is None, Past(change)
    attend = past.attend if steps else attending(change)
    ids, start = prompt, 0
    new_ids: list[Tensor] = []
    logs: list[Tensor] = []
    ended = torch.zeros(len(prompt), dtype=torch.bool)
    ending = torch.tensor(sorted(ends), dtype=torch.long)
    for _ in range(n_new):
        x = model.run(ids, attend, source=source, start=start)
        log, best = model.logits(x[:, -1]).log_softmax(-1).max(-1)
        new_ids.append(best)
        logs.append(log)
        ended |= torch.isin(best, ending)
        if bool(ended.all()):
            break
        start += ids.shape[1] if steps else 0
        ids = best[:, None] if steps else torch.cat([ids, best[:, None]], 1)
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


def attending(change: Change | None) -> Attend:
    """The model's own attention, or what a change puts in the place of its output."""
    if change is None:
        return lambda _, heads: heads.output()
    return lambda layer, heads: change(layer, heads, heads.output())


def _write(
    checkpoint: Checkpoint,
    prompts: Sequence[Sequence[int]],
    max_new_tokens: int,
    change: Callable[[int], Change] | None,
) -> list[Answer]:
    """The answers to prompts of equal length."""
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    given, source = torch.tensor(prompts), None
    if model.shape.has_source:
        source, given = given, torch.full((len(prompts), 1), begin_of(checkpoint))
    limit = min(max_new_tokens, model.shape.longest_input - given.shape[1])
    changed = None if change is None else change(given.shape[1] - 1)
    ends = vocabulary.end_ids
    new_ids, logs = greedy(model, given, limit, ends=ends, change=changed, source=source)
    rows = cast(list[list[int]], new_ids.tolist())
    return [_cut(vocabulary, row, log) for row, log in zip(rows, logs, strict=True)]


def _cut(vocabulary: Vocabulary, ids: list[int], logs: Tensor) -> Answer:
    marks = (index for index, token in enumerate(ids) if token in vocabulary.end_ids)
    end = next(marks, len(ids) - 1) + 1
    return Answer(vocabulary.decode(ids[:end]), tuple(ids[:end]), float(logs[:end].sum().exp()))


def _filled(
    checkpoint: Checkpoint, prompt: Sequence[int], change: Callable[[int], Change] | None
) -> Answer:
    """The likeliest filling of each gap by itself, from one pass."""
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    rows = gaps(checkpoint, prompt)
    if not rows:
        gap = vocabulary.label(vocabulary.mask_id) if vocabulary.mask_id >= 0 else "gap"
        raise ValueError(NO_GAP.format(gap))
    changed = None if change is None else change(rows[0])
    x = model.run(torch.tensor([prompt]), attending(changed))
    log, best = model.logits(x[0, list(rows)]).log_softmax(-1).max(-1)
    ids = tuple(cast(list[int], best.tolist()))
    return Answer(vocabulary.decode(ids), ids, float(log.sum().exp()))
