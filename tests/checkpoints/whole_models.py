"""Tiny models in the forms that are read, byte by byte: a folder of a Llama, and the same as GGUF.

Nothing here is loaded by a library, so that any byte can be another one.
"""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

VOCABULARY, WIDTH, LAYERS, HEADS, KV_HEADS, INNER = 32, 16, 2, 2, 1, 24
Arrays = dict[str, Any]

CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "max_position_embeddings": 64,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
PIECES = ["<unk>", "<s>", "</s>", "▁", *"abcdefghijklmnopqrstuvwxyz", "th", "he"]


def tokenizer() -> dict[str, Any]:
    """Letters, two merges, three special tokens."""
    added = [
        {
            "id": i,
            "content": piece,
            "special": True,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
        }
        for i, piece in enumerate(PIECES[:3])
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Metaspace",
            "replacement": "▁",
            "prepend_scheme": "always",
            "split": True,
        },
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "BPE",
            "vocab": {piece: i for i, piece in enumerate(PIECES)},
            "merges": [["t", "h"], ["h", "e"]],
            "unk_token": "<unk>",
        },
    }


SETTINGS = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "model_max_length": 10**30,
}


def shapes() -> dict[str, tuple[int, ...]]:
    """Of a Llama's tensors, by transformers' names."""
    key = WIDTH // HEADS * KV_HEADS
    found: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (VOCABULARY, WIDTH)}
    for layer in range(LAYERS):
        begin = f"model.layers.{layer}"
        found |= {
            f"{begin}.self_attn.q_proj.weight": (WIDTH, WIDTH),
            f"{begin}.self_attn.k_proj.weight": (key, WIDTH),
            f"{begin}.self_attn.v_proj.weight": (key, WIDTH),
            f"{begin}.self_attn.o_proj.weight": (WIDTH, WIDTH),
            f"{begin}.mlp.gate_proj.weight": (INNER, WIDTH),
            f"{begin}.mlp.up_proj.weight": (INNER, WIDTH),
            f"{begin}.mlp.down_proj.weight": (WIDTH, INNER),
            f"{begin}.input_layernorm.weight": (WIDTH,),
            f"{begin}.post_attention_layernorm.weight": (WIDTH,),
        }
    return found | {"model.norm.weight": (WIDTH,), "lm_head.weight": (VOCABULARY, WIDTH)}


def arrays() -> Arrays:
    """Random numbers of those shapes."""
    generator = np.random.default_rng(0)
    return {
        name: (generator.standard_normal(shape) * 0.3 + (len(shape) == 1)).astype(np.float32)
        for name, shape in shapes().items()
    }


def safetensors(tensors: Arrays) -> bytes:
    header: dict[str, Any] = {}
    end = 0
    for name, tensor in tensors.items():
        place = [end, end + tensor.nbytes]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": place}
        end = place[1]
    return with_header(header, b"".join(tensor.tobytes() for tensor in tensors.values()))


def with_header(header: object, numbers: bytes = b"") -> bytes:
    spelt = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(spelt)) + spelt + numbers


def folder_files() -> dict[str, bytes]:
    """The files of a folder in the form of Hugging Face."""
    return {
        "config.json": json.dumps(CONFIG).encode(),
        "model.safetensors": safetensors(arrays()),
        "tokenizer.json": json.dumps(tokenizer()).encode(),
        "tokenizer_config.json": json.dumps(SETTINGS).encode(),
    }


def put(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def value(key: str, kind: int, data: bytes) -> bytes:
    """An entry of a GGUF file."""
    return text(key) + struct.pack("<I", kind) + data


def number(key: str, n: int) -> bytes:
    return value(key, 4, struct.pack("<I", n))


def texts(key: str, entries: list[str]) -> bytes:
    return value(
        key, 9, struct.pack("<IQ", 8, len(entries)) + b"".join(text(entry) for entry in entries)
    )


def numbers(key: str, entries: list[int]) -> bytes:
    return value(key, 9, struct.pack(f"<IQ{len(entries)}i", 5, len(entries), *entries))


def values() -> dict[str, bytes]:
    """What the GGUF file of that Llama says, by key."""
    entries = [
        value("general.architecture", 8, text("llama")),
        number("llama.block_count", LAYERS),
        number("llama.context_length", 64),
        number("llama.embedding_length", WIDTH),
        number("llama.feed_forward_length", INNER),
        number("llama.attention.head_count", HEADS),
        number("llama.attention.head_count_kv", KV_HEADS),
        number("llama.rope.dimension_count", WIDTH // HEADS),
        value("llama.attention.layer_norm_rms_epsilon", 6, struct.pack("<f", 1e-6)),
        number("llama.vocab_size", VOCABULARY),
        value("tokenizer.ggml.model", 8, text("gpt2")),
        texts("tokenizer.ggml.tokens", PIECES),
        numbers("tokenizer.ggml.token_type", [3] * 3 + [1] * (len(PIECES) - 3)),
        texts("tokenizer.ggml.merges", ["t h", "h e"]),
        number("tokenizer.ggml.bos_token_id", 1),
        number("tokenizer.ggml.eos_token_id", 2),
        number("tokenizer.ggml.unknown_token_id", 0),
    ]
    return {entry[8 : 8 + entry[0]].decode(): entry for entry in entries}


def listed(name: str, shape: tuple[int, ...], offset: int, kind: int = 0) -> bytes:
    """A tensor's entry; axes stand there the quickest first."""
    sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
    return text(name) + sizes + struct.pack("<IQ", kind, offset)


def gguf_arrays() -> Arrays:
    """The same numbers by GGUF's names."""
    inside = {
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "model.layers.": "blk.",
        "model.embed_tokens": "token_embd",
        "model.norm": "output_norm",
        "lm_head": "output",
    }
    renamed: Arrays = {}
    for name, tensor in arrays().items():
        ours = name
        for part, short in inside.items():
            ours = ours.replace(part, short)
        renamed[ours] = tensor
    return renamed


def gguf(
    entries: dict[str, bytes] | None = None,
    tensors: Arrays | None = None,
    *,
    version: int = 3,
    n_values: int | None = None,
    n_tensors: int | None = None,
    lists: list[bytes] | None = None,
) -> bytes:
    """A whole GGUF file, or one in which something is otherwise."""
    entries = values() if entries is None else entries
    tensors = gguf_arrays() if tensors is None else tensors
    table, data = list[bytes](), b""
    for name, tensor in tensors.items():
        table.append(listed(name, tensor.shape, len(data)))
        data += tensor.tobytes() + bytes(-tensor.nbytes % 32)
    table = table if lists is None else lists
    counts = (len(table) if n_tensors is None else n_tensors, n_values or len(entries))
    head = b"GGUF" + struct.pack("<IQQ", version, *counts) + b"".join([*entries.values(), *table])
    return head + bytes(-len(head) % 32) + data
