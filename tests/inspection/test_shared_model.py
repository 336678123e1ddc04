"""Two sessions share one cached model; neither may see the other's tensors or change the model."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import torch

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.inspection.ablate import effect, head_means
from core.inspection.answered import answered
from core.inspection.attribution import attribution, logit_lens
from core.inspection.head_table import measure_heads, prepare
from core.inspection.heads import HeadsOff
from core.inspection.patching import Site, patch
from core.inspection.split_readings import read_split
from core.inspection.trace import trace
from core.inspection.traced import ARRAYS, AttentionTrace
from core.models.gpt import GPT
from tests.with_task import with_task

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
    alone = {question: trace(with_task(model, characters), question) for question in QUESTIONS}
    assert differences(alone[QUESTIONS[0]], alone[QUESTIONS[1]])
    barrier = Barrier(2, timeout=60)

    def work(first: int) -> list[list[str]]:
        found: list[list[str]] = []
        for turn in range(REPEATS):
            question = QUESTIONS[(first + turn) % 2]
            barrier.wait()
            found.append(
                differences(trace(with_task(model, characters), question), alone[question])
            )
        return found

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(work, (0, 1)))
    assert results == [[[]] * REPEATS] * 2


def off(model: GPT, vocabulary: Vocabulary) -> None:
    trace(with_task(model, vocabulary), QUESTIONS[0], HeadsOff(heads=((0, 0), (1, 1))))


def on_average(model: GPT, vocabulary: Vocabulary) -> None:
    known = answered(
        with_task(model, vocabulary), [Question(text, "Lima", "") for text in QUESTIONS]
    )
    means = head_means(model, known)
    effect(with_task(model, vocabulary), known, HeadsOff(heads=((0, 0),), mode="mean", means=means))
    read_split(with_task(model, vocabulary), known)


def patched(model: GPT, vocabulary: Vocabulary) -> None:
    sites = [Site(0, 12), Site(1, 14, 0)]
    patch(with_task(model, vocabulary), QUESTIONS[0], QUESTIONS[0].replace("Ada", "Ida"), sites)


def read(model: GPT, vocabulary: Vocabulary) -> None:
    attribution(with_task(model, vocabulary), QUESTIONS[0])
    logit_lens(with_task(model, vocabulary), QUESTIONS[0])


def tabled(model: GPT, vocabulary: Vocabulary) -> None:
    checkpoint = with_task(model, vocabulary)
    prepared = prepare(checkpoint, [Question(text, "Lima", "") for text in QUESTIONS])
    measure_heads(checkpoint, prepared)


@pytest.mark.parametrize("tool", [off, on_average, patched, read, tabled])
def test_no_tool_leaves_hooks_or_changes_on_the_model(
    model: GPT, characters: Vocabulary, tool: Callable[[GPT, Vocabulary], None]
):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    plain = trace(with_task(model, characters), QUESTIONS[0])
    tool(model, characters)
    for module in model.modules():
        assert not any(getattr(module, hooks) for hooks in HOOKS)
        assert not module.training
    after = model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert not torch.is_inference_mode_enabled()
    assert differences(trace(with_task(model, characters), QUESTIONS[0]), plain) == []


def test_a_trace_stays_as_it_was_when_the_model_changes(model: GPT, characters: Vocabulary):
    seen = trace(with_task(model, characters), QUESTIONS[0])
    again = trace(with_task(model, characters), QUESTIONS[0])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    trace(with_task(model, characters), QUESTIONS[1])
    assert differences(seen, again) == []


def test_a_head_that_one_thread_switches_off_stays_on_in_the_other(
    model: GPT, characters: Vocabulary
):
    sets = [set[tuple[int, int]](), {(0, 1), (1, 0)}]
    alone = [
        trace(with_task(model, characters), QUESTIONS[0], HeadsOff(heads=tuple(heads)))
        for heads in sets
    ]
    assert differences(*alone)
    barrier = Barrier(2, timeout=60)

    def work(which: int) -> list[list[str]]:
        found: list[list[str]] = []
        for _ in range(REPEATS):
            barrier.wait()
            seen = trace(
                with_task(model, characters), QUESTIONS[0], HeadsOff(heads=tuple(sets[which]))
            )
            found.append(differences(seen, alone[which]))
        return found

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(work, (0, 1)))
    assert results == [[[]] * REPEATS] * 2
