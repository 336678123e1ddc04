"""Figures of networks that look at pictures: of the recorded trainings, and of the networks and
digits that are shipped.
"""

from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from core.checkpoints.picture_files import load_network
from core.evaluation.picture_figures import (
    Difference,
    best_rate,
    does_pooling_help,
    pooling_at,
)
from core.inspection.heads import head_name, parse_head
from core.inspection.offsets import Offsets, mean_by_offset
from core.inspection.picture_looks import AttentionMaps, Occlusion, attention_maps, occlusion
from core.lessons.computed.once import Once
from core.models.patch_network import PatchNetwork
from core.models.picture_networks import Network, probabilities
from core.paths import LOOK, PICTURE_NETWORKS
from core.pictures.networks import CONVOLUTIONS, NETWORKS, PATCHES
from core.pictures.sample import SAMPLE, Sample, read_sample
from core.pictures.shifts import SHIFTS, shifted
from core.pictures.sweep import Run, Sweep, read_sweep

Picture = NDArray[np.uint8]
EVERY = -1  # seed: all of them
BEST = 0.0  # rate: the one that is best on validation pictures
ENDS = ("low", "high")


def look_right_share(
    once: Once, *, network: str, rate: float = BEST, seed: int = EVERY, shift: int = 0
) -> float:
    """Of the trainings that did not diverge. Raises ValueError where there is none of them."""
    if shift not in SHIFTS:
        raise ValueError(f"a shift of {shift}; shifts: {', '.join(map(str, SHIFTS))}")
    runs = [run for run in _runs(once, network, rate) if seed in (EVERY, run.seed)]
    shares = [share for run in runs if (share := run.shifted_accuracy(shift)) is not None]
    if not shares:
        raise ValueError(f"no training of {network} at this rate from this seed went well")
    return fmean(shares)


def pooling_gain(once: Once, *, rate: float = BEST, seed: int = EVERY, end: str = "") -> float:
    """Paired by seed, both at `rate` or each at its best. Raises ValueError where either diverged,
    and for an end of one seed's difference.
    """
    if seed != EVERY:
        by_seed = _gains(once, rate)
        if end or seed not in by_seed:
            raise ValueError(f"seed {seed} has no such difference; seeds: {sorted(by_seed)}")
        return by_seed[seed]
    found = _difference(once, rate).difference
    if found is None or found.low is None or found.high is None:
        raise ValueError("too few seeds went well with both for an interval")
    known = {"": found.mean, "low": found.low, "high": found.high}
    if end not in known:
        raise ValueError(f"end is {end!r}; {' or '.join(ENDS)} is allowed")
    return known[end]


def pooling_ahead(once: Once, *, rate: float = BEST) -> float:
    """Of the seeds that went well with both."""
    return float(sum(gain > 0 for gain in _gains(once, rate).values()))


def look_parameters(once: Once, *, network: str) -> float:
    """All that it has learned."""
    return float(_runs(once, network, BEST)[0].parameters)


def look_seeds(once: Once) -> float:
    """Seeds of the recorded trainings."""
    return float(_sweep(once).spec.seeds)


def look_test_pictures(once: Once) -> float:
    """Each network gets all of them."""
    return float(_sweep(once).pictures.n_test)


def digit_probability(
    once: Once, *, network: str, picture: int, digit: int, down: int = 0, right: int = 0
) -> float:
    """`picture` is its number among the test pictures; moved down and to the right, up and left
    where below 0.
    """
    likely = probabilities(
        _network(once, network), shifted(_picture(once, picture), down, right)[None]
    )
    return float(likely[0, _known_digit(once, digit)])


def digit_probability_covered(once: Once, *, network: str, picture: int, digit: int) -> float:
    """4 x 4 points in black, at every second place."""
    label = _known_digit(once, digit)
    key = ("covered", network, picture, label)
    made = _network(once, network), _picture(once, picture)
    found: Occlusion = once.get(key, lambda: occlusion(*made, label=label))
    return found.probability - float(found.drop.max())


def weight_on_patch(once: Once, *, picture: int, head: str) -> float:
    """Of one layer alone, no rollout."""
    found = _attention(once, picture)
    return float(found.patches[_known_head(head, found.itself)].max())


