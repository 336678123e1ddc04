"""Two sessions share one cached model; neither may see the other's tensors or change the model."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import torch

from core.data.vocabulary import Vocabulary
from core.inspection.record import ARRAYS, AttentionTrace
from core.inspection.trace import trace
from core.models.gpt import GPT

QUESTIONS = ["Where was Ada Arden born?", "Where was Bruno Dufour born?"]
REPEATS = 40
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


@pytest.fixture
def model(make_gpt: Callable[..., GPT], characters: Vocabulary) -> GPT:
    return make_gpt(seed=5, vocabulary_size=characters.size, block_size=48, positions="rotary")


def differences(seen: AttentionTrace, alone: AttentionTrace) -> list[str]:
    """Names of what is not equal to the last bit."""
    arrays = [n for n in ARRAYS if not np.array_equal(getattr(seen, n), getattr(alone, n))]
    values = ("question", "answer", "probability", "labels", "steps", "name_positions", "proof")
    return arrays + [n for n in values if getattr(seen, n) != getattr(alone, n)]


def test_two_threads_with_one_model_get_exactly_what_each_gets_alone(
    model: GPT, characters: Vocabulary
):
    alone = {question: trace(model, characters, question) for question in QUESTIONS}
    assert differences(alone[QUESTIONS[0]], alone[QUESTIONS[1]])
    barrier = Barrier(2, timeout=60)

    def work(first: int) -> list[list[str]]:
        found: list[list[str]] = []
        for turn in range(REPEATS):
            question = QUESTIONS[(first + turn) % 2]
            barrier.wait()
            found.append(differences(trace(model, characters, question), alone[question]))
        return found

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(work, (0, 1)))
    assert results == [[[]] * REPEATS] * 2


def test_a_trace_leaves_no_hooks_and_no_changes_on_the_model(model: GPT, characters: Vocabulary):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    trace(model, characters, QUESTIONS[0])
    for module in model.modules():
        assert not any(getattr(module, hooks) for hooks in HOOKS)
        assert not module.training
    after = model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert not torch.is_inference_mode_enabled()


def test_a_trace_stays_as_it_was_when_the_model_changes(model: GPT, characters: Vocabulary):
    seen = trace(model, characters, QUESTIONS[0])
    again = trace(model, characters, QUESTIONS[0])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    trace(model, characters, QUESTIONS[1])
    assert differences(seen, again) == []
