"""Tiny models of the families: as transformers makes them, and the same behind the seam."""

import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from core.models.heads import Heads
from core.models.outside import OutsideModel
from core.models.outside_heads import OutsideHeads
from core.models.seam import Change
from tests.models.families import FAMILIES
from tests.models.family import VOCABULARY, Family, Kind

DOORS: dict[Kind, Any] = {
    "decoder": transformers.AutoModelForCausalLM,
    "encoder": transformers.AutoModelForMaskedLM,
    "both": transformers.AutoModelForSeq2SeqLM,
}


def make_model(family: Family, *, seed: int = 0) -> Any:
    """A model in eval mode as transformers makes it, every parameter of which matters."""
    transformers.utils.logging.set_verbosity_error()
    config = transformers.AutoConfig.for_model(family.model_type or family.name, **family.sizes)
    model = DOORS[family.kind].from_config(config).eval()
    draw_parameters(model, seed)
    return model


@torch.no_grad()
def draw_parameters(model: nn.Module, seed: int) -> None:
    """Scales of norms near 1, biases near 0, attention far from uniform; positions that are a
    formula stay as they are.
    """
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        is_scale = parameter.ndim == 1 and name.endswith("weight")
        std = 0.2 if parameter.ndim > 1 else 0.3
        parameter.normal_(1.0 if is_scale else 0.0, std, generator=generator)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The heads of one layer, the weights that they show, and the output of these."""

    heads: OutsideHeads
    weights: Tensor
    output: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiny:
    """`plain` is never looked at by the code that is tested; `model` is its twin behind the seam.

    ids, others (2, 12): two batches. source (2, 9): what an encoder beside a decoder reads.
    """

    family: Family
    plain: Any
    model: OutsideModel
    ids: Tensor
    others: Tensor
    source: Tensor | None
    expected: Tensor

    def given(self, ids: Tensor) -> dict[str, Tensor]:
        """What transformers is called with."""
        if self.source is None:
            return {"input_ids": ids}
        return {"input_ids": self.source, "decoder_input_ids": ids}

    def twin(self, twin: nn.Module) -> Tensor:
        """Logits of another twin by itself."""
        return twin(**self.given(self.ids)).logits

    def logits(self, ids: Tensor, change: Change | None = None) -> Tensor:
        """Through the seam, by the heads' explicit weights and a change of their output."""
        return self.seen(ids, change)[0]

    def seen(self, ids: Tensor, change: Change | None = None) -> tuple[Tensor, list[Seen]]:
        layers: list[Seen] = []

        def attend(layer: int, heads: Heads) -> Tensor:
            assert isinstance(heads, OutsideHeads)
            weights = heads.weights(heads.scores())
            output = weights @ heads.value
            layers.append(Seen(heads=heads, weights=weights, output=output))
            return output if change is None else change(layer, heads, output)

        return self.model.logits(self.model.run(ids, attend, source=self.source)), layers


@cache
@torch.inference_mode()
def tiny(name: str) -> Tiny:
    """Both twins of a family; nobody may change them."""
    family = FAMILIES[name]
    plain = make_model(family)
    generator = torch.Generator().manual_seed(1)
    ids, others = (torch.randint(5, VOCABULARY, (2, 12), generator=generator) for _ in range(2))
    source = torch.randint(5, VOCABULARY, (2, 9), generator=generator)
    made = Tiny(
        family=family,
        plain=plain,
        model=OutsideModel(copy.deepcopy(plain), has_head=True),
        ids=ids,
        others=others,
        source=source if family.kind == "both" else None,
        expected=ids,
    )
    return replace(made, expected=plain(**made.given(ids)).logits)


def apart(found: Tensor, expected: Tensor) -> float:
    """The largest difference, relative to the largest number."""
    return float((found - expected).abs().max() / expected.abs().max())
