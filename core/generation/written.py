"""What a model reads while it gives an answer, and which rows give the answer's tokens.

decoder   the prompt and all of the answer but its last token; rows from the prompt's last token on
cross     the prompt is the source; the decoder reads its beginning and the answer likewise
encoder   the prompt alone; the rows are its gaps, which are filled all at once
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.checkpoints.store import Checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """ids are read, `source` beside them where there is an encoder beside the decoder; `rows` are
    the positions in ids whose logits give the written tokens, in order.
    """

    ids: tuple[int, ...]
    source: tuple[int, ...] | None
    rows: tuple[int, ...]

    @property
    def mark(self) -> int:
        """The position from which rows write; before it they read."""
        return self.rows[0] if self.rows else len(self.ids)


def reading(checkpoint: Checkpoint, prompt: Sequence[int], written: Sequence[int]) -> Reading:
    """The reading of a prompt for which these tokens were written."""
    shape = checkpoint.model.shape
    if shape.has_source:
        ids = (begin_of(checkpoint), *written[:-1])
        return Reading(ids=ids, source=tuple(prompt), rows=tuple(range(len(ids))))
    if "encoder" in shape.kinds:
        return Reading(ids=tuple(prompt), source=None, rows=gaps(checkpoint, prompt))
    ids = (*prompt, *written[:-1])
    return Reading(ids=ids, source=None, rows=tuple(range(len(prompt) - 1, len(ids))))


def gaps(checkpoint: Checkpoint, prompt: Sequence[int]) -> tuple[int, ...]:
    """The positions that an encoder fills."""
    gap = checkpoint.vocabulary.mask_id
    return tuple(position for position, token in enumerate(prompt) if token == gap)


def begin_of(checkpoint: Checkpoint) -> int:
    """What the decoder beside an encoder begins with. Raises ValueError where nobody says it."""
    begin = checkpoint.vocabulary.begin_id
    if begin is None:
        raise ValueError(
            f"checkpoint {checkpoint.name}: its configuration names no decoder_start_token_id, so "
            "nobody knows what its decoder begins with"
        )
    return begin
