"""What a training of a recogniser does, frozen. Free of torch."""

from dataclasses import asdict, dataclass
from typing import Any

from core.catalogue import SIZES
from core.models.recogniser_config import Decoder, RecogniserConfig
from core.training.ranges import Range, refuse_outside
from core.training.recipe import Corpus, Phase, Recipe

KIND = "speech"
WRITTEN = (
    "kind",
    "name",
    "corpus",
    "phases",
    "decoder",
    "width",
    "n_heads",
    "n_layers",
    "n_decoder_layers",
    "lstm_width",
    "ctc_weight",
    "real_voice",
    "dropout",
    "label_smoothing",
    "n_band_masks",
    "n_time_masks",
    "tokens_per_batch",
    "optimizer",
    "matrix_rate",
    "matrix_decay",
    "adamw_rate",
    "warmup_steps",
    "decay_share",
    "clip_norm",
    "n_steps",
    "minutes",
    "n_snapshots",
)
RANGES = {
    "ctc_weight": Range(0.0, 1e3),
    "dropout": Range(0.0, 0.9),
    "label_smoothing": Range(0.0, 0.9),
    "n_band_masks": Range(0, 8),
    "n_time_masks": Range(0, 32),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRecipe(Recipe):
    """A preset of a recogniser; what is said of a GPT alone stays as it is there.

    `n_layers` are the encoder's, `tokens_per_batch` the frames of a batch, of all its sounds as
    they are padded. `ctc_weight` is that of the CTC loss beside the decoder's; 0 makes no second
    head. A sound loses `n_band_masks` stretches of bands and `n_time_masks` of time (SpecAugment,
    Park et al. 2019). With `real_voice` recordings of a speaker are learned from, too.
    """

    kind: str = KIND
    corpus: Corpus = "spoken"
    decoder: Decoder = "attention"
    n_decoder_layers: int = 2
    lstm_width: int = 0
    ctc_weight: float = 0.3
    real_voice: bool = False
    dropout: float = 0.1
    label_smoothing: float = 0.05
    n_band_masks: int = 2
    n_time_masks: int = 2

    def __post_init__(self) -> None:
        # super() knows no class of slots that the decorator has made anew.
        Recipe.__post_init__(self)
        refuse_outside({name: getattr(self, name) for name in RANGES}, RANGES)
        if self.kind != KIND or self.corpus != "spoken":
            raise ValueError(f"{self.kind!r:.40} of {self.corpus!r:.40} is no recipe of speech")
        if self.attention != "softmax":
            raise ValueError(f"attention {self.attention!r:.40}: a recogniser has softmax alone")
        for name, size in SIZES.items():
            if (value := getattr(self, name)) != size.default:
                raise ValueError(f"{name} is {value!r:.40}: no recogniser has it")

    def model_config(self, vocabulary_size: int) -> RecogniserConfig:
        return RecogniserConfig(
            vocabulary_size=vocabulary_size,
            decoder=self.decoder,
            width=self.width,
            n_heads=self.n_heads,
            n_encoder_layers=self.n_layers,
            n_decoder_layers=self.n_decoder_layers,
            lstm_width=self.lstm_width,
            ctc=self.ctc_weight > 0,
        )

    def check_sizes(self) -> None:
        self.model_config(1)

    @property
    def rough_parameters(self) -> int:
        """12 width² a block of the encoder, 16 of the decoder, 4 an LSTM has more."""
        blocks = 12 * self.n_layers + 16 * self.n_decoder_layers
        lstm = self.n_decoder_layers * 4 * self.lstm_width * (self.lstm_width + self.width)
        return self.width**2 * blocks + lstm

    def to_dict(self) -> dict[str, Any]:
        """What a recogniser's training has; `speech_recipe_from_dict` is the inverse."""
        values = asdict(self)
        return {name: values[name] for name in WRITTEN}


def speech_recipe_from_dict(data: dict[str, Any]) -> SpeechRecipe:
    """The inverse of `SpeechRecipe.to_dict`. Raises ValueError for anything else."""
    if unknown := sorted(set(data) - set(WRITTEN)):
        raise ValueError(f"not a recipe of speech: unknown keys {', '.join(unknown)}")
    try:
        phases = tuple(Phase(**phase) for phase in data["phases"])
        values: dict[str, Any] = {**data, "phases": phases}
        return SpeechRecipe(**values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a recipe of speech: {error}") from None
