"""`open`: look at anyone's model, say what it is, put it on the shelf."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from core.checkpoints.anyones import open_anyones
from core.checkpoints.found import name_of, real
from core.checkpoints.models_shelf import refuse_taken, write_model_card
from core.cli.arguments import progress_line
from core.data.characters import legible


def add_open(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "path",
        type=Path,
        metavar="FOLDER_OR_GGUF",
        help="a folder with config.json and safetensors, or one GGUF file",
    )
    parser.add_argument("--name", help="what it is called on the shelf; its own name unless told")
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Open it once, so that what is said has been seen; nothing of it is copied."""
    path: Path = options.path
    name = options.name if options.name is not None else name_of(real(path))
    refuse_taken(name, path)
    stored = open_anyones(path, name=name, progress=progress_line())
    opened, notes = stored.card["opened"], stored.card["notes"]
    card = write_model_card(name, path, opened, stored.card["sha256"])
    for note in notes:
        print(legible(note), file=sys.stderr)
    text = "\n".join([*_lines(opened), f"on the shelf as {name}: {card}"])
    print(json.dumps(opened, ensure_ascii=False) if options.json else legible(text))


def _lines(opened: dict[str, Any]) -> list[str]:
    heads, kv_heads = opened["heads"], opened["kv_heads"]
    shared = "" if heads == kv_heads else f" over {kv_heads} key/value heads"
    what = f"{opened['name']}: {opened['family']}, {opened['layers']} layers, {heads} heads{shared}"
    memory = f"{opened['bytes'] / 1e9:.2f} GB of memory in float32"
    lines = [
        f"{what}, {opened['vocabulary']:,} tokens",
        f"{opened['parameters']:,} parameters, stored as {opened['dtype']}; {memory}",
    ]
    by_reason: dict[str, list[str]] = {}
    for entry in opened["cannot"]:
        by_reason.setdefault(entry["why"], []).append(entry["what"])
    return lines + [f"not {', '.join(what)}: {why}" for why, what in by_reason.items()]
