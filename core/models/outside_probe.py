# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
"""One pass through a model that was just loaded, to see what is where. No table of families."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from core.models.outside_layout import Block, Layout, Place
from core.models.outside_run import Forward, going_through, hidden_of, stream_of, surround_block

N_SOURCE, N_TARGET = 5, 3  # of different lengths, so that they can be told apart
SAME = 1e-4  # relative: what is the same computed in another order


Own = Callable[..., Tensor]


@dataclass
class _Probing:
    """The pass that looks: what was called, in which order, and with what."""

    own: Own
    calls: list["_Call"] = field(default_factory=list["_Call"])
    attended: list["_Attended"] = field(default_factory=list["_Attended"])
    inside: bool = False

    def block(self, forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = _Call(hidden_of(args, kwargs), len(self.attended))
        self.calls.append(call)
        self.inside = True
        output = forward(*args, **kwargs)
        self.inside = False
        call.after, call.end = stream_of(output), len(self.attended)
        call.n_outputs = 0 if isinstance(output, torch.Tensor) else len(output)
        return output

    def attention(
        self, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, **call: Any
    ) -> Tensor:
        output = self.own(module, query, key, value, **call).contiguous()
        mask: Tensor | None = call["attention_mask"]
        self.attended.append(_Attended(module, query, key, value, mask, output))
        return output

    def projection(self, forward: Forward, x: Tensor) -> Tensor:
        return forward(x)

    def seen(self, module: nn.Module, given: Any, output: Any) -> None:
        """Of a module that was called: is it W_O, and may it be what the block adds?"""
        x = given[0] if given and isinstance(given[0], torch.Tensor) else None
        last = self.attended[-1] if self.attended else None
        is_leaf = next(module.children(), None) is None
        if x is not None and last is not None and last.project is None and is_leaf:
            same = x.data_ptr() == last.output.data_ptr() and x.numel() == last.output.numel()
            weight: Any = getattr(module, "weight", None)
            if same and weight is not None and weight.ndim == 2:
                last.project, last.added = module, output
        first: Any = output[0] if isinstance(output, tuple) and output else output
        if self.inside and isinstance(first, torch.Tensor):
            self.calls[-1].outputs.append(first)


@dataclass
class _Call:
    """A call of a block, with every tensor that a module within it gave."""

    before: Tensor
    start: int
    end: int = 0
    n_outputs: int = 0
    after: Tensor = field(default_factory=lambda: torch.zeros(0))
    outputs: list[Tensor] = field(default_factory=list[Tensor])


@dataclass
class _Attended:
    """A call of the attention function."""

    module: nn.Module
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    output: Tensor
    project: nn.Module | None = None
    added: Tensor | None = None


@torch.inference_mode()
def probe(module: nn.Module, own: Own, *, has_source: bool) -> Layout:
    """Cost: one pass over a few tokens. Raises ValueError for a family that cannot be looked at."""
    names = {id(part): name for name, part in module.named_modules()}
    found = _Probing(own)
    blocks = _blocks_with_attention(module, own, names, has_source=has_source)
    with _watched(module, found), going_through(found), _surrounded(blocks):
        module(**_few_tokens(module, has_source=has_source))
    if not found.attended:
        raise ValueError(
            f"{type(module).__name__} does not call its attention by transformers' interface: "
            "there is nothing to look at"
        )
    return _layout(found, blocks, has_source=has_source)


def _few_tokens(module: nn.Module, *, has_source: bool) -> dict[str, Tensor]:
    few = torch.arange(1, N_SOURCE + 1, device=next(module.parameters()).device)[None]
    if not has_source:
        return {"input_ids": few}
    return {"input_ids": few, "decoder_input_ids": few[:, :N_TARGET]}


def _blocks_with_attention(
    module: nn.Module, own: Own, names: dict[int, str], *, has_source: bool
) -> list[nn.Module]:
    """All members of the outermost lists of modules that hold a module which attends."""
    first = _Probing(own)
    with going_through(first):
        module(**_few_tokens(module, has_source=has_source))
    parts = dict(module.named_modules())
    lists: dict[str, nn.Module] = {}
    for attended in first.attended:
        path = names[id(attended.module)].split(".")
        prefixes = [".".join(path[:n]) for n in range(len(path))]
        name = next((p for p in prefixes if isinstance(parts[p], nn.ModuleList)), None)
        if name is None:
            raise ValueError(f"{type(module).__name__} attends outside of a list of blocks")
        lists.setdefault(name, parts[name])
    return [block for listed in lists.values() for block in listed.children()]


@contextmanager
def _watched(module: nn.Module, found: _Probing) -> Generator[None]:
    """Hooks on every part, while nobody else has this model."""
    hooks = [part.register_forward_hook(found.seen) for part in module.modules()]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def _surrounded(blocks: list[nn.Module]) -> Generator[None]:
    for block in blocks:
        surround_block(block)
    try:
        yield
    finally:
        for block in blocks:
            del block.forward


def _layout(found: _Probing, modules: list[nn.Module], *, has_source: bool) -> Layout:
    places: list[Place] = []
    blocks: list[Block] = []
    for index, call in enumerate(found.calls):
        kinds = [
            _kind(attended, has_source=has_source)
            for attended in found.attended[call.start : call.end]
        ]
        for kind, attended in zip(kinds, found.attended[call.start : call.end], strict=True):
            places.append(
                Place(
                    block=index,
                    kind=kind,
                    n_heads=attended.query.shape[1],
                    n_kv_heads=attended.key.shape[1],
                    head_dim=attended.value.shape[-1],
                    width=call.before.shape[-1],
                    project=attended.project,
                )
            )
        of_source = has_source and kinds == ["encoder"]
        blocks.append(
            Block(
                n_outputs=call.n_outputs,
                has_place=bool(kinds),
                last_place=len(places) - 1,
                of_source=of_source,
            )
        )
    _refuse_odd(places, found)
    return Layout(
        places=tuple(places),
        blocks=tuple(blocks),
        modules=tuple(modules),
        width=places[0].width,
        has_source=has_source,
        is_whole=all(call.end > call.start for call in found.calls),
        is_sum=all(_is_sum(call, found.attended[call.start : call.end]) for call in found.calls),
    )


def _refuse_odd(places: list[Place], found: _Probing) -> None:
    if any(call.before.ndim != 3 for call in found.calls):
        raise ValueError("it has several residual streams side by side: no one stream is shown")
    if len(places) != len(found.attended):
        raise ValueError("some of its attention stands outside of its blocks")
    sizes = {(place.n_heads, place.head_dim) for place in places}
    if len(sizes) > 1:
        raise ValueError(f"its layers have heads of different numbers and sizes: {sorted(sizes)}")


def _kind(attended: _Attended, *, has_source: bool) -> str:
    n_rows, n_columns = attended.query.shape[2], attended.key.shape[2]
    if n_rows != n_columns:
        return "cross"
    if has_source:
        return "encoder" if n_rows == N_SOURCE else "decoder"
    mask = attended.mask
    sees_the_next = mask is None or bool(mask[0, 0, 0, 1] == 0)
    return "encoder" if sees_the_next else "decoder"


def _is_sum(call: _Call, attended: list[_Attended]) -> bool:
    """Whether the block's stream is what it was, what its projections gave, and what one of its
    modules gave.
    """
    added = [part.added for part in attended if part.added is not None]
    same_width = all(part.shape[-1] == call.after.shape[-1] for part in (call.before, *added))
    if len(added) < len(attended) or not same_width:
        return False
    rest = call.after - call.before - sum(added)
    size = float(call.after.norm())
    alike = [out for out in call.outputs if out.numel() == rest.numel()]
    return any(float((rest - out.reshape(rest.shape)).norm()) <= SAME * size for out in alike)
