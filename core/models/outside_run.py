# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
"""How a model of transformers is run so that whoever runs it says how its heads attend.

transformers calls one attention function for every family, by a name in the configuration. The one
registered here asks what is going on in its own thread of execution, a ContextVar: nothing is kept
on the model or in this module, so two sessions can look at one model at the same time. Around each
block (and each output projection) stands a function that asks the same.
"""

import copy
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn, Protocol

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask  # pyright: ignore[reportUnknownVariableType]

# The name under which the attention function and its mask are known to transformers.
ATTENTION = "explorer"
Forward = Callable[..., Any]
BY_LENGTH = ("dynamic", "longrope")  # of the kinds of rotary positions


class Pass(Protocol):
    """One pass through a model, from outside: what becomes of its blocks, heads, projections."""

    def block(self, forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any], /) -> Any: ...

    def attention(
        self, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, **call: Any
    ) -> Tensor:
        """The heads' output (B, rows, H, d)."""
        ...

    def projection(self, forward: Forward, x: Tensor, /) -> Tensor: ...


class Stopped(Exception):  # noqa: N818 - no error: what was asked for is known
    """Ends a pass before the layers that nobody asked for; `x` is what it was run for."""

    def __init__(self, x: Tensor) -> None:
        super().__init__()
        self.x = x


_current: ContextVar[Pass | None] = ContextVar("pass", default=None)


@contextmanager
def going_through(current: Pass) -> Generator[None]:
    """Within, this thread's passes through models are those of `current`."""
    token = _current.set(current)
    try:
        yield
    finally:
        _current.reset(token)


def register() -> None:
    """Make the attention function and its mask known; without the mask a causal model would see
    the future.
    """
    AttentionInterface.register(ATTENTION, _attention)
    AttentionMaskInterface.register(ATTENTION, eager_mask)


def surround_block(module: nn.Module) -> None:
    """Let the current pass decide what becomes of a block's call."""
    forward = module.forward

    def asked(*args: Any, **kwargs: Any) -> Any:
        current = _current.get()
        return forward(*args, **kwargs) if current is None else current.block(forward, args, kwargs)

    module.forward = asked


def surround_projection(module: nn.Module) -> None:
    """The same for an output projection, a module of one tensor."""
    forward = module.forward

    def asked(x: Tensor) -> Tensor:
        current = _current.get()
        return forward(x) if current is None else current.projection(forward, x)

    module.forward = asked


def follows_length(module: nn.Module) -> bool:
    """Whether a part turns positions by angles that depend on how long the text is."""
    kinds: Any = getattr(module, "rope_type", ())
    named = kinds.values() if isinstance(kinds, dict) else [kinds]
    return any(kind in BY_LENGTH for kind in named)


def keep_as_loaded(module: nn.Module) -> None:
    """Such a part remembers the longest text so far, whoever's it was: every call gets a copy of it
    as it was loaded.
    """
    loaded = copy.deepcopy(module)
    config: Any = loaded.config

    def as_loaded(*args: Any, **kwargs: Any) -> Any:
        return copy.deepcopy(loaded, {id(config): config})(*args, **kwargs)

    module.forward = as_loaded


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **call: Any,
) -> tuple[Tensor, None]:
    current = _current.get()
    if current is None:
        raise RuntimeError("a model that was opened here runs within `going_through` only")
    output = current.attention(module, query, key, value, attention_mask=attention_mask, **call)
    return output.contiguous(), None


class UnkeptError(AttributeError):
    """A family asks its cache for something else than keys and values."""


class Past:
    """What transformers asks of a key-value cache, for a run that goes on at position `start`: the
    masks reach back to 0, keys and values stay those of the new rows. Whoever attends remembers.
    """

    is_compileable = False

    def __init__(self, start: int) -> None:
        self._start = start

    def get_seq_length(self, _layer: int = 0) -> int:
        return self._start

    def get_query_offset(self, _layer: int = 0) -> int:
        return self._start

    def get_mask_sizes(self, n_rows: int, _layer: int = 0) -> tuple[int, int]:
        """Keys that a mask reaches over, and where it begins."""
        return self._start + n_rows, 0

    def update(self, key: Tensor, value: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        return key, value

    def __getattr__(self, name: str) -> NoReturn:
        raise UnkeptError(f"no {name} is kept of earlier tokens")


def hidden_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """The stream that a block is called with."""
    return args[0] if args else kwargs["hidden_states"]


def with_hidden(
    x: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call with another stream."""
    return ((x, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": x})


def stream_of(output: Any) -> Tensor:
    """The stream that a block gives, alone or first of several."""
    return output if isinstance(output, torch.Tensor) else output[0]


def with_stream(x: Tensor, output: Any) -> Any:
    """The same with another stream."""
    return x if isinstance(output, torch.Tensor) else (x, *output[1:])
