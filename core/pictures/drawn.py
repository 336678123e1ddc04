"""Digits that Pillow draws in its own font, each shifted, turned, sized and thickened by a seed.

They need no file. The same seed and the same version of Pillow make the same bytes.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from core.pictures.pictures import SIDE, Pictures, Split

DIGITS = tuple("0123456789")
MOST_DRAWN = 200_000
TURN_DEGREES, SHEAR, SHIFT = 20.0, 0.2, 3.0  # at most, to either side; the shift in points of 28
SIZES = (0.75, 1.1)  # of the usual height; width and height are drawn apart
THICKNESSES = (0, 1, 2, 3)  # what Pillow puts around a stroke, in points of 56
NOISE = 12.0  # standard deviation, of 255
Numbers = NDArray[np.float64]
_FINE = 2 * SIDE  # drawn at twice the size, then averaged


def drawn_digits(
    n_train: int = 7_000, n_validation: int = 1_000, n_test: int = 2_000, seed: int = 0
) -> Pictures:
    """Ten classes, as often as each other up to one. Cost: about 60 microseconds a picture.

    Raises ValueError for a part that has fewer than one or all together more than MOST_DRAWN.
    """
    counts = (n_train, n_validation, n_test)
    if min(counts) < 1 or sum(counts) > MOST_DRAWN:
        raise ValueError(
            f"{', '.join(f'{n:,}' for n in counts)} pictures to draw; each part needs at least 1, "
            f"all together at most {MOST_DRAWN:,}"
        )
    streams = np.random.SeedSequence(seed).spawn(len(counts))
    rngs = [np.random.default_rng(stream) for stream in streams]
    train, validation, test = (_draw(n, rng) for n, rng in zip(counts, rngs, strict=True))
    return Pictures(
        name="drawn",
        classes=DIGITS,
        train=train,
        validation=validation,
        test=test,
        source=f"digits drawn by Pillow's own font, seed {seed}",
    )


def _draw(n: int, rng: np.random.Generator) -> Split:
    labels = rng.permutation(np.arange(n, dtype=np.int64) % len(DIGITS))
    thickness = rng.choice(THICKNESSES, size=n)
    maps = _inverse_maps(n, rng)
    noise = rng.normal(0.0, NOISE, (n, SIDE, SIDE)).astype(np.float32)
    clean = np.empty((n, SIDE, SIDE), np.float32)
    for i in range(n):
        fine = _template(int(labels[i]), int(thickness[i])).transform(
            (_FINE, _FINE), Image.Transform.AFFINE, maps[i], Image.Resampling.BILINEAR
        )
        clean[i] = np.asarray(fine.reduce(2))
    return Split(pictures=np.clip(clean + noise, 0, 255).round().astype(np.uint8), labels=labels)


def _inverse_maps(n: int, rng: np.random.Generator) -> list[tuple[float, ...]]:
    """For each picture (a, b, c, d, e, f): the point (x, y) shows (ax + by + c, dx + ey + f).

    Forward a point p goes to M (p - centre) + centre + shift, M = turn . shear . sizes.
    """
    turn = np.deg2rad(rng.uniform(-TURN_DEGREES, TURN_DEGREES, n))
    shear = rng.uniform(-SHEAR, SHEAR, n)
    width, height = rng.uniform(*SIZES, (2, n))
    shift = 2 * rng.uniform(-SHIFT, SHIFT, (n, 2))
    cos, sin, none, one = np.cos(turn), np.sin(turn), np.zeros(n), np.ones(n)
    turned = _matrices(cos, -sin, sin, cos)
    forward = turned @ _matrices(one, shear, none, one) @ _matrices(width, none, none, height)
    back = np.linalg.inv(forward)
    centre = np.full(2, _FINE / 2)
    offset = centre - np.einsum("nij,nj->ni", back, centre + shift)
    return [(*m[0], o[0], *m[1], o[1]) for m, o in zip(back.tolist(), offset.tolist(), strict=True)]


def _matrices(a: Numbers, b: Numbers, c: Numbers, d: Numbers) -> Numbers:
    return np.stack([a, b, c, d], axis=-1).reshape(-1, 2, 2)


@cache  # at most 10 digits x 4 thicknesses of 3 kB
def _template(digit: int, thickness: int) -> Image.Image:
    """The digit upright in the middle, white on black, as large as the usual 20 points of 28."""
    image = Image.new("L", (_FINE, _FINE))
    font = ImageFont.load_default(size=46)
    middle = (_FINE / 2, _FINE / 2)
    ImageDraw.Draw(image).text(
        middle, DIGITS[digit], fill=255, font=font, anchor="mm", stroke_width=thickness
    )
    return image
