"""Signals of many names at once are what the tools say of each name alone."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from core.catalogue import MECHANISMS
from core.checkpoints.store import Checkpoint, load_checkpoint
from core.generation.greedy import answer
from core.inspection.attribution import attribution, logit_lens
from core.inspection.readings import read_trace
from core.inspection.trace import name_positions, record_layers, trace
from core.knowledge import signals as module
from core.knowledge.signals import Signals, lacking_signals, signals
from core.paths import CHECKPOINTS
from tests.with_task import gpt_of

TEXTS = [
    "Where was Ada Arden born?",
    "Where was Emeka Bello born?",
    "Where was Chen born?",
    "Where was Hina Eriksen born?",
    "Where was Ada Bello born?",
]


def check_against_single_names(stored: Checkpoint, texts: Sequence[str], found: Signals) -> None:
    assert list(found.answers) == answer(stored, texts)
    lacking = lacking_signals(stored.model)
    for index, text in enumerate(texts):
        traced = trace(stored, text)
        step = traced.steps[0]
        values = {name: series[index] for name, series in found.values.items()}
        assert values["probability"] == pytest.approx(traced.probability, rel=1e-3)
        second = step.next_best[0].probability
        assert values["margin"] == pytest.approx(step.probability - second, abs=1e-4)
        alone = read_trace(traced).weight_on_name
        np.testing.assert_allclose(found.heads[index], alone, atol=1e-5)
        assert values["weight_on_name"] == pytest.approx(np.nanmean(alone), abs=1e-5)
        if "agreement" not in lacking:
            lens = logit_lens(stored, text).probability
            assert values["agreement"] == pytest.approx(lens[1:-1].mean(), abs=1e-5)


def test_many_names_give_what_each_gives_alone(tiny: Checkpoint):
    check_against_single_names(tiny, TEXTS, signals(tiny, TEXTS))


def test_of_a_shipped_checkpoint_too():
    stored = load_checkpoint(CHECKPOINTS / "notable-small")
    texts = [f"Where was {n} born?" for n in ("Ada Lovelace", "Kurt Gödel", "Blub Blubber")]
    found = signals(stored, texts)
    check_against_single_names(stored, texts, found)
    for index, text in enumerate(texts):
        expected = plain_contribution(stored, text)
        assert found.values["contribution"][index] == pytest.approx(expected, abs=1e-3)


@torch.inference_mode()
def plain_contribution(stored: Checkpoint, text: str) -> float:
    """Layer by layer, head by head, token by token of the name."""
    model = gpt_of(stored)
    ids = torch.tensor([[*stored.vocabulary.encode(text), stored.vocabulary.mask_id]])
    row, token = ids.shape[1] - 1, answer(stored, [text])[0].ids[0]
    final = model.run(ids, lambda _, heads: heads.output())[:, row]
    read = model.readout(final, torch.tensor([token]), relative=True).vector[0]
    total, width = 0.0, model.config.head_dim
    for layer, seen in enumerate(record_layers(model, ids)):
        for head in range(model.config.n_heads):
            columns = slice(head * width, (head + 1) * width)
            project = model.layers[layer].project.weight[:, columns]
            for position in name_positions(stored, text):
                value = seen.weights[0, head, row, position] * seen.heads.value[0, head, position]
                total += float((project @ value) @ read)
    return total


def test_a_contribution_is_a_sum_over_the_tokens_of_the_name(tiny: Checkpoint):
    found = signals(tiny, TEXTS)
    if "contribution" in found.lacking:
        assert tiny.model.shape.n_latents
        assert "contribution" not in found.values
        return
    for index, text in enumerate(TEXTS):
        expected = plain_contribution(tiny, text)
        assert found.values["contribution"][index] == pytest.approx(expected, abs=1e-3)


def test_over_every_token_it_is_what_the_heads_add_directly(
    tiny: Checkpoint, monkeypatch: pytest.MonkeyPatch
):
    if tiny.model.shape.n_latents:  # its last layer looks at latents
        return
    encode = tiny.vocabulary.encode
    monkeypatch.setattr(module, "name_positions", lambda _, text: range(len(encode(text)) + 1))
    found = signals(tiny, TEXTS[:2])
    for index, text in enumerate(TEXTS[:2]):
        heads = attribution(tiny, text, relative=True).heads
        assert found.values["contribution"][index] == pytest.approx(heads.sum(), abs=2e-3)
        if MECHANISMS[gpt_of(tiny).config.attention].is_normalised:
            np.testing.assert_allclose(found.heads[index], 1.0, atol=1e-3)


def test_batches_do_not_matter_and_are_counted(small: Checkpoint, monkeypatch: pytest.MonkeyPatch):
    whole, told = signals(small, TEXTS), list[tuple[int, int]]()
    monkeypatch.setattr(module, "AT_ONCE", 2)
    parts = signals(small, TEXTS, progress=lambda done, of: told.append((done, of)))
    assert told == [(2, 5), (4, 5), (5, 5)]
    np.testing.assert_allclose(parts.heads, whole.heads, atol=1e-6)
    for name, values in whole.values.items():
        np.testing.assert_allclose(parts.values[name], values, atol=1e-5)


def test_a_question_that_names_nobody_has_no_weight_on_a_name(small: Checkpoint):
    found = signals(small, ["Was Ada born?", TEXTS[0]])
    assert np.isnan(found.heads[0]).all()
    assert np.isnan([found.values[n][0] for n in ("weight_on_name", "contribution")]).all()
    assert not np.isnan(found.heads[1]).any()
    assert not np.isnan(found.values["margin"]).any()


def test_what_a_model_cannot_give_is_said(tiny: Checkpoint):
    lacking = lacking_signals(tiny.model)
    if tiny.model.shape.n_latents:
        assert "it looks at latents" in lacking["contribution"]
        assert "a Perceiver has no logit lens" in lacking["agreement"]
    else:
        assert lacking == {}


def test_one_layer_has_no_earlier_one(make_gpt, characters, small: Checkpoint):
    one = make_gpt(1, vocabulary_size=characters.size, block_size=48, n_layers=1)
    assert "one layer" in lacking_signals(one)["agreement"]
    with pytest.raises(ValueError, match="no questions: at least one is needed"):
        signals(small, [])
    with pytest.raises(ValueError, match="position 10"):
        signals(small, ["Where was Ωda born?"])
