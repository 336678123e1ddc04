"""What training code puts around a state dict, taken off again and named.

Training scripts keep it in a dictionary: {"model": state, "epoch": 3, …}. torch.compile and
DataParallel hold the model as a module of theirs, with which every name then begins: "_orig_mod.",
"module."; others call theirs "model.". Of single layers that were compiled it stands inside the
names: "blocks.0._orig_mod.ln1.bias".
"""

from collections import Counter
from collections.abc import Iterable
from typing import cast

from torch import Tensor

from core.checkpoints.store import CheckpointError

HOLDERS = ("model", "state_dict", "model_state_dict")
MOST_HOLDERS = 3  # a dictionary may hold itself
MODULES = {
    "_orig_mod.": "torch.compile",
    "module.": "DataParallel",
    "model.": "a module that holds the model",
}
COMPILED = "_orig_mod"


def state_inside(content: dict[object, object]) -> tuple[dict[object, object], list[str]]:
    """The state dict that a dictionary holds, and a note a dictionary; itself if it holds none.

    Raises CheckpointError if two of its entries may be meant.
    """
    notes: list[str] = []
    for _ in range(MOST_HOLDERS):
        found = [key for key in HOLDERS if isinstance(content.get(key), dict)]
        if not found:
            break
        if len(found) > 1:
            raise CheckpointError(
                f"holds {' and '.join(map(repr, found))}: save the one that is meant alone"
            )
        notes.append(f"of the file {found[0]!r} alone was read, not what lies beside it")
        content = cast(dict[object, object], content[found[0]])
    return content, notes


def without_modules(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], list[str]]:
    """The tensors under the model's own names, and a note a wrapper.

    Raises CheckpointError if two names become one.
    """
    names = {name: name for name in tensors}
    notes: list[str] = []
    while (module := _common(names.values())) is not None:
        names = {old: name.removeprefix(module) for old, name in names.items()}
        notes.append(f"{module!r} of {MODULES[module]} was taken off all names")
    inner = {old: _without_compiled(name) for old, name in names.items()}
    if n_compiled := sum(inner[old] != name for old, name in names.items()):
        notes.append(f"{COMPILED + '.'!r} of torch.compile was taken off inside {n_compiled} names")
    twice = [name for name, times in Counter(inner.values()).items() if times > 1]
    if twice:
        raise CheckpointError(f"two of its names are {twice[0]:.60} once wrappers are taken off")
    return {inner[old]: tensor for old, tensor in tensors.items()}, notes


def _common(names: Iterable[str]) -> str | None:
    """The wrapper with which all names begin."""
    all_names = list(names)
    for module in MODULES:
        if all_names and all(name.startswith(module) for name in all_names):
            return module
    return None


def _without_compiled(name: str) -> str:
    return ".".join(part for part in name.split(".") if part != COMPILED)
