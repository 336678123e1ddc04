"""Random tokens said twice: the sequences, and the heads that are drawn to be switched off."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.inspection.heads import HasHeads, Head, every_head
from core.models.seam import Model

N_SEQUENCES, MOST_SEQUENCES = 50, 1000
MOST_TOKENS, FEWEST_TOKENS = 25, 4  # of a half
N_DRAWS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Twice:
    """ids (sequences, start + 2n): the token `begin` if there is one, then n tokens twice."""

    ids: Tensor
    n_tokens: int
    seed: int
    begin: int | None
    n_ordinary: int

    @property
    def start(self) -> int:
        return self.ids.shape[1] - 2 * self.n_tokens

    def half(self, number: int) -> slice:
        """The rows of a half, 0 or 1, that predict its tokens from the second on."""
        first = self.start + number * self.n_tokens
        return slice(first, first + self.n_tokens - 1)

    @property
    def targets(self) -> Tensor:
        """(scores, n): the column at which each row of the second half should look."""
        rows = torch.arange(self.start + self.n_tokens, self.ids.shape[1])
        return torch.stack([rows - 1, rows - self.n_tokens, rows - self.n_tokens + 1])


def refuse_no_decoder(model: Model) -> None:
    """Raise ValueError for a model whose layers do not look from tokens back at tokens."""
    if {*model.shape.kinds} - {"decoder"}:
        raise ValueError(
            "an encoder looks both ways: tokens said twice need a decoder, in which every layer "
            "looks from tokens back at tokens"
        )
    if model.shape.n_latents:
        raise ValueError(
            "a Perceiver looks at latents, not at tokens: tokens said twice need a decoder, in "
            "which every layer looks from tokens back at tokens"
        )


def said_twice(
    checkpoint: Checkpoint,
    *,
    n_sequences: int = N_SEQUENCES,
    seed: int = 0,
    begin: int | None = None,
) -> Twice:
    """Seeded sequences of different ordinary tokens, as long as the model allows up to twice
    MOST_TOKENS. Raises ValueError for what no such sequence can be made for.
    """
    refuse_no_decoder(checkpoint.model)
    if not 2 <= n_sequences <= MOST_SEQUENCES:
        raise ValueError(f"{n_sequences} sequences; 2 to {MOST_SEQUENCES} are allowed")
    if seed < 0:
        raise ValueError(f"seed {seed}; 0 and more are allowed")
    front = _front(checkpoint, begin)
    ordinary = ordinary_tokens(checkpoint, begin)
    room = (checkpoint.model.shape.longest_input - len(front)) // 2
    n_tokens = min(MOST_TOKENS, room, len(ordinary))
    if n_tokens < FEWEST_TOKENS:
        raise ValueError(
            f"inputs of at most {checkpoint.model.shape.longest_input} tokens out of "
            f"{len(ordinary)}: {FEWEST_TOKENS} different ones said twice are the least"
        )
    random = Random(seed)
    drawn = [random.sample(ordinary, n_tokens) for _ in range(n_sequences)]
    ids = torch.tensor([[*front, *half, *half] for half in drawn])
    return Twice(ids=ids, n_tokens=n_tokens, seed=seed, begin=begin, n_ordinary=len(ordinary))


def ordinary_tokens(checkpoint: Checkpoint, begin: int | None) -> list[int]:
    """The tokens that may be drawn: none that only a format uses."""
    vocabulary = checkpoint.vocabulary
    size = min(vocabulary.size, checkpoint.model.shape.vocabulary_size)
    apart = {vocabulary.pad_id, vocabulary.mask_id, begin}
    marks = vocabulary.special(range(size))
    return [token for token in range(size) if token not in apart and not marks[token]]


def drawn_heads(model: HasHeads, best: Sequence[Head], seed: int) -> dict[int, tuple[Head, ...]]:
    """As many heads as the best ones for each of N_DRAWS seeds, which follow on that of the
    sequences; each head as likely as any other, drawn again if they are just the best ones.
    """
    return {number: _drawn(model, best, number) for number in range(seed + 1, seed + 1 + N_DRAWS)}


def _drawn(model: HasHeads, best: Sequence[Head], seed: int) -> tuple[Head, ...]:
    random, heads = Random(seed), every_head(model)
    while set(drawn := random.sample(heads, len(best))) == set(best):
        pass
    return tuple(sorted(drawn))


def _front(checkpoint: Checkpoint, begin: int | None) -> list[int]:
    size = min(checkpoint.vocabulary.size, checkpoint.model.shape.vocabulary_size)
    if begin is not None and not 0 <= begin < size:
        raise ValueError(f"{begin} is no token of this model: ids are 0 to {size - 1}")
    return [] if begin is None else [begin]
