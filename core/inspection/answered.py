"""Questions with what a model wrote, and passes over both in batches of equal lengths.

Nothing is ever padded: a batch holds what is read at equal lengths, and writes in the same rows.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.data.people import Question, is_right
from core.generation.greedy import Answer, answer, attending, prompt_ids
from core.generation.written import Reading, reading
from core.inspection.traced import Array
from core.models.seam import Change, Model

BATCH_SIZE = 128
# Made for the position from which rows write: the last of a prompt, which is the ⁇ of a question.
ChangeAt = Callable[[int], Change]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a model answers when nothing is changed.

    readings: what is read for each question, and the rows that write. log_probabilities
    (n_questions, longest answer): of each written token, its end too; nan behind the end.
    """

    questions: tuple[Question, ...]
    prompts: tuple[tuple[int, ...], ...]
    answers: tuple[Answer, ...]
    readings: tuple[Reading, ...]
    log_probabilities: Array

    @property
    def correct(self) -> int:
        return count_right(self.questions, self.answers)

    @property
    def accuracy(self) -> float:
        return self.correct / len(self.questions)


class Batch(NamedTuple):
    """Questions of equal lengths: ids (B, L) that are read, beside a source (B, S) if there is one;
    `written` (B, A) by `rows`, the first of which is `mark`.
    """

    members: list[int]
    ids: Tensor
    source: Tensor | None
    written: Tensor
    rows: list[int]

    @property
    def mark(self) -> int:
        return self.rows[0]


@torch.inference_mode()
def answered(checkpoint: Checkpoint, questions: Sequence[Question]) -> Answered:
    """Answer every question. Cost: the answers and one pass over each. Raises ValueError for none,
    and for a question that does not fit.
    """
    if not questions:
        raise ValueError("no questions: heads are looked at while at least one is answered")
    texts = [question.text for question in questions]
    given = answer(checkpoint, texts)
    prompts = [tuple(prompt_ids(checkpoint, text)) for text in texts]
    readings = tuple(
        reading(checkpoint, prompt, found.ids) for prompt, found in zip(prompts, given, strict=True)
    )
    logs, _ = written_again(checkpoint.model, readings, given)
    return Answered(
        questions=tuple(questions),
        prompts=tuple(prompts),
        answers=tuple(given),
        readings=readings,
        log_probabilities=logs,
    )


def written_again(
    model: Model,
    readings: Sequence[Reading],
    answers: Sequence[Answer],
    change: ChangeAt | None = None,
) -> tuple[Array, NDArray[np.bool_]]:
    """(n, longest answer) log-probability of each token of the given answers, nan behind their
    ends; and (n,) whether greedy search under the change would write exactly this answer.

    Greedy search takes the likeliest token at each step, so it writes the same answer if and only
    if each of its tokens is the likeliest after those before. Cost: one pass over each.
    """
    longest = max(len(given.ids) for given in answers)
    logs = np.full((len(answers), longest), np.nan, dtype=np.float32)
    same = np.zeros(len(answers), dtype=np.bool_)
    for batch in in_batches(readings, answers, model.device):
        attend = attending(None if change is None else change(batch.mark))
        logits = model.logits(model.run(batch.ids, attend, source=batch.source)[:, batch.rows])
        log = logits.log_softmax(-1).gather(-1, batch.written[..., None])[..., 0]
        logs[batch.members, : log.shape[1]] = log.cpu().numpy()
        same[batch.members] = (logits.argmax(-1) == batch.written).all(-1).cpu().numpy()
    return logs, same


def in_batches(
    readings: Sequence[Reading], answers: Sequence[Answer], device: torch.device
) -> Iterator[Batch]:
    """Batches over all questions on the model's device, the shortest first."""
    alike: dict[tuple[int, int, tuple[int, ...]], list[int]] = defaultdict(list)
    for index, read in enumerate(readings):
        alike[len(read.ids), len(read.source or ()), read.rows].append(index)
    for (_, _, rows), members in sorted(alike.items()):
        for start in range(0, len(members), BATCH_SIZE):
            chosen = members[start : start + BATCH_SIZE]
            sources = [source for i in chosen if (source := readings[i].source) is not None]
            yield Batch(
                chosen,
                torch.tensor([readings[i].ids for i in chosen], device=device),
                torch.tensor(sources, device=device) if sources else None,
                torch.tensor([answers[i].ids for i in chosen], device=device),
                list(rows),
            )


def count_right(questions: Sequence[Question], answers: Sequence[Answer]) -> int:
    """How many are right. Raises ValueError if a question's answer is not known."""
    if any(question.answer is None for question in questions):
        raise ValueError("these questions come without answers: nobody can say how many are right")
    return sum(
        is_right(given.text, cast(str, question.answer), question.rule)
        for question, given in zip(questions, answers, strict=True)
    )
