"""Makes look_pictures.json and .png: digits, and what the networks say of them.

    python assets/make_look_pictures.py

Needs digits.npz (assets/make_digits.py). They are the first test pictures of each digit and all
that a network gets wrong; the page Look opens with them. Run it anew when the networks are others.
look_pictures.LICENSE is that of the package that the digits are from.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from numpy.typing import NDArray

from core.checkpoints.picture_files import PictureNetwork, load_networks
from core.models.picture_networks import probabilities
from core.paths import PICTURE_NETWORKS
from core.pictures.pictures import Split
from core.pictures.sample import SAMPLE, Sample, write_sample
from core.pictures.sources import DIGITS, load_pictures

OF_EACH = 8  # pictures of a digit, beside those that are answered wrong


def main() -> None:
    """Write both files, or say what they need."""
    try:
        pictures, networks = load_pictures(DIGITS), load_networks(PICTURE_NETWORKS)
    except ValueError as error:
        sys.exit(str(error))
    if not networks:
        sys.exit(f"there are no networks in {PICTURE_NETWORKS}")
    likely = {name: _likely(one, pictures.test) for name, one in networks.items()}
    missed = np.any([one.argmax(1) != pictures.test.labels for one in likely.values()], axis=0)
    chosen = np.flatnonzero(missed | _first_of_each(pictures.test.labels))
    sample = Sample(
        source=pictures.source,
        digest=pictures.digest,
        classes=pictures.classes,
        n_test=len(pictures.test),
        weights={name: one.card.weights for name, one in networks.items()},
        numbers=chosen,
        labels=pictures.test.labels[chosen],
        pictures=pictures.test.pictures[chosen],
        probabilities={name: one[chosen] for name, one in likely.items()},
    )
    write_sample(SAMPLE, sample)
    n_bytes = SAMPLE.stat().st_size + SAMPLE.with_suffix(".png").stat().st_size
    print(f"{SAMPLE}: {len(sample)} digits, {len(sample.wrong)} answered wrong, {n_bytes:,} bytes")


def _likely(found: PictureNetwork, split: Split) -> NDArray[np.float64]:
    return probabilities(found.network, split.pictures).astype(np.float64)


def _first_of_each(labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    first = np.zeros(len(labels), np.bool_)
    for label in np.unique(labels):
        first[np.flatnonzero(labels == label)[:OF_EACH]] = True
    return first


if __name__ == "__main__":
    main()
