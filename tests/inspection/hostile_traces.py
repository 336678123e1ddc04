"""Broken and hostile trace files, made here: each a change of a whole one, and what is said."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import safetensors.numpy

from core.inspection.trace_format import KEY

Arrays = dict[str, np.ndarray]
Change = Callable[[Arrays, dict[str, Any]], Any]


def taken_apart(data: bytes) -> tuple[Arrays, dict[str, Any]]:
    """The arrays of a whole file and the description in it."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    return dict(safetensors.numpy.load(data)), json.loads(header["__metadata__"][KEY])


def put_together(arrays: Arrays, description: Any) -> bytes:
    text = description if isinstance(description, str) else json.dumps(description)
    return safetensors.numpy.save(arrays, {KEY: text})


def changed(change: Change) -> Callable[[bytes], bytes]:
    """A whole file in which arrays or description were changed."""

    def make(data: bytes) -> bytes:
        arrays, description = taken_apart(data)
        arrays = {name: values.copy() for name, values in arrays.items()}
        other = change(arrays, description)
        return put_together(arrays, description if other is None else other)

    return make


def with_header(change: Callable[[dict[str, Any]], Any]) -> Callable[[bytes], bytes]:
    """A whole file whose header says something else of its bytes."""

    def make(data: bytes) -> bytes:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        other = change(header)
        text = other if isinstance(other, bytes) else json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + data[8 + length :]

    return make


def said(**values: Any) -> Callable[[bytes], bytes]:
    return changed(lambda _, description: description["said"].update(values))


def described(**values: Any) -> Callable[[bytes], bytes]:
    return changed(lambda _, description: description.update(values))


def step(**values: Any) -> Callable[[bytes], bytes]:
    return changed(lambda _, description: description["said"]["steps"][0].update(values))


def proof(**values: Any) -> Callable[[bytes], bytes]:
    return changed(lambda _, description: description["said"]["proof"].update(values))


def put(name: str, at: Any, value: float) -> Callable[[bytes], bytes]:
    return changed(lambda arrays, _: arrays[name].__setitem__(at, value))


def array(name: str, values: Any) -> Callable[[bytes], bytes]:
    return changed(lambda arrays, _: arrays.__setitem__(name, values))


def without(name: str) -> Callable[[bytes], bytes]:
    return changed(lambda arrays, _: arrays.__delitem__(name))


def at(name: str, **values: Any) -> Callable[[bytes], bytes]:
    return with_header(lambda header: header[name].update(values))


