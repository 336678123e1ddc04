# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
"""Passes through a model of transformers: with somebody's attention, or through a part of it."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from core.models.outside_heads import OutsideHeads, for_each_head
from core.models.outside_layout import Layout
from core.models.outside_run import (
    Forward,
    Stopped,
    hidden_of,
    stream_of,
    with_hidden,
    with_stream,
)
from core.models.seam import Attend, Stream, Tap

Function = Callable[..., tuple[Tensor, Any]]


@dataclass(frozen=True, slots=True)
class OwnAttention:
    """The attention functions that a model's modules would call if they were not asked otherwise.

    `implementation` is transformers' name for it: eager is each family's own.
    """

    implementation: str

    def of(self, module: nn.Module) -> Function:
        if self.implementation != "eager":
            return ALL_ATTENTION_FUNCTIONS[self.implementation]
        return cast(Any, sys.modules[type(module).__module__]).eager_attention_forward

    def output(
        self, module: nn.Module, *given: Tensor, attention_mask: Tensor | None, **call: Any
    ) -> Tensor:
        """The heads' output (B, rows, H, d) of query, key, value."""
        return _by_own(self.of(module), module, call, *given, attention_mask)

    def heads(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        positions: Tensor,
        *,
        attention_mask: Tensor | None,
        scaling: float | None = None,
        **call: Any,
    ) -> OutsideHeads:
        """Those of one call, whose rows stand at `positions`; other columns are another text's."""
        n_heads, n_columns = query.shape[1], key.shape[2]
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        crossing = n_columns != query.shape[2]
        return OutsideHeads(
            query=query,
            key=for_each_head(key, n_heads),
            value=for_each_head(value, n_heads),
            rows=positions,
            columns=torch.arange(n_columns, device=key.device) if crossing else positions,
            few_keys=key,
            few_values=value,
            mask=attention_mask,
            bias=call.get("position_bias"),
            scaling=scale,
            softcap=call.get("softcap"),
            sink=call.get("s_aux"),
            own=partial(_by_own, self.of(module), module, call | {"scaling": scale}),
        )


def _by_own(
    function: Function, module: nn.Module, call: dict[str, Any], *given: Tensor | None
) -> Tensor:
    return function(module, *given, **call)[0]


@dataclass(slots=True)
class Running:
    """The pass of `run`: heads by whoever runs it, the stream after each block that attends past
    the tap.
    """

    layout: Layout
    own: OwnAttention
    attend: Attend
    tap: Tap
    positions: Tensor
    n_attended: int = 0
    n_blocks: int = 0

    def block(self, forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        output = forward(*args, **kwargs)
        blocks, index = self.layout.blocks, self.n_blocks
        self.n_blocks += 1
        layer = blocks[index].last_place
        x = stream_of(output)
        if blocks[index].has_place and not blocks[index].of_source:
            x = self.tap(layer, Stream(x, self.positions)).x
        if index == len(blocks) - 1:
            raise Stopped(x)
        return with_stream(x, output)

    def attention(
        self, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, **call: Any
    ) -> Tensor:
        layer = self.n_attended
        self.n_attended += 1
        of_source = self.layout.places[layer].kind == "encoder" and self.layout.has_source
        rows = torch.arange(query.shape[2], device=query.device) if of_source else self.positions
        heads = self.own.heads(module, query, key, value, rows, **call)
        return self.attend(layer, heads).transpose(1, 2)

    def projection(self, forward: Forward, x: Tensor, /) -> Tensor:
        return forward(x)


class _Through:
    """A pass that only some blocks have a part in: the others hand on what they are given."""

    def __init__(self, layout: Layout, own: OwnAttention) -> None:
        self.layout, self.own, self.n_blocks = layout, own, 0

    def handed_on(self, x: Tensor) -> Any:
        n = self.layout.blocks[self.n_blocks].n_outputs
        self.n_blocks += 1
        return x if n == 0 else (x, *[None] * (n - 1))

    def attention(
        self, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, **call: Any
    ) -> Tensor:
        return self.own.output(module, query, key, value, **call)

    def projection(self, forward: Forward, x: Tensor, /) -> Tensor:
        return forward(x)


class Reading(_Through):
    """The pass of `logits`: no block is computed, and the last gives the stream to be read."""

    def __init__(self, layout: Layout, own: OwnAttention, x: Tensor) -> None:
        super().__init__(layout, own)
        self.x = x

    def block(self, _forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        is_last = self.n_blocks == len(self.layout.blocks) - 1
        return self.handed_on(self.x if is_last else hidden_of(args, kwargs))


class OneBlock(_Through):
    """The pass of `mlp`: one block alone, given a stream and what its attention adds to it."""

    def __init__(
        self, layout: Layout, own: OwnAttention, block: int, x: Tensor, given: Tensor
    ) -> None:
        super().__init__(layout, own)
        self.index, self.x, self.given = block, x, given

    def block(self, forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.n_blocks != self.index:
            return self.handed_on(hidden_of(args, kwargs))
        args, kwargs = with_hidden(self.x, args, kwargs)
        raise Stopped(stream_of(forward(*args, **kwargs)))

    def projection(self, _forward: Forward, _x: Tensor, /) -> Tensor:
        return self.given


class Beginning:
    """The pass of `embedded`: it ends before the first block."""

    def block(self, _forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise Stopped(hidden_of(args, kwargs))

    def attention(self, *_: Any, **__: Any) -> Tensor:
        raise RuntimeError("there is attention before the first block")

    def projection(self, forward: Forward, x: Tensor, /) -> Tensor:
        return forward(x)
