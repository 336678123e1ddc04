"""Vocabularies of models from elsewhere: characters, a tokenizer.json, bare token ids."""

import json
import re
from itertools import pairwise
from typing import Any, cast

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing

from core.data.byte_pieces import joined
from core.data.foreign_vocabulary import (
    NO_ID,
    ForeignCharacters,
    TokenIds,
    TokenizerVocabulary,
    foreign_from_dict,
    typing_note,
)
from core.data.vocabulary import Vocabulary, vocabulary_from_dict

TEXTS = (
    "Ada Lovelace was born in London.",
    "two  spaces\tand a tab\nand a line",
    "Kenzaburō Ōe, naïve, Łódź",
    "日本 and 👩‍🔬 and 😀😀",
)
END = "<|endoftext|>"


def byte_level(*, prefix: bool = False, bytes_only: bool = False) -> dict[str, Any]:
    """A tokenizer like GPT-2's, trained on nearly nothing."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=257 if bytes_only else 300,
        special_tokens=[END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return json.loads(tokenizer.to_str())


def sentence_piece() -> dict[str, Any]:
    """A tokenizer like Llama 2's: ▁ for a space, and bytes for what it has no piece for."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    pieces += ["▁", *"AadLovelcwsbrnit.", "▁w", "as"]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    model = models.BPE(
        vocab=vocabulary, merges=[("▁", "w"), ("a", "s")], unk_token="<unk>", byte_fallback=True
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback()])
    tokenizer.add_special_tokens(["<s>", "</s>"])
    return json.loads(tokenizer.to_str())


def word_piece() -> dict[str, Any]:
    vocabulary = {p: i for i, p in enumerate(["[UNK]", "ada", "was", "##s", "born", "b", "##orn"])}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(["[UNK]"])
    return json.loads(tokenizer.to_str())


@pytest.fixture(params=["byte-level", "byte-level with a prefix", "▁", "characters"])
def vocabulary(request: pytest.FixtureRequest) -> Vocabulary:
    if request.param == "characters":
        return ForeignCharacters("".join(sorted(set("".join(TEXTS)))), size=80)
    if request.param == "▁":
        return TokenizerVocabulary(sentence_piece(), size=300)
    return TokenizerVocabulary(byte_level(prefix="prefix" in request.param), size=320)


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_back_from_its_ids(vocabulary: Vocabulary, text: str):
    assert vocabulary.decode(vocabulary.encode(text)) == text


def test_bytes_of_a_cut_character_are_named_in_the_text():
    vocabulary = TokenizerVocabulary(byte_level(prefix=False), size=320)
    ids = vocabulary.encode("a😀")
    assert vocabulary.decode(ids) == "a😀"
    assert vocabulary.decode(ids[:-1]) == "a‹byte 0xF0›‹byte 0x9F›"  # the last piece has two


@pytest.mark.parametrize("text", TEXTS)
def test_labels_hold_no_space_and_join_to_the_text(vocabulary: Vocabulary, text: str):
    labels = vocabulary.labels(vocabulary.encode(text))
    shown = joined(labels).replace("‹U+200D›", "\u200d")
    assert shown.removeprefix("·").replace("·", " ").replace("⏎", "\n").replace("⇥", "\t") == text
    assert not any(mark in "".join(labels) for mark in "ÃÄÅĠĊ�")
    assert all(" " not in re.sub(r"‹\S+ \d(–\d)?/\d›", "", label) for label in labels)
    assert all(vocabulary.label(token_id) for token_id in vocabulary.encode(text))


def test_a_stored_vocabulary_gives_the_same_ids(vocabulary: Vocabulary):
    again = vocabulary_from_dict(json.loads(json.dumps(vocabulary.to_dict())))
    assert (again.kind, again.size) == (vocabulary.kind, vocabulary.size)
    assert [again.encode(text) for text in TEXTS] == [vocabulary.encode(text) for text in TEXTS]
    assert again.to_dict() == vocabulary.to_dict()


def test_none_has_a_mask_and_entries_without_a_text_are_shown_by_their_number(
    vocabulary: Vocabulary,
):
    assert (vocabulary.pad_id, vocabulary.mask_id) == (0, NO_ID)
    last = vocabulary.size - 1
    assert vocabulary.label(last) == f"‹{last}›"
    ids = [*vocabulary.encode("as"), last]
    assert vocabulary.decode(ids) == f"as‹{last}›"
    assert vocabulary.labels(ids)[-1] == f"‹{last}›"
    assert vocabulary.word_starts(ids)[-1]


