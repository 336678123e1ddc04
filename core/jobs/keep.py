"""A finished job becomes a checkpoint beside the shipped ones."""

import re
import shutil
from pathlib import Path
from typing import Any, cast

from core.checkpoints.shelf import CARD, WEIGHTS
from core.files import read_json, sha256, write_json
from core.jobs.folder import job_folder
from core.jobs.locks import queue_lock
from core.jobs.state import read_job

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_FILE = re.compile(r"(?:snapshots/)?[a-z0-9]+\.(?:json|safetensors)")


def keep(root: Path, job_id: str, name: str, *, checkpoints: Path) -> Path:
    """Copy a finished job's checkpoint to a new folder of `checkpoints`; returns that folder.

    Every file must be the one that the card describes. Raises ValueError for anything else.
    """
    if _NAME.fullmatch(name) is None:
        raise ValueError(
            f"name {name!r}: 1 to 40 small letters, digits and hyphens are needed, none at the ends"
        )
    folder = job_folder(root, job_id)
    target, part = checkpoints / name, root / f".keep-{job_id}"
    with queue_lock(root):
        job = read_job(folder)
        if job.bench is not None:
            raise ValueError(f"job {job_id} is a measurement; only a model can be kept")
        if job.look is not None:
            raise ValueError(f"job {job_id} is a sweep over networks; only a model can be kept")
        if job.state != "finished":
            raise ValueError(f"job {job_id} is {job.state}; only a finished one can be kept")
        if target.exists():
            raise ValueError(f"there is a checkpoint {name!r} already: choose another name")
        shutil.rmtree(part, ignore_errors=True)
        try:
            card = read_json(folder / CARD)
            for file, digest in _files(card).items():
                _copy(folder / file, part / file, digest)
            write_json(part / CARD, {**card, "name": name})
            part.rename(target)  # at once: a checkpoint is whole or absent
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return target


def suggested_name(text: str) -> str:
    """A name that `keep` takes, as near to a title as it can be."""
    letters = re.sub(r"[^a-z0-9]+", "-", text.lower())[:40].strip("-")
    return letters or "mine"


def kept_as(root: Path, job_id: str, *, checkpoints: Path) -> list[str]:
    """Names of the checkpoints that hold this job's weights."""
    own = _weights(job_folder(root, job_id) / CARD)  # None before it is finished
    if own is None:
        return []
    cards = checkpoints.glob(f"*/{CARD}")
    return sorted(card.parent.name for card in cards if _weights(card) == own)


def _weights(card: Path) -> str | None:
    try:
        return _files(read_json(card)).get(WEIGHTS)
    except ValueError:  # whoever opens such a checkpoint is told
        return None


def _files(card: dict[str, Any]) -> dict[str, str]:
    """Names and digests of the checkpoint's files; none of them can lead out of its folder."""
    files = card.get("files")
    if not isinstance(files, dict) or not files:
        raise ValueError(f"{CARD} lists no files")
    for name in cast(dict[str, str], files):
        if _FILE.fullmatch(name) is None:
            raise ValueError(f"{CARD} lists {name!r}, which is no file of a checkpoint")
    return cast(dict[str, str], files)


def _copy(source: Path, target: Path, digest: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    if sha256(target) != digest:
        raise ValueError(f"{source.name} is not the file that the card describes: train again")
