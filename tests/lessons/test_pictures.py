"""The calls about pictures: over made-up trainings and networks that have learned nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.inspection.offsets import mean_by_offset
from core.inspection.picture_looks import attention_maps, occlusion, said_of
from core.lessons.check import functions
from core.lessons.computed import pictures
from core.lessons.computed.once import Once
from core.models.patch_network import PatchNetwork
from core.models.picture_networks import make_network
from core.pictures.networks import NETWORKS
from core.pictures.sample import Sample, write_sample
from core.pictures.shifts import shifted
from core.pictures.sweep import write_sweep
from core.pictures.sweep_spec import Case
from tests.pictures.sweeps import N_TEST, made_up

DIGITS = tuple("0123456789")
LABELS = np.array([3, 1, 4, 1])
SAID = {"pooling": (3, 1, 4, 7), "strides": (3, 1, 1, 7), "patches": (3, 1, 4, 1)}
NUMBERS = np.array([5, 17, 20, 99])
OF_DIGIT: dict[str, Any] = {"network": "pooling", "picture": 17, "digit": 1}
RATE = 0.1


def right(case: Case) -> int | None:
    """At 0.1 seeds disagree and one diverged; at 0.01 pooling is always ahead."""
    if case.network == "patches":
        return 120
    at = {
        ("pooling", 0.1): (160, 100, None),
        ("strides", 0.1): (140, 150, 90),
        ("pooling", 0.01): (190, 180, 185),
        ("strides", 0.01): (170, 174, 175),
    }
    return at[case.network, case.rate][case.seed]


def network(name: str) -> Any:
    return make_network(name, 10, seed=1).eval()


def likely(numbers: tuple[int, ...]) -> np.ndarray:
    return 0.91 * np.eye(10)[list(numbers)] + 0.009


def sample() -> Sample:
    rng = np.random.default_rng(0)
    return Sample(
        source="made up",
        digest="0" * 64,
        classes=DIGITS,
        n_test=100,
        weights=dict.fromkeys(SAID, "0" * 64),
        numbers=NUMBERS,
        labels=LABELS,
        pictures=rng.integers(0, 256, (4, 28, 28)).astype(np.uint8),
        probabilities={name: likely(numbers) for name, numbers in SAID.items()},
    )


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Once]:
    """One for all tests here; what is shipped is replaced by what is made up."""
    folder: Path = tmp_path_factory.mktemp("look")
    write_sweep(folder / "look.json", made_up(right))
    write_sample(folder / "digits.json", sample())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "LOOK", folder / "look.json")
        patch.setattr(pictures, "SAMPLE", folder / "digits.json")
        found = Once()
        for name in NETWORKS:
            found.made["network", name] = network(name)
        yield found


def call(name: str, once: Once, /, **told: Any) -> float:
    return functions()[name](once, **told)


def test_shares_are_means_over_the_seeds_that_went_well(once: Once):
    share = call("look_right_share", once, network="pooling")
    assert share == pytest.approx((190 + 180 + 185) / 3 / N_TEST)
    at = {"network": "pooling", "rate": RATE}
    assert call("look_right_share", once, **at) == pytest.approx(130 / N_TEST)
    assert call("look_right_share", once, **at, seed=1) == 100 / N_TEST
    assert call("look_right_share", once, network="pooling", shift=1) == pytest.approx(share)
    assert call("look_right_share", once, network="pooling", shift=2) == pytest.approx(share / 2)
    assert call("look_parameters", once, network="patches") == 1000
    assert (call("look_seeds", once), call("look_test_pictures", once)) == (3, N_TEST)


def test_a_gain_is_paired_by_seed_and_lies_in_its_interval(once: Once):
    gains = [call("pooling_gain", once, seed=seed) for seed in range(3)]
    assert gains == pytest.approx([20 / N_TEST, 6 / N_TEST, 10 / N_TEST])
    mean = call("pooling_gain", once)
    assert mean == pytest.approx(np.mean(gains))
    low, high = (call("pooling_gain", once, end=end) for end in ("low", "high"))
    half = 4.303 * np.std(gains, ddof=1) / 3**0.5
    assert (low, high) == pytest.approx((mean - half, mean + half), rel=1e-3)
    assert call("pooling_ahead", once) == 3


def test_one_seed_may_say_either_and_one_that_diverged_says_nothing(once: Once):
    assert call("pooling_gain", once, rate=RATE, seed=0) == pytest.approx(20 / N_TEST)
    assert call("pooling_gain", once, rate=RATE, seed=1) == pytest.approx(-50 / N_TEST)
    assert call("pooling_gain", once, rate=RATE) == pytest.approx(-15 / N_TEST)
    assert call("pooling_ahead", once, rate=RATE) == 1


def test_a_digit_is_as_likely_as_the_network_says(once: Once):
    picture, made = sample().pictures[1], network("pooling")
    said = said_of({"it": made}, picture)["it"][1]
    assert call("digit_probability", once, **OF_DIGIT) == pytest.approx(float(said), rel=1e-5)
    moved = said_of({"it": made}, shifted(picture, 2, -1))["it"][1]
    assert call("digit_probability", once, **OF_DIGIT, down=2, right=-1) == pytest.approx(
        float(moved), rel=1e-5
    )
    found = occlusion(made, picture, label=1)
    assert call("digit_probability_covered", once, **OF_DIGIT) == pytest.approx(
        found.probability - float(found.drop.max()), rel=1e-5
    )


def test_heads_of_the_patches_are_measured_as_the_page_measures_them(once: Once):
    made = network("patches")
    assert isinstance(made, PatchNetwork)
    maps = attention_maps(made, sample().pictures[0])
    head: dict[str, Any] = {"picture": 5, "head": "L1·H0"}
    assert call("weight_on_patch", once, **head) == pytest.approx(float(maps.patches[1, 0].max()))
    assert call("weight_on_class_token", once, **head) == pytest.approx(float(maps.itself[1, 0]))
    found = mean_by_offset(made, sample().pictures)
    assert call("offset_score", once) == pytest.approx(float(found.score.max()))
    assert call("offset_score", once, head="L1·H0") == pytest.approx(float(found.score[1, 0]))
    near = call("weight_on_neighbours", once, head="L1·H0")
    assert near == pytest.approx(float(found.neighbours[1, 0]))
    assert call("weight_on_neighbours_uniform", once) == found.neighbours_uniform


def test_wrong_answers_are_counted(once: Once):
    counts = [call("wrong_pictures", once, network=name) for name in SAID]
    assert counts == [1, 2, 0]
    assert call("wrong_pictures", once) == 0


@pytest.mark.parametrize(
    ("name", "told", "why"),
    [
        ("look_right_share", {"network": "forest"}, "unknown network 'forest'; networks: pooling"),
        ("look_right_share", {"network": "pooling", "shift": 5}, "shift of 5; shifts: 0, 1, 2"),
        ("look_right_share", {"network": "pooling", "rate": 3.0}, "at rate 3; rates: 0.1, 0.01"),
        ("look_right_share", {"network": "pooling", "rate": RATE, "seed": 2}, "went well"),
        ("pooling_gain", {"rate": RATE, "seed": 2}, r"seed 2 has no such .*; seeds: \[0, 1\]"),
        ("pooling_gain", {"seed": 0, "end": "low"}, "seed 0 has no such difference"),
        ("pooling_gain", {"rate": 3.0}, "too few seeds"),
        ("pooling_gain", {"end": "middle"}, "'middle'; low or high is allowed"),
        ("digit_probability", {**OF_DIGIT, "picture": 6}, "test picture 6 is not shipped"),
        ("digit_probability", {**OF_DIGIT, "digit": 10}, "digit 10; 0, 1, 2"),
        ("digit_probability_covered", {**OF_DIGIT, "digit": -1}, "digit -1"),
        ("weight_on_patch", {"picture": 5, "head": "L9·H0"}, "no head L9·H0 among patches"),
        ("offset_score", {"head": "wide"}, "is not a head"),
        ("wrong_pictures", {"network": "forest"}, "'forest' says nothing; networks: pooling"),
    ],
)
def test_what_cannot_be_told_is_refused(once: Once, name: str, told: dict[str, Any], why: str):
    with pytest.raises(ValueError, match=why):
        call(name, once, **told)
