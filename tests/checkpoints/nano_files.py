"""Files as nanoGPT and minGPT write them, made here from a seed; no name of ours in them."""

import io
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

TEXT = "Ada Arden was born in Lagos.\nBruno Bello was born in Lima.\n"
CHARACTERS = sorted(set(TEXT))
WORDS, BLOCK, WIDTH, HEADS, LAYERS = len(CHARACTERS), 12, 32, 4, 2


class Trap:
    """Unpickling one of these would make a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


def nano_state(
    *, words: int = WORDS, bias: bool = True, tied: bool = True, masks: bool = False
) -> dict[str, Tensor]:
    """A state dict; minGPT's has biases, masks, and a head of its own."""
    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> Tensor:
        return 0.4 * torch.randn(*shape, generator=generator)

    state = {
        "transformer.wte.weight": draw(words, WIDTH),
        "transformer.wpe.weight": draw(BLOCK, WIDTH),
    }
    for layer in range(LAYERS):
        name = f"transformer.h.{layer}"
        if masks:
            state[f"{name}.attn.bias"] = torch.ones(BLOCK, BLOCK).tril()[None, None]
        shapes = {
            "ln_1": (WIDTH,),
            "attn.c_attn": (3 * WIDTH, WIDTH),
            "attn.c_proj": (WIDTH, WIDTH),
            "ln_2": (WIDTH,),
            "mlp.c_fc": (4 * WIDTH, WIDTH),
            "mlp.c_proj": (WIDTH, 4 * WIDTH),
        }
        for module, shape in shapes.items():
            state[f"{name}.{module}.weight"] = draw(*shape)
            if bias:
                state[f"{name}.{module}.bias"] = draw(shape[0])
    state["transformer.ln_f.weight"] = draw(WIDTH)
    if bias:
        state["transformer.ln_f.bias"] = draw(WIDTH)
    state["lm_head.weight"] = state["transformer.wte.weight"] if tied else draw(words, WIDTH)
    return state


def mingpt_state() -> dict[str, Tensor]:
    return nano_state(tied=False, masks=True)


def checkpoint(state: dict[str, Tensor], **changes: Any) -> dict[str, Any]:
    """All that nanoGPT's train.py keeps in one file; `changes` are of its model_args."""
    parameter = torch.nn.Parameter(torch.ones(2, 3))
    optimizer = torch.optim.AdamW([parameter], betas=(0.9, 0.95))
    parameter.grad = torch.ones(2, 3)
    optimizer.step()
    words, bias = len(state["transformer.wte.weight"]), "transformer.ln_f.bias" in state
    args = {"n_layer": LAYERS, "n_head": HEADS, "n_embd": WIDTH, "block_size": BLOCK}
    return {
        "model": state,
        "optimizer": optimizer.state_dict(),
        "model_args": {**args, "bias": bias, "vocab_size": words, "dropout": 0.2, **changes},
        "iter_num": 5000,
        "best_val_loss": torch.tensor(1.47),
        "config": {"out_dir": "out", "learning_rate": 1e-3, "compile": True, "device": None},
    }


def compiled(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"_orig_mod.{name}": tensor for name, tensor in state.items()}


def put(path: Path, content: Any, **how: Any) -> Path:
    torch.save(content, path, **how)
    return path


def saved(content: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def meta(**changes: Any) -> dict[str, Any]:
    """What nanoGPT's data/shakespeare_char/prepare.py keeps."""
    stoi = {character: index for index, character in enumerate(CHARACTERS)}
    itos = dict(enumerate(CHARACTERS))
    return {"vocab_size": WORDS, "itos": itos, "stoi": stoi, **changes}
