"""What lies on a shelf of checkpoints: names, snapshots, digests of weights. No torch here."""

import re
from pathlib import Path
from typing import Any, cast

from core.files import read_json, sha256
from core.models.recogniser_config import FAMILY

# What a checkpoint's folder holds.
CONFIG, VOCABULARY, WEIGHTS, CARD = (
    "config.json",
    "vocabulary.json",
    "model.safetensors",
    "card.json",
)
SNAPSHOTS = "snapshots"
_STEP = re.compile(r"[0-9]{6}|[1-9][0-9]{6,}")


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the text says which file and why."""


def list_checkpoints(folder: Path, *, hears: bool = False) -> list[str]:
    """Names of the folders that hold a card and the weights it describes, sorted: what can be asked
    something. Those that hear sounds are listed apart.
    """
    cards = list_cards(folder, hears=hears)
    return [name for name in cards if (folder / name / WEIGHTS).is_file()]


def list_cards(folder: Path, *, hears: bool = False) -> list[str]:
    """Names of the folders that hold a card, sorted; of some the weights are not shipped."""
    found = (path.parent for path in folder.glob(f"*/{CARD}"))
    return sorted(path.name for path in found if is_recogniser(path) == hears)


def is_recogniser(folder: Path) -> bool:
    """Whether the model of a folder hears sounds; what cannot be read is taken for one that reads
    texts, and loading it says what is wrong.
    """
    try:
        return read_json(folder / CONFIG).get("family") == FAMILY
    except (OSError, ValueError):
        return False


def snapshot_steps(folder: Path) -> list[int]:
    """The training steps at which a checkpoint's run kept a snapshot, ascending; whatever else lies
    among them is passed over.
    """
    names = [path.stem for path in (folder / SNAPSHOTS).glob("*.safetensors")]
    return sorted(int(name) for name in names if _STEP.fullmatch(name))


def weights_path(folder: Path, snapshot: int | None = None) -> Path:
    """Where the weights lie: at the end of the training, or at a step of it."""
    return folder / (WEIGHTS if snapshot is None else f"{SNAPSHOTS}/{snapshot:06d}.safetensors")


def shipped_weights(folder: Path, snapshot: int | None = None) -> Path:
    """Where the weights lie that are to be read.

    Raises CheckpointError where a card stands without them: it names what trains them again.
    """
    if snapshot is None and (command := not_shipped(folder)):
        raise CheckpointError(
            f"checkpoint {folder.name}: its weights are not shipped; train them again with: "
            f"{command}"
        )
    return weights_path(folder, snapshot)


def not_shipped(folder: Path) -> str:
    """The command that trains the weights again which a card describes and which are not there.

    Empty where they are there, and where the card does not say: reading them tells what is wrong.
    """
    if (folder / WEIGHTS).exists():
        return ""
    try:
        card = read_json(folder / CARD)
    except ValueError:  # loading says what is wrong with the card
        return ""
    command = card.get("command")
    return command if isinstance(command, str) and stated_digest(card) is not None else ""


def content_hash(folder: Path, *, snapshot: int | None = None) -> str:
    """Digest of the weights on disk: the key under which a loaded model may be cached.

    Raises CheckpointError where they are not shipped, ValueError where they cannot be read.
    """
    return sha256(shipped_weights(folder, snapshot))


def stated_digest(card: dict[str, Any]) -> str | None:
    """The digest of the weights that a card describes; None where it describes none."""
    files = card.get("files")
    found = cast(dict[str, Any], files).get(WEIGHTS) if isinstance(files, dict) else None
    return found if isinstance(found, str) else None


def dev_accuracy(folder: Path) -> float | None:
    """The share of dev questions that the finished model gets right, if its card says so."""
    try:
        return float(read_json(folder / CARD)["figures"]["dev"]["accuracy"])
    except (KeyError, TypeError, ValueError):
        return None


def dev_curve(folder: Path) -> list[tuple[int | None, float]]:
    """(step, dev accuracy) of each snapshot and of the end (None), as the card states them.

    Empty where it does not state how many each snapshot gets right.
    """
    try:
        card = read_json(folder / CARD)
        points = [(int(point["step"]), float(point["accuracy"])) for point in card["snapshots"]]
        end = float(card["figures"]["dev"]["accuracy"])
    except (KeyError, TypeError, ValueError):  # loading says what is wrong with the card
        return []
    return [*points, (None, end)]
