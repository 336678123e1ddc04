"""The calls about pairs in a state: against what the page measures, and what they refuse."""

from typing import Any

import pytest

from core.lessons.check import functions
from core.lessons.computed.once import Once
from core.memory.capacity import measure_capacity
from core.memory.generation import MODELS
from core.memory.mqar import load_recall
from core.memory.overwrite import measure_overwriting
from core.memory.spec import MemorySpec
from core.memory.states import drawn_state

SUM: dict[str, Any] = {"method": "linear", "dim": 16}


@pytest.fixture(scope="module")
def once() -> Once:
    """One for all tests here: pairs are stored once."""
    return Once()


def call(name: str, once: Once, /, **told: Any) -> float:
    return functions()[name](once, **told)


def test_shares_and_halves_are_those_of_the_page(once: Once):
    found = measure_capacity(MemorySpec(dim=16), methods=("linear",))
    assert call("recalled_share", once, **SUM, pairs=32) == found.recalled["linear"][2].value
    assert call("pairs_at_half", once, **SUM) == found.half("linear")
    assert call("pairs_at_half_by_theory", once, **SUM) == found.half_by_theory("linear")


def test_overwritten_shares_writes_and_bytes_are_those_of_the_page(once: Once):
    found = measure_overwriting(MemorySpec(dim=16))
    for name in ("rewritten", "kept", "stale"):
        share = getattr(found, name)["linear"].value
        assert call("overwritten_share", once, **SUM, of=name) == share
    write = drawn_state("delta", MemorySpec())[1][10]
    told: dict[str, Any] = {"method": "delta", "write": 11}
    assert call("taken_by_write", once, **told) == write.taken > 0
    assert call("read_after_write", once, **told) == write.read == pytest.approx(1, abs=1e-5)
    shape = MODELS[0]
    assert call("kept_bytes", once, model=shape.name, tokens=64) == shape.n_bytes(64)
    (trained,) = load_recall().of(["delta"])
    assert call("trained_share", once, model="delta", pairs=64) == trained.at(64).value


@pytest.mark.parametrize(
    ("name", "told", "why"),
    [
        ("recalled_share", {**SUM, "pairs": 9}, "9 pairs are not measured; 8, 16, 32"),
        ("recalled_share", {**SUM, "method": "hopfield", "pairs": 8}, "unknown mechanism 'hop"),
        ("pairs_at_half", {"method": "softmax", "dim": 16}, "does not lose a half between 8 and"),
        ("pairs_at_half_by_theory", {"method": "elu", "dim": 16}, "elu does not lose a half"),
        ("overwritten_share", {**SUM, "of": "both"}, "of is 'both'; rewritten, kept, stale"),
        ("taken_by_write", {"method": "delta", "write": 0}, "write 0; 1 to 15 are drawn"),
        ("read_after_write", {"method": "softmax", "write": 1}, "'softmax' keeps no matrix"),
        ("trained_share", {"model": "gate", "pairs": 8}, "model 'gate'; trained were softmax, elu"),
        ("trained_share", {"model": "elu", "pairs": 9}, "9 pairs were not trained; 4, 8, 16"),
        ("kept_bytes", {"model": "GPT-9", "tokens": 1}, "unknown model 'GPT-9'; models: GPT-2"),
    ],
)
def test_what_cannot_be_told_is_refused(once: Once, name: str, told: dict[str, Any], why: str):
    with pytest.raises(ValueError, match=why):
        call(name, once, **told)
