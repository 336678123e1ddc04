"""Traced questions of tiny models with parameters that no training made."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.inspection.trace import trace
from core.inspection.traced import AttentionTrace, Candidate, Proof, Step, no_scores
from core.models.gpt import GPT
from tests.variants import BLOCK_SIZE, VARIANTS
from tests.with_task import with_task

QUESTION = "Where was Ada Arden born?"


@pytest.fixture(scope="session", params=["bpe", "char"])
def vocabulary(
    request: pytest.FixtureRequest, pieces: Vocabulary, characters: Vocabulary
) -> Vocabulary:
    """Word pieces, then characters: both are first-class everywhere."""
    return pieces if request.param == "bpe" else characters


@pytest.fixture(scope="session", params=["learned", "rotary"])
def model(
    request: pytest.FixtureRequest, make_gpt: Callable[..., GPT], vocabulary: Vocabulary
) -> GPT:
    """Two layers, two heads, and nothing symmetric in it."""
    return make_gpt(seed=5, vocabulary_size=vocabulary.size, block_size=48, positions=request.param)


@pytest.fixture(scope="session")
def traced(model: GPT, vocabulary: Vocabulary) -> AttentionTrace:
    return trace(with_task(model, vocabulary), QUESTION)


@pytest.fixture(scope="session")
def make_variant(make_gpt: Callable[..., GPT], characters: Vocabulary) -> Callable[[str], GPT]:
    """A tiny model of a variant over characters."""

    def make(name: str) -> GPT:
        sizes: dict[str, Any] = {"block_size": BLOCK_SIZE, **VARIANTS[name]}
        return make_gpt(seed=5, vocabulary_size=characters.size, **sizes)

    return make


@pytest.fixture(scope="session", params=VARIANTS)
def variant(request: pytest.FixtureRequest, make_variant: Callable[[str], GPT]) -> GPT:
    return make_variant(request.param)


@pytest.fixture(scope="session")
def questions() -> list[Question]:
    """Names of one to three words, two of the same length, and one text without a name."""
    names = ("Ada Arden", "Bo Bello", "Chen B. Castro", "Hina", "Ida Arden", "Fatima Eriksen")
    asked = [
        Question(f"Where was {name} born?", ("Lima", "Lagos")[index % 2], name)
        for index, name in enumerate(names)
    ]
    return [*asked, Question("Lima is a city in the west of", "Lima", "")]


@pytest.fixture(scope="session")
def without_columns() -> Callable[..., GPT]:
    """A copy of a model whose output projection ignores some heads: ablation done the other way,
    by writing weights. With `constants`, (layer, head) to a vector (d,), these stand instead.
    """

    def make(model: GPT, heads: Any, constants: Any = None) -> GPT:
        copy = deepcopy(model)
        with torch.no_grad():
            for layer, head in heads:
                project, d = copy.layers[layer].project, copy.config.head_dim
                columns = project.weight[:, head * d : (head + 1) * d]
                if constants is not None:
                    project.bias += columns @ torch.as_tensor(constants[layer, head])
                columns.zero_()
        return copy

    return make


@pytest.fixture
def small_trace() -> AttentionTrace:
    """One layer, two heads, three tokens, made by hand; both heads look at token 1 from row 2."""
    row = [[1, 0, 0], [0.5, 0.5, 0], [0.1, 0.8, 0.1]]
    weights = np.array([[row, row]], dtype=np.float32)
    vectors = np.linspace(-1, 1, 12).reshape(1, 2, 3, 2).astype(np.float32)
    with np.errstate(divide="ignore"):
        scores = np.log(weights)
    return AttentionTrace(
        question="a b",
        answer="c",
        probability=0.25,
        labels=("·a", "·b", "⁇"),
        word_starts=(True, True, True),
        name_positions=(1,),
        steps=(
            Step(
                row=2,
                position=3,
                label="·c",
                probability=0.25,
                next_best=(Candidate("·d", 0.2), Candidate("·e", 0.1)),
            ),
        ),
        query=vectors,
        key=vectors[..., ::-1],
        value=-vectors,
        output=vectors[:, ::-1],
        scores=scores,
        weights=weights,
        value_norm=np.array([[[9, 1, 1], [1, 4, 1]]], dtype=np.float32),
        proof=Proof(
            replay_max_difference=1e-6,
            row_sum_max_error=0.0,
            future_exactly_zero=True,
            dtype="float32",
        ),
    )


@pytest.fixture
def two_texts(small_trace: AttentionTrace) -> AttentionTrace:
    """An encoder's layer over four tokens of a source, a decoder's over four of a text, and one of
    cross-attention; two heads each, drawn at random. The name is the source's second token.
    """
    seen = np.zeros((3, 8, 8), dtype=np.bool_)
    seen[0, :4, :4] = seen[2, 4:, :4] = True
    seen[1, 4:, 4:] = np.tri(4, dtype=np.bool_)
    weights = np.random.default_rng(1).random((3, 2, 8, 8)) * seen[:, None]
    sums = weights.sum(-1, keepdims=True)
    weights /= np.where(sums > 0, sums, 1)
    vectors = np.zeros((3, 2, 8, 2), dtype=np.float32)
    return replace(
        small_trace,
        labels=tuple("abcdwxyz"),
        word_starts=(True,) * 8,
        name_positions=(1,),
        kinds=("encoder", "decoder", "cross"),
        n_source=4,
        special=(False,) * 8,
        steps=(replace(small_trace.steps[0], row=6, position=7),),
        query=vectors,
        key=vectors,
        value=vectors,
        output=vectors,
        scores=no_scores(),
        seen=seen,
        weights=weights.astype(np.float32),
        value_norm=np.arange(1, 49, dtype=np.float32).reshape(3, 2, 8),
    )
