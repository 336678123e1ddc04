"""`import`: a `.params` file of the course's fork of minGPT becomes a checkpoint folder."""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any, get_args

import torch

from core.catalogue import LatentNorm
from core.checkpoints.course_import import DEFAULT_HEADS, Hints, Imported, import_course
from core.checkpoints.params_file import read_file
from core.checkpoints.shelf import CARD
from core.checkpoints.store import CheckpointError, save_checkpoint
from core.data.characters import exact_lines
from core.models.config import VARIANTS


def add_import(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument("file", type=Path, help="a state dict as the course's code writes it")
    parser.add_argument("--wiki", type=Path, required=True, help="the wiki.txt it was trained on")
    parser.add_argument("--variant", choices=VARIANTS, help="what the file must be")
    parser.add_argument("--heads", type=int, help=f"{DEFAULT_HEADS} where the file cannot say")
    parser.add_argument("--block", type=int, help="needed where the file does not say")
    parser.add_argument(
        "--no-residual",
        action="store_true",
        help="a Perceiver without residual paths around its projections",
    )
    parser.add_argument(
        "--latent-norm",
        choices=get_args(LatentNorm),
        default="both",
        help="what a Perceiver's projections norm first: both sides (unless told), or the latents "
        "alone as the exercise's hints have it",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", required=True)
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, convert, write a checkpoint folder, say what was taken for granted."""
    out: Path = options.out
    if (out / CARD).exists():
        raise ValueError(f"{out} already holds a checkpoint: name another folder")
    hints = Hints(
        variant=options.variant,
        heads=options.heads,
        block=options.block,
        residual=not options.no_residual,
        norm=options.latent_norm,
    )
    text = "".join(f"{line}\n" for line in exact_lines(options.wiki))
    try:
        data = read_file(options.file)
        imported = import_course(data, text, hints)
    except ValueError as error:
        raise CheckpointError(f"{options.file}: {error}") from None
    card = _card(out.name, imported, hashlib.sha256(data).hexdigest())
    save_checkpoint(out, imported.model, imported.vocabulary, card, dtype=torch.float32)
    if options.json:
        print(json.dumps({"out": str(out), **card}, ensure_ascii=False))
        return
    print(f"{out}: {imported.variant}, {imported.model.n_parameters:,} parameters")
    for note in imported.notes:
        print(note)


def _card(name: str, imported: Imported, digest: str) -> dict[str, Any]:
    """Where the checkpoint came from. The recipe says only which questions are its own."""
    return {
        "name": name,
        "recipe": {"name": "imported", "corpus": "course"},
        "source": {
            "format": "state dict of the course's fork of minGPT",
            "variant": imported.variant,
            "sha256": digest,
            "notes": list(imported.notes),
        },
        "n_parameters": imported.model.n_parameters,
        "dtype": "float32",
    }
