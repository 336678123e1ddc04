"""Forty WAV files that nobody should send, each with a part of the sentence that refuses it."""

import struct

import numpy as np

LONG = 0xFFFFFFFF


def chunk(kind: bytes, body: bytes, size: int | None = None) -> bytes:
    said = len(body) if size is None else size
    return struct.pack("<4sI", kind, said) + body + b"\0" * (len(body) % 2)


def fmt(
    *,
    tag: int = 1,
    channels: int = 1,
    rate: int = 8000,
    bits: int = 16,
    align: int | None = None,
    more: bytes = b"",
) -> bytes:
    size = channels * bits // 8 if align is None else align
    per_second = min(rate * size, LONG)
    head = struct.pack("<HHIIHH", tag, channels, rate, per_second, size, bits)
    return chunk(b"fmt ", head + more)


def wav(*chunks: bytes, size: int | None = None, kind: bytes = b"WAVE") -> bytes:
    body = kind + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body) if size is None else size) + body


def extended(guid: bytes) -> bytes:
    return struct.pack("<HHI", 22, 16, 4) + guid


SECOND = chunk(b"data", bytes(16_000))
FINE = wav(fmt(), SECOND)
FLOATS = fmt(tag=3, bits=32)
PCM_GUID = bytes.fromhex("0100000000001000800000aa00389b71")


def floats(value: float) -> bytes:
    return chunk(b"data", np.full(8000, value, "<f4").tobytes())


HOSTILE: list[tuple[str, bytes, str]] = [
    ("empty", b"", "no WAV file"),
    ("three letters", b"RIF", "no WAV file"),
    ("a head alone", b"RIFF\4\0\0\0WAVE", "holds no sound"),
    ("an MP3", b"ID3\3\0" + bytes(9000), "no WAV file: it begins with b'ID3"),
    ("an Ogg", b"OggS" + bytes(9000), "no WAV file"),
    ("a FLAC", b"fLaC" + bytes(9000), "no WAV file"),
    ("a pickle", b"\x80\x04\x95" + bytes(9000), "no WAV file"),
    ("a page", b"<html><script>alert(1)</script>", "no WAV file"),
    ("big-endian", b"RIFX" + FINE[4:], "no WAV file"),
    ("64 bit of sizes", b"RF64" + FINE[4:], "no WAV file"),
    ("an AVI", wav(fmt(), SECOND, kind=b"AVI "), "no WAV file"),
    ("noughts", bytes(9000), "no WAV file"),
    ("too many bytes", FINE + bytes(24_000_000), "at most 24,000,000 are read"),
    ("cut in the sound", FINE[:-9000], "cut off: it says"),
    ("cut in the format", FINE[:26], "cut off: it says"),
    ("RIFF says too much", wav(fmt(), SECOND, size=1_000_000), "says 1,000,008 bytes and has"),
    (
        "sound says too much",
        wav(fmt(), chunk(b"data", bytes(16_000), 2_000_000_000)),
        "says 2,000,000,000 bytes of sound and has 16,000",
    ),
    ("format says too much", wav(chunk(b"fmt ", bytes(16), 10**9)), "bytes of format"),
    ("format without end", wav(chunk(b"fmt ", bytes(16), LONG), SECOND), "bytes of format"),
    ("a format of 4 bytes", wav(chunk(b"fmt ", bytes(4)), SECOND), "at least 16 are needed"),
    ("a format of none", wav(chunk(b"fmt ", b""), SECOND), "has 0 bytes"),
    ("two formats", wav(fmt(), fmt(bits=8), SECOND), "said twice"),
    ("sound first", wav(SECOND, fmt()), "before any format"),
    ("no sound", wav(fmt(), chunk(b"LIST", bytes(100))), "holds no sound"),
    ("a chunk beyond the end", wav(fmt(), chunk(b"LIST", b"", LONG)), "holds no sound"),
    ("chunks without end", wav(fmt(), chunk(b"junk", b"") * 1_000_000), "more than 100 chunks"),
    ("MP3 inside", wav(fmt(tag=0x55), SECOND), "format 85 of 16 bit"),
    ("A-law", wav(fmt(tag=6, bits=8), SECOND), "format 6 of 8 bit"),
    ("doubles", wav(fmt(tag=3, bits=64), SECOND), "format 3 of 64 bit"),
    ("12 bit", wav(fmt(bits=12), SECOND), "format 1 of 12 bit"),
    ("no bits", wav(fmt(bits=0), SECOND), "format 1 of 0 bit"),
    ("no channel", wav(fmt(channels=0), SECOND), "0 channels; one or two"),
    ("65,535 channels", wav(fmt(channels=65_535, align=2), SECOND), "65535 channels"),
    ("no rate", wav(fmt(rate=0), SECOND), "0 samples a second; 4,000 to 192,000"),
    ("all of a rate", wav(fmt(rate=LONG), SECOND), "4,294,967,295 samples a second"),
    ("an align of 0", wav(fmt(align=0), SECOND), "0 bytes a sample; 1 x 16 bit need 2"),
    ("half a sample", wav(fmt(), chunk(b"data", bytes(15_999))), "must be a multiple of 2"),
    ("16 seconds", wav(fmt(), chunk(b"data", bytes(256_000))), "16 s; 0.1 to 15 s"),
    ("a click", wav(fmt(), chunk(b"data", bytes(100))), "0.00625 s; 0.1 to 15 s"),
    ("nothing streamed", wav(fmt(), chunk(b"data", b"", LONG), size=LONG), "0 s; 0.1 to 15 s"),
    ("a streamed hour", wav(fmt(), chunk(b"data", bytes(9_000_000), LONG)), "562 s; 0.1"),
    ("NaN", wav(FLOATS, floats(float("nan"))), "a sample is nan; numbers between"),
    ("infinity", wav(FLOATS, floats(float("inf"))), "a sample is inf"),
    ("whole numbers as floats", wav(FLOATS, floats(32_767)), "a sample is 3.28e+04"),
    ("extended, cut", wav(fmt(tag=0xFFFE), SECOND), "without the name of one"),
    ("extended, odd", wav(fmt(tag=0xFFFE, more=extended(bytes(16))), SECOND), "without the name"),
    (
        "extended in itself",
        wav(fmt(tag=0xFFFE, more=extended(b"\xfe\xff" + PCM_GUID[2:])), SECOND),
        "format 65534 of 16 bit",
    ),
]