def weight_on_class_token(once: Once, *, picture: int, head: str) -> float:
    """Its row sums to 1 with the patches."""
    found = _attention(once, picture)
    return float(found.itself[_known_head(head, found.itself)])


def offset_score(once: Once, *, head: str = "") -> float:
    """(m − 1/49) / (1 − 1/49) of the mean weight m on the offset that gets the most, over the
    shipped digits.
    """
    scores = _offsets(once).score
    return float(scores[_known_head(head, scores)] if head else scores.max())


def weight_on_neighbours(once: Once, *, head: str) -> float:
    """All that a convolution of 3 x 3 over patches could see."""
    found = _offsets(once).neighbours
    return float(found[_known_head(head, found)])


def weight_on_neighbours_uniform(once: Once) -> float:
    """The mean over patches, which have fewer neighbours at the rim."""
    return _offsets(once).neighbours_uniform


def wrong_pictures(once: Once, *, network: str = "") -> float:
    """Of all test pictures: those that a shipped network gets wrong are all in the sample."""
    sample = _sample(once)
    known = {name: one.argmax(1) != sample.labels for name, one in sample.probabilities.items()}
    if network and network not in known:
        raise ValueError(f"{network!r:.40} says nothing; networks: {', '.join(known)}")
    missed = known[network] if network else np.all(list(known.values()), axis=0)
    return float(missed.sum())


def _sweep(once: Once) -> Sweep:
    return once.get("sweep", lambda: read_sweep(LOOK))


def _runs(once: Once, network: str, rate: float) -> list[Run]:
    if network not in NETWORKS:
        raise ValueError(f"unknown network {network!r:.40}; networks: {', '.join(NETWORKS)}")
    sweep = _sweep(once)
    found = sweep.of(network, rate or best_rate(sweep, network))
    if not found:
        rates = ", ".join(f"{one:g}" for one in sweep.spec.rates_of(network))
        raise ValueError(f"{network} was not trained at rate {rate:g}; rates: {rates}")
    return found


def _difference(once: Once, rate: float) -> Difference:
    sweep = _sweep(once)
    return pooling_at(sweep, rate, rate) if rate else does_pooling_help(sweep)


def _gains(once: Once, rate: float) -> dict[int, float]:
    """By seed: pooling less strides."""
    by_network = [
        {run.seed: run.accuracy for run in _runs(once, network, rate)} for network in CONVOLUTIONS
    ]
    pooling, strides = by_network
    return {
        seed: one - other
        for seed in pooling
        if (one := pooling[seed]) is not None and (other := strides.get(seed)) is not None
    }


def _network(once: Once, name: str) -> Network:
    return once.get(("network", name), lambda: load_network(PICTURE_NETWORKS, name).network)


def _sample(once: Once) -> Sample:
    return once.get("digits", lambda: read_sample(SAMPLE))


def _picture(once: Once, number: int) -> Picture:
    sample = _sample(once)
    found = np.flatnonzero(sample.numbers == number)
    if not len(found):
        raise ValueError(f"test picture {number} is not shipped")
    return sample.pictures[int(found[0])]


def _known_digit(once: Once, digit: int) -> int:
    known = _sample(once).classes
    if not 0 <= digit < len(known):
        raise ValueError(f"digit {digit}; {', '.join(known)} are known")
    return digit


def _patches(once: Once) -> PatchNetwork:
    network = _network(once, PATCHES)
    if not isinstance(network, PatchNetwork):
        raise ValueError(f"{PATCHES} has no attention")
    return network


def _attention(once: Once, number: int) -> AttentionMaps:
    made = _patches(once), _picture(once, number)
    return once.get(("attention", number), lambda: attention_maps(*made))


def _offsets(once: Once) -> Offsets:
    made = _patches(once), _sample(once).pictures
    return once.get("offsets", lambda: mean_by_offset(*made))


def _known_head(head: str, of: NDArray[np.floating]) -> tuple[int, int]:
    """Its place in an array (layers, heads). Raises ValueError for none of it."""
    layer, number = parse_head(head)
    layers, heads = of.shape
    if not (layer < layers and number < heads):
        last = head_name(layers - 1, heads - 1)
        raise ValueError(f"there is no head {head} among patches; the last is {last}")
    return layer, number
