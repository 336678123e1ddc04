"""The preset that recalls pairs."""

from core.training.recall_recipe import RecallRecipe
from core.training.recipe import Phase

# Without a short convolution a first layer has to learn to look at the token before, and no model
# of this size had learned it after as many steps again (docs/memory.md).
RECALL = (
    RecallRecipe(
        name="mqar",
        phases=(Phase(name="pairs"),),
        block_size=192,
        width=64,
        n_heads=2,
        short_convolution=4,
        tokens_per_batch=3072,
        warmup_steps=50,
        n_steps=600,
    ),
)
