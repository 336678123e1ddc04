# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false
"""A GGUF file as transformers would read it, without its slow parts.

Its reader makes an object of each token, three times, and a table of names for every module. Here
it is given a file of a few kilobytes instead: the same values without the vocabulary, the same
tensors with one number each. Tables of names, and what a family's conversion has changed in its
weights, are those of gguf and transformers.
"""

import re
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import (
    GGML_QUANT_SIZES,
    MODEL_ARCH_NAMES,
    GGMLQuantizationType,
    dequantize,
    get_tensor_name_map,
)
from torch import Tensor
from transformers import modeling_gguf_pytorch_utils as older_gguf

from core.checkpoints.gguf_header import GGUFHeader, GGUFTensor
from core.checkpoints.not_a_model import NotAModel, listed

_MOST_ENTRY = 2**16  # bytes of a value that a configuration can need
_INDEX = re.compile(r"\d+")
_TOKENS = "tokenizer.ggml.tokens"


def stated_config(header: GGUFHeader) -> dict[str, Any]:
    """The configuration in transformers' names, `model_type` among them. Whatever it raises for odd
    values is its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        short = Path(folder) / "short.gguf"
        short.write_bytes(_without_vocabulary(header))
        stated: dict[str, Any] = older_gguf.load_gguf_checkpoint(str(short))["config"]
    n_tokens = header.values.get(_TOKENS)
    if isinstance(n_tokens, int):
        stated.setdefault("vocab_size", n_tokens)
    return stated


def read_tensors(
    header: GGUFHeader,
    stated: Mapping[str, Any],
    skeleton: Any,
    tell: Callable[[int], None],
) -> tuple[dict[str, Tensor], list[str]]:
    """The weights in float32 by the names that the model has for them, and the file's names of
    those that it has no place for. skeleton: the model without numbers; `tell` is given how many
    have been read.

    Raises NotAModel where that is because the file has more layers. Cost: 4 bytes a number.
    """
    family = older_gguf.TENSOR_PROCESSORS.get(header.architecture, older_gguf.TensorProcessor)
    processor: Any = family(config=dict(stated))
    places = _places(header, skeleton, processor)
    read: dict[str, Tensor] = {}
    unused: list[str] = []
    data = np.memmap(header.path, mode="r")
    for n, tensor in enumerate(header.tensors):
        result = processor.process(
            weights=_numbers(data, tensor),
            name=tensor.name,
            tensor_key_mapping=places,
            parsed_parameters={"tensors": read},
        )
        if result.name in places:  # some processors put what they have made of it away themselves
            read[places[result.name]] = torch.from_numpy(np.array(result.weights, np.float32))
        elif result.name is not None:
            unused.append(tensor.name)
        tell(n + 1)
    refuse_more_layers(unused, places, header.path)
    return read, unused


def refuse_more_layers(unused: Iterable[str], known: Iterable[str], path: Path) -> None:
    """Raise NotAModel for weights of which other layers have the like."""
    alike = {_INDEX.sub("N", name) for name in known}
    if beyond := sorted(name for name in unused if _INDEX.sub("N", name) in alike):
        raise NotAModel(
            f"{path}: the files hold more layers than the configuration says: {listed(beyond)}"
        )


def _without_vocabulary(header: GGUFHeader) -> bytes:
    """A whole GGUF file of the same values and tensors' names."""
    with header.path.open("rb") as file:
        entries = list(_short_entries(header, file))
    tensors = [_named(tensor.name) for tensor in header.tensors]
    begin = b"GGUF" + struct.pack("<IQQ", header.version, len(tensors), len(entries))
    whole = begin + b"".join(entries) + b"".join(tensors)
    return whole + bytes(-len(whole) % 32 + 32)


def _short_entries(header: GGUFHeader, file: Any) -> Iterator[bytes]:
    for key, (start, end) in header.entries.items():
        if end - start <= _MOST_ENTRY and key != "general.alignment":
            file.seek(start)
            yield file.read(end - start)


def _named(name: str) -> bytes:
    """The entry of a tensor of one number, at the beginning of the numbers."""
    spelt = name.encode()
    return struct.pack("<Q", len(spelt)) + spelt + struct.pack("<IQIQ", 1, 1, 0, 0)


def _numbers(data: Any, tensor: GGUFTensor) -> Any:
    kind = GGMLQuantizationType(tensor.kind)
    in_block, n_bytes = GGML_QUANT_SIZES[kind]
    *others, n_columns = tensor.shape
    stored = data[tensor.start : tensor.start + tensor.n_bytes]
    return dequantize(stored.reshape(*others, n_columns // in_block * n_bytes), kind)


def _places(header: GGUFHeader, skeleton: Any, processor: Any) -> dict[str, str]:
    """The model's names for the file's tensors. Raises NotAModel where gguf has no table."""
    found = [arch for arch, name in MODEL_ARCH_NAMES.items() if name == header.architecture]
    if not found:
        raise NotAModel(f"{header.path}: its architecture {header.architecture!r:.40} is not known")
    n_layers = int(skeleton.config.get_text_config().num_hidden_layers)
    table = get_tensor_name_map(found[0], n_layers)
    return _below("", list(skeleton.state_dict()), table, processor)


def _below(prefix: str, names: list[str], table: Any, processor: Any) -> dict[str, str]:
    """What the table knows under this prefix, names that are known without more of it first."""
    found: dict[str, str] = {}
    for name in names:
        inner = processor.preprocess_name(name.removeprefix(prefix))
        stem, _, last = inner.rpartition(".")
        stem, suffix = (stem, f".{last}") if last in ("weight", "bias") else (inner, "")
        known = table.get_name(stem)
        if known is None:
            processor.perform_fallback_tensor_mapping(found, suffix, prefix, inner)
        else:
            found[known + suffix] = prefix + inner
    for part in _parts(prefix, names):
        inside = [name for name in names if name.startswith(part)]
        found = _below(part, inside, table, processor) | found
    return found


def _parts(prefix: str, names: list[str]) -> list[str]:
    """The prefixes that are one part longer, in the order of the names."""
    inner = [name.removeprefix(prefix).split(".") for name in names]
    return list(dict.fromkeys(f"{prefix}{parts[0]}." for parts in inner if len(parts) > 1))
