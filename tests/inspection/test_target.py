"""A target that is given to the decoder of an encoder-decoder: what it reads, how likely it is."""

import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import processors
from torch import Tensor

from core import record
from core.checkpoints.store import Checkpoint
from core.data.outside_vocabulary import OutsideVocabulary
from core.generation.target import target_ids
from core.inspection.ablate import switched_off
from core.inspection.captions import row_sentence
from core.inspection.heads import HeadsOff
from core.inspection.trace import trace
from core.inspection.trace_file import read_trace_file, save_trace
from core.inspection.trace_json import said_of, trace_from_dict, trace_to_dict
from tests.models.family import LONGEST
from tests.models.saved import tokenizer
from tests.models.tiny_models import tiny

SOURCE, TARGET = "w7 w9 w11 w13", "w8 w21 w5"
TARGET_IDS, END = (8, 21, 5), 2
TWO_SIDED = ["t5", "bart"]


def checkpoint(name: str, *, ends: bool = True) -> Checkpoint:
    """A tiny model with a tokenizer that ends every text, or leaves it open."""
    plain: Any = type(tokenizer())(
        tokenizer_object=type(tokenizer().backend_tokenizer).from_str(
            tokenizer().backend_tokenizer.to_str()
        ),
        **tokenizer().special_tokens_map,
    )
    if ends:
        plain.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", END)]
        )
    begin = getattr(tiny(name).plain.config, "decoder_start_token_id", None)
    return Checkpoint(tiny(name).model, OutsideVocabulary(plain, begin_id=begin), name=name)


@torch.inference_mode()
def taught(name: str, source: list[int], target: tuple[int, ...]) -> Tensor:
    """(target, vocabulary): what transformers itself gives when the target is shown to it."""
    plain = tiny(name).plain
    return plain(input_ids=torch.tensor([source]), labels=torch.tensor([target])).logits[0]


@pytest.mark.parametrize("name", TWO_SIDED)
@pytest.mark.parametrize("ends", [True, False])
def test_each_step_has_the_probability_of_the_teacher_forced_model(name: str, ends: bool):
    stored = checkpoint(name, ends=ends)
    target = (*TARGET_IDS, END) if ends else TARGET_IDS
    found = trace(stored, SOURCE, target=TARGET)
    expected = taught(name, stored.vocabulary.encode(SOURCE), target).softmax(-1)
    assert found.teacher_forced
    assert found.answer == TARGET
    assert [step.label for step in found.steps] == ["w8", "w21", "w5", *(["</s>"] if ends else [])]
    for step, token, row in zip(found.steps, target, expected, strict=True):
        assert step.probability == pytest.approx(float(row[token]), abs=1e-5)
        best = [int(i) for i in row.topk(6).indices if int(i) != token][:5]
        assert [other.label for other in step.next_best] == stored.vocabulary.labels(best)
    each = [float(row[token]) for row, token in zip(expected, target, strict=True)]
    assert found.probability == pytest.approx(math.prod(each), rel=1e-4)
    assert found.proof.replay_max_difference < 1e-4


def test_the_decoder_reads_the_target_and_looks_at_all_of_the_source():
    found = trace(checkpoint("t5"), SOURCE, target=TARGET)
    assert found.labels == ("w7", "w9", "w11", "w13", "</s>", "[PAD]", "w8", "w21", "w5")
    assert [(step.row, step.position) for step in found.steps] == [(5, 6), (6, 7), (7, 8), (8, 9)]
    (cross, *_) = found.layers_of("cross")
    assert found.rows(cross) == (5, 6, 7, 8)
    assert np.allclose(found.weights[cross, :, 5:, :5].sum(-1), 1, atol=1e-5)
    open_end = trace(checkpoint("t5", ends=False), SOURCE, target=TARGET)
    assert open_end.labels[-3:] == ("w8", "w21", "w5")  # the last is read, too
    assert open_end.steps[-1].row == open_end.n_tokens - 2


def test_what_the_model_writes_is_as_likely_when_it_is_given():
    stored = checkpoint("bart", ends=False)
    written = trace(stored, SOURCE, max_new_tokens=4)
    given = trace(stored, SOURCE, target=written.answer)
    assert not written.teacher_forced
    assert len(given.steps) == len(written.steps) == 4
    assert given.probability == pytest.approx(written.probability, rel=1e-4)
    assert np.allclose(given.weights, written.weights, atol=1e-5)


