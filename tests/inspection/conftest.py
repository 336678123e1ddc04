"""Traced questions of tiny models with parameters that no training made."""

from collections.abc import Callable

import numpy as np
import pytest

from core.data.vocabulary import Vocabulary
from core.inspection.record import AttentionTrace, Candidate, Proof, Step
from core.inspection.trace import trace
from core.models.gpt import GPT

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
    return trace(model, vocabulary, QUESTION)


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
