"""The shelf of anyone's models: cards that `open` wrote, and a folder that the server names.

    checkpoints/models/NAME/model.json   {"version", "path", "opened": facts, "sha256"}
    EXPLORER_MODELS=FOLDER               its sub-folders with a config.json, its .gguf files

A card points to files elsewhere and nothing is copied. Only names from the listing are opened, so
no path that somebody types in a browser is. A name belongs to the first that has it: a shipped
checkpoint, a card, then what lies in the server's folder, which is called NAME~2 where it is taken
(no name has a ~ of its own). No torch here.
"""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from core.checkpoints.found import CONFIG, GGUF, check_name, name_of, real
from core.checkpoints.not_a_model import NotAModel
from core.checkpoints.shelf import list_cards
from core.files import read_json, write_json
from core.paths import CHECKPOINTS

MODELS = CHECKPOINTS / "models"
MODEL_CARD = "model.json"
VARIABLE = "EXPLORER_MODELS"
VERSION = 1
MOST_LISTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A model that may be opened by its name. facts: what `open` found, where it was called.

    wrong: one sentence where it cannot be opened as it stands there; else empty.
    """

    name: str
    path: Path
    origin: Literal["card", "folder"]
    facts: dict[str, Any]
    sha256: str = ""
    wrong: str = ""

    def refuse_wrong(self) -> None:
        """Raise NotAModel with what is wrong, if anything is."""
        if self.wrong:
            raise NotAModel(self.wrong)


def list_models(*, models: Path = MODELS, shipped: Collection[str] | None = None) -> list[Listed]:
    """What is on the shelf, cards first, each under a name of its own.

    shipped: names that are taken; those of the checkpoints unless told. Raises ValueError where the
    folder that the server names is none.
    """
    taken = set(_of_ours() if shipped is None else shipped)
    found = [_read_card(path) for path in _cards(models)]
    found += [_beside(path) for path in _in_folder()]
    listed: list[Listed] = []
    for model in found:
        name = _free(model.name, taken)
        taken.add(name)
        listed.append(replace(model, name=name))
    return listed


def find_listed(name: str, models: list[Listed]) -> Listed | None:
    """The model of that name; None where there is none: no path that is typed is a name."""
    return next((model for model in models if model.name == name), None)


def write_model_card(
    name: str, path: Path, opened: dict[str, Any], sha256: str, *, models: Path = MODELS
) -> Path:
    """Put a model on the shelf: a card that points to it, or stands for an older one of the same
    path. Returns the card's path. Raises NotAModel as `refuse_taken` does.
    """
    refuse_taken(name, path, models=models)
    card = models / name / MODEL_CARD
    card.parent.mkdir(parents=True, exist_ok=True)
    whole = {"version": VERSION, "path": str(real(path)), "opened": opened, "sha256": sha256}
    write_json(card, whole)
    return card


def refuse_taken(name: str, path: Path, *, models: Path = MODELS) -> None:
    """Raise NotAModel for a name that could lead out of the shelf, or that another model has."""
    check_name(name)
    if name in _of_ours():
        raise NotAModel(f"{name} is a checkpoint of this project: name the model otherwise: --name")
    if not (models / name / MODEL_CARD).exists():
        return
    older = _read_card(models / name / MODEL_CARD)
    if not older.wrong and older.path != real(path):
        raise NotAModel(f"{name} stands for {older.path} already: name the model otherwise: --name")


def models_folder() -> Path | None:
    """The folder whose models the server offers. Raises ValueError where it is none."""
    named = os.environ.get(VARIABLE, "").strip()
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        raise ValueError(f"{VARIABLE} is {named!r:.200}; a folder of models is needed")
    return folder


def _of_ours() -> list[str]:
    """Whatever they read: a name is taken by either."""
    return [*list_cards(CHECKPOINTS), *list_cards(CHECKPOINTS, hears=True)]


def _cards(models: Path) -> list[Path]:
    found = sorted(models.glob(f"*/{MODEL_CARD}"))[:MOST_LISTED]
    return [path for path in found if _is_plain(path.parent.name)]


def _is_plain(name: str) -> bool:
    try:
        return bool(check_name(name))
    except NotAModel:
        return False


def _read_card(card: Path) -> Listed:
    """What a card says; what is wrong with it is said where it is opened."""
    name, data, wrong = card.parent.name, dict[str, Any](), ""
    try:
        data = read_json(card)
    except ValueError as error:
        wrong = str(error)
    path, facts, digest = data.get("path"), data.get("opened"), data.get("sha256")
    if not wrong and data.get("version") != VERSION:
        wrong = f"{card}: of version {data.get('version')!r:.20}; {VERSION} is read: open it again"
    if not isinstance(path, str) or not isinstance(facts, dict) or not isinstance(digest, str):
        wrong = wrong or f"{card}: path, opened and sha256 are needed: open the model again"
        path, facts, digest = "", dict[str, Any](), ""
    if not wrong and not _is_there(Path(path)):
        wrong = f"{name}: there is nothing at {path:.200} any more; open it where it is now"
    known = cast(dict[str, Any], facts)
    return Listed(
        name=name, path=Path(path), origin="card", facts=known, sha256=digest, wrong=wrong
    )


def _beside(path: Path) -> Listed:
    return Listed(name=name_of(path), path=path, origin="folder", facts={})


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # not to be looked at, or no path at all
        return False


def _in_folder() -> Iterator[Path]:
    """Sub-folders with a config.json and GGUF files, by name.

    Hidden ones are passed over, and links that lead out.
    """
    folder = models_folder()
    if folder is None:
        return
    home = real(folder)
    for path in sorted(folder.iterdir())[:MOST_LISTED]:
        if path.name.startswith(".") or not real(path).is_relative_to(home):
            continue
        if path.is_dir():
            if (path / CONFIG).is_file():
                yield path
            yield from _ggufs(path, home)
        elif path.suffix == GGUF and path.is_file():
            yield path


def _ggufs(folder: Path, home: Path) -> Iterator[Path]:
    """As they are downloaded: in a folder of their own."""
    for path in sorted(folder.glob(f"*{GGUF}"))[:MOST_LISTED]:
        plain = not path.name.startswith(".") and path.is_file()
        if plain and real(path).is_relative_to(home):
            yield path


def _free(name: str, taken: Collection[str]) -> str:
    n = 1
    while (numbered := name if n == 1 else f"{name}~{n}") in taken:
        n += 1
    return numbered
