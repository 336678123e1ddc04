"""A recogniser listens to one sound: what it writes, every head, and the proof of it."""

from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.generation.greedy import attending
from core.generation.hearing import ctc_text, hear, padded, recogniser_of
from core.inspection.ablate import switched_off
from core.inspection.heads import EVERY_HEAD_ON, HeadsOff, checked_off
from core.inspection.heard import END, Array, Kind, Listened, Proof, Written
from core.models.heads import Heads
from core.models.recogniser import STRIDE
from core.models.seam import Change
from core.speech.features import FRAMES_PER_SECOND

N_BEST = 3


def listen(
    stored: Checkpoint, frames: NDArray[np.floating], *, off: HeadsOff = EVERY_HEAD_ON
) -> Listened:
    """What is written of a sound's frames (T, N_BANDS), with all weights; `off` are heads that give
    zero. The text is the best of a beam; then one pass over all of it is recorded, whose outputs
    are computed from the very weights that are shown, and held against a pass by fused attention.

    Cost: as of `hear`, and two passes of encoder and decoder. Raises ValueError
    for a checkpoint that hears nothing, a sound that is too long, and heads that it has not.
    """
    model = recogniser_of(stored)
    change = switched_off(checked_off(off, model.shape))(0) if off.heads else None
    (written,) = hear(stored, [frames], attend=attending(change))
    ids = torch.tensor([[stored.vocabulary.mask_id, *written.ids]], device=model.device)
    shown = _Shown(model.shape.kinds, change)
    with torch.inference_mode():
        given = padded([frames])[0].to(model.device)
        memory = model.encode(given, attending(change))
        logits = model.logits(model.decode(ids, memory, attending(change)))
        replayed = model.logits(model.run(ids, shown.attend, source=given))
        said = None if model.ctc is None else ctc_text(stored, memory)[0]
    n_rows = len(written.probabilities)
    return Listened(
        text=written.text,
        characters=tuple(_characters(stored, written.ids, logits[0, :n_rows].cpu())),
        frames=np.asarray(frames, dtype=np.float32),
        weights={kind: _of_rows(kind, found, n_rows) for kind, found in shown.weights.items()},
        layers={kind: tuple(found) for kind, found in shown.layers.items()},
        ctc_text=said,
        proof=Proof(
            replay_max_difference=float((replayed - logits).abs().max()),
            row_sum_max_error=shown.row_sum_max_error,
        ),
        seconds_a_column=STRIDE / FRAMES_PER_SECOND,
    )


class _Shown:
    """Keeps the weights of every layer, and goes on with what these very weights give."""

    def __init__(self, kinds: tuple[str, ...], change: Change | None) -> None:
        self._kinds, self._change = kinds, change
        self.weights: dict[Kind, list[Array]] = {}
        self.layers: dict[Kind, list[int]] = {}
        self.row_sum_max_error = 0.0

    def attend(self, layer: int, heads: Heads) -> Tensor:
        kept = heads.weights(heads.scores())[0].cpu().numpy()
        error = float(np.abs(kept.sum(-1) - 1).max())
        self.row_sum_max_error = max(self.row_sum_max_error, error)
        kind = cast(Kind, self._kinds[layer])
        self.weights.setdefault(kind, []).append(kept)
        self.layers.setdefault(kind, []).append(layer)
        output = torch.from_numpy(kept)[None].to(heads.value) @ heads.value
        return output if self._change is None else self._change(layer, heads, output)


def _of_rows(kind: Kind, by_layer: list[Array], n_rows: int) -> Array:
    """Of the decoder, those of rows that wrote something: all, unless it was cut off."""
    weights = np.stack(by_layer)
    if kind == "encoder":
        return weights
    return weights[:, :, :n_rows, :n_rows] if kind == "decoder" else weights[:, :, :n_rows]


def _characters(stored: Checkpoint, ids: tuple[int, ...], logits: Tensor) -> list[Written]:
    """What each row wrote, the end behind the last character if it came."""
    vocabulary = stored.vocabulary
    padding = torch.arange(logits.shape[-1]) == vocabulary.pad_id  # which stands for nothing
    every = logits.masked_fill(padding, -torch.inf).softmax(-1)
    shares, best = every.topk(N_BEST + 1, -1)

    def label(token: int) -> str:
        return END if token == vocabulary.mask_id else vocabulary.label(token)

    found: list[Written] = []
    for row, share, tokens in zip(every, shares, best, strict=True):
        place = len(found)
        wrote = ids[place] if place < len(ids) else vocabulary.mask_id
        others = [
            (label(int(token)), float(p))
            for token, p in zip(tokens, share, strict=True)
            if int(token) != wrote
        ]
        found.append(
            Written(
                label=label(wrote), probability=float(row[wrote]), next_best=tuple(others[:N_BEST])
            )
        )
    return found