@torch.inference_mode()
def test_a_target_has_its_probability_with_heads_off():
    stored, off = checkpoint("t5"), HeadsOff(heads=((2, 1), (3, 0)))
    found = trace(stored, SOURCE, off, target=TARGET)
    source = torch.tensor([stored.vocabulary.encode(SOURCE)])
    change = switched_off(off)(0)
    x = stored.model.run(
        torch.tensor([[0, *TARGET_IDS]]),
        lambda layer, heads: change(layer, heads, heads.output()),
        source=source,
    )
    log = stored.model.logits(x)[0].log_softmax(-1)
    expected = [float(log[i, token].exp()) for i, token in enumerate((*TARGET_IDS, END))]
    assert [step.probability for step in found.steps] == pytest.approx(expected, abs=1e-5)
    assert found.probability != trace(stored, SOURCE, target=TARGET).probability


def test_targets_are_spelt_by_the_rules_of_targets(monkeypatch: pytest.MonkeyPatch):
    stored = checkpoint("t5")
    assert isinstance(stored.vocabulary, OutsideVocabulary)
    spelling, backend = stored.vocabulary.tokenizer, stored.vocabulary.tokenizer.backend_tokenizer
    usual = backend.post_processor
    marked = processors.TemplateProcessing(
        single="w6 $A </s>", special_tokens=[("w6", 6), ("</s>", END)]
    )
    for mode, rule in (("target", marked), ("input", usual)):
        switch = partial(setattr, backend, "post_processor", rule)
        monkeypatch.setattr(spelling, f"_switch_to_{mode}_mode", switch, raising=False)
    assert target_ids(stored, TARGET) == (6, *TARGET_IDS, END)
    assert stored.vocabulary.encode(TARGET) == [*TARGET_IDS, END]


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("t5", " ", "the target is empty: type one, or give none and the model writes it"),
        ("llama", TARGET, "this model has no target: it reads one text and goes on with it"),
        ("bert", TARGET, "this model has no target"),
        (
            "bart",
            " ".join(["w5"] * LONGEST),
            f"the target has {LONGEST + 1} tokens; at most {LONGEST} fit into this model's block",
        ),
    ],
)
def test_a_target_that_cannot_be_given_is_refused_in_one_sentence(
    name: str, target: str, message: str
):
    with pytest.raises(ValueError, match=message):
        trace(checkpoint(name), SOURCE, target=target)


def test_a_target_as_long_as_the_block_is_read():
    stored = checkpoint("bart")
    assert len(trace(stored, "w7", target=" ".join(["w5"] * (LONGEST - 1))).steps) == LONGEST
    with pytest.raises(ValueError, match=f"the target has {LONGEST} tokens; at most {LONGEST - 1}"):
        trace(checkpoint("bart", ends=False), "w7", target=" ".join(["w5"] * LONGEST))


def test_an_unknown_token_of_a_target_is_refused():
    stored = checkpoint("t5")
    assert isinstance(stored.vocabulary, OutsideVocabulary)
    few = replace(stored, vocabulary=replace(stored.vocabulary, n_rows=8))
    with pytest.raises(ValueError, match="this model has no token 'w21'"):
        trace(few, "w7", target="w7 w21")


def test_that_a_target_was_given_travels_and_old_files_say_nothing_of_it(tmp_path: Path):
    found = trace(checkpoint("t5"), SOURCE, target=TARGET)
    save_trace(tmp_path / "x.trace", found)
    again = read_trace_file(tmp_path / "x.trace").trace
    assert again.teacher_forced
    assert said_of(again) == said_of(found)
    stored = json.loads(json.dumps(trace_to_dict(found), allow_nan=False))
    assert trace_from_dict(stored).teacher_forced
    del stored["teacher_forced"]
    assert not trace_from_dict(stored).teacher_forced


def test_a_recording_may_be_of_a_target():
    plain = tiny("t5").plain
    found = record(plain, tokenizer(), SOURCE, target=TARGET, hash_weights=False).trace
    assert (found.teacher_forced, found.answer) == (True, TARGET)
    assert found.proof.replay_max_difference < 1e-4


def test_a_row_of_a_target_is_not_said_to_write():
    step = trace(checkpoint("t5"), SOURCE, target=TARGET).steps[1]
    said = row_sentence("L4·H0", 6, [0.9, 0.1, 0.0], list("abc"), step, forced=True, seen=[0, 1, 2])
    assert said == "L4·H0 looks at “a” (weight 0.9) before the given “w21”"
