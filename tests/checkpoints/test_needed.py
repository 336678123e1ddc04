"""Which weights a result depends on, so that no others than those may be missing."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from core.checkpoints.needed import needed


class Gated(nn.Module):
    """Two experts, of which a few equal tokens ask for one; a scale beside them, and a pooler."""

    def __init__(self) -> None:
        super().__init__()
        self.config = BertConfig(is_encoder_decoder=False)
        self.embed = nn.Embedding(8, 4)
        self.experts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.pooler = nn.Linear(4, 4)
        self.register_buffer("scale", torch.ones(4))

    def forward(self, input_ids: Tensor) -> dict[str, Tensor]:
        x = self.experts[0](self.embed(input_ids)) * self.scale
        return {"last_hidden_state": x, "pooled": self.pooler(x)}


@pytest.fixture
def gated() -> Any:
    return Gated().eval()


def test_nothing_is_asked_where_nothing_is_missing():
    assert needed(None, []) == []


def test_a_pooler_is_not_needed_and_all_before_it_is():
    model = BertModel(
        BertConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, vocab_size=20)
    )
    every = [name for name, _ in model.named_parameters()]
    found = needed(model.eval(), every)
    assert set(every) - set(found) == {"pooler.dense.weight", "pooler.dense.bias"}


def test_what_a_pass_does_not_call_may_be_called_by_another_one(gated: Any):
    missing = ["experts.0.weight", "experts.1.weight", "pooler.weight"]
    assert needed(gated, missing) == ["experts.0.weight", "experts.1.weight"]


def test_a_buffer_is_needed(gated: Any):
    assert needed(gated, ["scale"]) == ["scale"]
    assert needed(gated, ["scale", "pooler.bias"]) == ["scale"]


def test_it_can_be_asked_in_inference_and_leaves_nothing_on_the_model(gated: Any):
    with torch.inference_mode():
        assert needed(gated, ["experts.0.bias", "pooler.bias"]) == ["experts.0.bias"]
    assert all(not part._forward_hooks for part in gated.modules())
    assert all(parameter.grad is None for parameter in gated.parameters())
