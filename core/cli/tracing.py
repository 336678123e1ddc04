"""`trace --out`: the whole trace as JSON, or by its name's end as a trace file that pages open."""

import argparse
from pathlib import Path

from core.checkpoints.any import anyones, weights_digest_of
from core.checkpoints.shelf import WEIGHTS
from core.checkpoints.store import Checkpoint
from core.files import write_json
from core.inspection.recording import family_of, heads_of, library_versions
from core.inspection.trace_file import save_trace
from core.inspection.trace_format import LARGEST, SUFFIX, Origin
from core.inspection.trace_json import trace_to_dict
from core.inspection.traced import AttentionTrace


def add_trace_file(parser: argparse.ArgumentParser) -> None:
    """What is kept of a trace in FILE.trace."""
    parser.add_argument(
        "--heads",
        nargs="+",
        metavar="HEAD",
        help=f"in FILE{SUFFIX} only these heads: L1H5 L0H2",
    )
    parser.add_argument(
        "--precision",
        choices=list(LARGEST),
        help=f"of numbers in FILE{SUFFIX}: float32 unless told; float16 is half as large",
    )
    parser.add_argument(
        "--vectors",
        action="store_true",
        help=f"queries, keys, values, outputs and scores in FILE{SUFFIX}, too",
    )


def refuse_other_files(options: argparse.Namespace) -> None:
    """Raise ValueError for options of a trace file where none is written, and for what is no head;
    before any work.
    """
    out: Path | None = options.out
    for name in ("heads", "precision", "vectors"):
        if getattr(options, name) and (out is None or out.suffix != SUFFIX):
            raise ValueError(f"--{name} goes with a trace file: --out FILE{SUFFIX}")
    heads_of(options.heads or ())


def write_trace(options: argparse.Namespace, stored: Checkpoint, trace: AttentionTrace) -> None:
    """The file that --out names."""
    out: Path = options.out
    if out.suffix != SUFFIX:
        write_json(out, trace_to_dict(trace))
        return
    files = WEIGHTS if anyones(options.checkpoint) is None else "its files"
    save_trace(
        out,
        trace,
        heads=heads_of(options.heads) if options.heads else None,
        precision=options.precision or "float32",
        with_vectors=options.vectors,
        origin=Origin(
            model=stored.name[:200],
            family=family_of(getattr(stored.model, "module", stored.model)),
            weights=f"sha256 of {files} {weights_digest_of(options.checkpoint)}",
            versions=library_versions(),
        ),
    )
