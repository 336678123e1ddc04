"""The GPT's variants on which every tool that looks at a model is tested."""

from typing import Any

BLOCK_SIZE = 36  # a question and a little more: what nothing has trained writes until it is full
# The sizes are those of `make_gpt` unless told.
VARIANTS: dict[str, dict[str, Any]] = {
    "learned": {"n_layers": 3},
    "rotary": {"positions": "rotary", "n_heads": 4},
    "synthesizer": {"attention": "synthesizer"},
    "dense-synthesizer": {"attention": "dense-synthesizer"},
    "elu": {"attention": "elu"},
    "favor": {"attention": "favor", "n_features": 24},
    "taylor": {"attention": "taylor", "positions": "rotary"},
    "delta": {"attention": "delta", "positions": "rotary"},
    "gated-delta": {"attention": "gated-delta"},
    "gate": {"attention": "gate"},
    "window": {"attention": "window", "window": 6, "n_sinks": 2},
    "based": {"attention": "based", "window": 6, "positions": "rotary"},
    "convolution": {"attention": "delta", "positions": "rotary", "short_convolution": 3},
    "perceiver": {"n_latents": 20, "n_layers": 3, "positions": "rotary"},
    "perceiver-stride": {"n_latents": 18, "latent_stride": 2, "n_layers": 3},
    "perceiver-plain": {"n_latents": 20, "latent_residual": False},
}
