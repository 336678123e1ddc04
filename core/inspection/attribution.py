"""Direct attribution: what each part of a model adds to one token's logit, and the logit lens.

The residual stream x that the head reads is a sum: embedding, every attention head's part, every
attention bias, every MLP's output (its biases within). The final norm is not linear, so its scale
is held at what it is in the real run; with it the logit is linear in the parts (the model's
`readout` says how), and they sum to it exactly. What a part does through later layers is not
counted, hence "direct". The lens instead reads the whole stream after each layer with the model's
own norm and head, each with its own scale; its last row is the real logit and its steps sum to it.
(Elhage et al. 2021, "A mathematical framework"; nostalgebraist 2020, "the logit lens".)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.inspection.answered import Answered, answered, in_batches
from core.inspection.traced import Array
from core.models.heads import Heads
from core.models.seam import Model, Stream, refuse_lacking


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """What each part adds to the logit of one written token; `total` is that logit.

    heads (n_layers, n_heads); attention_bias, mlp (n_layers,). Relative to the mean logit of the
    whole vocabulary where `relative`: softmax sees nothing else, a part that lifts all tokens alike
    adds nothing then, and `logit` is the real logit less that mean.
    """

    token: str
    relative: bool
    logit: float
    embedding: float
    heads: Array
    attention_bias: Array
    mlp: Array
    norm_bias: float

    @property
    def by_layer(self) -> Array:
        """(n_layers, n_heads + 2): heads, attention bias, MLP; a row a layer."""
        return np.column_stack([self.heads, self.attention_bias, self.mlp])

    @property
    def largest_head(self) -> float:
        """The most that one head adds or takes away."""
        return float(np.abs(self.heads).max())

    @property
    def total(self) -> float:
        """The sum of all parts."""
        layers = float(self.heads.sum() + self.attention_bias.sum() + self.mlp.sum())
        return self.embedding + layers + self.norm_bias


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """The stream read before the first layer and after each one: n_layers + 1 rows.

    logit, probability, rank (0 is the likeliest): of the token that is written in the end; `best`
    and `best_probability`: of what would be written if the model ended here.
    """

    token: str
    logit: Array
    probability: Array
    rank: NDArray[np.int64]
    best: tuple[str, ...]
    best_probability: Array

    @property
    def steps(self) -> Array:
        """(n_layers + 1,): the first logit, then what each layer changes; sums to the real one."""
        return np.diff(self.logit, prepend=np.float32(0))


class Parts(NamedTuple):
    """Parts of the residual stream at one row: (B, n, width), the layers' stacked."""

    embedding: Tensor
    heads: Tensor  # (B, n_layers, n_heads, width)
    attention_bias: Tensor
    mlp: Tensor
    final: Tensor  # (B, width), as the model itself computes it


@torch.inference_mode()
def attribution(
    checkpoint: Checkpoint, question: str, *, step: int = 0, relative: bool = False
) -> Attribution:
    """Attribution of the token that is written at `step`, the first unless told.

    In a Perceiver only the last layer writes into the tokens' own stream: what the other layers
    add is 0. Cost: the answer and one forward pass. Raises ValueError for a step that is not there,
    and for a model whose parts do not sum up.
    """
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    refuse_lacking(model, "attribution")
    ids, row, written = _written(checkpoint, question, step)
    token = written[step]
    parts = stream_parts(model, ids, row)
    read, constant = model.readout(
        parts.final, torch.tensor([token], device=model.device), relative=relative
    )
    logits = model.logits(parts.final)[0]
    return Attribution(
        token=label_at(vocabulary, written, step, token),
        relative=relative,
        logit=float(logits[token] - logits.mean() if relative else logits[token]),
        embedding=float(_added(parts.embedding, read)),
        heads=_numbers(_added(parts.heads, read)[0]),
        attention_bias=_numbers(_added(parts.attention_bias, read)[0]),
        mlp=_numbers(_added(parts.mlp, read)[0]),
        norm_bias=float(constant),
    )


