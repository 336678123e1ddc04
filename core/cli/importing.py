"""`import`: a file of another project becomes a checkpoint folder.

With --wiki it is a `.params` file of the course's fork of minGPT; without, a checkpoint of nanoGPT
or a state dict of karpathy's minGPT, which has no task: it is given free texts.
"""

import argparse
import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import torch

from core.catalogue import LatentNorm
from core.checkpoints.course_import import DEFAULT_HEADS, Hints, Imported, import_course
from core.checkpoints.nano_file import digest_of
from core.checkpoints.nano_import import NanoHints, import_nano
from core.checkpoints.params_file import read_file
from core.checkpoints.shelf import CARD
from core.checkpoints.store import CheckpointError, save_checkpoint
from core.data.characters import exact_lines
from core.models.config import VARIANTS

COURSE = "state dict of the course's fork of minGPT"
NANO = {"nanogpt": "checkpoint of nanoGPT", "mingpt": "state dict of minGPT"}
DEFAULT_NORM: LatentNorm = "both"
# What can be told of the course's files alone, and what it is where it is not told.
OF_COURSE = {"block": None, "no_residual": False, "latent_norm": DEFAULT_NORM}


def add_import(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.add_argument(
        "file",
        type=Path,
        help="a state dict as the course's code or minGPT writes it, or a ckpt.pt of nanoGPT",
    )
    parser.add_argument(
        "--wiki", type=Path, help="of the course's files: the wiki.txt it was trained on"
    )
    parser.add_argument(
        "--tokenizer",
        type=Path,
        metavar="FILE",
        help="of nanoGPT's and minGPT's: a tokenizer.json, a meta.pkl, or the text that a "
        "character model was trained on; without it the model is given token ids",
    )
    parser.add_argument("--variant", choices=(*VARIANTS, *NANO), help="what the file must be")
    parser.add_argument(
        "--heads",
        type=int,
        help=f"where the file cannot say; {DEFAULT_HEADS} in the course's unless told",
    )
    parser.add_argument("--block", type=int, help="needed where the course's file does not say")
    parser.add_argument(
        "--no-residual",
        action="store_true",
        help="a Perceiver without residual paths around its projections",
    )
    parser.add_argument(
        "--latent-norm",
        choices=get_args(LatentNorm),
        default=DEFAULT_NORM,
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
    imported, card = _of_others(options) if options.wiki is None else _of_course(options)
    card = {
        "name": out.name,
        **card,
        "n_parameters": imported.model.n_parameters,
        "dtype": "float32",
    }
    save_checkpoint(out, imported.model, imported.vocabulary, card, dtype=torch.float32)
    if options.json:
        print(json.dumps({"out": str(out), **card}, ensure_ascii=False))
        return
    print(f"{out}: {imported.variant}, {imported.model.n_parameters:,} parameters")
    for note in imported.notes:
        print(note)


def _of_course(options: argparse.Namespace) -> tuple[Imported, dict[str, Any]]:
    """The recipe in the card says only which questions are its own."""
    if options.tokenizer is not None:
        raise ValueError("--tokenizer is for models of nanoGPT and minGPT; --wiki is the course's")
    if options.variant in NANO:
        raise ValueError(f"--wiki is for the course's files, not for a {options.variant} model")
    hints = Hints(
        variant=options.variant,
        heads=options.heads,
        block=options.block,
        residual=not options.no_residual,
        norm=options.latent_norm,
    )
    text = "".join(f"{line}\n" for line in exact_lines(options.wiki))
    with _named(options.file):
        data = read_file(options.file)
        imported = import_course(data, text, hints)
    source = _source(COURSE, imported, hashlib.sha256(data).hexdigest())
    return imported, {"recipe": {"name": "imported", "corpus": "course"}, "source": source}


def _of_others(options: argparse.Namespace) -> tuple[Imported, dict[str, Any]]:
    """There is no recipe in the card, hence no task."""
    if options.variant in VARIANTS:
        raise ValueError(
            f"a {options.variant} model is the course's: tell the wiki.txt that it was trained on "
            "(--wiki)"
        )
    for name, value in OF_COURSE.items():
        if getattr(options, name) != value:
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} can be told of the course's files alone, with --wiki")
    hints = NanoHints(family=options.variant, heads=options.heads, tokenizer=options.tokenizer)
    with _named(options.file):
        digest = digest_of(options.file)
        imported = import_nano(options.file, hints)
    source = _source(NANO[imported.variant], imported, digest)
    return imported, {"source": source}


def _source(format_: str, imported: Imported, digest: str) -> dict[str, Any]:
    """Where the checkpoint came from."""
    return {
        "format": format_,
        "variant": imported.variant,
        "sha256": digest,
        "notes": list(imported.notes),
    }


@contextmanager
def _named(path: Path) -> Generator[None, None, None]:
    try:
        yield
    except ValueError as error:
        raise CheckpointError(f"{path}: {error}") from None