def test_words_begin_at_white_space(vocabulary: Vocabulary):
    text = "Ada was\nborn"
    ids = vocabulary.encode(text)
    starts = vocabulary.word_starts(ids)
    edges = [*(i for i, start in enumerate(starts) if start), len(ids)]
    words = [vocabulary.decode(ids[a:b]).strip() for a, b in pairwise(edges)]
    assert [word for word in words if word] == ["Ada", "was", "born"]


def test_one_emoji_in_several_tokens_keeps_all():
    vocabulary = TokenizerVocabulary(byte_level(bytes_only=True), size=257)
    ids = vocabulary.encode("😀!")
    assert vocabulary.labels(ids) == ["‹😀 1/4›", "‹😀 2/4›", "‹😀 3/4›", "‹😀 4/4›", "!"]
    spelt = TokenizerVocabulary(sentence_piece(), size=300)
    assert spelt.labels(spelt.encode("😀"))[-4:] == ["‹😀 1/4›", "‹😀 2/4›", "‹😀 3/4›", "‹😀 4/4›"]


def test_the_token_that_ends_a_text_is_known_and_cannot_be_typed():
    vocabulary = TokenizerVocabulary(byte_level(), size=300)
    (end,) = vocabulary.end_ids
    assert vocabulary.label(end) == END
    assert vocabulary.decode([*vocabulary.encode("born"), end]) == "born"
    assert end not in vocabulary.encode(f"born{END}")
    assert vocabulary.word_starts([*vocabulary.encode("born"), end])[-1]
    assert TokenizerVocabulary(sentence_piece(), size=300).end_ids == {2}
    assert ForeignCharacters("ab", size=2).end_ids == TokenIds(size=2).end_ids == frozenset()


def test_nothing_is_put_in_front_filled_up_or_cut_off():
    data = byte_level()
    plain = TokenizerVocabulary(data, size=300)
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.enable_padding(length=50)
    tokenizer.enable_truncation(2)
    tokenizer.post_processor = TemplateProcessing(single=f"{END} $A", special_tokens=[(END, 0)])
    told = TokenizerVocabulary(json.loads(tokenizer.to_str()), size=300)
    assert told.encode(TEXTS[0]) == plain.encode(TEXTS[0])
    assert told.to_dict() == plain.to_dict()


def test_lots_are_not_drawn():
    data = byte_level()
    data["model"]["dropout"] = 0.9
    vocabulary = TokenizerVocabulary(data, size=300)
    assert len({tuple(vocabulary.encode(TEXTS[0])) for _ in range(20)}) == 1


def test_pieces_of_words_are_told_from_words():
    vocabulary = TokenizerVocabulary(word_piece(), size=7)
    ids = vocabulary.encode("Ada wass xyz")
    assert vocabulary.labels(ids) == ["·ada", "·was", "s", "[UNK]"]
    assert vocabulary.decode(ids[:3]) == "ada wass"
    assert vocabulary.word_starts(ids) == [True, True, False, True]


def test_a_character_without_a_token_is_named_with_its_position():
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
    vocabulary = TokenizerVocabulary({"added_tokens": [], "model": model}, size=2)
    with pytest.raises(ValueError, match=r"position 2: .* no token for 'ж' \(U\+0436"):
        vocabulary.encode("abжa")
    characters = ForeignCharacters("abu\u0308", size=4)
    assert characters.encode("aüb") == [0, 2, 3, 1]
    assert characters.decode([0, 2, 3]) == "aü"
    with pytest.raises(ValueError, match=r"position 1: '·' \(U\+0020, SPACE\) is not among the 4"):
        characters.encode("a b")


def test_bare_ids_are_typed_as_numbers():
    ids = TokenIds(size=50_304)
    assert ids.encode("464 3139, 7") == [464, 3139, 7]
    assert ids.decode([464, 3139]) == "464 3139"
    assert (ids.labels([464, 3139]), ids.word_starts([464, 3139])) == (["464", "3139"], [True] * 2)
    assert ids.encode(" ") == []
    assert vocabulary_from_dict(ids.to_dict()).size == 50_304
    said = "given token ids and writes token ids: numbers from 0 to 50,303, such as 464 3139"
    assert typing_note(ids).endswith(said)
    assert typing_note(TokenIds(size=2)).endswith("numbers from 0 to 1, such as 0 1")
    assert typing_note(ForeignCharacters("a", size=1)) == ""


@pytest.mark.parametrize("word", ["The", "50304", "-1", "1.5", "٣", "9" * 5000, "²"])
def test_what_is_no_token_id_is_refused_with_what_is_needed(word: str):
    with pytest.raises(ValueError, match="is no token id: this model came without a tokenizer"):
        TokenIds(size=50_304).encode(f"464 {word}")


BPE = {"type": "BPE", "vocab": {"a": 0}, "merges": []}


