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
def said(path: Path) -> Generator[None]:
    """Raise NotAModel naming the file for whatever a library raises."""
    try:
        yield
    except NotAModel:
        raise
    except MemoryError:
        raise NotAModel(f"{path}: there is not enough memory for it") from None
    except ODD as error:
        text = " ".join(str(error).split()).removeprefix(f"{path}: ") or "nothing more is said"
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise NotAModel(f"{path}: {kind}{text:.300}") from None
