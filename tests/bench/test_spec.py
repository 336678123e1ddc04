"""A bench spec is checked where it is made."""

import json
import os
from typing import Any

import pytest

from core.bench.spec import BenchSpec, spec_from_dict
from core.catalogue import METHODS
from core.theory.costs import Sizes


def make(**changes: Any) -> BenchSpec:
    base: dict[str, Any] = {"methods": ("sdpa", "elu"), "lengths": (64, 128)}
    return BenchSpec(**{**base, **changes})


def test_cases_go_length_by_length():
    assert make().cases == [("sdpa", 64), ("elu", 64), ("sdpa", 128), ("elu", 128)]
    assert make().pass_name == "forward"
    assert make(backward=True).pass_name == "forward+backward"
    assert make(causal=True, question="generation").pass_name == "generation"
    assert [make().writes, make(causal=True, question="generation").writes] == [False, True]


def test_the_shape_of_a_case_knows_the_bytes_of_a_number():
    shape = make(batch=2, dtype="bfloat16").shape(64)
    assert (shape.heads, shape.seq_len, shape.bytes_a_number) == (16, 64, 2)


def test_a_spec_comes_back_from_json_as_it_was():
    for spec in (
        make(),
        make(methods=METHODS, causal=True, sizes=Sizes(n_terms=2, dense=True)),
        make(causal=True, question="generation"),
    ):
        assert spec_from_dict(json.loads(json.dumps(spec.to_dict()))) == spec


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ()}, "no method to measure; methods: explicit, sdpa"),
        ({"methods": ("elu", "performer")}, "unknown method 'performer'; methods: explicit"),
        ({"methods": ("elu", "elu")}, "a method is named twice: elu, elu"),
        ({"methods": ("linformer", "nystrom"), "causal": True}, "none of these has a causal form"),
        ({"methods": ("delta", "window")}, "delta, window: these have a causal form alone"),
        ({"question": "training"}, "unknown question 'training'; questions: pass, generation"),
        ({"question": "generation"}, "generation is causal: a token that is written sees no"),
        (
            {"question": "generation", "causal": True, "backward": True},
            "generation has no backward pass",
        ),
        (
            {"question": "generation", "causal": True, "methods": ("bigbird", "linformer")},
            "bigbird, linformer: none of these writes token by token",
        ),
        ({"lengths": ()}, "0 lengths; 1 to 24 are allowed"),
        ({"lengths": (128, 128)}, "lengths 128, 128; they must rise"),
        ({"lengths": (256, 128)}, "they must rise"),
        ({"lengths": (0,)}, "a length is 0; 1 to 131072"),
        ({"lengths": (2**17 + 1,)}, "a length is 131073"),
        ({"lengths": (64.0,)}, "a length is 64.0"),
        (
            {"lengths": (2**17,), "n_heads": 128, "head_dim": 256, "batch": 256},
            "256 x 128 heads x 131,072 tokens x 256 are 1,099,511,627,776 numbers; at most 2,1",
        ),
        ({"head_dim": 0}, "head_dim is 0; 1 to 256"),
        ({"n_heads": 129}, "n_heads is 129"),
        ({"batch": True}, "batch is True"),
        ({"threads": 0}, f"threads is 0; 1 to {os.cpu_count()}"),
        ({"threads": 10_000}, "threads is 10000"),
        ({"repeats": 2}, "repeats is 2; 3 to 1000"),
        ({"seconds": float("nan")}, "seconds is nan; 0 to 60"),
        ({"seconds": 61.0}, "seconds is 61.0"),
        ({"seed": -1}, "seed is -1"),
        ({"causal": 1}, "causal is 1; true or false"),
        ({"device": "tpu"}, "unknown device 'tpu'; devices: cpu, cuda, cuda:N, mps"),
        ({"dtype": "float64"}, "unknown dtype 'float64'; dtypes: float32, bfloat16, float16"),
        ({"dtype": "float16"}, "float16 is for GPUs"),
        ({"sizes": Sizes(n_features=0)}, "n_features is 0; 1 to 4096"),
        ({"sizes": Sizes(n_window=2)}, "n_window is 2; BigBird's window is odd"),
        ({"sizes": Sizes(n_random=-1)}, "n_random is -1; 0 to 16"),
        (
            {"methods": ("taylor",), "head_dim": 64, "sizes": Sizes(n_terms=5)},
            "5 Taylor terms of 64 numbers are 814,385 features; at most 65,536",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(changes: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        make(**changes)


def test_a_spec_of_an_earlier_version_asks_for_a_whole_pass():
    data = make().to_dict()
    del data["question"]
    assert spec_from_dict(data) == make()


def test_many_terms_are_fine_where_no_taylor_map_is_measured():
    assert make(head_dim=64, sizes=Sizes(n_terms=5)).sizes.n_terms == 5


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"methods": ["elu"]}, "not a bench spec: 'lengths'"),
        ({"methods": ["elu"], "lengths": 5}, "not a bench spec"),
        ({"methods": ["elu"], "lengths": [5], "heads": 8}, "a bench spec has no heads"),
        ({"methods": ["elu"], "lengths": [5], "sizes": {"k": 1}}, "not a bench spec"),
        ({"methods": ["elu"], "lengths": [5], "device": "tpu"}, "unknown device"),
    ],
)
def test_a_damaged_spec_is_refused(data: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        spec_from_dict(data)
