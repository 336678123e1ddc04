"""What a training does, frozen: data, model, phases, optimizer. A recipe and a seed fix a run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

from core.catalogue import SIZES, MechanismSizes, in_file_order, settable_sizes
from core.from_json import dataclass_from_dict
from core.models.config import GPTConfig, Positions
from core.models.recogniser_config import RecogniserConfig
from core.training.ranges import MOST_PHASES, PHASE, RECIPE, refuse_outside

Corpus = Literal["notable", "notable-unread", "course", "spoken", "pairs"]
OwnConfig = GPTConfig | RecogniserConfig
ALWAYS_WRITTEN = ("n_latents", "latent_stride")  # other sizes of a mechanism only where they differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A stretch of training with its own mixture of examples.

    `share` is this phase's part of all steps; the mixture weights need not sum to 1.
    `answer_only` puts the loss on the answer alone, as the course's fine-tuning does; `rate` holds
    the learning rate at that part of its peak instead of the recipe's schedule, and
    `examples_per_batch` replaces the recipe's.
    """

    name: str
    share: float = 1.0
    shuffled_facts: float = 0.0
    ordered_facts: float = 0.0
    cued_facts: float = 0.0
    salient_spans: float = 0.0
    span_corruption: float = 0.0
    questions: float = 0.0
    answer_only: bool = False
    rate: float | None = None
    examples_per_batch: int | None = None

    def __post_init__(self) -> None:
        refuse_outside({name: getattr(self, name) for name in PHASE}, PHASE)

    @property
    def mixture(self) -> dict[str, float]:
        return {
            "shuffled_facts": self.shuffled_facts,
            "ordered_facts": self.ordered_facts,
            "cued_facts": self.cued_facts,
            "salient_spans": self.salient_spans,
            "span_corruption": self.span_corruption,
            "questions": self.questions,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(MechanismSizes):
    """A preset. Learning rates are peak values. Raises ValueError for numbers beyond all use; what
    the model has to say about its sizes is said where it is configured.

    `n_steps` is the default length of a run, or `minutes` if it is None. A batch has about
    `tokens_per_batch` tokens, or `examples_per_batch` examples. The rate falls linearly over the
    last `decay_share` of the steps, or by cosines of `cosine_steps` steps (see rate_factor).
    Facts are taken from the first `fact_characters` of a line (all of it unless told); without
    `numbers` they are names only; a cue has at most `n_cue_words`. `self_taught` is the share that
    is practised of the questions that readers write of the corpus (core.reader.writing).
    """

    name: str
    phases: tuple[Phase, ...]
    corpus: Corpus = "notable"
    vocabulary: Literal["bpe", "char"] = "bpe"
    n_pieces: int = 2000
    n_sentences: int = 6
    n_facts: int = 4
    fact_characters: int | None = None
    numbers: bool = True
    n_cue_words: int = 3
    self_taught: float = 0.0
    block_size: int = 128
    n_layers: int = 2
    n_heads: int = 8
    width: int = 256
    positions: Positions = "rotary"
    attention: str = "softmax"
    tokens_per_batch: int = 3000
    examples_per_batch: int | None = None
    optimizer: Literal["muon", "adamw"] = "muon"
    matrix_rate: float = 0.02
    matrix_decay: float = 0.05
    adamw_rate: float = 3e-3
    warmup_steps: int = 100
    decay_share: float = 0.6
    cosine_steps: int = 0
    clip_norm: float = 1.0
    n_steps: int | None = None
    minutes: float = 20.0
    n_snapshots: int = 0

    def __post_init__(self) -> None:
        refuse_outside({name: getattr(self, name) for name in RECIPE}, RECIPE)
        if not 1 <= len(self.phases) <= MOST_PHASES or not sum(p.share for p in self.phases):
            raise ValueError(
                f"{len(self.phases)} phases; 1 to {MOST_PHASES} with a share above 0 are needed"
            )
        for name, size in SIZES.items():
            if not size.is_settable and getattr(self, name) != size.default:
                raise ValueError(f"{name} is {getattr(self, name)!r:.40}: no training sets it")

    def model_config(self, vocabulary_size: int) -> OwnConfig:
        """Raises ValueError for sizes that do not fit each other."""
        return self._gpt_config(vocabulary_size)

    def check_sizes(self) -> None:
        """Raise ValueError with what the model has to say about its sizes."""
        self.model_config(self.n_pieces or 1)

    def _gpt_config(self, vocabulary_size: int) -> GPTConfig:
        return GPTConfig(
            vocabulary_size=vocabulary_size,
            block_size=self.block_size,
            n_layers=self.n_layers,
            n_heads=self.n_heads,
            width=self.width,
            positions=self.positions,
            attention=self.attention,
            **{name: getattr(self, name) for name in SIZES},
        )

    def to_dict(self) -> dict[str, Any]:
        """For cards and jobs; `recipe_from_dict` is the inverse."""
        values = asdict(self)
        for name, size in SIZES.items():
            if name not in ALWAYS_WRITTEN and values[name] == size.default:
                del values[name]
        if not self.self_taught:
            del values["self_taught"]
        return in_file_order(values)

    @property
    def rough_parameters(self) -> int:
        """12·layers·width² and two tables of words: near enough for a limit, and without torch."""
        vocabulary = self.n_pieces if self.vocabulary == "bpe" else 300
        return self.width * (12 * self.n_layers * self.width + 2 * vocabulary)

    @property
    def longest_input(self) -> int:
        """The most tokens that the model reads; a Synthesizer reads one less than its block."""
        return self._gpt_config(1).longest_input


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What differs from the preset; None leaves it alone. `sizes` are those of core.catalogue.

    `learning_rate` is the peak rate of the matrices (of all with AdamW); the rate of the rest
    keeps its ratio to it.
    """

    width: int | None = None
    n_layers: int | None = None
    n_heads: int | None = None
    positions: str | None = None
    attention: str | None = None
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    learning_rate: float | None = None

    def given(self) -> dict[str, Any]:
        """Only what was set, the sizes behind `attention` as in a recipe."""
        values: dict[str, Any] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            values |= value if entry.name == "sizes" else {entry.name: value}
        return {name: value for name, value in values.items() if value is not None}

    def apply(self, recipe: Recipe) -> Recipe:
        """The recipe with what was set; whether the sizes fit is for `check`."""
        changes = self.given()
        rate = changes.pop("learning_rate", None)
        if rate is not None:
            changes["adamw_rate"] = rate
            if recipe.optimizer == "muon":
                changes["adamw_rate"] = rate * recipe.adamw_rate / recipe.matrix_rate
                changes["matrix_rate"] = rate
        return replace(recipe, **changes)


def phase_at(recipe: Recipe, step: int, n_steps: int) -> int:
    """Index of the phase that step (zero-based) belongs to, by the phases' shares."""
    total = sum(phase.share for phase in recipe.phases)
    end = 0.0
    for index, phase in enumerate(recipe.phases):
        end += phase.share / total * n_steps
        if step < round(end):
            return index
    return len(recipe.phases) - 1


def recipe_from_dict(data: dict[str, Any]) -> Recipe:
    """The inverse of `Recipe.to_dict`. Raises ValueError for unknown or missing keys, and for
    numbers beyond all use.
    """
    try:
        phases = tuple(Phase(**phase) for phase in data["phases"])
        values: dict[str, Any] = {**data, "phases": phases}
        return Recipe(**values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a recipe: {error}") from None


def overrides_from_dict(data: dict[str, Any]) -> Overrides:
    """The inverse of `Overrides.given`."""
    known, sizes = settable_sizes(), dict[str, int]()
    for name in known:
        value = data.get(name)
        if isinstance(value, bool) or not isinstance(value, int | None):
            raise ValueError(f"{name} is {value!r:.80}, int | None is needed")
        if value is not None:
            sizes[name] = value
    plain = {name: value for name, value in data.items() if name not in known}
    if "sizes" in plain:
        raise ValueError("unknown keys: sizes")
    return replace(dataclass_from_dict(Overrides, plain), sizes=sizes)
