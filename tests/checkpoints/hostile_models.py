"""Hostile folders and GGUF files: each made from a whole one, with what has to be said of it.

A case is a function that turns a folder, which does not exist yet, into what is opened; it may
return another path. Run as a program it opens all of them in this process, which then has little
memory and a socket that counts, and prints a line of JSON for each.
"""

import json
import os
import pickle
import resource
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from core.checkpoints.anyones import open_anyones
from tests.checkpoints import whole_models as whole

Case = tuple[Callable[[Path], Path | None], str]
GB = 10**9
LIMIT, MODELS = 6 * GB, GB
Q = "model.layers.0.self_attn.q_proj.weight"


class Trap:
    """What makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


def files(**changed: bytes | None) -> dict[str, bytes]:
    """Of a whole folder, with others under `name__ending`; None leaves one out."""
    names = {name.replace("__", "."): data for name, data in changed.items()}
    every = whole.folder_files() | names
    return {name: data for name, data in every.items() if data is not None}


def spelt(data: object) -> bytes:
    return json.dumps(data).encode()


def having(**changed: bytes | None) -> Callable[[Path], None]:
    return lambda folder: void(whole.put(folder, files(**changed)))


def config(**changed: Any) -> Callable[[Path], None]:
    return having(config__json=spelt(whole.CONFIG | changed))


def weights(data: bytes) -> Callable[[Path], None]:
    return having(model__safetensors=data)


def entry(**changed: Any) -> Callable[[Path], None]:
    """A header in which one tensor is listed otherwise."""
    data = whole.safetensors(whole.arrays())
    (n,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + n])
    header[Q] |= changed
    return weights(whole.with_header(header, data[8 + n :]))


def tensors(**changed: Any) -> Callable[[Path], None]:
    every = whole.arrays() | {name.replace("__", "."): array for name, array in changed.items()}
    kept = {name: array for name, array in every.items() if array is not None}
    return weights(whole.safetensors(kept))


def tokenizer(**changed: Any) -> Callable[[Path], None]:
    return having(tokenizer__json=spelt(whole.tokenizer() | changed))


def settings(**changed: Any) -> Callable[[Path], None]:
    return having(tokenizer_config__json=spelt(whole.SETTINGS | changed))


def index(*names: object) -> Callable[[Path], None]:
    mapped = {str(i): name for i, name in enumerate(names)}
    listed = spelt({"weight_map": mapped})
    return having(model__safetensors=None, model__safetensors__index__json=listed)


def link(name: str, target: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        whole.put(folder, files(**{name.replace(".", "__"): None}))
        (folder / name).symlink_to(target)

    return make


def pipe(name: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        whole.put(folder, files(**{name.replace(".", "__"): None}))
        os.mkfifo(folder / name)

    return make


def directory(name: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        whole.put(folder, files(**{name.replace(".", "__"): None}))
        (folder / name).mkdir()

    return make


def pickled(folder: Path) -> bytes:
    return pickle.dumps(Trap(folder.parent / "sprung"))


def renamed_pickle(folder: Path) -> None:
    whole.put(folder, files(model__safetensors=pickled(folder)))


def only_a_pickle(folder: Path) -> None:
    whole.put(folder, files(model__safetensors=None, pytorch_model__bin=pickled(folder)))


def pickled_tokenizer(folder: Path) -> None:
    whole.put(folder, files(tokenizer__json=pickled(folder)))


def a_pickle_itself(folder: Path) -> Path:
    return whole.put(folder, {"model.pt": pickled(folder)}) / "model.pt"


def sparse(name: str, n_bytes: int) -> Callable[[Path], None]:
    """A file of any length that takes no room."""

    def make(folder: Path) -> None:
        whole.put(folder, files())
        os.truncate(folder / name, n_bytes)

    return make


def outside_snapshot(folder: Path) -> Path:
    """As in the cache of Hugging Face, but the link leads beside the blobs."""
    snapshot = folder / "models--a--b" / "snapshots" / "0"
    whole.put(snapshot, files(config__json=None))
    whole.put(folder / "models--a--b" / "refs", {"config.json": spelt(whole.CONFIG)})
    (snapshot / "config.json").symlink_to("../../refs/config.json")
    return snapshot


def file(data: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        return whole.put(folder, {"model.gguf": data}) / "model.gguf"

    return make


def says(key: str, data: bytes | None) -> Callable[[Path], Path]:
    """A GGUF in which one value is another, or is left out."""
    every = whole.values() | ({} if data is None else {key: data})
    return file(whole.gguf({k: v for k, v in every.items() if data is not None or k != key}))


def place(shape: tuple[int, ...], offset: int = 0, kind: int = 0) -> Callable[[Path], Path]:
    return file(whole.gguf(lists=[whole.listed("token_embd.weight", shape, offset, kind)]))


def void(_value: object) -> None:
    return None


def nested(depth: int) -> bytes:
    return b'{"model_type": "llama", "a": ' + b"[" * depth + b"]" * depth + b"}"


BPE = whole.tokenizer()["model"]
NOT_WHOLE = whole.safetensors(whole.arrays())[:-100]
BIG = np.full((whole.WIDTH, whole.WIDTH), np.inf, np.float32)
NAN = np.full((whole.WIDTH, whole.WIDTH), np.nan, np.float32)
KEY = "llama.block_count"


def replaces(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def cuts(rule: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": rule}, "behavior": "Isolated", "invert": False}


CASES: dict[str, Case] = {
    # what a folder says of its model
    "no folder": (lambda folder: folder / "none", "there is no such folder or file"),
    "an empty folder": (lambda folder: folder.mkdir(), "there is no config.json"),
    "a GGUF in a folder": (
        lambda folder: void(whole.put(folder, {"a.gguf": whole.gguf()})),
        "no config.json in this folder; name the file in it: a.gguf",
    ),
    "config: no JSON": (having(config__json=b"{"), r"config.json: not JSON"),
    "config: a list": (having(config__json=b"[]"), "a JSON object is needed"),
    "config: bytes": (having(config__json=b"\xff\xfe"), r"config.json: not JSON"),
    "config: nested 100,000 times": (having(config__json=nested(10**5)), "nested too deeply"),
    "config: nested 40 times": (having(config__json=nested(40)), "nested too deeply"),
    "config: 10 GB": (sparse("config.json", 10 * GB), "10,000,000,000 bytes; at most"),
    "config: a number of 5,000 digits": (
        having(config__json=b'{"model_type": "llama", "a": ' + b"9" * 5000 + b"}"),
        "not JSON|whole number of",
    ),
    "config: infinity": (having(config__json=b'{"a": 1e999}'), "numbers must be finite"),
    "config: no family": (config(model_type=None), "names no model_type"),
    "config: a family of the future": (config(model_type="llama9"), "no family that transformers"),
    "config: a family by a path": (config(model_type="../x"), "no family that transformers"),
    "config: code for AutoModel": (
        config(auto_map={"AutoModelForCausalLM": "modeling.Model"}),
        r"asks for code of its own \(auto_map\)",
    ),
    "config: code inside": (config(text_config={"auto_map": {"AutoConfig": "a.B"}}), "auto_map"),
    "config: code for generation": (config(custom_generate="a/b"), "custom_generate"),
    "config: a kernel of somebody": (
        config(attn_implementation="owner/repo"),
        "asks for code of its own .attn_implementation is 'owner/repo'",
    ),
    "config: a kernel inside": (
        config(text_config={"_attn_implementation": "owner/repo:f"}),
        "_attn_implementation is 'owner/repo:f'",
    ),
    "config: a kernel as an object": (
        config(attn_implementation={"": "owner/repo"}),
        "asks for code of its own",
    ),
    "config: other weights": (config(transformers_weights="../x.safetensors"), "names other files"),
    "config: quantised": (
        config(quantization_config={"quant_method": "bitsandbytes"}),
        "quantised weights are read from GGUF files only",
    ),
    "config: 10^9 layers": (config(num_hidden_layers=10**9), "num_hidden_layers is 1,000,000,000"),
    "config: 10^9 wide": (config(hidden_size=10**9), "hidden_size is 1,000,000,000"),
    "config: 10^12 tokens": (config(vocab_size=10**12), "vocab_size is 1,000,000,000,000"),
    "config: 10^6 experts": (config(num_local_experts=10**6), "num_local_experts is 1,000,000"),
    "config: 1,000 layers of 1,000 experts": (
        config(num_hidden_layers=60, num_local_experts=1024, n_routed_experts=1024),
        "61,440 parameters|asks for|num_|layers",
    ),
    "config: layers without tensors": (
        config(num_hidden_layers=900),
        "900 layers are claimed, 21 tensors are there",
    ),
    "config: a negative width": (config(hidden_size=-16), "hidden_size is -16; 0 to"),
    "config: no heads": (config(num_attention_heads=0), "model: .*"),
    "config: a width of 16.5": (config(hidden_size=16.5), "hidden_size is 16.5; a whole number"),
    "config: a width of 1e9": (config(hidden_size=1e9), "hidden_size is 1000000000.0; a whole"),
    "config: a width in words": (config(hidden_size="16"), "hidden_size is '16'; a whole number"),
    "config: true layers": (config(num_hidden_layers=True), "num_hidden_layers is True; a whole"),
    "config: a width of objects": (config(hidden_size={"a": 16}), "hidden_size|model: "),
    "config: rope as a list": (config(rope_parameters=[1, 2]), "model: "),
    "config: rope of words": (
        config(rope_parameters={"rope_type": "yarn", "factor": "x", "rope_theta": []}),
        "model: ",
    ),
    "config: rope of a kind that is none": (
        config(rope_parameters={"rope_type": "os.system", "rope_theta": 1.0}),
        "model: ",
    ),
    "config: a million kinds of layers": (
        config(layer_types=["full_attention"] * 10**6),
        "holds more than 131,072 values",
    ),
    "config: ten million kinds of layers": (
        lambda folder: void(
            whole.put(folder, files(config__json=b'{"a": ["' + b'","' * 2 * 10**7 + b'"]}'))
        ),
        "at most 32,000,000 are read",
    ),
    "config: architectures that are a number": (config(architectures=3), "architectures is 3"),
    "config: an activation that is none": (config(hidden_act="__import__"), "model: "),
    # lies against the weights
    "more layers than are there": (config(num_hidden_layers=3), "the files lack layers.2"),
    "fewer layers than are there": (config(num_hidden_layers=1), "hold more layers than"),
    "a wider MLP": (config(intermediate_size=32), "has shape .*, the configuration needs"),
    "a larger vocabulary": (config(vocab_size=2**25), "the configuration asks for|needs .* GB"),
    "positions for a table of 2^25": (
        config(model_type="gpt2", n_positions=2**25, n_embd=2**12, n_layer=2),
        "needs .* GB of memory|the configuration asks for",
    ),
    "a weight less": (tensors(**{Q.replace(".", "__"): None}), "the files lack layers.0.self_attn"),
    "a weight that is not a number": (tensors(**{Q.replace(".", "__"): NAN}), "are not finite"),
    "a weight that is infinite": (tensors(**{Q.replace(".", "__"): BIG}), "are not finite"),
    # what stands in the place of a file
    "a pickle as safetensors": (renamed_pickle, "not a whole safetensors file"),
    "a pickle alone": (only_a_pickle, "pickles such as pytorch_model.bin are not read"),
    "a pickle by its path": (a_pickle_itself, "neither a folder with config.json and"),
    "an adapter": (having(adapter_config__json=b"{}"), "an adapter"),
    "an adapter by a link": (
        lambda folder: void(
            (whole.put(folder, files()) / "adapter_config.json").symlink_to("/etc/passwd")
        ),
        "an adapter",
    ),
    "an index that leads up": (index("../../x.safetensors"), "is no name of a file in this"),
    "an index that leads away": (index("/etc/passwd"), "is no name of a file in this folder"),
    "an index of hidden files": (index(".x.safetensors"), "is no name of a file in this folder"),
    "an index of numbers": (index(3), "3 is no name of a file"),
    "an index of a missing file": (index("x.safetensors"), "x.safetensors: there is no such file"),
    "an index of 1,000 files": (index(*[f"{i}.safetensors" for i in range(1000)]), "names 1000"),
    "an index without a map": (
        having(model__safetensors=None, model__safetensors__index__json=b"{}"),
        "names 0 files",
    ),
    "an index that is a list": (
        having(model__safetensors=None, model__safetensors__index__json=b"[]"),
        "a JSON object is needed",
    ),
    "weights by a link": (link("model.safetensors", "/etc/passwd"), "leads out of its folder"),
    "config by a link": (link("config.json", "../../etc/passwd"), "leads out of its folder"),
    "config by a loop": (link("config.json", "config.json"), "config.json: "),
    "tokenizer by a link": (link("tokenizer.json", "/etc/passwd"), "leads out of its folder"),
    "a link beside the blobs": (outside_snapshot, "leads out of its folder"),
    "config as a pipe": (pipe("config.json"), "config.json: is no file"),
    "weights as a pipe": (pipe("model.safetensors"), "model.safetensors: is no file"),
    "tokenizer as a pipe": (pipe("tokenizer.json"), "tokenizer.json: is no file"),
    "weights as a device": (link("model.safetensors", "/dev/zero"), "leads out of its folder"),
    "weights as a folder": (directory("model.safetensors"), "model.safetensors: is no file"),
    # headers of safetensors
    "safetensors: empty": (weights(b""), "not a whole safetensors file"),
    "safetensors: a header of 2^60": (
        weights(struct.pack("<Q", 2**60) + b"{}"),
        "its header claims 1,152,921,504,606,846,976 bytes of 10",
    ),
    "safetensors: a header of 2^64 - 1": (weights(b"\xff" * 9), "not a whole safetensors file"),
    "safetensors: no JSON": (weights(whole.with_header(b"{{")), "not JSON"),
    "safetensors: a list": (weights(whole.with_header([])), "its header is no object"),
    "safetensors: nested": (weights(whole.with_header(nested(10**5))), "nested too deeply"),
    "safetensors: no tensor": (weights(whole.with_header({})), "hold no tensor"),
    "safetensors: truncated": (weights(NOT_WHOLE), "claims a shape and place that the file"),
    "safetensors: more behind": (
        weights(whole.safetensors(whole.arrays()) + bytes(64)),
        "are listed",
    ),
    "safetensors: overlapping": (entry(data_offsets=[0, 1024]), "claims a shape and place"),
    "safetensors: backwards": (entry(data_offsets=[1024, 0]), "claims a shape and place"),
    "safetensors: beyond": (entry(data_offsets=[2**60, 2**60 + 1024]), "claims a shape and place"),
    "safetensors: a product that overflows": (
        entry(shape=[2**32, 2**32, 2**32]),
        "claims a shape and place",
    ),
    "safetensors: 10,000 axes": (entry(shape=[1] * 10**4), "without a shape and a place"),
    "safetensors: a shape below 0": (entry(shape=[-16, -16]), "without a shape and a place"),
    "safetensors: a shape of halves": (entry(shape=[16.0, 16.0]), "without a shape and a place"),
    "safetensors: a kind that is none": (entry(dtype="F128"), "stored as 'F128'"),
    "safetensors: a kind that is a list": (entry(dtype=["F32"]), "stored as .'F32'."),
    "safetensors: an entry that is none": (
        weights(whole.with_header({"a": 3})),
        "a is listed without",
    ),
    # tokenizers
    "no tokenizer": (
        having(tokenizer__json=None, tokenizer_config__json=None),
        "there is no tokenizer in this folder",
    ),
    "tokenizer: no JSON": (having(tokenizer__json=b"{"), "tokenizer.json: not JSON"),
    "tokenizer: a list": (having(tokenizer__json=b"[]"), "a JSON object is needed"),
    "tokenizer: nested": (having(tokenizer__json=nested(10**5)), "nested too deeply"),
    "tokenizer: a pickle": (pickled_tokenizer, "tokenizer.json: not JSON"),
    "tokenizer: 1 GB": (sparse("tokenizer.json", GB), "1,000,000,000 bytes; at most"),
    "tokenizer: a model that is none": (tokenizer(model=3), "model is no object"),
    "tokenizer: a model of no kind": (tokenizer(model={"type": "Exec"}), "tokenizer cannot be"),
    "tokenizer: a million added": (
        tokenizer(added_tokens=[{"id": 0, "content": "a"}] * 10**6),
        "adds 1,000,000 tokens; at most",
    ),
    "tokenizer: ids that the model has not": (
        tokenizer(model=BPE | {"vocab": BPE["vocab"] | {"zz": 10**6}}),
        "its tokenizer has ids up to 1,000,000, the model 32 tokens",
    ),
    "tokenizer: merges of nothing": (
        tokenizer(model=BPE | {"merges": [["q", "zz"]]}),
        "tokenizer cannot be read",
    ),
    "tokenizer: a rule without an end": (
        tokenizer(pre_tokenizer=cuts("(a+)+$")),
        "could search for ever: '.a\\+.\\+",
    ),
    "tokenizer: a rule of choices": (tokenizer(pre_tokenizer=cuts("(a|a)*b")), "search for ever"),
    "tokenizer: a rule of a megabyte": (tokenizer(pre_tokenizer=cuts("a" * 10**6)), "for ever"),
    "tokenizer: a rule that is none": (tokenizer(pre_tokenizer=cuts("(")), "cannot be read"),
    "tokenizer: a text that grows": (
        tokenizer(normalizer=replaces({"String": "a"}, "a" * 1000)),
        "replaces a text by a longer one",
    ),
    "tokenizer: a text that grows by a rule": (
        tokenizer(normalizer=replaces({"Regex": "."}, "ab")),
        "replaces a text by a longer one",
    ),
    "tokenizer: a text that grows in steps": (
        tokenizer(
            normalizer={
                "type": "Sequence",
                "normalizers": [replaces({"String": ""}, "a") for _ in range(100)],
            }
        ),
        "its normalizer has more than 64 parts",
    ),
    "settings: code": (settings(auto_map={"AutoTokenizer": ["a.B", None]}), "asks for code"),
    "settings: a class that is a path": (settings(tokenizer_class="../a.B"), "tokenizer_class is"),
    "settings: a class that is a number": (settings(tokenizer_class=3), "tokenizer_class is 3"),
    "settings: a class that is none": (
        having(
            tokenizer__json=None,
            tokenizer_config__json=spelt({"tokenizer_class": "NoneSuchTokenizer"}),
        ),
        "tokenizer cannot be read",
    ),
    "settings: no JSON": (having(tokenizer_config__json=b"{"), "tokenizer_config.json: not JSON"),
    "settings: a template of a megabyte": (
        settings(chat_template="{{ 1 }}" * 200_000),
        "a chat template of more than",
    ),
    "a template of a megabyte": (
        having(chat_template__jinja=b"{{ 1 }}" * 200_000),
        "chat_template.jinja: 1,400,000 bytes",
    ),
    "generation: a list": (having(generation_config__json=b"[]"), "a JSON object is needed"),
    "generation: by a link": (
        lambda folder: void(
            (whole.put(folder, files()) / "generation_config.json").symlink_to("/etc/passwd")
        ),
        "leads out of its folder",
    ),
    # GGUF
    "GGUF: empty": (file(b""), "is empty"),
    "GGUF: another file": (file(b"GGML" + bytes(64)), "does not begin as a GGUF file does"),
    "GGUF: four letters": (file(b"GGUF"), "ends in the middle"),
    "GGUF: version 1": (file(whole.gguf(version=1)), "is of version 1; "),
    "GGUF: version 10^9": (file(whole.gguf(version=10**9)), "is of version 1000000000"),
    "GGUF: the other order": (file(whole.gguf(version=3 << 24)), "stand in another order"),
    "GGUF: 2^60 values": (file(whole.gguf(n_values=2**60)), "claims 1,152,921,504,606,846,976 val"),
    "GGUF: a value too many": (file(whole.gguf(n_values=18)), "model.gguf: "),
    "GGUF: 2^60 tensors": (file(whole.gguf(n_tensors=2**60)), "claims .* tensors, more than"),
    "GGUF: no tensor": (file(whole.gguf(lists=[])), "holds no tensor"),
    "GGUF: a key of 2^60": (
        says(KEY, struct.pack("<Q", 2**60) + KEY.encode()),
        "a key claims 1,152,921,504,606,846,976 bytes",
    ),
    "GGUF: a key that is no text": (
        says(KEY, struct.pack("<Q", 2) + b"\xff\xfe" + struct.pack("<II", 4, 1)),
        "a key is not UTF-8",
    ),
    "GGUF: a key twice": (says(KEY, whole.number("llama.vocab_size", 1)), "says .* twice"),
    "GGUF: a text of 2^60": (
        says(KEY, whole.value(KEY, 8, struct.pack("<Q", 2**60))),
        "claims 1,152,921,504,606,846,976 bytes",
    ),
    "GGUF: a list of 2^60": (
        says(KEY, whole.value(KEY, 9, struct.pack("<IQ", 4, 2**60))),
        "entries, more than it can hold",
    ),
    "GGUF: lists in a list": (
        says(KEY, whole.value(KEY, 9, struct.pack("<IQ", 9, 1))),
        "is of a kind that is not read",
    ),
    "GGUF: a piece of a megabyte": (
        says("tokenizer.ggml.tokens", whole.texts("tokenizer.ggml.tokens", ["a" * 10**6])),
        "a text of 1,000,000 bytes in a list",
    ),
    "GGUF: a piece of 2^60": (
        says(
            "tokenizer.ggml.tokens",
            whole.value("tokenizer.ggml.tokens", 9, struct.pack("<IQQ", 8, 1, 2**60)),
        ),
        "in a list",
    ),
    "GGUF: a value of no kind": (says(KEY, whole.value(KEY, 99, b"")), "not read .99."),
    "GGUF: no architecture": (says("general.architecture", None), "names no architecture"),
    "GGUF: a number as architecture": (
        says("general.architecture", whole.number("general.architecture", 3)),
        "names no architecture",
    ),
    "GGUF: an architecture that is none": (
        says("general.architecture", whole.value("general.architecture", 8, whole.text("x"))),
        "model.gguf: ",
    ),
    "GGUF: an odd alignment": (
        says("general.alignment", whole.number("general.alignment", 33)),
        "is no power of two",
    ),
    "GGUF: no alignment": (
        says("general.alignment", whole.number("general.alignment", 0)),
        "is no power of two",
    ),
    "GGUF: 10^9 layers": (says(KEY, whole.number(KEY, 10**9)), "block_count is 1,000,000,000"),
    "GGUF: no number of layers": (says(KEY, None), "model.gguf: "),
    "GGUF: a text as layers": (says(KEY, whole.value(KEY, 8, whole.text("2"))), "model.gguf: "),
    "GGUF: a list as layers": (says(KEY, whole.numbers(KEY, [2, 2])), "model.gguf: "),
    "GGUF: half a layer": (
        says(KEY, whole.value(KEY, 6, struct.pack("<f", 2.5))),
        "num_hidden_layers is 2.5; a whole number|model.gguf: ",
    ),
    "GGUF: more layers": (says(KEY, whole.number(KEY, 3)), "the files lack layers.2"),
    "GGUF: fewer layers": (says(KEY, whole.number(KEY, 1)), "hold more layers than"),
    "GGUF: 10^9 wide": (
        says(
            "llama.embedding_length",
            whole.number("llama.embedding_length", 10**9),
        ),
        "hidden_size is|embedding_length is",
    ),
    "GGUF: five axes": (place((1, 1, 1, 1, 1)), "has 5 axes; 1 to 4 are read"),
    "GGUF: a product that overflows": (place((2**40, 2**40)), "numbers"),
    "GGUF: an axis of nothing": (place((0, 16)), "claims 0 numbers"),
    "GGUF: more than the file has": (place((2**20, 16)), "claims a place that the file has not"),
    "GGUF: beyond the file": (place((32, 16), 2**60), "claims a place that the file has not"),
    "GGUF: between two places": (place((32, 16), 8), "claims a place that the file has not"),
    "GGUF: kept in no way": (place((32, 16), kind=77), "stored in a way that is not known .77."),
    "GGUF: half a block": (place((32, 16), kind=3), "has rows of 16, no multiple of 32"),
    "GGUF: whole numbers": (place((32, 16), kind=26), "model.gguf: "),
    "GGUF: a tensor twice": (
        file(whole.gguf(lists=[whole.listed("output.weight", (1,), n) for n in (0, 32)])),
        "lists a tensor twice",
    ),
    "GGUF: two in one place": (
        file(whole.gguf(lists=[whole.listed(name, (32, 16), 0) for name in "ab"])),
        "claims a place that the file has not",
    ),
    "GGUF: cut in the values": (file(whole.gguf()[:400]), "model.gguf: "),
    "GGUF: cut in the numbers": (file(whole.gguf()[:-3000]), "claims a place that the file"),
    "GGUF: a token that ends nowhere": (
        says("tokenizer.ggml.eos_token_id", whole.number("tokenizer.ggml.eos_token_id", 10**6)),
        "tokenizer cannot be read|model.gguf: ",
    ),
    "GGUF: no pieces": (says("tokenizer.ggml.tokens", None), "tokenizer cannot be read"),
    "GGUF: pieces that are numbers": (
        says("tokenizer.ggml.tokens", whole.numbers("tokenizer.ggml.tokens", [1, 2])),
        "model.gguf: ",
    ),
    "GGUF: a tokenizer of no kind": (
        says("tokenizer.ggml.model", whole.value("tokenizer.ggml.model", 8, whole.text("exec"))),
        "tokenizer cannot be read",
    ),
    "GGUF: a template of a megabyte": (
        says(
            "tokenizer.chat_template",
            whole.value("tokenizer.chat_template", 8, whole.text("{{ 1 }}" * 10**5)),
        ),
        "a chat template of more than",
    ),
    "GGUF: as a pipe": (
        lambda folder: void(folder.mkdir()) or fifo(folder / "model.gguf"),
        "not a file",
    ),
    "GGUF: one of many parts": (
        lambda folder: (
            whole.put(folder, {"m-00001-of-00003.gguf": whole.gguf()}) / "m-00001-of-00003.gguf"
        ),
        "one of 3 parts",
    ),
}


def fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def watch(home: Path, seen: list[str]) -> None:
    """Note what no opening does: a process, a socket, a file written outside of its own folder, and
    anything read where links and names of these cases lead.
    """
    own = [str(home), os.environ["TMPDIR"]]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn"):
            seen.append(f"{event} {arguments[:1]}")
        if event.startswith("socket.") and event != "socket.gethostname":
            seen.append(event)
        if event != "open" or not isinstance(arguments[0], str | bytes | os.PathLike):
            return
        path, flags = os.path.realpath(os.fsdecode(arguments[0])), arguments[2] or 0
        if path in ("/etc/passwd", "/dev/zero"):
            seen.append(f"read {path}")
        if flags & (os.O_WRONLY | os.O_RDWR) and not path.startswith((*own, "/dev/", "/proc/")):
            seen.append(f"written {path}")

    sys.addaudithook(hook)


def spring() -> None:
    """What would be seen, once, so that a watch that sees nothing is one that could."""
    with Path("/etc/passwd").open("rb"):
        pass
    os.close(os.open("/tmp", os.O_WRONLY | os.O_TMPFILE))
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", 9))


def no_socket(*_arguments: object, **_more: object) -> None:
    raise OSError("there is no network here")


def main(home: Path) -> None:
    """Open all cases; the last line says what else was seen."""
    paths: dict[str, Path] = {}
    for n, (name, (make, _)) in enumerate(CASES.items()):
        folder = home / str(n) / "model"
        folder.parent.mkdir(parents=True)
        paths[name] = make(folder) or folder
    import_module("core.checkpoints.opened")  # loads transformers, which may write what it likes
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    seen: list[str] = []
    socket.socket = no_socket  # pyright: ignore[reportAttributeAccessIssue]
    watch(home, seen)
    spring()
    for name, path in paths.items():
        try:
            open_anyones(path)
            kind, said = "opened", ""
        except BaseException as error:  # noqa: BLE001 - which of them it is, is asked
            kind, said = type(error).__name__, str(error)
        print(json.dumps({"name": name, "kind": kind, "said": said}), flush=True)
    sprung = [str(path) for path in home.rglob("sprung")]
    print(json.dumps({"seen": seen, "sprung": sprung}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
