"""Log-mel frames against their formula."""

import numpy as np
import pytest

from core.speech.features import (
    FLOOR,
    FRAMES_PER_SECOND,
    HOP,
    N_BANDS,
    WINDOW,
    band_hertz,
    log_mel,
    mel_bank,
)
from core.speech.sound import RATE


def tone(hertz: float, rate: int = RATE, seconds: float = 0.5) -> np.ndarray:
    return np.sin(2 * np.pi * hertz * np.arange(int(rate * seconds)) / rate).astype(np.float32)


def test_frames_are_the_formula_s_frame_by_frame():
    samples = np.random.default_rng(0).normal(0, 0.1, 1000).astype(np.float32)
    frames = log_mel(samples)
    bank, hann = mel_bank(), 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / (WINDOW - 1))
    turns = np.exp(-2j * np.pi * np.outer(np.arange(WINDOW // 2 + 1), np.arange(WINDOW)) / WINDOW)
    naive = []
    for start in range(0, len(samples) - WINDOW + 1, HOP):
        power = np.abs(turns @ (hann * samples[start : start + WINDOW])) ** 2
        naive.append([np.log((row * power).sum() + FLOOR) for row in bank])
    logs = np.array(naive)
    expected = (logs - logs.mean(0)) / (logs.std() + 1e-3)
    assert frames.shape == expected.shape == (1 + (1000 - WINDOW) // HOP, N_BANDS)
    np.testing.assert_allclose(frames, expected, atol=1e-4)


@pytest.mark.parametrize("hertz", [200.0, 1000.0, 3000.0])
def test_a_tone_is_heard_in_the_band_that_peaks_next_to_it(hertz: float):
    silence_then_tone = np.concatenate([np.zeros(4000, np.float32), tone(hertz)])
    heard = log_mel(silence_then_tone)[-20:].mean(0)
    assert abs(int(np.argmax(heard)) - int(np.argmin(np.abs(band_hertz() - hertz)))) <= 1


def test_loudness_does_not_count_and_silence_is_zero():
    samples = np.random.default_rng(1).normal(0, 0.1, 4000).astype(np.float32)
    np.testing.assert_allclose(log_mel(samples), log_mel(3 * samples), atol=0.05)
    assert np.abs(log_mel(np.zeros(4000, np.float32))).max() < 1e-6


@pytest.mark.parametrize("n", [0, 1, WINDOW - 1, WINDOW, WINDOW + HOP - 1])
def test_a_sound_shorter_than_a_window_has_one_frame(n: int):
    assert log_mel(np.zeros(n, np.float32)).shape == (1, N_BANDS)


def test_triangles_rise_to_one_and_overlap_by_halves():
    bank = mel_bank()
    assert bank.min() == 0
    assert bank.max() <= 1
    assert np.all(np.diff(band_hertz()) > 0)
    assert FRAMES_PER_SECOND == 80
