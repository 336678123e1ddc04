"""Every variant generates with its cache what it would generate without."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from core.data.own_vocabulary import MASK_ID
from core.data.vocabulary import Vocabulary
from core.generation.greedy import answer, attending, greedy
from core.models.gpt import GPT
from tests.with_task import with_task

MakeGPT = Callable[..., GPT]
BLOCK = 48
# A prompt has 27 tokens: the Perceivers' answers begin before, at and after their last latent.
VARIANTS: dict[str, dict[str, Any]] = {
    "synthesizer": {"attention": "synthesizer"},
    "dense-synthesizer": {"attention": "dense-synthesizer"},
    "elu": {"attention": "elu"},
    "favor": {"attention": "favor", "n_features": 24, "positions": "rotary"},
    "taylor": {"attention": "taylor", "n_terms": 3},
    "delta": {"attention": "delta"},
    "gated-delta": {"attention": "gated-delta", "positions": "rotary"},
    "gate": {"attention": "gate"},
    "window": {"attention": "window", "window": 6, "n_sinks": 2},
    "based": {"attention": "based", "window": 6},
    "convolution": {"attention": "delta", "positions": "rotary", "short_convolution": 4},
    "perceiver": {"n_latents": 30, "n_layers": 4},
    "perceiver-full": {"n_latents": 27, "n_layers": 3, "latent_residual": False},
    "perceiver-small": {"n_latents": 6, "n_layers": 3},
    "perceiver-rotary": {"n_latents": 16, "n_layers": 4, "positions": "rotary"},
    "perceiver-stride": {"n_latents": 24, "latent_stride": 2, "n_layers": 3},
    "perceiver-latent-norm": {"n_latents": 30, "n_layers": 4, "latent_norm": "latents"},
    "perceiver-latent-norm-rotary": {
        "n_latents": 16,
        "n_layers": 3,
        "positions": "rotary",
        "latent_norm": "latents",
        "latent_residual": False,
    },
}


@pytest.fixture(params=VARIANTS)
def model(request: pytest.FixtureRequest, make_gpt: MakeGPT) -> GPT:
    return make_gpt(seed=1, block_size=BLOCK, **VARIANTS[request.param])


@torch.inference_mode()
def test_greedy_steps_with_the_cache_equal_whole_passes(model: GPT):
    prompt = torch.randint(2, 30, (3, 27), generator=torch.Generator().manual_seed(2))
    written = greedy(model, prompt, BLOCK - 1 - 27, ends={MASK_ID})
    seen = prompt
    for step in range(written.ids.shape[1]):
        log, best = model(seen)[:, -1].log_softmax(-1).max(-1)
        assert torch.equal(written.ids[:, step], best)
        torch.testing.assert_close(written.logs[:, step], log, atol=1e-4, rtol=1e-4)
        seen = torch.cat([seen, best[:, None]], dim=1)
    assert float(written.logs.std()) > 1e-3  # the steps are not all alike


@torch.inference_mode()
@pytest.mark.parametrize("length", [1, 2, 3])
def test_short_prompts_grow_as_well(model: GPT, length: int):
    prompt = torch.randint(2, 30, (1, length), generator=torch.Generator().manual_seed(length))
    written = greedy(model, prompt, 9, ends={MASK_ID})
    n_new = written.ids.shape[1]
    whole = model(torch.cat([prompt, written.ids], 1))[:, length - 1 : length - 1 + n_new]
    log, best = whole.log_softmax(-1).max(-1)
    assert torch.equal(written.ids, best)
    torch.testing.assert_close(written.logs, log, atol=1e-4, rtol=1e-4)


@torch.inference_mode()
@pytest.mark.parametrize("reads_on", [False, True])
def test_the_streams_are_those_of_one_pass_over_all_that_was_read(model: GPT, reads_on: bool):
    prompt = torch.randint(2, 30, (2, 5), generator=torch.Generator().manual_seed(3))
    written = greedy(model, prompt, 6, ends=set(), reads_on=reads_on)
    read = torch.cat([prompt, written.ids], 1)[:, : 11 if reads_on else 10]
    whole = model.run(read, attending(None))
    torch.testing.assert_close(written.stream, whole, atol=1e-4, rtol=1e-4)


@torch.inference_mode()
def test_an_answer_that_ended_is_not_read_on(model: GPT):
    prompt = torch.randint(2, 30, (1, 5), generator=torch.Generator().manual_seed(4))
    (first,) = greedy(model, prompt, 1, ends=set()).ids[0].tolist()
    written = greedy(model, prompt, 6, ends={first}, reads_on=True)
    assert written.ids.tolist() == [[first]]
    assert written.stream.shape[1] == 5


def test_a_synthesizer_answers_within_its_columns(make_gpt: MakeGPT, characters: Vocabulary):
    sizes: dict[str, Any] = {"vocabulary_size": characters.size, "attention": "synthesizer"}
    model = make_gpt(seed=5, block_size=BLOCK, **sizes)
    (given,) = answer(with_task(model, characters), ["a" * 45])
    assert len(given.ids) == 1
    with pytest.raises(ValueError, match=r"has 46 tokens; .* at most 45 fit .* block of 47"):
        answer(with_task(model, characters), ["a" * 46])
