"""What verbs are told: texts, files to write, checkpoints by name or folder."""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

from core.data.characters import compose, legible
from core.devices import ASKED, AUTO, is_device, resolve_device, round_products
from core.files import check_target

CLEAR, DONE = "\r\x1b[K", "done"


def named_file(text: str) -> Path:
    """The type of an option that names a file to write: its folder is looked for before any work.

    Raises ArgumentTypeError, of which argparse makes one line.
    """
    path = Path(text)
    try:
        check_target(path)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    return path


def add_device(parser: ArgumentParser, *, here: bool = True) -> None:
    """--device: where it is computed, as torch names it. The processor unless told: there every
    figure is the same on every run. `here` is False where another process looks for the device.
    """
    parser.add_argument(
        "--device",
        type=_device if here else device_name,
        default="cpu",
        metavar="DEVICE",
        help=f"{', '.join(ASKED[:-1])} or {ASKED[-1]}; cpu unless told, {AUTO} is a GPU if there "
        "is one",
    )


def device_name(text: str) -> str:
    """The type of an option that names a device, at hand or not. Raises ArgumentTypeError."""
    if text != AUTO and not is_device(text):
        raise ArgumentTypeError(f"unknown device {text!r:.40}; devices: {', '.join(ASKED)}")
    return text


def device_here(text: str) -> str:
    """A device of this machine, which computes as the processor does from now on. Raises
    ValueError.
    """
    device = resolve_device(text)
    round_products(device)  # or figures would not be those of the processor
    return device


def _device(text: str) -> str:
    """The type of an option that names a device of this machine. Raises ArgumentTypeError."""
    try:
        return device_here(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def positive(text: str) -> int:
    """The type of an option that counts. Raises ArgumentTypeError."""
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= 10_000:
        raise ArgumentTypeError(f"{text!r:.40} is no number of tokens: 1 to 10000 are allowed")
    return int(text)


def progress_line() -> Callable[[str], None]:
    """Writes what is being done on one line of a terminal; silent elsewhere."""
    if not sys.stderr.isatty():
        return lambda _text: None

    def write(text: str) -> None:
        sys.stderr.write(f"{CLEAR}{legible(text):.100}" if text != DONE else CLEAR)
        sys.stderr.flush()

    return write


def typed(text: str) -> str:
    """A text in composed letters, as the models have read theirs; where that is another text,
    standard error says so.
    """
    asked = compose(text)
    if asked != text:
        print(
            "typed with letters and accents apart; asked in composed letters (Unicode NFC): "
            f"{legible(asked)}",
            file=sys.stderr,
        )
    return asked
