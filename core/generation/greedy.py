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


@dataclass(frozen=True, slots=True)
class Written:
    """Ids and log-probabilities of what was written, each (B, n), and the last stream
    (B, L, width) of all that was read for it.
    """

    ids: Tensor
    logs: Tensor
    stream: Tensor


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
    fills, limit = _fills(checkpoint), _limit(checkpoint, max_new_tokens)
    prompts = [prompt_ids(checkpoint, text) for text in questions]
    if fills:
        return [_filled(checkpoint, prompt, change)[0] for prompt in prompts]
    by_length: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (text, prompt) in enumerate(zip(questions, prompts, strict=True)):
        by_length[len(prompt), most_tokens(checkpoint, text, limit)].append(index)
    answers: dict[int, Answer] = {}
    for (_, most), members in sorted(by_length.items()):
        for start in range(0, len(members), batch_size):
            batch = members[start : start + batch_size]
            written = _write(checkpoint, [prompts[i] for i in batch], most, change)
            answers |= dict(zip(batch, _answers(checkpoint, written), strict=True))
    return [answers[index] for index in range(len(prompts))]


@torch.inference_mode()
def answer_and_stream(
    checkpoint: Checkpoint,
    question: str,
    *,
    max_new_tokens: int | None = None,
    change: Callable[[int], Change] | None = None,
) -> tuple[Answer, Tensor]:
    """One answer as `answer` gives it, and the last stream (1, L, width) of the passes that wrote
    it: the rows of all that was read, of an answer that came to the limit to its last token.
    """
    fills, limit = _fills(checkpoint), _limit(checkpoint, max_new_tokens)
    prompt = prompt_ids(checkpoint, question)
    if fills:
        return _filled(checkpoint, prompt, change)
    most = most_tokens(checkpoint, question, limit)
    written = _write(checkpoint, [prompt], most, change, reads_on=True)
    return _answers(checkpoint, written)[0], written.stream


def greedy(
    model: Model,
    prompt: Tensor,
    n_new: int,
    *,
    ends: Collection[int],
    change: Change | None = None,
    source: Tensor | None = None,
    reads_on: bool = False,
) -> Written:
    """The likeliest next token, `n_new` times.

    Stops early once every row has written one of `ends`; columns behind it mean nothing. What was
    written last is not read, unless it came to the limit and `reads_on` says so.
    """
    steps, past = model.shape.keeps_past and source is None, Past(change)
    attend = past.attend if steps else attending(change)
    ids, start = prompt, 0
    new_ids: list[Tensor] = []
    logs: list[Tensor] = []
    streams: list[Tensor] = []
    ended = torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)
    ending = torch.tensor(sorted(ends), dtype=torch.long, device=prompt.device)
    for _ in range(n_new):
        x = model.run(ids, attend, source=source, start=start)
        streams = [*streams, x] if steps else [x]
        log, best = model.logits(x[:, -1]).log_softmax(-1).max(-1)
        new_ids.append(best)
        logs.append(log)
        ended |= torch.isin(best, ending)
        if bool(ended.all()):
            break
        start += ids.shape[1] if steps else 0
        ids = best[:, None] if steps else torch.cat([ids, best[:, None]], 1)
    else:
        if reads_on:
            x = model.run(ids, attend, source=source, start=start)
            streams = [*streams, x] if steps else [x]
    return Written(torch.stack(new_ids, 1), torch.stack(logs, 1), torch.cat(streams, 1))


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


def _fills(checkpoint: Checkpoint) -> bool:
    """Whether it fills gaps instead of writing. Raises ValueError if it can do neither."""
    model = checkpoint.model
    fills = "encoder" in model.shape.kinds and not model.shape.has_source
    refuse_lacking(model, "logits" if fills else "answer")
    return fills


def _limit(checkpoint: Checkpoint, max_new_tokens: int | None) -> int:
    limit = checkpoint.limit if max_new_tokens is None else max_new_tokens
    if limit < 1:
        raise ValueError(f"max_new_tokens is {limit}; it must be at least 1")
    return limit


def _write(
    checkpoint: Checkpoint,
    prompts: Sequence[Sequence[int]],
    max_new_tokens: int,
    change: Callable[[int], Change] | None,
    *,
    reads_on: bool = False,
) -> Written:
    """What is written behind prompts of equal length."""
    model = checkpoint.model
    given, source = torch.tensor(prompts, device=model.device), None
    if model.shape.has_source:
        source, given = given, torch.full_like(given[:, :1], begin_of(checkpoint))
    return greedy(
        model,
        given,
        min(max_new_tokens, model.shape.longest_input - given.shape[1]),
        ends=checkpoint.vocabulary.end_ids,
        change=None if change is None else change(given.shape[1] - 1),
        source=source,
        reads_on=reads_on,
    )


def _answers(checkpoint: Checkpoint, written: Written) -> list[Answer]:
    rows = cast(list[list[int]], written.ids.tolist())
    logs = written.logs.cpu()
    return [_cut(checkpoint.vocabulary, row, log) for row, log in zip(rows, logs, strict=True)]


def _cut(vocabulary: Vocabulary, ids: list[int], logs: Tensor) -> Answer:
    marks = (index for index, token in enumerate(ids) if token in vocabulary.end_ids)
    end = next(marks, len(ids) - 1) + 1
    return Answer(vocabulary.decode(ids[:end]), tuple(ids[:end]), float(logs[:end].sum().exp()))


def _filled(
    checkpoint: Checkpoint, prompt: Sequence[int], change: Callable[[int], Change] | None
) -> tuple[Answer, Tensor]:
    """The likeliest filling of each gap by itself, from one pass, and the pass's last stream."""
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    rows = gaps(checkpoint, prompt)
    if not rows:
        gap = vocabulary.label(vocabulary.mask_id) if vocabulary.mask_id >= 0 else "gap"
        raise ValueError(NO_GAP.format(gap))
    changed = None if change is None else change(rows[0])
    x = model.run(torch.tensor([prompt], device=model.device), attending(changed))
    log, best = model.logits(x[0, list(rows)]).log_softmax(-1).max(-1)
    ids = tuple(cast(list[int], best.tolist()))
    return Answer(vocabulary.decode(ids), ids, float(log.sum().exp())), x
