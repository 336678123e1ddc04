"""What a recogniser reads of a sound: log-mel frames.

    X[t, k] = |Σ_n w[n] x[t·HOP + n] exp(−2πi k n / WINDOW)|²      (a Hann window w)
    frame[t, m] = log(Σ_k bank[m, k] X[t, k] + FLOOR)

then less its mean over time by band, and over the deviation of all its numbers, so that neither a
loud voice nor a telephone's line counts. Cost: n log WINDOW for n samples.
"""

import numpy as np
from numpy.typing import NDArray

from core.speech.sound import RATE, Sound

Frames = NDArray[np.float32]  # (frames, N_BANDS)

WINDOW, HOP = 256, 100  # 32 ms, of which the next begins 12.5 ms later
N_BANDS = 40
FRAMES_PER_SECOND = RATE / HOP
LEAST_HERTZ, MOST_HERTZ = 50.0, RATE / 2
FLOOR = 1e-5
# Silence has no deviation to divide by.
_LEAST_DEVIATION = 1e-3


def log_mel(samples: Sound) -> Frames:
    """(frames, N_BANDS) of a sound at RATE; its end is filled up with silence, so that a sound of
    any length has a frame.
    """
    n_frames = 1 + max(0, (len(samples) - WINDOW) // HOP)
    filled = np.pad(samples, (0, max(0, WINDOW - len(samples))))
    windows = np.lib.stride_tricks.sliding_window_view(filled, WINDOW)[::HOP][:n_frames]
    spectrum = np.fft.rfft(windows * np.hanning(WINDOW), axis=1)
    logs = np.log(np.square(np.abs(spectrum)) @ mel_bank().T + FLOOR)
    scaled = (logs - logs.mean(0)) / (logs.std() + _LEAST_DEVIATION)
    return scaled.astype(np.float32)


def mel_bank() -> NDArray[np.float64]:
    """(N_BANDS, WINDOW / 2 + 1): triangles, evenly spread on the mel scale, each 1 at its peak."""
    edges = _hertz(np.linspace(_mel(LEAST_HERTZ), _mel(MOST_HERTZ), N_BANDS + 2))[:, None]
    low, peak, high = edges[:-2], edges[1:-1], edges[2:]
    hertz = np.linspace(0, RATE / 2, WINDOW // 2 + 1)
    return np.maximum(0.0, np.minimum((hertz - low) / (peak - low), (high - hertz) / (high - peak)))


def band_hertz() -> NDArray[np.float64]:
    """(N_BANDS,): the frequency at which each band peaks."""
    return _hertz(np.linspace(_mel(LEAST_HERTZ), _mel(MOST_HERTZ), N_BANDS + 2))[1:-1]


def _mel(hertz: float) -> float:
    """O'Shaughnessy 1987."""
    return float(2595 * np.log10(1 + hertz / 700))


def _hertz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    return 700 * (10 ** (mel / 2595) - 1)
