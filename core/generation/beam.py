"""The likeliest texts of sounds, by the decoder and CTC together: a beam of beginnings.

    score = (1 − share) · log p of the decoder + share · log p of CTC

A beginning is one of the BEAM best of its length; the text is the best one that has ended. Without
a CTC head the decoder's own probability decides (share 0).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.generation.ctc_prefix import Extended, Prefixes, extended, log_shares, nothing_yet
from core.models.recogniser import Memory, Recogniser
from core.models.seam import Attend

BEAM = 5
CTC_SHARE = 0.5  # of the held-out slice 9.2 % are wrong with it, 9.5 % with 0.3, 10.9 % with 0


@dataclass(frozen=True, slots=True)
class _Marks:
    """Ids of the vocabulary: what pads (CTC's blank), and what begins and ends a text."""

    blank: int
    end: int


def best_texts(
    model: Recogniser,
    memory: Memory,
    attend: Attend,
    *,
    blank: int,
    end: int,
    most: int,
    beam: int = BEAM,
    ctc_share: float = CTC_SHARE,
) -> list[tuple[int, ...]]:
    """Ids of the best text of each sound without its end; of one that never ends in `most`
    characters, the best beginning.

    Cost: `most` passes of the decoder over B · beam texts, and of CTC's sums.
    """
    marks, n = _Marks(blank, end), len(memory.x)
    logs = None
    if model.ctc is not None and ctc_share > 0:
        logs = log_shares(model.ctc(memory.x), memory.padding, blank=blank)
    share = 0.0 if logs is None else ctc_share
    seen = _repeated(memory, beam)
    ids = torch.full((n, 1, 1), end)
    said = torch.zeros(n, 1)  # log p by the decoder
    prefixes = None if logs is None else nothing_yet(logs, blank=blank)
    done: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in range(n)]
    for _ in range(most + 1):
        width = ids.shape[1]
        few = _repeated(memory, width) if width != beam else seen
        stream = model.decode(ids.flatten(0, 1), few, attend)[:, -1]
        logits = model.logits(stream).unflatten(0, (n, width))
        logits[..., blank] = -torch.inf
        grown = said[..., None] + logits.log_softmax(-1)
        more = None if prefixes is None or logs is None else _more(prefixes, logs, marks)
        scores = grown if more is None else (1 - share) * grown + share * more.psi
        _note_ended(done, ids, scores[..., end])
        if _are_over(done, scores, end):
            break
        scores = scores.clone()
        scores[..., end] = -torch.inf
        ids, said, prefixes = _best(scores, ids, grown, more, beam)
    return [_text(found, ids[row]) for row, found in enumerate(done)]


def _more(prefixes: Prefixes, logs: Tensor, marks: _Marks) -> Extended:
    return extended(prefixes, logs, blank=marks.blank, end=marks.end)


def _best(
    scores: Tensor, ids: Tensor, grown: Tensor, more: Extended | None, beam: int
) -> tuple[Tensor, Tensor, Prefixes | None]:
    """The `beam` best of all beginnings with a character more."""
    n_characters = scores.shape[-1]
    places = scores.flatten(1).topk(min(beam, scores.flatten(1).shape[1]), 1).indices
    parents, characters = places // n_characters, places % n_characters
    rows = torch.arange(len(ids))[:, None]
    longer = torch.cat([ids[rows, parents], characters[..., None]], -1)
    kept = None if more is None else more.chosen(parents, characters)
    return longer, grown[rows, parents, characters], kept


def _note_ended(
    done: list[list[tuple[float, tuple[int, ...]]]], ids: Tensor, scores: Tensor
) -> None:
    """Every beginning as a whole text."""
    for row, found in enumerate(done):
        for place in range(ids.shape[1]):
            text = tuple(int(one) for one in ids[row, place, 1:])
            found.append((float(scores[row, place]), text))


def _are_over(done: list[list[tuple[float, tuple[int, ...]]]], scores: Tensor, end: int) -> bool:
    """Whether no longer text can beat the best that has ended: scores only fall."""
    open_ = scores.clone()
    open_[..., end] = -torch.inf
    best_open = open_.flatten(1).amax(1)
    return all(max(found)[0] >= float(best) for found, best in zip(done, best_open, strict=True))


def _text(found: list[tuple[float, tuple[int, ...]]], ids: Tensor) -> tuple[int, ...]:
    best, text = max(found)
    return text if best > -torch.inf else tuple(int(one) for one in ids[0, 1:])


def _repeated(memory: Memory, times: int) -> Memory:
    """Each sound's memory once for each of its beginnings."""
    padding = None if memory.padding is None else memory.padding.repeat_interleave(times, 0)
    return Memory(memory.x.repeat_interleave(times, 0), padding)
