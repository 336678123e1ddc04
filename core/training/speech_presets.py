"""Recipes of recognisers by name, and the rows of the ablation of what a decoder needs."""

from dataclasses import replace
from typing import Any

from core.training.recipe import Phase
from core.training.speech_recipe import SpeechRecipe
from core.training.variation import Variation

# Same encoder, same data, same steps: what the decoder is, and whether it looks at the sound. Sizes
# are within a tenth of each other.
_LISTEN = SpeechRecipe(
    name="speech-attention",
    phases=(Phase(name="listen"),),
    width=144,
    n_heads=4,
    n_layers=3,
    tokens_per_batch=6400,
    dropout=0.05,
    n_band_masks=1,
    n_time_masks=1,
    n_steps=7000,
)
_LSTM: dict[str, Any] = {"decoder": "lstm", "lstm_width": 104}
_BLIND: dict[str, Any] = {"decoder": "lstm-blind", "lstm_width": 160}
SPEECH = (
    _LISTEN,
    replace(_LISTEN, name="speech-lstm", **_LSTM),
    # A marked variant: half of what it hears is one real speaker. It goes on with a checkpoint.
    replace(
        _LISTEN,
        name="speech-real",
        phases=(Phase(name="real voice"),),
        real_voice=True,
        matrix_rate=5e-3,
        adamw_rate=7.5e-4,
        n_steps=500,
    ),
)


def _listen(name: str, label: str, differs: str, **changes: Any) -> Variation:
    recipe = replace(_LISTEN, name=f"ablation-{name}", n_steps=800, **changes)
    return Variation(label=label, differs=differs, recipe=recipe)


# What a recogniser's decoder needs.
HEARD = (
    _listen("listen", "attention decoder", "self-attention and cross-attention; CTC beside them"),
    _listen("no-ctc", "attention, no CTC", "the decoder's loss alone", ctc_weight=0.0),
    _listen("lstm", "LSTM, cross-attention", "an LSTM in the place of self-attention", **_LSTM),
    _listen("blind", "LSTM, no cross-attention", "it sees the mean of the sound alone", **_BLIND),
)
