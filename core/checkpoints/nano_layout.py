"""How nanoGPT and minGPT name what our models have; both have the names of GPT-2.

transformer.{wte, wpe, ln_f}, lm_head, transformer.h.N.{ln_1, ln_2}, and of each layer

    attn.c_attn (3w, w)   the rows of query, key and value, one behind the other
    attn.c_proj, mlp.c_fc (4w, w), mlp.c_proj (w, 4w)

with buffers attn.bias (1, 1, block, block), the causal mask. Both may have biases or none.
"""

from dataclasses import dataclass

from core.models.config import GPTConfig

HEAD, EMBEDDING, POSITIONS = "lm_head.weight", "transformer.wte.weight", "transformer.wpe.weight"
LAYERS, MASK = "transformer.h.", "attn.bias"
LAST_NORM = "transformer.ln_f"
SCORING = ("query", "key", "value")
_IN_LAYER = {
    "ln_1": ("norm_attention",),
    "attn.c_attn": SCORING,
    "attn.c_proj": ("project",),
    "ln_2": ("norm_mlp",),
    "mlp.c_fc": ("mlp_in",),
    "mlp.c_proj": ("mlp_out",),
}


@dataclass(frozen=True, slots=True)
class Theirs:
    """A tensor of the file: its shape, and our parameters that its rows are cut into."""

    shape: tuple[int, ...]
    ours: tuple[str, ...]


def nano_parameters(config: GPTConfig, *, biases: bool) -> dict[str, Theirs]:
    """Their names, and what becomes of each; the tied head is the token embedding."""
    width, words = config.width, config.vocabulary_size
    found = {
        EMBEDDING: Theirs((words, width), ("tokens.weight",)),
        POSITIONS: Theirs((config.block_size, width), ("positions",)),
    }
    if not config.tied:
        found[HEAD] = Theirs((words, width), ("head.weight",))
    modules = {LAST_NORM: ("norm",)}
    for index in range(config.n_layers):
        modules |= {
            f"{LAYERS}{index}.{name}": tuple(f"blocks.{index}.{module}" for module in ours)
            for name, ours in _IN_LAYER.items()
        }
    for name, ours in modules.items():
        for kind in ("weight", "bias") if biases else ("weight",):
            shape = _shape(name, kind, width)
            found[f"{name}.{kind}"] = Theirs(shape, tuple(f"{module}.{kind}" for module in ours))
    return found


def _shape(module: str, kind: str, width: int) -> tuple[int, ...]:
    rows = 3 * width if module.endswith("c_attn") else width
    rows = 4 * width if module.endswith("c_fc") else rows
    if kind == "bias" or ".ln_" in module:
        return (rows,)
    return (rows, 4 * width if module.endswith("mlp.c_proj") else width)
