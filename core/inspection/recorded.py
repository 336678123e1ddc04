"""Every head of one run, written layer by layer into the arrays of a trace, and what proves them.

Only one layer's tensors are held at a time: all weights of 270 heads at 512 tokens are 283 MB, and
there are to be no copies of them. The pass that is recorded is the replay, too: what goes on in it
is of the weights read back from the very arrays that are shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.inspection.traced import Array, Proof
from core.models.heads import DotHeads, Heads
from core.models.seam import Change, Model, Stream

Positions = NDArray[np.intp]

MOST_BYTES = 800_000_000  # of the weights of one trace
MOST_SCORES_BYTES = 80_000_000  # more are not kept beside the weights
ROWS_AT_ONCE = 128  # whose logits over the vocabulary are held at the same time
MOST_ROWS_SUMMED = 64  # whose heads' parts are summed; what is linear errs alike in all rows


def unchanged(_layer: int, _heads: Heads, output: Tensor) -> Tensor:
    """The change that changes nothing."""
    return output


def refuse_too_large(model: Model, n_tokens: int) -> None:
    """Raise ValueError, before anything is recorded, for weights that would take too much."""
    shape = model.shape
    needed = weights_bytes(model, n_tokens)
    if needed > MOST_BYTES:
        per_head = shape.n_layers * shape.n_heads * 4
        fits = int((MOST_BYTES / per_head) ** 0.5)
        raise ValueError(
            f"{n_tokens} tokens: weights of {shape.n_layers} x {shape.n_heads} heads would take "
            f"{needed / 1e6:,.0f} MB; at most {MOST_BYTES / 1e6:,.0f} MB are recorded, which is "
            f"{fits} tokens"
        )


def weights_bytes(model: Model, n_tokens: int) -> int:
    """Of all weights of a trace."""
    return 4 * model.shape.n_layers * model.shape.n_heads * n_tokens**2


@dataclass
class Recorded:
    """What `attend` saw. arrays: those of a trace by name, over all positions.

    Positions of a source come first: rows and columns of encoders stand there, of decoders behind.
    """

    model: Model
    n_tokens: int
    n_source: int = 0
    change: Change = unchanged
    keeps_scores: bool = True
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    seen: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.bool_))
    rows: list[Positions] = field(default_factory=list[Positions])
    columns: list[Positions] = field(default_factory=list[Positions])
    head_sum_error: float | None = None
    dtype: str = ""

    def attend(self, layer: int, heads: Heads) -> Tensor:
        """The output by the weights that were written down, and everything else written down."""
        scores = heads.scores()
        weights = heads.weights(scores)
        rows, columns = self._positions(layer, heads)
        self._put("weights", layer, weights, rows, columns)
        shown = self._shown(layer, rows, columns).to(heads.value)
        output = self.change(layer, heads, shown @ heads.value)
        if self.keeps_scores:
            self._put("scores", layer, scores, rows, columns, fill=-np.inf)
        self._put("value", layer, heads.value, columns)
        self._put("output", layer, output, rows)
        self._put("value_norm", layer, value_norm(self.model, layer, heads.value), columns)
        if isinstance(heads, DotHeads):
            self._put("query", layer, heads.query, rows)
            self._put("key", layer, heads.key, columns)
        self._see(layer, heads.masked, rows, columns)
        if (share := heads.sink_share()) is not None:
            self._put("sink", layer, share, rows)
        self.dtype = str(weights.dtype).removeprefix("torch.")
        self._sum_parts(layer, output)
        return output

    def tap(self, layer: int, stream: Stream) -> Stream:
        """The residual stream after a layer is written down, unless there are several of them."""
        shape = self.model.shape
        if not shape.n_latents and not shape.has_source:
            sizes = (shape.n_layers, self.n_tokens, stream.x.shape[-1])
            self.arrays.setdefault("stream", np.zeros(sizes, dtype=np.float32))
            self.arrays["stream"][layer] = stream.x[0].cpu().numpy()
        return stream

    def _shown(self, layer: int, rows: Positions, columns: Positions) -> Tensor:
        """The weights (1, H, rows, columns) that were written down."""
        found = self.arrays["weights"][layer].transpose(1, 2, 0)[placed(rows, columns)]
        return torch.from_numpy(found).permute(2, 0, 1)[None]

    def _positions(self, layer: int, heads: Heads) -> tuple[Positions, Positions]:
        kind = self.model.shape.kinds[layer] if self.model.shape.kinds else "decoder"
        behind = self.n_source if kind != "encoder" else 0
        rows = heads.rows.cpu().numpy().astype(np.intp) + behind
        columns = heads.columns.cpu().numpy().astype(np.intp) + (behind if kind == "decoder" else 0)
        self.rows.append(rows)
        self.columns.append(columns)
        return rows, columns

    def _put(
        self, name: str, layer: int, values: Tensor, *positions: Positions, fill: float = 0.0
    ) -> None:
        """Values (1, H, …) at their positions; `fill` where nothing stands."""
        n_layers, (n_heads, *rest) = self.model.shape.n_layers, values.shape[1:]
        if name not in self.arrays:
            sizes = [self.n_tokens] * len(positions) + rest[len(positions) :]
            made = np.zeros if fill == 0 else np.empty
            self.arrays[name] = made((n_layers, n_heads, *sizes), dtype=np.float32)
            if fill != 0:
                self.arrays[name].fill(fill)
        whole = np.moveaxis(self.arrays[name][layer], 0, len(positions))
        whole[placed(*positions)] = np.moveaxis(values[0].cpu().numpy(), 0, len(positions))

    def _see(self, layer: int, masked: Tensor, rows: Positions, columns: Positions) -> None:
        if not self.seen.size:
            shape = (self.model.shape.n_layers, self.n_tokens, self.n_tokens)
            self.seen = np.zeros(shape, dtype=np.bool_)
        self.seen[layer][placed(rows, columns)] = ~masked.cpu().numpy()

    def _sum_parts(self, layer: int, output: Tensor) -> None:
        if not self.model.cannot("parts"):
            output = output[:, :, :: -(-output.shape[2] // MOST_ROWS_SUMMED)]
            parts = self.model.parts(layer, output).sum(1) + self.model.attention_bias(layer)
            apart = float((parts - self.model.projected(layer, output)).abs().max())
            self.head_sum_error = max(self.head_sum_error or 0.0, apart)


def value_norm(model: Model, layer: int, value: Tensor) -> Tensor:
    """‖v W_O‖ of every value (B, H, L, d): what a weight of 1 would bring, (B, H, L).

    By vᵀ (W Wᵀ) v, so that nothing as wide as the stream is made of each of them; in float64,
    since small norms are differences of large products; on the processor, since not every device
    knows float64. Cost: H·L·d² instead of H·L·d·width.
    """
    n_heads, d = value.shape[1], value.shape[-1]
    unit = torch.eye(d, dtype=value.dtype, device=value.device).expand(1, n_heads, d, d)
    by_head = model.parts(layer, unit)[0].cpu().double()  # (H, d, width), as parts are linear
    gram = by_head @ by_head.transpose(-2, -1)
    wide = value.cpu().double()
    return (wide @ gram * wide).sum(-1).clamp(min=0).sqrt().to(value)


def placed(*positions: Positions) -> tuple[Any, ...]:
    """An index of the first axes: slices where positions follow on each other, which cost no copy,
    else all pairs of them.
    """
    runs = [slice(int(p[0]), int(p[-1]) + 1) for p in positions]
    if all(run.stop - run.start == len(p) for run, p in zip(runs, positions, strict=True)):
        return tuple(runs)
    return np.ix_(*positions)


def prove(recorded: Recorded, replayed: Tensor, own: Tensor) -> Proof:
    """The recorded pass, whose outputs are of the weights that are shown, against what the model
    does by itself: their last streams, each (1, L, width). Cost: the logits of both in blocks of
    rows, together, so that the head's parameters are read once.
    """
    model, both = recorded.model, torch.cat([own, replayed])
    apart, same, layers = 0.0, True, range(model.shape.n_layers)
    for start in range(0, both.shape[1], ROWS_AT_ONCE):
        logits, shown = model.logits(both[:, start : start + ROWS_AT_ONCE])
        apart = max(apart, float((logits - shown).abs().max()))
        same &= bool((logits.argmax(-1) == shown.argmax(-1)).all())
    return Proof(
        replay_max_difference=apart,
        row_sum_max_error=max(_row_sum_error(recorded, layer) for layer in layers),
        future_exactly_zero=not any(_sees_masked(recorded, layer) for layer in layers),
        dtype=recorded.dtype,
        same_argmax=same,
        head_sum_max_error=recorded.head_sum_error,
    )


def _row_sum_error(recorded: Recorded, layer: int) -> float:
    sums = recorded.arrays["weights"][layer].sum(-1)[:, recorded.rows[layer]]
    if "sink" in recorded.arrays:
        sums = sums + recorded.arrays["sink"][layer][:, recorded.rows[layer]]
    return float(np.abs(sums - 1).max())


def _sees_masked(recorded: Recorded, layer: int) -> bool:
    """Head by head, so that no copy of a layer is made."""
    masked = ~recorded.seen[layer]
    return any(bool((head * masked).any()) for head in recorded.arrays["weights"][layer])


def arrays_of(recorded: Recorded, ablated: Sequence[tuple[int, int]] = ()) -> dict[str, Any]:
    """The arrays of a trace, by the names of its fields."""
    arrays: dict[str, Any] = dict(recorded.arrays)
    for head in ablated:
        arrays["value_norm"][head] = 0  # whatever its weights, no key adds anything
    return arrays if recorded.keeps_scores else arrays | {"seen": recorded.seen}
