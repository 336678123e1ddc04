"""What training code puts around a state dict: the model behind it is the very same."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from core.checkpoints.course_import import Hints, Imported, import_course

State = dict[str, Tensor]
MakeState = Callable[..., State]
AsFile = Callable[[Any], bytes]
VARIANTS = ("vanilla", "rotary", "synthesizer", "perceiver")
WRAPPERS = {
    "_orig_mod.": ["'_orig_mod.' of torch.compile was taken off all names"],
    "module.": ["'module.' of DataParallel was taken off all names"],
    "model.": ["'model.' of a module that holds the model was taken off all names"],
    "module._orig_mod.": [
        "'module.' of DataParallel was taken off all names",
        "'_orig_mod.' of torch.compile was taken off all names",
    ],
    "_orig_mod.module.model.": [
        "'_orig_mod.' of torch.compile was taken off all names",
        "'module.' of DataParallel was taken off all names",
        "'model.' of a module that holds the model was taken off all names",
    ],
}


def named(state: State, prefix: str) -> State:
    return {f"{prefix}{name}": tensor for name, tensor in state.items()}


def logits(imported: Imported) -> Tensor:
    ids = torch.arange(2, 12)[None] % imported.vocabulary.size
    with torch.inference_mode():
        return imported.model(ids)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("prefix", WRAPPERS)
def test_a_wrapped_model_is_the_model_itself_and_the_wrapper_is_said_aloud(
    course_state: MakeState, as_file: AsFile, wiki: str, variant: str, prefix: str
):
    state = course_state(variant)
    plain = import_course(as_file(state), wiki, Hints())
    wrapped = import_course(as_file(named(state, prefix)), wiki, Hints())
    assert torch.equal(logits(wrapped), logits(plain))
    assert wrapped.model.config == plain.model.config
    assert list(wrapped.notes) == [*WRAPPERS[prefix], *plain.notes]


def test_single_compiled_layers_are_found_inside_the_names(
    course_state: MakeState, as_file: AsFile, wiki: str
):
    state = course_state("vanilla")
    compiled = {
        f"module.{name.replace('blocks.1.', 'blocks.1._orig_mod.')}": tensor
        for name, tensor in state.items()
    }
    n_inside = sum(name.startswith("blocks.1.") for name in state)
    wrapped = import_course(as_file(compiled), wiki, Hints())
    assert torch.equal(logits(wrapped), logits(import_course(as_file(state), wiki, Hints())))
    assert f"'_orig_mod.' of torch.compile was taken off inside {n_inside} names" in wrapped.notes


def module_of(state: State) -> nn.Module:
    """A module whose names are those of a state dict."""
    top = nn.Module()
    for name, tensor in state.items():
        inner, *path = name.split(".")[::-1]
        module = top
        for part in reversed(path):
            if part not in dict(module.named_children()):
                module.add_module(part, nn.Module())
            module = module.get_submodule(part)
        module.register_buffer(inner, tensor)
    return top


def test_what_torch_itself_wraps_is_read(course_state: MakeState, as_file: AsFile, wiki: str):
    state = course_state("vanilla")
    holder = nn.Module()
    holder.add_module("model", nn.DataParallel(module_of(state)))
    wrapped = holder.state_dict()
    assert sorted(wrapped) == sorted(f"model.module.{name}" for name in state)
    imported = import_course(as_file({"model_state_dict": wrapped, "epoch": 9}), wiki, Hints())
    assert torch.equal(logits(imported), logits(import_course(as_file(state), wiki, Hints())))
    assert imported.notes[:3] == (
        "of the file 'model_state_dict' alone was read, not what lies beside it",
        *WRAPPERS["model."],
        *WRAPPERS["module."],
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_model_with_tied_weights_is_read_as_if_each_name_had_its_own(
    course_state: MakeState, as_file: AsFile, wiki: str, variant: str
):
    state = course_state(variant)
    apart = {**state, "head.weight": state["tok_emb.weight"].clone()}
    tied = {**state, "head.weight": state["tok_emb.weight"]}
    file = as_file(tied)
    assert len(file) < len(as_file(apart))
    imported = import_course(file, wiki, Hints())
    assert torch.equal(logits(imported), logits(import_course(as_file(apart), wiki, Hints())))
    assert imported.notes[0] == "1 of its tensors are tied: they share the numbers of another"


def test_tied_weights_larger_than_the_rest_of_the_file_are_read(as_file: AsFile, wiki: str):
    """The tensors claim more bytes than the file has."""
    state = {
        "tok_emb.weight": torch.ones(2 + len(set(wiki)), 32),
        "pos_emb": torch.ones(1, 12, 32),
        "ln_f.weight": torch.ones(32),
        "ln_f.bias": torch.ones(32),
    }
    state["head.weight"] = state["tok_emb.weight"]
    block: dict[str, tuple[int, ...]] = {
        **{f"{name}.weight": (32,) for name in ("ln1", "ln2")},
        **{f"attn.{name}.weight": (32, 32) for name in ("key", "query", "value", "proj")},
        "mlp.0.weight": (128, 32),
        "mlp.2.weight": (32, 128),
    }
    parts = {name: torch.full(shape, 0.1) for name, shape in block.items()}
    parts |= {f"{n.removesuffix('weight')}bias": torch.zeros(len(t)) for n, t in parts.items()}
    for index in range(6):  # six layers of the same parameters
        state |= {f"blocks.{index}.{name}": tensor for name, tensor in parts.items()}
    file = as_file(state)
    assert sum(tensor.nbytes for tensor in state.values()) > 2 * len(file)
    imported = import_course(file, wiki, Hints())
    assert imported.model.config.n_layers == 6
    assert logits(imported).isfinite().all()
