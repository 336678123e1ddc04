"""What the methods are called, and what they have in common. No torch."""

from typing import Literal, get_args

from core.theory.costs import Method, Sizes

Family = Literal["exact", "feature map", "low rank", "sparse", "no pairs"]
FAMILIES: tuple[Family, ...] = get_args(Family)
NAMES: dict[Method, tuple[str, Family]] = {
    "explicit": ("explicit", "exact"),
    "sdpa": ("SDPA", "exact"),
    "elu": ("elu+1", "feature map"),
    "favor": ("FAVOR+", "feature map"),
    "taylor": ("Taylor", "feature map"),
    "linformer": ("Linformer", "low rank"),
    "nystrom": ("Nyström", "low rank"),
    "perceiver": ("Perceiver", "low rank"),
    "bigbird": ("BigBird", "sparse"),
    "synthesizer": ("Synthesizer", "no pairs"),
}
# One sentence a method, for a hint.
MEANINGS: dict[Method, str] = {
    "explicit": "softmax with its L² weights formed",
    "sdpa": "torch's fused kernel: the same result without keeping the weights; the fair baseline",
    "elu": "linear attention, φ(x) = elu(x) + 1",
    "favor": "linear attention with positive orthogonal random features",
    "taylor": "linear attention with a Taylor polynomial in the place of exp",
    "linformer": "keys and values mixed into k rows; not causal",
    "nystrom": "softmax through landmarks, the means of stretches of the text; not causal",
    "perceiver": "down to m latents and up again",
    "bigbird": "a window, a few global and a few random blocks",
    "synthesizer": "a table of scores that looks at no token",
}


def label(method: str) -> str:
    """As it stands in pictures; a method of a later version by its own name."""
    return NAMES[method][0] if method in NAMES else method


def family(method: str) -> Family:
    """What it is coloured by."""
    return NAMES[method][1] if method in NAMES else "no pairs"


def size_of(method: str, sizes: Sizes) -> str:
    """The size that a method has, in words; empty where it has none."""
    words = {
        "favor": f"{sizes.n_features} features",
        "taylor": f"K = {sizes.n_terms}",
        "linformer": f"k = {sizes.n_mixed}",
        "nystrom": f"{sizes.n_landmarks} landmarks",
        "perceiver": f"{sizes.n_latents} latents",
        "bigbird": f"blocks of {sizes.block_size}",
    }
    return words.get(method, "")
