"""Recording a model of transformers in its own process: the notebook's lines, and what is left."""

import contextlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AttentionInterface,
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from core import record
from core.inspection.trace_file import read_trace_file
from core.models.outside_borrowed import borrowed

TEXT = "The capital of France is"
NOTEBOOK = """\
from transformers import AutoModelForCausalLM, AutoTokenizer
from core import record
model, tokenizer = (kind.from_pretrained(FOLDER) for kind in (AutoModelForCausalLM, AutoTokenizer))
record(model, tokenizer, "The capital of France is").save("x.trace", precision="float16")
"""
SIZES: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|end|>"],
        show_progress=False,
    )
    bare.train_from_iterator([TEXT, "Paris is"] * 3, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<|end|>", model_max_length=24)


@pytest.fixture
def gpt2(tokenizer: Any) -> Any:
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=4,
        bos_token_id=0,
        eos_token_id=0,
        attn_pdrop=0.5,
    )
    return GPT2LMHeadModel(config)


def test_the_four_lines_of_a_notebook_write_a_trace(
    gpt2: Any, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    gpt2.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    with contextlib.chdir(tmp_path):
        exec(NOTEBOOK, {"FOLDER": "model"})
    found = read_trace_file(tmp_path / "x.trace")
    assert NOTEBOOK.count("\n") == 4
    assert "".join(found.trace.labels).replace("·", " ").startswith(TEXT)
    assert found.trace.n_tokens <= 24  # as many as the tokenizer lets in
    assert (found.trace.n_layers, found.trace.n_heads, found.precision) == (2, 4, "float16")
    assert found.trace.proof.replay_max_difference < 1e-5
    assert found.recomputed.masked_exactly_zero
    assert found.origin.family == "gpt2"
    assert {"torch", "transformers"} <= set(found.origin.versions)


def test_a_recorded_model_is_left_as_it_was(gpt2: Any, tokenizer: Any):
    ids = torch.tensor([tokenizer(TEXT).input_ids])
    gpt2.train()
    gpt2.transformer.drop.eval()
    before = {name: part.training for name, part in gpt2.named_modules()}
    with torch.no_grad():
        logits = gpt2.eval()(ids, use_cache=False).logits
    for name, part in gpt2.named_modules():
        part.training = before[name]
    first = record(gpt2, tokenizer, TEXT)
    assert {name: part.training for name, part in gpt2.named_modules()} == before
    assert gpt2.config._attn_implementation == "sdpa"
    assert gpt2.config.use_cache is True
    assert not [part for part in gpt2.modules() if "forward" in part.__dict__]
    again = record(gpt2, tokenizer, TEXT)
    assert np.array_equal(first.trace.weights, again.trace.weights)
    with torch.no_grad():
        assert torch.equal(gpt2.eval()(ids, use_cache=False).logits, logits)
        assert gpt2.generate(ids, max_new_tokens=2, do_sample=False).shape[1] > ids.shape[1]


def test_what_was_hung_around_a_forward_function_stays(gpt2: Any):
    part = gpt2.transformer.h[0]
    hung = part.forward = partial(part.forward)

    def look() -> None:
        with borrowed(gpt2):
            assert part.forward is not hung
            raise RuntimeError("went wrong")

    with pytest.raises(RuntimeError, match="went wrong"):
        look()
    assert part.forward is hung
    assert gpt2.config._attn_implementation == "sdpa"


def test_a_model_with_grouped_heads_is_recorded(tokenizer: Any, tmp_path: Path):
    torch.manual_seed(1)
    llama = LlamaForCausalLM(
        LlamaConfig(vocab_size=len(tokenizer), intermediate_size=48, num_key_value_heads=2, **SIZES)
    )
    found = record(llama, tokenizer, TEXT, name="mine")
    found.save(tmp_path / "x.trace", heads=["L1H3"])
    again = read_trace_file(tmp_path / "x.trace")
    assert again.trace.recorded == ((1, 3),)
    assert (again.origin.model, again.origin.family) == ("mine", "llama")


def test_somebodys_modified_attention_is_told_by_the_proof(gpt2: Any, tokenizer: Any):
    def sharper(module: Any, query: Any, key: Any, value: Any, mask: Any, **how: Any) -> Any:
        return sdpa_attention_forward(module, 3 * query, key, value, mask, **how)

    AttentionInterface.register("sharper", sharper)
    gpt2.set_attn_implementation("sharper")
    plain = record(gpt2, tokenizer, TEXT, hash_weights=False)
    assert gpt2.config._attn_implementation == "sharper"
    assert plain.trace.proof.replay_max_difference > 1e-4


def test_a_bare_encoder_is_recorded_and_writes_nothing(tokenizer: Any, tmp_path: Path):
    torch.manual_seed(2)
    bare = BertModel(BertConfig(vocab_size=len(tokenizer), intermediate_size=48, **SIZES))
    record(bare, tokenizer, TEXT).save(tmp_path / "x.trace")
    found = read_trace_file(tmp_path / "x.trace")
    assert (found.trace.steps, found.trace.answer) == ((), "")
    assert found.trace.kind(0) == "encoder"
    assert found.trace.visible.all()
    assert found.trace.lacking
    assert bare.config._attn_implementation == "sdpa"


def test_as_much_is_written_as_is_asked_for(gpt2: Any, tokenizer: Any):
    assert len(record(gpt2, tokenizer, TEXT, max_new_tokens=2).trace.steps) <= 2
    with pytest.raises(ValueError, match="max_new_tokens is 0; it must be at least 1"):
        record(gpt2, tokenizer, TEXT, max_new_tokens=0)
    assert gpt2.config._attn_implementation == "sdpa"
