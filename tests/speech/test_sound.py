import struct
import tracemalloc

import numpy as np
import pytest

from core.speech.sound import MOST_SECONDS, MOST_WAV_BYTES, RATE, read_wav, resampled, write_wav
from tests.speech.hostile_wavs import FINE, HOSTILE, LONG, PCM_GUID, chunk, extended, fmt, wav

SINE = np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE).astype(np.float32) * np.float32(0.5)


def decibel(value: float) -> float:
    return 20 * np.log10(max(value, 1e-12))


def as_bytes(samples: np.ndarray, tag: int, bits: int) -> bytes:
    if tag == 3:
        return samples.astype("<f4").tobytes()
    if bits == 8:
        return (np.rint(samples * 127) + 128).astype(np.uint8).tobytes()
    whole = np.rint(samples.astype(np.float64) * (2 ** (bits - 1) - 1)).astype("<i4")
    rows = whole.view(np.uint8).reshape(-1, 4)  # little-endian: the lowest bytes come first
    return rows[:, : bits // 8].tobytes()


@pytest.mark.parametrize(("tag", "bits"), [(1, 8), (1, 16), (1, 24), (1, 32), (3, 32)])
def test_every_width_is_read_as_the_same_sound(tag, bits):
    data = wav(fmt(tag=tag, bits=bits), chunk(b"data", as_bytes(SINE, tag, bits)))
    found = read_wav(data, "sine")
    assert found.dtype == np.float32
    assert np.abs(found - SINE).max() < (1 / 100 if bits == 8 else 1 / 20_000)


def test_what_is_written_is_read_again_within_half_a_step():
    found = read_wav(write_wav(SINE), "sine")
    assert len(found) == len(SINE)
    assert np.abs(found - SINE).max() < 1 / 30_000


def test_what_passes_one_is_written_and_read_as_one():
    assert read_wav(write_wav(SINE * 4), "loud").max() == pytest.approx(1, abs=1e-4)
    data = wav(fmt(tag=3, bits=32), chunk(b"data", as_bytes(SINE * 3, 3, 32)))
    assert read_wav(data, "loud").max() == 1


def test_two_channels_become_their_mean():
    both = np.stack([SINE, -SINE / 2], axis=1).reshape(-1)
    data = wav(fmt(channels=2), chunk(b"data", as_bytes(both, 1, 16)))
    assert np.abs(read_wav(data, "two") - SINE / 4).max() < 1e-4


def test_an_extended_format_names_the_one_inside():
    head = fmt(tag=0xFFFE, more=extended(PCM_GUID))
    assert len(read_wav(wav(head, chunk(b"data", as_bytes(SINE, 1, 16))), "x")) == RATE


def test_chunks_beside_the_sound_are_passed_over():
    odd = chunk(b"LIST", b"abc")
    data = wav(odd, fmt(), odd, chunk(b"data", as_bytes(SINE, 1, 16)), odd) + b"behind the end"
    assert np.abs(read_wav(data, "x") - SINE).max() < 1e-4


@pytest.mark.parametrize(("riff", "said"), [(LONG, LONG), (0, 0), (0x7FFFF024, 0x7FFFF000)])
def test_a_size_that_was_not_known_means_the_rest_of_the_file(riff, said):
    sound = chunk(b"data", as_bytes(SINE, 1, 16) + b"\7", said)[:-1]  # half a sample more
    assert len(read_wav(wav(fmt(), sound, size=riff), "streamed")) == RATE


def test_the_longest_sound_is_read_and_one_sample_more_is_not():
    longest = bytes(2 * int(RATE * MOST_SECONDS))
    assert len(read_wav(wav(fmt(), chunk(b"data", longest)), "long")) == RATE * MOST_SECONDS
    with pytest.raises(ValueError, match=r"long: 15 s; 0.1 to 15 s of sound are read"):
        read_wav(wav(fmt(), chunk(b"data", longest + b"\0\0")), "long")


@pytest.mark.parametrize(("name", "data", "match"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_a_hostile_file_is_refused_in_one_sentence(name, data, match):
    with pytest.raises(ValueError, match=rf"^{name}: ") as found:
        read_wav(data, name)
    sentence = str(found.value)
    assert match in sentence
    assert "\n" not in sentence
    assert len(sentence) < 200


def test_the_hostile_files_are_forty_or_more_and_all_different():
    assert len(HOSTILE) >= 40
    assert len({data for _, data, _ in HOSTILE}) == len(HOSTILE)
    assert len(read_wav(FINE, "fine")) == RATE


def test_every_cut_and_every_changed_byte_of_a_head_is_read_or_refused():
    """No other exception leaves the reader, whatever a head says."""
    short = FINE[:2044]
    for at in range(44):
        for value in (0, 1, 127, 255):
            for data in (FINE[:at], short[:at] + bytes([value]) + short[at + 1 :]):
                try:
                    assert np.isfinite(read_wav(data, "x")).all()
                except ValueError as error:
                    assert str(error).startswith("x: ")  # noqa: PT017


def test_refusing_a_large_file_takes_no_memory():
    hour = wav(fmt(rate=4000, bits=8), chunk(b"data", bytes(MOST_WAV_BYTES - 44)))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="0.1 to 15 s"):
            read_wav(hour, "hour")
        refused = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        read_wav(wav(fmt(channels=2, rate=192_000), chunk(b"data", bytes(11_520_000))), "most")
        read = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert refused < 100_000
    assert read < 100_000_000


@pytest.mark.parametrize("rate", [4000, 7919, 11_025, 16_000, 22_050, 44_100, 48_000, 192_000])
def test_resampling_keeps_the_passband_within_a_tenth_of_a_decibel(rate):
    times = np.arange(rate // 2) / rate
    for hertz in (50, 440, 0.42 * min(rate, RATE)):
        found = resampled(np.cos(2 * np.pi * hertz * times).astype(np.float32), rate)
        wanted = np.cos(2 * np.pi * hertz * np.arange(len(found)) / RATE)
        inside = slice(400, -400)  # 50 ms at either end know only one side
        gain = found[inside] @ wanted[inside] / (wanted[inside] @ wanted[inside])
        assert abs(decibel(float(gain))) < 0.1
        assert decibel(np.abs(found - wanted)[inside].max()) < -50


@pytest.mark.parametrize("rate", [11_025, 16_000, 22_050, 44_100, 48_000, 192_000])
def test_what_lies_above_the_new_rate_is_gone_by_fifty_decibels(rate):
    times = np.arange(rate // 2) / rate
    for hertz in (4100, 4600, 5400, 0.49 * rate):
        found = resampled(np.cos(2 * np.pi * hertz * times + 1).astype(np.float32), rate)
        assert decibel(np.abs(found[400:-400]).max()) < -50


def test_every_fourth_sample_would_fold_a_tone_back():
    """The naive way that cutting the spectrum is there to avoid."""
    tone = np.cos(2 * np.pi * 7000 * np.arange(16_000) / 32_000).astype(np.float32)
    assert decibel(np.abs(tone[::4]).max()) > -1
    assert decibel(np.abs(resampled(tone, 32_000)[400:-400]).max()) < -50


def test_resampling_agrees_with_the_sum_written_out():
    """A sum of cosines through the samples, at the times between them."""
    rate, samples = 11_025, np.random.default_rng(0).normal(size=300).astype(np.float32)
    found = resampled(samples, rate)
    whole = np.concatenate([samples, np.zeros(441 - 300)])  # 320 of ours
    tones = np.arange(161)  # up to our half, the lower of both
    parts = np.exp(-2j * np.pi * np.outer(tones, np.arange(441)) / 441) @ whole / 441
    weighed = parts * np.where((tones == 0) | (tones == 160), 1, 2)
    for j in (0, 1, 57, len(found) - 1):
        expected = (weighed * np.exp(2j * np.pi * tones * j / 320)).real.sum()
        assert found[j] == pytest.approx(expected, abs=1e-5)


def test_a_constant_stays_itself_and_the_length_is_that_of_the_time():
    found = resampled(np.full(4410, 0.25, np.float32), 44_100)
    assert len(found) == 800
    assert np.allclose(found[100:-100], 0.25, atol=1e-6)
    assert len(resampled(np.zeros(1, np.float32), 192_000)) == 1


def test_a_sound_at_its_rate_is_left_alone():
    assert np.array_equal(resampled(SINE, RATE), SINE)


def test_the_written_head_says_what_is_behind_it():
    data = write_wav(SINE)
    assert struct.unpack_from("<I", data, 4)[0] == len(data) - 8
    assert struct.unpack_from("<I", data, 40)[0] == 2 * RATE
