"""An imported model computes what nanoGPT's and minGPT's code computes: a plain one, in float64.

Nothing of ours is used in it: one sequence, one head and one row at a time, GELU by its formula.
"""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from core.checkpoints.nano_import import NanoHints, import_nano
from tests.checkpoints.nano_files import (
    BLOCK,
    HEADS,
    LAYERS,
    WIDTH,
    checkpoint,
    compiled,
    mingpt_state,
    nano_state,
    put,
)


def norm(state: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    scale = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return centred / scale * state[f"{name}.weight"] + state.get(f"{name}.bias", 0.0)


def linear(state: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    return x @ state[f"{name}.weight"].T + state.get(f"{name}.bias", 0.0)


def attention(state: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    mixed = linear(state, f"{name}.c_attn", x)
    query, key, value = (mixed[:, i * WIDTH : (i + 1) * WIDTH] for i in range(3))
    d, outputs = WIDTH // HEADS, []
    for head in range(HEADS):
        part = slice(head * d, (head + 1) * d)
        rows = []
        for i in range(len(x)):  # what stands behind row i is not there at all
            scores = key[: i + 1, part] @ query[i, part] / math.sqrt(d)
            rows.append(torch.softmax(scores, 0) @ value[: i + 1, part])
        outputs.append(torch.stack(rows))
    return linear(state, f"{name}.c_proj", torch.cat(outputs, -1))


def exact(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def by_tanh(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def plain_logits(state: dict[str, Tensor], ids: list[int], gelu: Any) -> Tensor:
    state = {name: tensor.double() for name, tensor in state.items()}
    x = state["transformer.wte.weight"][ids] + state["transformer.wpe.weight"][: len(ids)]
    for name in [f"transformer.h.{layer}" for layer in range(LAYERS)]:
        x = x + attention(state, f"{name}.attn", norm(state, f"{name}.ln_1", x))
        hidden = gelu(linear(state, f"{name}.mlp.c_fc", norm(state, f"{name}.ln_2", x)))
        x = x + linear(state, f"{name}.mlp.c_proj", hidden)
    return norm(state, "transformer.ln_f", x) @ state["lm_head.weight"].T


def halved(state: dict[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """The same numbers in half precision, the head still the token embedding."""
    found = {name: tensor.to(dtype) for name, tensor in state.items()}
    found["lm_head.weight"] = found["transformer.wte.weight"]
    return found


NANO = nano_state()
CASES: dict[str, tuple[dict[str, Tensor], Any, dict[str, Any], Any]] = {
    "with biases": (NANO, checkpoint(NANO), {}, exact),
    "without biases": (nano_state(bias=False), None, {}, exact),
    "padded": (nano_state(words=50_304), None, {}, exact),
    "compiled": (NANO, checkpoint(NANO) | {"model": compiled(NANO)}, {}, exact),
    "with masks": (nano_state(masks=True), None, {}, exact),
    "untied": (nano_state(tied=False), None, {}, exact),
    "float16": (halved(NANO, torch.float16), None, {}, exact),
    "bfloat16": (halved(NANO, torch.bfloat16), None, {}, exact),
    "minGPT": (mingpt_state(), mingpt_state(), {"heads": HEADS}, by_tanh),
    "nanoGPT's state alone": (NANO, NANO, {"heads": HEADS}, exact),
    "told to be nanoGPT's": (
        mingpt_state(),
        mingpt_state(),
        {"heads": HEADS, "family": "nanogpt"},
        exact,
    ),
}


@torch.inference_mode()
@pytest.mark.parametrize("case", CASES)
def test_the_logits_of_an_imported_model_equal_those_of_a_plain_one(tmp_path: Path, case: str):
    state, content, told, gelu = CASES[case]
    content = checkpoint(state) if content is None else content
    model = import_nano(put(tmp_path / "ckpt.pt", content), NanoHints(**told)).model
    generator = torch.Generator().manual_seed(1)
    model = model.double()
    for length in (1, 5, BLOCK):
        ids = torch.randint(len(state["lm_head.weight"]), (length,), generator=generator)
        expected = plain_logits(state, ids.tolist(), gelu)
        difference = float((model(ids[None])[0] - expected).abs().max())
        assert difference < 1e-9 * float(expected.abs().max())
        assert float(expected.std()) > 0.1


@torch.inference_mode()
def test_the_two_forms_of_gelu_give_other_logits(tmp_path: Path):
    ids = list(range(BLOCK))
    given = [plain_logits(mingpt_state(), ids, gelu) for gelu in (exact, by_tanh)]
    assert float((given[0] - given[1]).abs().max()) > 1e-5
