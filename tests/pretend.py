"""A device that is none: tensors "on" it live on the processor, and refuse to meet others there.

What works on it, and gives the processor's own numbers, makes every tensor on the device of the
model, and brings results back before numpy sees them: no GPU is needed to find where that was
forgotten. By torch's door for backends that are written in Python, which torch calls experimental:
it is used in tests alone.
"""

import functools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "pretend"
MADE_ELSEWISE = ("tensor", "arange", "eye")  # by no operation that a backend in Python can answer
aten = torch.ops.aten
COPIES = (aten._to_copy, aten.copy_, aten.to, aten._has_compatible_shallow_copy_type)
INDEXED = (aten.index, aten.index_put_, aten._index_put_impl_)


class _Module:
    """What torch asks of a kind of device."""

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def manual_seed_all(self, _seed: int) -> None:
        pass

    def _is_in_bad_fork(self) -> bool:
        return False


class There(Tensor):
    """A tensor of the device: `raw` has its numbers."""

    raw: Tensor

    @staticmethod
    def __new__(cls, raw: Tensor) -> "There":
        with torch.inference_mode(mode=False):  # torch makes views of parameters of no other
            made: There = torch.Tensor._make_wrapper_subclass(
                cls,
                raw.size(),
                strides=raw.stride(),
                storage_offset=raw.storage_offset(),
                dtype=raw.dtype,
                device=torch.device(NAME, 0),
                requires_grad=raw.requires_grad,
            )
        made.raw = raw
        return made

    # The way of torch's own subclasses in Python; its stub has another signature.
    __torch_function__ = torch._C._disabled_torch_function_impl  # pyright: ignore[reportAssignmentType]

    @classmethod
    def __torch_dispatch__(cls, op: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(op, *args, **(kwargs or {}))

    def tolist(self) -> Any:
        return self.raw.tolist()

    def data_ptr(self) -> int:
        return self.raw.data_ptr()

    def __getitem__(self, index: Any) -> Tensor:
        return super().__getitem__(_as_tensors(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(_as_tensors(index), value)


def _as_tensors(index: Any) -> Any:
    """Lists among indices as tensors: torch would make them where no backend in Python can."""
    if isinstance(index, tuple):
        return tuple(map(_as_tensors, index))
    return torch.tensor(index) if isinstance(index, list) else index


def _run(op: Any, *args: Any, **kwargs: Any) -> Any:
    """An operation on the numbers themselves, where all of them are on the same device."""
    leaves = _leaves([*args, *kwargs.values()])
    there = [leaf for leaf in leaves if isinstance(leaf, There)]
    _refuse_both(op, args, leaves, there)
    stays = _stays(op, args, leaves)
    if stays and kwargs.get("generator") is not None:
        raise RuntimeError(f"{op}: a generator of the processor")
    if "pin_memory" in kwargs:
        kwargs["pin_memory"] = False
    found = op(*map(_numbers, args), **{name: _numbers(one) for name, one in kwargs.items()})
    return _wrapped(found, {id(leaf.raw): leaf for leaf in there}) if stays else found


def _leaves(given: Any) -> list[Any]:
    """Arguments, and what stands in lists of them."""
    found: list[Any] = []
    for one in given:
        found.extend(_leaves(one) if isinstance(one, list | tuple) else [one])
    return found


def _stays(op: Any, args: Any, leaves: list[Any]) -> bool:
    """Whether what comes out is on the device."""
    if op is aten.copy_.default:
        return isinstance(args[0], There)
    if op is aten.to.other:
        return isinstance(args[1], There)
    told = [leaf for leaf in leaves if isinstance(leaf, torch.device)]
    return told[0].type == NAME if told else any(isinstance(leaf, There) for leaf in leaves)


def _refuse_both(op: Any, args: Any, leaves: list[Any], there: list[There]) -> None:
    """As CUDA does: numbers without axes may come from the processor, and indices."""
    if not there or op.overloadpacket in COPIES:
        return
    if all(
        isinstance(leaf, There) or leaf.ndim == 0 for leaf in leaves if isinstance(leaf, Tensor)
    ):
        return
    if op.overloadpacket not in INDEXED or not isinstance(args[0], There):
        raise RuntimeError(f"{op}: expected all tensors to be on the same device")


def _numbers(one: Any) -> Any:
    if isinstance(one, list | tuple):
        return [_numbers(part) for part in one]
    if isinstance(one, torch.device):
        return torch.device("cpu")
    return one.raw if isinstance(one, There) else one


def _wrapped(found: Any, known: dict[int, There]) -> Any:
    """What was changed in place is the tensor that it was."""
    if isinstance(found, list | tuple):
        return tuple(_wrapped(part, known) for part in found)
    if not isinstance(found, Tensor):
        return found
    return known[id(found)] if id(found) in known else There(found)


@functools.cache
def _registered() -> torch.library.Library:
    """Once a process: torch knows the device from then on."""
    _setup_privateuseone_for_python_backend(NAME, _Module())
    library = torch.library.Library("_", "IMPL")
    library.fallback(_run, dispatch_key="PrivateUse1")
    return library


@contextmanager
def pretended() -> Generator[str]:
    """Within, the device is there; its name."""
    _registered()
    with pytest.MonkeyPatch.context() as patch:
        for name in MADE_ELSEWISE:
            patch.setattr(torch, name, _brought(getattr(torch, name)))
        yield NAME


def _brought(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same, made on the processor and brought to its device."""

    def made(*args: Any, device: Any = None, **named: Any) -> Tensor:
        found = make(*args, **named)
        return found if device is None else found.to(device)

    return made
