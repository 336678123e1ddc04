"""Tiny models of every family in folders of their own, as others save theirs."""

from functools import cache
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from tests.models.family import LONGEST, VOCABULARY
from tests.models.tiny_models import tiny

SPECIAL = ["[PAD]", "<s>", "</s>", "[UNK]", "[MASK]"]


def save_tiny(name: str, folder: Path) -> Path:
    """A family's tiny model and a tokenizer, its weights in one file."""
    tiny(name).plain.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


@cache
def tokenizer() -> Any:
    """A word a token, as many as the models have: w5, w6, …"""
    words = [*SPECIAL, *(f"w{index}" for index in range(len(SPECIAL), VOCABULARY))]
    plain = Tokenizer(
        models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]")
    )
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    named = dict(zip(("pad", "bos", "eos", "unk", "mask"), SPECIAL, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        model_max_length=LONGEST,
        **{f"{what}_token": word for what, word in named.items()},
    )
