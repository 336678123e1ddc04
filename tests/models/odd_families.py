"""Tiny models of families that are odd in one way each, and of those that are refused."""

from tests.models.families import GROUPED, SMALL, WIDER, encoder, gpt, llama
from tests.models.family import N_HEADS, VOCABULARY, WIDTH

# Positions are turned by angles that depend on the length of the text beyond 8 tokens.
BY_LENGTH = (
    llama(
        "llama",
        GROUPED
        | {"max_position_embeddings": 8}
        | {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}},
    ),
    llama(
        "phi3",
        GROUPED
        | {"original_max_position_embeddings": 8}
        | {
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 1e4,
                "short_factor": [1.0, 1.5, 2.0, 2.5],
                "long_factor": [2.0, 3.0, 5.0, 8.0],
                "original_max_position_embeddings": 8,
            }
        },
    ),
)
# It makes a mask of its own, which does not reach back to a cache.
OWN_MASK = llama("doge")
# Heads work in a narrower stream within the blocks.
BOTTLENECK = encoder(
    "mobilebert",
    SMALL | {"hidden_size": 2 * WIDTH, "embedding_size": WIDTH, "intra_bottleneck_size": WIDTH},
    "",
    "",
)
# Its residual stream has an axis more.
SEVERAL_STREAMS = llama(
    "deepseek_v4",
    WIDER
    | {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
    | {"sliding_window": 6, "q_lora_rank": 16},
)
REFUSED = (
    gpt("gpt_neo", {"hidden_size": WIDTH, "num_layers": 2, "num_heads": N_HEADS}
        | {"vocab_size": VOCABULARY, "attention_types": [[["global", "local"], 1]]}, "", ""),
    gpt("bloom", {"hidden_size": WIDTH, "n_layer": 2, "n_head": N_HEADS}
        | {"vocab_size": VOCABULARY}, "", ""),
    gpt("falcon", {key: value for key, value in SMALL.items() if key != "intermediate_size"},
        "", ""),
    gpt("xlnet", {"d_model": WIDTH, "n_layer": 2, "n_head": N_HEADS, "d_inner": 48}
        | {"vocab_size": VOCABULARY}, "", ""),
    encoder("deberta-v2", SMALL, "", ""),
    encoder("longformer", SMALL | {"attention_window": 4}, "", ""),
    gpt("mamba", {"hidden_size": WIDTH, "num_hidden_layers": 2, "vocab_size": VOCABULARY}, "", ""),
)  # fmt: skip