@torch.inference_mode()
def mean_attribution(model: Model, known: Answered) -> Array:
    """(n_layers, n_heads): what each head adds directly to the first token of each answer, above
    what it adds to the mean of all tokens; the mean over questions. Cost: one pass over each.
    """
    refuse_lacking(model, "attribution")
    total = np.zeros((model.shape.n_layers, model.shape.n_heads))
    for batch in in_batches(known.readings, known.answers, model.device):
        parts = stream_parts(model, batch.ids[:, : batch.mark + 1], batch.mark)
        read = model.readout(parts.final, batch.written[:, 0], relative=True).vector
        total += _added(parts.heads, read).cpu().double().sum(0).numpy()
    return (total / len(known.answers)).astype(np.float32)


@torch.inference_mode()
def logit_lens(checkpoint: Checkpoint, question: str, *, step: int = 0) -> Lens:
    """Read the stream that writes the token at `step` after every layer.

    Cost: the answer and one forward pass. Raises ValueError for a Perceiver, whose layers between
    the first and the last have no stream of tokens, and for a step that is not there.
    """
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    refuse_lacking(model, "lens")
    ids, row, written = _written(checkpoint, question, step)
    token = written[step]
    streams = [model.embedded(ids)[0, row]]

    def tap(_: int, stream: Stream) -> Stream:
        streams.append(stream.x[0, row])
        return stream

    model.run(ids, lambda _, heads: heads.output(), tap=tap)
    logits = model.logits(torch.stack(streams))
    probabilities = logits.softmax(-1)
    best = probabilities.max(-1)
    return Lens(
        token=label_at(vocabulary, written, step, token),
        logit=_numbers(logits[:, token]),
        probability=_numbers(probabilities[:, token]),
        rank=(logits > logits[:, [token]]).sum(-1).cpu().numpy().astype(np.int64),
        best=tuple(label_at(vocabulary, written, step, int(index)) for index in best.indices),
        best_probability=_numbers(best.values),
    )


def label_at(vocabulary: Vocabulary, written: Sequence[int], step: int, token: int) -> str:
    """What a token is at a step: the written one as what follows makes it, another one as it would
    stand behind what was written before.
    """
    if token == written[step]:
        return vocabulary.labels(written)[step]
    return vocabulary.labels([*written[:step], token])[-1]


def stream_parts(model: Model, ids: Tensor, row: int) -> Parts:
    """Everything that is summed up in the residual stream of one row; ids (B, L).

    The MLPs are computed from the summed parts, apart from the model's own pass.
    """
    outputs = list[Tensor]()

    def attend(_: int, heads: Heads) -> Tensor:
        outputs.append(heads.output())
        return outputs[-1]

    final = model.run(ids, attend)[:, row]
    x = model.embedded(ids)[:, row]
    embedding, nothing = x, torch.zeros_like(x)
    heads, biases, mlps = list[Tensor](), list[Tensor](), list[Tensor]()
    for layer in range(model.shape.n_layers):
        if not model.writes_to_tokens(layer):
            heads.append(nothing[:, None].expand(-1, model.shape.n_heads, -1))
            biases.append(nothing)
            mlps.append(nothing)
            continue
        heads.append(model.parts(layer, outputs[layer][:, :, row : row + 1])[:, :, 0])
        biases.append(model.attention_bias(layer).expand_as(x))
        before, x = x, x + heads[-1].sum(1) + biases[-1]
        mlps.append(model.mlp(layer, before, x))
        x = x + mlps[-1]
    return Parts(
        embedding, torch.stack(heads, 1), torch.stack(biases, 1), torch.stack(mlps, 1), final
    )


def _added(parts: Tensor, read: Tensor) -> Tensor:
    """(B, …, width) times (B, width), summed over the width."""
    return torch.einsum("b...w,bw->b...", parts, read)


def _written(
    checkpoint: Checkpoint, question: str, step: int
) -> tuple[Tensor, int, tuple[int, ...]]:
    """What is read (1, L), the row that writes the token at a step, and all written tokens."""
    known = answered(checkpoint, [Question(question, None, "")])
    written = known.answers[0].ids
    if not 0 <= step < len(written):
        raise ValueError(f"step {step}: the answer has steps 0 to {len(written) - 1}")
    (batch,) = in_batches(known.readings, known.answers, checkpoint.model.device)
    return batch.ids, batch.rows[step], written


def _numbers(values: Tensor) -> Array:
    return np.asarray(values.cpu().numpy(), dtype=np.float32)
