"""record(model, tokenizer, text).save("x.trace"): what any Python process can write."""

import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

import core
from core import record
from core.checkpoints.store import Checkpoint
from core.data.vocabulary import Vocabulary
from core.inspection.recording import Recording, family_of, weights_digest
from core.inspection.trace import trace
from core.inspection.trace_file import read_trace_file
from core.inspection.trace_json import said_of
from core.models.gpt import GPT
from tests.other_model import other_model
from tests.with_task import with_task

ROOT = Path(__file__).parents[2]
QUESTION = "Where was Ada Arden born?"


@pytest.fixture(scope="session")
def recording(model: GPT, vocabulary: Vocabulary) -> Recording:
    return record(model, vocabulary, QUESTION, name="mine")


def test_what_is_recorded_is_the_trace_with_its_origin(
    recording: Recording, model: GPT, vocabulary: Vocabulary, tmp_path: Path
):
    recording.save(tmp_path / "x.trace", with_vectors=True)
    found, direct = (
        read_trace_file(tmp_path / "x.trace"),
        trace(Checkpoint(model, vocabulary), QUESTION),
    )
    assert said_of(found.trace) == said_of(direct)
    assert np.array_equal(found.trace.weights, direct.weights)
    assert (found.origin.model, found.origin.family) == ("mine", "GPT")
    assert found.origin.weights == weights_digest(model)
    assert set(found.origin.versions) >= {"python", "torch", "numpy"}


def test_heads_are_kept_by_name_or_number(recording: Recording, tmp_path: Path):
    recording.save(str(tmp_path / "x.trace"), heads=["L1H0", (0, 1)], precision="float16")
    found = read_trace_file(tmp_path / "x.trace")
    assert (found.trace.recorded, found.precision) == (((0, 1), (1, 0)), "float16")
    with pytest.raises(ValueError, match="'FIVE' is not a head such as L0·H3"):
        recording.save(tmp_path / "y.trace", heads=["five"])


def test_a_checkpoint_brings_its_vocabulary_name_and_task(
    model: GPT, vocabulary: Vocabulary, tmp_path: Path
):
    stored = with_task(model, vocabulary)
    found = record(stored, text=QUESTION, hash_weights=False)
    assert found.trace.name_positions
    assert found.origin.weights == ""
    with pytest.raises(ValueError, match="a Checkpoint has its vocabulary"):
        record(stored, vocabulary, QUESTION)
    with pytest.raises(ValueError, match="no tokenizer"):
        record(model, text=QUESTION)


def test_a_model_of_another_family_that_keeps_the_seam_is_recorded(
    vocabulary: Vocabulary, tmp_path: Path
):
    other = other_model(vocabulary_size=vocabulary.size)
    found = record(other, vocabulary, QUESTION)
    found.save(tmp_path / "x.trace")
    assert read_trace_file(tmp_path / "x.trace").origin.family == "OtherModel"
    assert weights_digest(other) == ""


def test_a_digest_follows_every_parameter(model: GPT):
    other = deepcopy(model)
    assert weights_digest(other) == weights_digest(model)
    next(iter(other.parameters())).data.view(-1)[0] += 1
    assert weights_digest(other) != weights_digest(model)


def test_a_family_is_what_transformers_calls_it():
    class Config:
        model_type = "llama"

    class Llama:
        config = Config()

    assert family_of(Llama()) == "llama"
    assert family_of(3) == "int"


def test_the_door_for_notebooks_loads_torch_when_it_is_asked_for():
    code = (
        "import sys, core; before = 'torch' in sys.modules; from core import record; "
        "print(before, 'torch' in sys.modules, 'streamlit' in sys.modules, record.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True", "False", "record"]
    with pytest.raises(AttributeError, match="module 'core' has no attribute 'play'"):
        _ = core.play  # pyright: ignore[reportAttributeAccessIssue]
