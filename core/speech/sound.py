"""Sound as numbers: one channel, float32 in −1..1, RATE samples a second; WAV files in and out.

A file from anywhere is held to its own header before anything is copied. What comes at another
rate loses what lies above the lower rate's half, and nothing of it folds back.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, gcd
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

RATE = 8000
LEAST_SECONDS, MOST_SECONDS = 0.1, 15.0
RATES = (4_000, 192_000)
MOST_WAV_BYTES = 24_000_000  # 15 s of two channels of 32 bit at the highest rate, and some words
MOST_CHUNKS = 100

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")
_STREAMED = 0x7FFFF000  # from here on a size is what a program writes that does not know it yet
_LOUDEST = 2.0  # a loud mix passes 1 by a little; what lies above was never a sample
_ALLOWED = "PCM of 8, 16, 24 or 32 bit, or float of 32 bit, is read"

Sound: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    tag: int
    channels: int
    rate: int
    align: int
    bits: int


def read_wav(data: bytes, name: str) -> Sound:
    """The sound of a WAV file's bytes at RATE samples a second; two channels become their mean.

    A size of sound that its writer did not know yet (0, or as large as can be) means the rest of
    the file. Raises ValueError: one sentence that says what is wrong and what is allowed.
    """
    found, sound = _parts(data, name)
    n_samples = len(sound) // found.align
    seconds = n_samples / found.rate
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        _refuse(name, f"{seconds:.3g} s; {LEAST_SECONDS} to {MOST_SECONDS:g} s of sound are read")
    samples = _samples(sound[: n_samples * found.align], found, name)
    return resampled(samples.reshape(-1, found.channels).mean(1, dtype=np.float32), found.rate)


def wav_seconds(data: bytes, name: str) -> float:
    """How long the sound of a WAV file is, by its head alone. Raises ValueError as `read_wav`,
    but for no length.
    """
    found, sound = _parts(data, name)
    return len(sound) // found.align / found.rate


def write_wav(samples: Sound) -> bytes:
    """A WAV file of 16 bit, one channel, RATE samples a second."""
    whole = np.rint(np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 36 + len(whole), b"WAVE", b"fmt ", 16, _PCM, 1,
                       RATE, 2 * RATE, 2, 16)  # fmt: skip
    return head + struct.pack("<4sI", b"data", len(whole)) + whole


def resampled(samples: Sound, rate: int) -> Sound:
    """The same sound at RATE samples a second: ⌈n · RATE / rate⌉ of them.

    The spectrum of all of it is cut off at the lower of both rates' halves, or filled up with zeros
    to the higher, so that nothing folds back; silence behind the end makes the length a whole
    number of both periods. Cost: n log n.
    """
    if rate == RATE:
        return samples.astype(np.float32)
    up, down = RATE // gcd(RATE, rate), rate // gcd(RATE, rate)
    n_periods = ceil(len(samples) / down)
    filled = np.pad(samples.astype(np.float64), (0, n_periods * down - len(samples)))
    n_whole = n_periods * up
    spectrum = np.fft.rfft(filled)[: n_whole // 2 + 1]
    found = np.fft.irfft(spectrum, n_whole) * (n_whole / len(filled))
    return found[: ceil(len(samples) * up / down)].astype(np.float32)


def _parts(data: bytes, name: str) -> tuple[_Format, memoryview]:
    """Format and bytes of the sound, neither copied nor read."""
    if len(data) > MOST_WAV_BYTES:
        _refuse(name, f"{len(data):,} bytes; at most {MOST_WAV_BYTES:,} are read")
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        _refuse(name, f"no WAV file: it begins with {data[:12]!r}, not with RIFF and WAVE")
    found: _Format | None = None
    for kind, said, body in _chunks(memoryview(data), name):
        if kind == b"fmt ":
            if found is not None:
                _refuse(name, "its format is said twice; one chunk 'fmt ' is allowed")
            _refuse_cut(name, "format", said, body)
            found = _format(body, name)
        elif kind == b"data":
            if found is None:
                _refuse(name, "sound stands before any format; a chunk 'fmt ' must come first")
            return found, _sound(said, body, found, name)
    return _refuse(name, "it holds no sound; chunks 'fmt ' and 'data' are needed")


def _chunks(data: memoryview, name: str) -> Iterator[tuple[bytes, int, memoryview]]:
    """Kind, size as said, and bytes as far as they are there, of each chunk."""
    (said,) = struct.unpack_from("<I", data, 4)
    if not _is_open(said) and said > len(data) - 7:  # a last odd byte may lack its pad
        _refuse(name, f"cut off: it says {said + 8:,} bytes and has {len(data):,}")
    start = 12
    for _ in range(MOST_CHUNKS):
        if start + 8 > len(data):
            return
        kind, size = struct.unpack_from("<4sI", data, start)
        end = len(data) if kind == b"data" and _is_open(size) else start + 8 + size
        yield kind, size, data[start + 8 : end]
        start += 8 + size + size % 2
    _refuse(name, f"more than {MOST_CHUNKS} chunks without any sound; so many are looked at")


def _format(body: memoryview, name: str) -> _Format:
    """What the chunk says, once it fits itself."""
    if len(body) < 16:
        _refuse(name, f"its format has {len(body)} bytes; at least 16 are needed")
    tag, channels, rate, _, align, bits = struct.unpack_from("<HHIIHH", body)
    if tag == _EXTENSIBLE:
        tag = _inner_tag(body, name)
    if (tag, bits) not in {(_PCM, 8), (_PCM, 16), (_PCM, 24), (_PCM, 32), (_FLOAT, 32)}:
        _refuse(name, f"format {tag} of {bits} bit; {_ALLOWED}")
    if channels not in (1, 2):
        _refuse(name, f"{channels} channels; one or two are read")
    if not RATES[0] <= rate <= RATES[1]:
        _refuse(name, f"{rate:,} samples a second; {RATES[0]:,} to {RATES[1]:,} are read")
    if align != (needed := channels * bits // 8):
        _refuse(name, f"{align} bytes a sample; {channels} x {bits} bit need {needed}")
    return _Format(tag=tag, channels=channels, rate=rate, align=align, bits=bits)


def _inner_tag(body: memoryview, name: str) -> int:
    if len(body) < 40 or bytes(body[26:40]) != _GUID_TAIL:
        _refuse(name, f"an extended format without the name of one; {_ALLOWED}")
    return struct.unpack_from("<H", body, 24)[0]


def _sound(said: int, body: memoryview, found: _Format, name: str) -> memoryview:
    """The bytes of all samples, cut to whole ones where the writer did not know how many."""
    if _is_open(said):
        return body
    _refuse_cut(name, "sound", said, body)
    if said % found.align:
        _refuse(name, f"{said:,} bytes of sound; it must be a multiple of {found.align}")
    return body


def _is_open(size: int) -> bool:
    """Whether it is what stands where a writer did not know the size."""
    return size == 0 or size >= _STREAMED


def _refuse_cut(name: str, what: str, said: int, body: memoryview) -> None:
    if len(body) < said:
        _refuse(name, f"cut off: it says {said:,} bytes of {what} and has {len(body):,}")


def _samples(sound: memoryview, found: _Format, name: str) -> Sound:
    """All numbers in −1..1, those of two channels in turns."""
    if found.tag == _FLOAT:
        samples = np.frombuffer(sound, "<f4")
        loudest = float(np.abs(samples).max())
        if not loudest <= _LOUDEST:  # as it is of NaN
            _refuse(name, f"a sample is {loudest:.3g}; numbers between −1 and 1 are read")
        return np.clip(samples, -1, 1)
    whole, bits = _whole(sound, found.bits)
    return np.multiply(whole, 2.0 ** (1 - bits), dtype=np.float32)


def _whole(sound: memoryview, bits: int) -> tuple[NDArray[Any], int]:
    """Whole numbers around 0, and how many bits each has."""
    if bits == 8:  # the one width without a sign
        return np.frombuffer(sound, np.uint8).astype(np.int16) - np.int16(128), bits
    if bits != 24:
        return np.frombuffer(sound, f"<i{bits // 8}"), bits
    wide = np.zeros((len(sound) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(sound, np.uint8).reshape(-1, 3)
    return wide.view("<i4")[:, 0], 32


def _refuse(name: str, why: str) -> NoReturn:
    raise ValueError(f"{name:.80}: {why}")
