"""Two real models, opened from their files: SmolLM2 (GGUF, a decoder) and MiniLM (an encoder)."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModel, AutoModelForCausalLM

from core.checkpoints.anyones import open_anyones
from core.checkpoints.store import Checkpoint
from core.generation.greedy import attending
from core.inspection.trace import trace
from core.models.heads import Heads
from core.models.outside import OutsideModel
from tests.models.tiny_models import apart
from tests.real_models import MINILM, SMOLLM2, OutOfReachError, Package, real_model

TEXT = (Path(__file__).resolve().parents[2] / "LICENSE").read_text(encoding="utf-8")


def path_of(package: Package) -> Path:
    try:
        return real_model(package)
    except OutOfReachError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def smol() -> Checkpoint:
    return open_anyones(path_of(SMOLLM2))


@pytest.fixture(scope="module")
def minilm() -> Checkpoint:
    return open_anyones(path_of(MINILM))


@pytest.fixture(scope="module")
def untouched(smol: Checkpoint) -> Any:
    """The same weights in a model of transformers that runs by itself."""
    module = outside(smol).module
    config = type(module.config)(**module.config.to_dict())
    model: Any = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").eval()
    model.load_state_dict(module.state_dict(), assign=True)
    model.tie_weights()
    return model


def outside(checkpoint: Checkpoint) -> OutsideModel:
    assert isinstance(checkpoint.model, OutsideModel)
    return checkpoint.model


@torch.inference_mode()
def test_smollm2_knows_the_capital_of_france(smol: Checkpoint):
    ids = torch.tensor([smol.vocabulary.encode("The capital of France is")])
    logits = smol.model.logits(smol.model.run(ids, attending(None)))[0, -1]
    best = logits.softmax(-1).max(-1)
    assert smol.vocabulary.decode([int(best.indices)]) == " Paris"
    assert float(best.values) == pytest.approx(0.77, abs=0.01)


def test_smollm2_is_what_its_file_says(smol: Checkpoint):
    shape, facts = smol.model.shape, smol.card["opened"]
    assert (shape.n_layers, shape.n_heads, shape.n_kv_heads, shape.head_dim) == (30, 9, 3, 64)
    assert (shape.vocabulary_size, shape.longest_input) == (49_152, 8_192)
    assert shape.keeps_past
    assert smol.model.n_parameters == 134_515_008
    assert (facts["family"], facts["dtype"], facts["cannot"]) == ("llama", "Q4_1", [])


@pytest.mark.parametrize("n_tokens", [9, 128, 512])
@torch.inference_mode()
def test_the_weights_that_smollm2_shows_give_what_it_gives_by_itself(
    smol: Checkpoint, untouched: Any, n_tokens: int
):
    ids = torch.tensor([smol.vocabulary.encode(TEXT)[:n_tokens]])
    rows, later = list[float](), list[bool]()

    def attend(_: int, heads: Heads) -> Tensor:
        weights = heads.weights(heads.scores())
        rows.append(float((weights.sum(-1) - 1).abs().max()))
        later.append(bool(weights[..., heads.masked].any()))
        return weights @ heads.value

    shown = smol.model.logits(smol.model.run(ids, attend))
    expected = untouched(input_ids=ids).logits
    assert untouched.config._attn_implementation == "sdpa"
    assert apart(shown, expected) < 1e-5
    assert torch.equal(shown.argmax(-1), expected.argmax(-1))
    assert max(rows) < 1e-5
    assert later == [False] * 30


@torch.inference_mode()
def test_the_proof_holds_for_smollm2(smol: Checkpoint):
    found = trace(smol, "Marie Curie was born in the city of", max_new_tokens=2)
    proof = found.proof
    assert proof.replay_max_difference < 1e-3
    assert proof.row_sum_max_error < 1e-5
    assert proof.future_exactly_zero
    assert proof.dtype == "float32"
    assert proof.same_argmax
    assert proof.head_sum_max_error is not None
    assert proof.head_sum_max_error < 1e-3
    assert found.labels[:3] == ("Marie", "·Cur", "ie")
    assert len(found.steps) == 2


@torch.inference_mode()
def test_minilm_gives_the_hidden_states_that_it_gives_by_itself(minilm: Checkpoint):
    untouched: Any = AutoModel.from_pretrained(path_of(MINILM)).eval()
    ids = torch.tensor([minilm.vocabulary.encode("The capital of France is Paris.")])
    expected = untouched(input_ids=ids).last_hidden_state

    def attend(_: int, heads: Heads) -> Tensor:
        return heads.weights(heads.scores()) @ heads.value

    for way in (attend, attending(None)):
        x = minilm.model.run(ids, way)
        assert float((x - expected).abs().max()) < 1e-5
        assert minilm.model.logits(x) is x


def test_minilm_says_that_it_has_no_head(minilm: Checkpoint):
    shape = minilm.model.shape
    assert (shape.n_layers, shape.n_heads, shape.kinds[0]) == (6, 12, "encoder")
    for what in ("logits", "answer", "attribution", "lens", "patching"):
        assert minilm.model.cannot(what).startswith("this model has no head that reads tokens")
    assert minilm.model.cannot("parts") == ""
    assert {odd["what"] for odd in minilm.card["opened"]["cannot"]} >= {"logits", "answer"}
