"""`speech`: sentences spoken for a recogniser to learn from, and how well it hears."""

import argparse
import json
import sys
from pathlib import Path

from tqdm import tqdm

from core.checkpoints.any import load_any, records_folder, weights_digest_of
from core.cli.arguments import DONE, add_device, progress_line
from core.cli.heads_text import aligned
from core.evaluation.heard import asked_of, measure_voices
from core.generation.beam import BEAM
from core.generation.hearing import recogniser_of
from core.intervals import Rate
from core.paths import spoken_folder
from core.runs.card import machine
from core.speech.record import (
    VOICES,
    SpeechFigures,
    Voices,
    figures_dict,
    load_speech,
    save_speech,
)
from core.speech.spoken import N_TRAIN, load_spoken, make, planned, settings_of
from core.speech.verdict import SIMILARITIES, WITHOUT, reached

DEFAULT, MOST_BEAM = "speech-attention", 20


def add_speech(parser: argparse.ArgumentParser) -> None:
    """The actions of the verb."""
    parser.description = __doc__
    actions = parser.add_subparsers(dest="action", required=True)
    _add_make(actions.add_parser("make", help="speak what a recogniser is trained on"))
    _add_evaluate(actions.add_parser("evaluate", help="errors and similarities of what it writes"))


def _add_make(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sentences", type=int, default=N_TRAIN, metavar="N", help="of training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where trainings look for them unless told"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=make_spoken)


def make_spoken(options: argparse.Namespace) -> None:
    """Speak all sentences by espeak-ng, and keep their features."""
    folder: Path = options.out or spoken_folder()
    sentences = planned(n_train=options.sentences, seed=options.seed)
    settings = settings_of(sentences, n_train=options.sentences, seed=options.seed)
    with tqdm(total=len(sentences), unit="sentence", disable=None) as bar:

        def told(_done: int, _total: int) -> None:
            bar.update()

        make(folder, sentences, settings=settings, progress=told)
    spoken = load_spoken(folder)
    report = {
        "out": str(folder),
        **{split: len(found) for split, found in spoken.utterances.items()},
        "minutes": round(spoken.minutes, 1),
        **{name: settings[name] for name in ("seed", "version", "voices", "new_voices")},
        "digest": spoken.digest,
    }
    text = (
        f"{folder}: {len(sentences):,} sentences, {spoken.minutes:.0f} minutes of speech in "
        f"{len(settings['voices'])} voices and {len(settings['new_voices'])} new ones, by "
        f"{settings['version']}"
    )
    print(json.dumps(report, ensure_ascii=False) if options.json else text)


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", default=DEFAULT, help="a shipped name or a folder")
    parser.add_argument(
        "--voices",
        choices=VOICES,
        help="who speaks: dev questions in voices of training (unless told) or in new ones, or a "
        "real voice, whose recordings Debian packages",
    )
    parser.add_argument(
        "--spoken",
        type=Path,
        metavar="DIR",
        help="where sentences were spoken; where nothing was, espeak-ng speaks dev anew",
    )
    parser.add_argument(
        "--beam",
        type=int,
        choices=range(1, MOST_BEAM + 1),
        default=BEAM,
        metavar="K",
        help=f"the best of so many beginnings, by decoder and CTC together ({BEAM}); 1 is greedy "
        "and by the decoder alone",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="write the figures beside the checkpoint: of all three voices unless some are told",
    )
    add_device(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object to standard output")
    parser.set_defaults(run=evaluate)


def evaluate(options: argparse.Namespace) -> None:
    """Hear, count, write what was asked for, print.

    With --record and no --voices the object printed is that of the voices of training.
    """
    told = progress_line()
    stored = load_any(options.checkpoint, progress=told, device=options.device)
    recogniser_of(stored)  # before anything is spoken for it
    wanted: tuple[Voices, ...] = VOICES if options.record else ("trained",)
    found: dict[Voices, SpeechFigures] = {}
    for voices in wanted if options.voices is None else (options.voices,):
        try:
            asked = asked_of(voices, folder=options.spoken, told=told)
        except ValueError as error:
            if options.voices is not None or not found:
                raise
            print(f"left out: {error}", file=sys.stderr)  # the others are worth keeping
            continue
        found[voices] = measure_voices(
            stored, voices, asked, machine=machine(), told=told, beam=options.beam
        )
    told(DONE)
    if options.record:
        _record(options.checkpoint, found)
    first = next(iter(found.values()))
    text = "\n\n".join(map(_text, found.values()))
    print(json.dumps(figures_dict(first), ensure_ascii=False) if options.json else text)


def _record(name: str, found: dict[Voices, SpeechFigures]) -> None:
    """Rows of the same weights that were not measured now stay."""
    folder, weights = records_folder(name), weights_digest_of(name)
    save_speech(folder, weights, {**(load_speech(folder, weights) or {}), **found})


def _text(figures: SpeechFigures) -> str:
    """Errors with their intervals, and each similarity beside the most that needs no recogniser."""
    rates = figures.rates
    lines = [["", "", "95 % interval"]]
    lines += [
        [name, f"{rates[key].value:.1%}", _between(rates[key])]
        for key, name in (
            ("character_error", "character error"),
            ("word_error", "word error"),
            ("exact", "exact sentences"),
        )
    ]
    if figures.name_error is not None and figures.rest_error is not None:
        lines[2:2] = [
            ["  in names", f"{figures.name_error:.1%}", ""],
            ["  elsewhere", f"{figures.rest_error:.1%}", ""],
        ]
    similar = [["similarity", "", "the most without a recogniser"]]
    similar += [
        [SIMILARITIES[row.measure], f"{row.value:.3f}", f"{row.without:.3f}: {WITHOUT[row.which]}"]
        for row in reached(figures)
    ]
    start = f"{figures.checkpoint}: {figures.n} sentences of {_said(figures)}"
    return "\n".join([start, *aligned(lines), "", *aligned(similar)])


def _said(figures: SpeechFigures) -> str:
    if figures.voices == "real":
        return f"a real voice, {figures.n_groups} different texts"
    voices = "voices of training" if figures.voices == "trained" else "new voices"
    return f"{voices} about {figures.n_groups} people never spoken of in training"


def _between(rate: Rate) -> str:
    return f"{rate.low:.1%} to {rate.high:.1%}"
