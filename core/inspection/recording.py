"""`from core import record`: trace any model, wherever it runs, into a file that the pages open."""

import hashlib
import platform
import sys
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import torch

from core.checkpoints.store import Checkpoint
from core.data.outside_vocabulary import OutsideVocabulary, stated_ends
from core.data.vocabulary import Vocabulary
from core.inspection.heads import Head, parse_head
from core.inspection.trace import trace
from core.inspection.trace_file import save_trace
from core.inspection.trace_format import Origin, Precision
from core.inspection.traced import AttentionTrace
from core.models.seam import Model

LIBRARIES = ("torch", "transformers", "numpy", "safetensors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A trace and where it comes from."""

    trace: AttentionTrace
    origin: Origin

    def save(
        self,
        path: Path | str,
        *,
        heads: Collection[Head | str] | None = None,
        precision: Precision = "float32",
        with_vectors: bool = False,
    ) -> None:
        """Write FILE.trace. `heads`, as ["L0H1"] or [(0, 1)], and "float16" keep it small.

        Raises ValueError as `save_trace` does, and for what is no head.
        """
        save_trace(
            path,
            self.trace,
            heads=None if heads is None else heads_of(heads),
            precision=precision,
            with_vectors=with_vectors,
            origin=self.origin,
        )


def record(
    model: Any,
    tokenizer: Any = None,
    text: str = "",
    *,
    name: str = "",
    max_new_tokens: int = 40,
    target: str | None = None,
    hash_weights: bool = True,
) -> Recording:
    """Every head of a model while it reads a text and goes on with it, with its proof.

    The model is one of transformers with its tokenizer, one that keeps core.models.seam with a
    vocabulary of core.data, or a Checkpoint alone: record(stored, text="…"). It is left as it was.
    A `target` is what a decoder beside an encoder is given in the place of what it would write.
    Cost: as of `trace`; and a pass over all parameters for their digest, unless `hash_weights` is
    off: some ten seconds for seven billion.
    """
    with _checkpoint(model, tokenizer, name) as stored:
        found = trace(stored, text, max_new_tokens=max_new_tokens, target=target)
    inner = model.model if isinstance(model, Checkpoint) else model
    origin = Origin(
        model=(name or stored.name)[:200],
        family=family_of(inner),
        weights=weights_digest(inner) if hash_weights else "",
        versions=library_versions(),
    )
    return Recording(trace=found, origin=origin)


@contextmanager
def _checkpoint(model: Any, tokenizer: Any, name: str) -> Generator[Checkpoint]:
    if isinstance(model, Checkpoint):
        if tokenizer is not None:
            raise ValueError("a Checkpoint has its vocabulary: record(stored, text=…)")
        yield model
    elif tokenizer is None:
        raise ValueError("record(model, tokenizer, text): no tokenizer")
    elif hasattr(tokenizer, "word_starts"):
        yield Checkpoint(cast(Model, model), cast(Vocabulary, tokenizer), name=name)
    else:
        from core.models.outside_borrowed import borrowed  # noqa: PLC0415 - loads transformers

        settings = (model.config, getattr(model, "generation_config", None))
        ends = stated_ends(getattr(one, "eos_token_id", None) for one in settings)
        begin = getattr(model.config, "decoder_start_token_id", None)
        vocabulary = OutsideVocabulary(tokenizer, ends=ends, begin_id=begin)
        with borrowed(model, longest_input=tokenizer.model_max_length) as outside:
            yield Checkpoint(outside, vocabulary, name=name)


def heads_of(named: Collection[Head | str]) -> list[Head]:
    """Heads by name or by number. Raises ValueError for what is no head."""
    return [parse_head(head) if isinstance(head, str) else head for head in named]


def family_of(model: object) -> str:
    """What transformers calls it, else the name of its class."""
    family = getattr(getattr(model, "config", None), "model_type", None)
    return str(family or type(model).__name__)[:200]


def weights_digest(model: object) -> str:
    """sha256 over name, dtype, shape and numbers of every tensor of the state dict; empty for a
    model that has none.
    """
    if not isinstance(model, torch.nn.Module):
        return ""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        numbers = tensor.detach().cpu().contiguous().flatten().view(torch.uint8)
        digest.update(memoryview(numbers.numpy()))
    return f"sha256 of the state dict {digest.hexdigest()}"


def library_versions() -> dict[str, str]:
    """Of Python and of the libraries that are loaded."""
    loaded = {name: version(name) for name in LIBRARIES if name in sys.modules}
    return {"python": platform.python_version(), **loaded}
