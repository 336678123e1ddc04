# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
"""Anyone's model behind the seam: whatever family of transformers calls its attention by name.

Nothing is written anew by family, so nothing can differ from it. One probing pass after loading
says what belongs where: which blocks hold which places of attention, which look at what, and which
module is the output projection W_O (that whose input is the very tensor that the attention gave).
What a family does otherwise is found by measuring, and said by `cannot`.
"""

from functools import cached_property
from typing import Any, cast

import torch
from torch import Tensor
from transformers import PreTrainedModel

from core.models.lacking import (
    BARE,
    FILLS,
    GATED,
    NOT_A_SUM,
    NOT_ALL_ATTEND,
    NOT_LINEAR,
    TWO_STREAMS,
)
from core.models.outside_heads import OutsideHeads
from core.models.outside_layout import Layout, Place
from core.models.outside_passes import Beginning, OneBlock, OwnAttention, Reading, Running
from core.models.outside_probe import SAME, probe
from core.models.outside_readout import LinearReadout, linear_readout
from core.models.outside_run import (
    ATTENTION,
    Past,
    Stopped,
    UnkeptError,
    follows_length,
    going_through,
    keep_as_loaded,
    register,
    surround_block,
    surround_projection,
)
from core.models.seam import Ability, Attend, Readout, Shape, Tap, straight_on