def tokenizer(**parts: Any) -> dict[str, Any]:
    data = {"added_tokens": [], "model": BPE, **parts}
    return {"kind": "tokenizer", "size": 5, "tokenizer": data}


def replacing(text: object, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": text, "content": content}


SEQUENCE = {"type": "Sequence", "normalizers": [{"type": "NFC"}, replacing({"String": "a"}, "aa")]}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no size": ({"kind": "ids"}, "size is None; a whole number is needed"),
    "a size of true": ({"kind": "ids", "size": True}, "size is True; a whole number is needed"),
    "no entry": ({"kind": "ids", "size": 0}, "1 entries do not fit into a vocabulary of 0"),
    "no characters": ({"kind": "characters", "size": 3}, "'characters' without what belongs to"),
    "empty characters": ({"kind": "characters", "size": 3, "characters": ""}, "at least one"),
    "one twice": ({"kind": "characters", "size": 3, "characters": "aa"}, "each character once"),
    "too many": (
        {"kind": "characters", "size": 1, "characters": "ab"},
        "2 entries do not fit into a vocabulary of 1",
    ),
    "no tokenizer": ({"kind": "tokenizer", "size": 3, "tokenizer": []}, "without what belongs"),
    "no model": (tokenizer(model=None), "model of the tokenizer is no object"),
    "another model": (tokenizer(model={"type": "Lattice"}), "model is 'Lattice'; allowed"),
    "a broken model": (tokenizer(model={"type": "BPE"}), "the tokenizer cannot be read: "),
    "no pieces": (tokenizer(model={**BPE, "vocab": {}}), "the tokenizer has no pieces"),
    "an id of billions": (
        tokenizer(model={**BPE, "vocab": {"a": 2**32 - 1}}),
        "4,294,967,296 entries do not fit into a vocabulary of 5",
    ),
    "an unknown normalizer": (
        tokenizer(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        "the tokenizer's normalizer has a 'Precompiled'; allowed: BertNormalizer",
    ),
    "a text that grows": (tokenizer(normalizer=SEQUENCE), "replaces a pattern by something longer"),
    "a text from nothing": (
        tokenizer(normalizer=replacing({"String": ""}, "")),
        "replaces a pattern by something longer",
    ),
    "a text by a rule": (
        tokenizer(normalizer=replacing({"Regex": "a*"}, "")),
        "by something longer, or by a rule",
    ),
    "a long start": (
        tokenizer(normalizer={"type": "Prepend", "prepend": "a" * 10**6}),
        "prepends more than 8 characters",
    ),
    "an unknown cut": (
        tokenizer(pre_tokenizer={"type": "UnicodeScripts"}),
        "the tokenizer's pre_tokenizer has a 'UnicodeScripts'; allowed: Bert",
    ),
    "a rule that searches for ever": (
        tokenizer(
            pre_tokenizer={
                "type": "Split",
                "pattern": {"Regex": "(a+)+$"},
                "behavior": "Isolated",
                "invert": False,
            }
        ),
        "cuts by a rule that repeats a group or has more than 500 characters",
    ),
    "a rule that is none": (
        tokenizer(
            pre_tokenizer={
                "type": "Split",
                "pattern": {"Regex": "("},
                "behavior": "Isolated",
                "invert": False,
            }
        ),
        "the tokenizer cannot be read: ",
    ),
    "a part that is none": (tokenizer(pre_tokenizer=[1]), "a part of the tokenizer is no object"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_vocabulary_is_refused_in_one_sentence(kind: str):
    data, message = REFUSED[kind]
    with pytest.raises(ValueError, match=message) as caught:
        foreign_from_dict(data)
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)


def test_a_text_that_the_tokenizer_cannot_cut_is_refused():
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[none]"}
    vocabulary = TokenizerVocabulary({"added_tokens": [], "model": model}, size=1)
    assert vocabulary.encode("a") == [0]
    with pytest.raises(ValueError, match="this model's tokenizer cannot cut the text: WordLevel"):
        vocabulary.encode("b")


def test_a_panic_of_the_tokenizer_is_a_sentence_too():
    """A rule without a repeated group that still searches too long."""
    data = cast(dict[str, Any], tokenizer()["tokenizer"])
    rule = {"type": "Split", "pattern": {"Regex": r"\w*\w*\w*\w*\w*\w*\W"}, "behavior": "Isolated"}
    vocabulary = TokenizerVocabulary({**data, "pre_tokenizer": {**rule, "invert": False}}, size=1)
    with pytest.raises(ValueError, match="this model's tokenizer cannot cut the text: Onig"):
        vocabulary.encode("a" * 300)
