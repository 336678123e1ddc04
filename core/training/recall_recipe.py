"""What a training on pairs of keys and values does, frozen. Free of torch."""

from dataclasses import asdict, dataclass
from typing import Any

from core.catalogue import SIZES, in_file_order
from core.data.pairs import MOST_PAIRS, TOKENS_PER_PAIR
from core.training.recipe import Corpus, Phase, Recipe

KIND = "recall"
WRITTEN = (
    "kind",
    "name",
    "corpus",
    "phases",
    "pairs",
    "block_size",
    "n_layers",
    "n_heads",
    "width",
    "positions",
    "attention",
    *SIZES,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRecipe(Recipe):
    """A preset of a GPT that recalls pairs; what is said of other texts stays as it is there.

    All texts of a batch have one number of pairs, each of `pairs` as often as any other. Raises
    ValueError for numbers that no text has, or that are longer than the block.
    """

    kind: str = KIND
    corpus: Corpus = "pairs"
    pairs: tuple[int, ...] = (4, 8, 16, 32, 64)

    def __post_init__(self) -> None:
        # super() knows no class of slots that the decorator has made anew.
        Recipe.__post_init__(self)
        if self.kind != KIND or self.corpus != "pairs":
            raise ValueError(f"{self.kind!r:.40} of {self.corpus!r:.40} is no recipe of recall")
        given: tuple[Any, ...] = self.pairs  # it may come from a file
        numbers = all(isinstance(n, int) and not isinstance(n, bool) for n in given)
        if not numbers or [*self.pairs] != sorted({*self.pairs}) or not self.pairs:
            raise ValueError(f"pairs are {self.pairs!r:.80}; rising whole numbers are needed")
        most = min(MOST_PAIRS, self.block_size // TOKENS_PER_PAIR)
        if self.pairs[0] < 1 or self.pairs[-1] > most:
            raise ValueError(
                f"pairs are {self.pairs!r:.80}; 1 to {most} are possible: there are {MOST_PAIRS} "
                f"keys, and a pair takes {TOKENS_PER_PAIR} of the block's {self.block_size} tokens"
            )

    def to_dict(self) -> dict[str, Any]:
        """What such a training has; `recall_recipe_from_dict` is the inverse."""
        values = asdict(self)
        usual = {name for name, size in SIZES.items() if values[name] == size.default}
        return in_file_order({name: values[name] for name in WRITTEN if name not in usual})


def recall_recipe_from_dict(data: dict[str, Any]) -> RecallRecipe:
    """The inverse of `RecallRecipe.to_dict`. Raises ValueError for anything else."""
    if unknown := sorted(set(data) - set(WRITTEN)):
        raise ValueError(f"not a recipe of recall: unknown keys {', '.join(unknown)}")
    try:
        phases = tuple(Phase(**phase) for phase in data["phases"])
        values: dict[str, Any] = {**data, "phases": phases, "pairs": tuple(data["pairs"])}
        return RecallRecipe(**values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a recipe of recall: {error}") from None