class OutsideModel:
    """A model of transformers in eval mode that has been loaded; it is changed once, here: its
    attention, blocks and output projections ask from now on who runs them.

    has_head: whether it ends with a head over the vocabulary. Raises ValueError for a family whose
    attention does not go through transformers' interface, or whose layers have different heads.
    """

    def __init__(
        self, module: PreTrainedModel, *, has_head: bool, longest_input: int | None = None
    ) -> None:
        register()
        self.module: Any = module.eval()
        self.has_head = has_head
        config: Any = module.config
        config.use_cache = False
        self._own = OwnAttention(str(config._attn_implementation))  # noqa: SLF001
        module.set_attn_implementation(ATTENTION)
        self._has_source = bool(config.is_encoder_decoder)
        self._turning = [part for part in module.modules() if follows_length(part)]
        for part in self._turning:
            keep_as_loaded(part)
        self.layout: Layout = probe(module, self._own.output, has_source=self._has_source)
        for block in self.layout.modules:
            surround_block(block)
        for projection in {id(p.project): p.project for p in self.places if p.project}.values():
            surround_projection(projection)
        self._longest = longest_input or longest_by_config(module)
        self._n_parameters = sum(parameter.numel() for parameter in module.parameters())
        self._shape = self._measured_shape()

    @property
    def places(self) -> tuple[Place, ...]:
        return self.layout.places

    @property
    def shape(self) -> Shape:
        return self._shape

    def _measured_shape(self) -> Shape:
        first = self.places[0]
        return Shape(
            n_layers=len(self.places),
            n_heads=first.n_heads,
            n_kv_heads=first.n_kv_heads,
            head_dim=first.head_dim,
            vocabulary_size=int(self.module.config.get_text_config().vocab_size),
            longest_input=self._longest,
            mechanism="softmax",
            kinds=tuple(place.kind for place in self.places),
            keeps_past=self._keeps_past(),
        )

    def _keeps_past(self) -> bool:
        """Whether two halves, the second looking back at the first, give what the whole gives.

        Where blocks remember otherwise than by keys and values, or a family makes masks of its own
        that do not reach back, there is no second half; where positions are turned by angles that
        depend on the length, keys of a shorter text are not those of a longer one.
        """
        if self._turning or any(place.kind != "decoder" for place in self.places):
            return False
        ids = torch.arange(1, 7, device=self.device)[None]
        past = dict[int, OutsideHeads]()

        def attend(layer: int, heads: Any) -> Tensor:
            past[layer] = heads.after(past[layer]) if layer in past else heads
            return past[layer].output()

        with torch.inference_mode():
            whole = self.run(ids, lambda _, heads: heads.output())
            self.run(ids[:, :3], attend)
            try:
                half = self.run(ids[:, 3:], attend, start=3)
            except (UnkeptError, RuntimeError):
                return False
        return bool((half - whole[:, 3:]).norm() <= SAME * whole.norm())

    @property
    def n_parameters(self) -> int:
        return self._n_parameters

    @property
    def device(self) -> torch.device:
        return self.module.device

    def cannot(self, what: Ability, /) -> str:
        if not self.has_head and what != "parts":
            return BARE
        if what == "answer":
            return FILLS if "decoder" not in self.shape.kinds else ""
        if what in ("attribution", "lens", "patching"):
            if self._has_source:
                return TWO_STREAMS
            if not self.layout.is_whole:
                return NOT_ALL_ATTEND
        if what in ("attribution", "parts") and any(p.project is None for p in self.places):
            return GATED
        if what == "attribution":
            return self._why_no_attribution
        return ""

    def run(
        self,
        inputs: Tensor,
        attend: Attend,
        *,
        source: Tensor | None = None,
        start: int = 0,
        tap: Tap = straight_on,
    ) -> Tensor:
        """The residual stream after the last block, before the norm that follows.

        Raises ValueError for a source where there is no encoder beside the decoder, and without one
        where there is.
        """
        if (source is not None) != self._has_source:
            raise ValueError("a source goes with an encoder beside a decoder, and only there")
        positions = torch.arange(start, start + inputs.shape[1], device=inputs.device)
        return self._stop(
            Running(self.layout, self._own, attend, tap, positions), inputs, source, start
        )

    def logits(self, x: Tensor) -> Tensor:
        """By the model's own last norm and head; the bare stream where there is no head."""
        if not self.has_head:
            return x
        batch = x if x.ndim == 3 else x.reshape(-1, 1, x.shape[-1])
        inputs = torch.zeros(batch.shape[:2], dtype=torch.long, device=x.device)
        source = inputs[:, :1] if self._has_source else None
        with going_through(Reading(self.layout, self._own, batch)):
            logits = self.module(**self._inputs(inputs, source, 0)).logits
        return logits.reshape(*x.shape[:-1], -1)

    def embedded(self, inputs: Tensor) -> Tensor:
        return self._stop(Beginning(), inputs, None, 0)

    def writes_to_tokens(self, _layer: int, /) -> bool:
        return True

    def parts(self, layer: int, output: Tensor) -> Tensor:
        place = self.places[layer]
        if place.project is None:
            return output
        by_head = torch.unflatten(place.weight, 0, (place.n_heads, place.head_dim))
        return torch.einsum("bhld,hdw->bhlw", output, by_head)

    def projected(self, layer: int, output: Tensor) -> Tensor:
        project = self.places[layer].project
        joined = output.transpose(1, 2).flatten(2)
        return joined if project is None else project(joined)

    def attention_bias(self, layer: int, /) -> Tensor:
        return self.places[layer].bias

    def mlp(self, layer: int, before: Tensor, after: Tensor, /) -> Tensor:
        """By the block alone, whose output projection gives what lies between the two streams."""
        x, given = (t if t.ndim == 3 else t[:, None] for t in (before, after - before))
        current = OneBlock(self.layout, self._own, self.places[layer].block, x, given)
        inputs = torch.zeros(x.shape[:2], dtype=torch.long, device=x.device)
        return self._stop(current, inputs, None, 0).reshape(after.shape) - after

    def readout(self, final: Tensor, tokens: Tensor, *, relative: bool) -> Readout:
        found = self._linear
        if found is None:
            raise ValueError(NOT_LINEAR)
        return found.of(final, tokens, relative=relative)

    @cached_property
    def _why_no_attribution(self) -> str:
        if not self.layout.is_sum:
            return NOT_A_SUM
        return NOT_LINEAR if self._linear is None else ""

    @cached_property
    def _linear(self) -> LinearReadout | None:
        return linear_readout(self.logits, self.module, self.layout.width)

    def _inputs(self, inputs: Tensor, source: Tensor | None, start: int) -> dict[str, Any]:
        given: dict[str, Any] = {"input_ids": inputs}
        if source is not None:
            given = {"input_ids": source, "decoder_input_ids": inputs}
        return given | ({"cache": Past(start)} if start else {})

    def _stop(self, current: Any, inputs: Tensor, source: Tensor | None, start: int) -> Tensor:
        """What a pass ends with."""
        try:
            with going_through(current):
                self.module(**self._inputs(inputs, source, start))
        except Stopped as stopped:
            return stopped.x
        raise RuntimeError("the pass went through all blocks and did not end")


def longest_by_config(module: PreTrainedModel) -> int:
    """The most tokens that positions are there for, as far as the configuration says."""
    config: Any = cast(Any, module).config.get_text_config()
    named = ("max_position_embeddings", "n_positions", "n_ctx")
    stated = [getattr(config, name, None) for name in named]
    return next((int(n) for n in stated if n), 2048)