HUGE = 2**36
HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "nothing": (lambda _: b"", "^no trace: 0 bytes$"),
    "a text": (lambda _: b"Where was Ada Lovelace born?", "header claims .* bytes"),
    "a header of 2^60 bytes": (
        lambda data: (2**60).to_bytes(8, "little") + data[8:],
        "its header claims 1,152,921,504,606,846,976 bytes",
    ),
    "a header of 2^64 - 1 bytes": (lambda data: b"\xff" * 8 + data[8:], "its header claims 18,44"),
    "half a file": (lambda data: data[: len(data) // 2], "its header claims|the file"),
    "one byte less": (lambda data: data[:-1], r"its arrays have \S+ bytes, the file \S+ for them"),
    "bytes behind the arrays": (lambda data: data + b"x", "its arrays have"),
    "a header that is no JSON": (with_header(lambda _: b"{" * 9), "its header: not JSON"),
    "a header of lists in lists": (
        with_header(lambda _: b"[" * 100_000),
        "its header: nested too deeply",
    ),
    "a header that is a list": (with_header(lambda _: b"[]"), "its header is no JSON object"),
    "a header in Latin-1": (with_header(lambda _: b'{"\xe9": 1}'), "its header: not JSON"),
    "no metadata": (
        with_header(lambda header: header.pop("__metadata__") and None),
        "^no trace: its metadata has no text 'attention_trace'$",
    ),
    "overlapping arrays": (
        with_header(lambda header: header["seen"].update(header["weights"])),
        "lies from byte",
    ),
    "an offset beyond the file": (at("seen", data_offsets=[HUGE, HUGE + 9]), "seen of shape"),
    "a negative offset": (at("seen", data_offsets=[-9, 0]), r"its header says of seen: .*data_off"),
    "a size of terabytes": (at("weights", shape=[HUGE, HUGE]), "weights of shape"),
    "a negative size": (at("weights", shape=[-1, 3, 3]), r"its header says of weights: .*shape"),
    "a dtype of objects": (
        at("weights", dtype="O"),
        "its header says of weights: .*enum value 'O'",
    ),
    "an unknown array": (array("code", np.zeros(3, np.float32)), "holds an unknown array 'code'"),
    "a missing array": (without("value_norm"), "^the array value_norm is missing$"),
    "another precision than told": (
        described(precision="float16"),
        "is float32 .* float16 .* needed",
    ),
    "weights of another shape": (
        array("weights", np.zeros((2, 3, 4), np.float32)),
        r"weights is float32 \(2, 3, 4\); float32 \(2, 3, 3\) is needed here",
    ),
    "outputs without values": (
        array("output", np.zeros((2, 3, 2), np.float32)),
        "^the array value is missing$",
    ),
    "a number that is none": (
        put("weights", (0, 2, 0), np.nan),
        "^weights holds numbers that are not",
    ),
    "an infinite norm": (
        put("value_norm", (0, 0), np.inf),
        "value_norm holds numbers that are not",
    ),
    "a negative norm": (put("value_norm", (0, 0), -1), "value_norm holds negative numbers"),
    "a row that does not sum to 1": (
        put("weights", (0, 2, 0), 0.9),
        r"a row of L0·H0 sums to 1 within 0\.8; its proof says 0",
    ),
    "weight on what is masked": (
        put("weights", (1, 0, 2), 0.5),
        "its proof says that nothing masked has weight, but something has",
    ),
    "negative weights": (
        changed(lambda arrays, _: arrays["weights"].__setitem__((0, 2), [-0.5, 1, 0.5])),
        "L0·H0 has negative weights; softmax has none",
    ),
    "a mask of seven": (
        lambda data: data.replace(taken_apart(data)[0]["seen"].tobytes(), b"\x07" * 9),
        "seen holds 7, neither false nor true",
    ),
    "too many layers": (described(n_layers=10**9), "its description: .*n_layers"),
    "too many heads": (described(n_layers=512, n_heads=512), "512 layers of 512 heads; at most"),
    "weights of gigabytes, one head of them recorded": (
        changed(
            lambda arrays, description: (
                description.update(n_layers=100, n_heads=100, seen_of=[0] * 100),
                description["said"].update(
                    recorded=[[0, 0]], tokens=["a"] * 8000, word_starts=[True] * 8000
                ),
                None,
            )[-1]
        ),
        "100 layers of 100 heads over 8000 tokens are 640,000,000,000 numbers a kind",
    ),
    "vectors of gigabytes": (
        changed(
            lambda arrays, description: (
                description.update(n_layers=100, n_heads=100, seen_of=[0] * 100),
                description["said"].update(recorded=[[0, 0]]),
                arrays.update(value=np.zeros((1, 3, 10**5), np.float32)),
                None,
            )[-1]
        ),
        "3,000,000,000 numbers a kind",
    ),
    "masks that are not there": (described(seen_of=[7]), "seen_of has to name one mask for each"),
    "an unknown version": (described(version=2), "^a trace of version 2; this program reads 1$"),
    "a version of a text": (described(version="x" * 10**6), "^a trace of version 'x{19}; this"),
    "a description that is no JSON": (changed(lambda *_: "{'a'"), "its description: not JSON"),
    "a description of lists in lists": (
        changed(lambda *_: "[" * 10**5),
        "its description: nested too deeply",
    ),
    "a number that no float holds": (
        changed(lambda *_: '{"version": 1e999}'),
        "numbers must be fin",
    ),
    "a number of 5,000 digits": (
        changed(lambda *_: '{"version": ' + "9" * 5000 + "}"),
        "not JSON|digits",
    ),
    "half a character": (said(question="\ud800"), "holds half a character"),
    "half a character in a name": (described(origin={"model": "\udfff"}), "holds half a character"),
    "a token of a megabyte": (
        said(tokens=["a", "b", "c" * 10**6]),
        r"length <= 200 - at `\$\.tokens",
    ),
    "an unknown key": (said(run="rm"), "unknown field `run`"),
    "a kind of unknown name": (said(kinds=["sideways"]), "Invalid enum value 'sideways'"),
    "an unknown mechanism": (
        said(mechanism="magic" * 100),
        "^mechanism 'magicmagic.*known are softmax",
    ),
    "an unknown mode": (said(mode="half"), "Invalid enum value 'half'"),
    "no mechanism": (said(mechanism=None), "Expected `str`, got `null`"),
    "a negative row": (step(row=-1), r"Expected `int` >= 0 - at `\$\.steps\[0\]\.row`"),
    "a row beyond the text": (step(row=3), "^position 3; the trace has 3 tokens, counted from 0$"),
    "a token written far away": (step(position=9), "a token written at 9; the last may stand at 3"),
    "a probability of two": (step(probability=2.0), "Expected `float` <= 1"),
    "a name beyond the text": (said(name_positions=[10**6]), "^position 1000000; the trace has 3"),
    "a name in disorder": (
        said(name_positions=[1, 0]),
        "name_positions must be in order, each once",
    ),
    "a head that is not there": (
        said(ablated=[[0, 9]]),
        "ablated: L0·H9; layers are 0 to 0, heads",
    ),
    "a head twice": (said(recorded=[[0, 1], [0, 1]]), "recorded must be in order, each once"),
    "fewer words than tokens": (
        said(word_starts=[True]),
        "word_starts has 1 entries; 3 are needed",
    ),
    "a source of everything": (said(n_source=3), "3 tokens of a source; of 3 one must be left"),
    "crossing to nothing": (said(kinds=["cross"]), "cross-attention without a source"),
    "latents behind the writer": (
        changed(
            lambda _, description: (
                description["said"].update(latent_positions=[2]),
                description["said"]["steps"][0].update(row=1),
                None,
            )[-1]
        ),
        "row 1 writes, before the first row of L0, 2",
    ),
    "keys for half a head": (said(n_kv_heads=3), "3 heads of keys for 2 of queries"),
    "a negative difference": (
        proof(replay_max_difference=-1.0),
        "replay_max_difference of the proof is -1",
    ),
    "a proof of texts": (proof(dtype="x" * 10**5), "dtype of the proof has 100,000 characters"),
    "a proof that says less": (proof(row_sum_max_error="0"), "Expected `float`, got `str`"),
}
