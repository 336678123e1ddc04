"""The door to vocabularies of all kinds: a stored one is its own class again."""

import pytest

from core.data.foreign_vocabulary import ForeignCharacters, TokenIds
from core.data.own_vocabulary import MASK, PAD, CharVocabulary
from core.data.vocabulary import Vocabulary, vocabulary_from_dict


@pytest.mark.parametrize(
    "vocabulary",
    [CharVocabulary(f"{PAD}{MASK}ab"), ForeignCharacters("ab", size=3), TokenIds(size=4)],
    ids=lambda vocabulary: vocabulary.kind,
)
def test_characters_and_bare_ids_come_back_as_what_they_were(vocabulary: Vocabulary) -> None:
    again = vocabulary_from_dict(vocabulary.to_dict())
    assert type(again) is type(vocabulary)
    assert again.to_dict() == vocabulary.to_dict()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "unknown vocabulary kind None; char and bpe are known"),
        ({"kind": "words"}, "unknown vocabulary kind 'words'"),
        ({"kind": "char", "characters": ["a"]}, "unknown vocabulary kind 'char'"),
        ({"kind": "char", "characters": "ab"}, f"starts with {PAD}{MASK}"),
        ({"kind": "char", "characters": f"{PAD}{MASK}aba"}, "names each character once"),
        ({"kind": "bpe", "tokenizer": {}}, "the word pieces cannot be read: Model missing"),
    ],
)
def test_a_dictionary_that_is_no_vocabulary_is_refused(
    data: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        vocabulary_from_dict(data)
