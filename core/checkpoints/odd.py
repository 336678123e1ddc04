"""What libraries raise for files that are not what they should be, as one sentence. This module
loads huggingface_hub: whoever imports it is about to load transformers.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError

from core.checkpoints.not_a_model import NotAModel

ODD = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
    RuntimeError,
    OSError,
    ImportError,
    ArithmeticError,
    SafetensorError,
    StrictDataclassError,
)


@contextmanager
def said(path: Path, what: str = "") -> Generator[None]:
    """Raise NotAModel naming the file, and what it was about, for whatever a library raises."""
    begin = f"{path}: {what}: " if what else f"{path}: "
    try:
        yield
    except NotAModel:
        raise
    except MemoryError:
        raise NotAModel(f"{begin}there is not enough memory for it") from None
    except ODD as error:
        text = " ".join(str(error).split()).removeprefix(f"{path}: ") or "nothing more is said"
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise NotAModel(f"{begin}{kind}{text:.300}") from None


def listed(names: list[str]) -> str:
    """The first few: a file may hold any number, of any length."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(f"{name:.60}" for name in names[:3]) + more
