"""The likeliest texts of sounds, by the decoder and CTC together: a beam of beginnings.

    score = (1 − share) · log p of the decoder + share · log p of CTC

A beginning is one of the BEAM best of its length; the text is the best one that has ended. Without
a CTC head the decoder's own probability decides (share 0).
"""

import torch
from torch import Tensor

from core.generation.ctc_prefix import Extended, Prefixes, extended, log_shares, nothing_yet
from core.models.recogniser import Memory, Recogniser
from core.models.seam import Attend

BEAM = 5
CTC_SHARE = 0.5  # of the held-out slice 9.2 % are wrong with it, 9.5 % with 0.3, 10.9 % with 0


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
    n = len(memory.x)
    logs = None
    if model.ctc is not None and ctc_share > 0:
        padding = None if memory.padding is None else memory.padding.cpu()
        logs = log_shares(model.ctc(memory.x).cpu(), padding, blank=blank)
    prefixes = None if logs is None else nothing_yet(logs, blank=blank)
    ids, said = torch.full((n, 1, 1), end), torch.zeros(n, 1)  # log p by the decoder
    done: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in range(n)]
    for _ in range(most + 1):
        grown = said[..., None] + _next_logs(model, memory, attend, ids, blank=blank)
        scores, more = grown, None
        if prefixes is not None and logs is not None:
            more = extended(prefixes, logs, blank=blank, end=end)
            scores = (1 - ctc_share) * grown + ctc_share * more.psi
        _note_ended(done, ids, scores[..., end])
        is_end = torch.arange(scores.shape[-1]) == end
        scores = scores.masked_fill(is_end, -torch.inf)
        if _are_over(done, scores):
            break
        ids, said, prefixes = _best(scores, ids, grown, more, beam)
    return [_text(found, ids[row]) for row, found in enumerate(done)]


def _next_logs(
    model: Recogniser, memory: Memory, attend: Attend, ids: Tensor, *, blank: int
) -> Tensor:
    """(B, K, V) log p of every next character of K beginnings (B, K, L), by the decoder."""
    written = ids.flatten(0, 1).to(model.device)
    stream = model.decode(written, _repeated(memory, ids.shape[1]), attend)
    logits = model.logits(stream[:, -1]).cpu()  # the beam is kept on the processor
    is_blank = torch.arange(logits.shape[-1]) == blank
    logs = logits.masked_fill(is_blank, -torch.inf).log_softmax(-1)
    return torch.unflatten(logs, 0, ids.shape[:2])


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


def _are_over(done: list[list[tuple[float, tuple[int, ...]]]], scores: Tensor) -> bool:
    """Whether no longer text can beat the best that has ended: scores only fall."""
    best_open = scores.flatten(1).amax(1)
    return all(max(found)[0] >= float(best) for found, best in zip(done, best_open, strict=True))


def _text(found: list[tuple[float, tuple[int, ...]]], ids: Tensor) -> tuple[int, ...]:
    best, text = max(found)
    return text if best > -torch.inf else tuple(int(one) for one in ids[0, 1:])


def _repeated(memory: Memory, times: int) -> Memory:
    """Each sound's memory once for each of its beginnings."""
    padding = None if memory.padding is None else memory.padding.repeat_interleave(times, 0)
    return Memory(memory.x.repeat_interleave(times, 0), padding)
