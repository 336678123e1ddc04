"""Tiny models of many families of transformers: sizes, names of blocks and output projections,
windows, and what a family cannot give, all written out.
"""

from collections.abc import Mapping
from typing import Any

from tests.models.family import (
    FILLS,
    GATED,
    LONGEST,
    N_HEADS,
    N_LAYERS,
    NOT_ALL_ATTEND,
    NOT_LINEAR,
    POST_NORM,
    TWO_STREAMS,
    VOCABULARY,
    WIDTH,
    Family,
)

SMALL: dict[str, Any] = {
    "hidden_size": WIDTH,
    "num_hidden_layers": N_LAYERS,
    "num_attention_heads": N_HEADS,
    "intermediate_size": 48,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": LONGEST,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GROUPED = SMALL | {"num_key_value_heads": 2}
WIDER = GROUPED | {"head_dim": 16}  # all heads together wider than the stream
GPT2 = {
    "n_embd": WIDTH,
    "n_layer": N_LAYERS,
    "n_head": N_HEADS,
    "vocab_size": VOCABULARY,
    "n_positions": LONGEST,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
BART = {
    "d_model": WIDTH,
    "encoder_layers": N_LAYERS,
    "decoder_layers": N_LAYERS,
    "encoder_attention_heads": N_HEADS,
    "decoder_attention_heads": N_HEADS,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": LONGEST,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 0,
    "forced_eos_token_id": None,
}
T5 = {
    "d_model": WIDTH,
    "d_kv": WIDTH // N_HEADS,
    "d_ff": 48,
    "num_layers": N_LAYERS,
    "num_heads": N_HEADS,
    "vocab_size": VOCABULARY,
    "pad_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 0,
}
SLIDING, FULL = "sliding_attention", "full_attention"
ALTERNATING = {"sliding_window": 6, "layer_types": [SLIDING, FULL]}
LLAMA = (("model.layers.{}", ("self_attn.o_proj",)),)
SEQ2SEQ = (
    ("model.encoder.layers.{}", ("self_attn.out_proj",)),
    ("model.decoder.layers.{}", ("self_attn.out_proj", "encoder_attn.out_proj")),
)
READS = {"attribution": POST_NORM, "answer": FILLS}
TWO: dict[str, str] = dict.fromkeys(("attribution", "lens", "patching"), TWO_STREAMS)


def llama(name: str, sizes: Mapping[str, Any] = GROUPED, **told: Any) -> Family:
    """A decoder whose modules are named as Llama's are, and whose query heads share keys."""
    head_dim = sizes.get("head_dim", WIDTH // N_HEADS)
    rest: dict[str, Any] = {"blocks": LLAMA, "n_kv_heads": 2, "head_dim": head_dim} | told
    return Family(name=name, kind="decoder", sizes=sizes, **rest)


def encoder(name: str, sizes: Mapping[str, Any], block: str, inside: str, **told: Any) -> Family:
    rest: dict[str, Any] = {"cannot": READS, "keeps_past": False} | told
    return Family(name=name, kind="encoder", sizes=sizes, blocks=((block, (inside,)),), **rest)


def gpt(name: str, sizes: Mapping[str, Any], block: str, inside: str, **told: Any) -> Family:
    """A decoder that shares no keys."""
    return Family(name=name, kind="decoder", sizes=sizes, blocks=((block, (inside,)),), **told)


DECODERS = (
    gpt("gpt2", GPT2, "transformer.h.{}", "attn.c_proj"),
    gpt("gpt_neox", SMALL, "gpt_neox.layers.{}", "attention.dense"),
    gpt("gptj", GPT2 | {"rotary_dim": 4}, "transformer.h.{}", "attn.out_proj"),
    gpt(
        "opt",
        SMALL | {"ffn_dim": 48, "word_embed_proj_dim": WIDTH},
        "model.decoder.layers.{}",
        "self_attn.out_proj",
    ),
    gpt(
        "opt, norm behind",
        SMALL | {"ffn_dim": 48, "word_embed_proj_dim": 16, "do_layer_norm_before": False},
        "model.decoder.layers.{}",
        "self_attn.out_proj",
        model_type="opt",
        cannot={"attribution": POST_NORM},
    ),
    gpt("phi", SMALL, "model.layers.{}", "self_attn.dense"),
    llama("llama"),
    llama("mistral", GROUPED | {"sliding_window": 6}, windows=(6, 6)),
    llama("qwen2"),
    llama("qwen3", WIDER),
    llama("gemma", WIDER),
    llama(
        "gemma2",
        WIDER | ALTERNATING,
        windows=(6, None),
        cannot={"attribution": POST_NORM},
    ),
    llama(
        "gemma3_text",
        WIDER | ALTERNATING,
        windows=(6, None),
        cannot={"attribution": POST_NORM},
    ),
    llama("phi3"),
    llama("olmo2", cannot={"attribution": POST_NORM}),
    llama("smollm3"),
    llama(
        "gpt_oss",
        WIDER
        | ALTERNATING
        | {"num_local_experts": 4, "num_experts_per_tok": 2, "rope_parameters": None},
        windows=(6, None),
        sinks="model.layers.{}.self_attn.sinks",
    ),
    llama(
        "granite",
        GROUPED | {"logits_scaling": 3.0, "embedding_multiplier": 2.0, "attention_multiplier": 0.3},
    ),
    llama(
        "granite, scaled",
        GROUPED | {"residual_multiplier": 0.5},
        model_type="granite",
        cannot={"attribution": POST_NORM},
    ),
    llama("cohere", GROUPED | {"logit_scale": 0.25}),
    llama("starcoder2"),
    llama(  # a soft cap of the logits
        "vaultgemma",
        WIDER | ALTERNATING,
        windows=(6, None),
        cannot={"attribution": NOT_LINEAR},
    ),
    llama("stablelm"),
    llama(
        "deepseek_v3",
        SMALL
        | {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8}
        | {"v_head_dim": 8, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1}
        | {"topk_group": 1, "moe_intermediate_size": 16, "first_k_dense_replace": 1},
        n_kv_heads=N_HEADS,
    ),
    llama(  # one block attends, through a gate; the other remembers in its own way
        "qwen3_next",
        GROUPED
        | {"head_dim": 8, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
        | {"shared_expert_intermediate_size": 16, "layer_types": ["linear_attention", FULL]}
        | {"linear_num_key_heads": 2, "linear_num_value_heads": 2}
        | {"linear_key_head_dim": 8, "linear_value_head_dim": 8},
        blocks=(("model.layers.1", ("self_attn.o_proj",)),),
        n_layers=1,
        keeps_past=False,
        cannot={"parts": GATED}
        | dict.fromkeys(("attribution", "lens", "patching"), NOT_ALL_ATTEND),
    ),
)
ENCODERS = (
    encoder("bert", SMALL, "bert.encoder.layer.{}", "attention.output.dense"),
    encoder("roberta", SMALL, "roberta.encoder.layer.{}", "attention.output.dense"),
    encoder(
        "distilbert",
        {"dim": WIDTH, "n_layers": N_LAYERS, "n_heads": N_HEADS, "hidden_dim": 48}
        | {"vocab_size": VOCABULARY, "max_position_embeddings": LONGEST},
        "distilbert.transformer.layer.{}",
        "attention.out_lin",
    ),
    encoder(
        "electra",
        SMALL | {"embedding_size": 16},
        "electra.encoder.layer.{}",
        "attention.output.dense",
    ),
    # One block that runs twice.
    encoder(
        "albert",
        SMALL | {"embedding_size": 16},
        "albert.encoder.albert_layer_groups.0",
        "albert_layers.0.attention.dense",
    ),
    encoder(
        "modernbert",
        SMALL
        | {"cls_token_id": 1, "sep_token_id": 2, "local_attention": 6}
        | {"layer_types": [SLIDING, FULL]},
        "model.layers.{}",
        "attn.Wo",
        windows=(3, None),
        cannot={"attribution": NOT_LINEAR, "answer": FILLS},
    ),
)
BOTH = (
    Family(
        name="t5",
        kind="both",
        sizes=T5,
        blocks=(
            ("encoder.block.{}", ("layer.0.SelfAttention.o",)),
            ("decoder.block.{}", ("layer.0.SelfAttention.o", "layer.1.EncDecAttention.o")),
        ),
        cannot=TWO,
        keeps_past=False,
    ),
    Family(name="bart", kind="both", sizes=BART, blocks=SEQ2SEQ, cannot=TWO, keeps_past=False),
    Family(name="marian", kind="both", sizes=BART, blocks=SEQ2SEQ, cannot=TWO, keeps_past=False),
)
FAMILIES = {family.name: family for family in (*DECODERS, *ENCODERS, *BOTH)}
