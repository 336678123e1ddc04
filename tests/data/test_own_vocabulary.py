"""Characters as the course has them and word pieces: round trips, ids 0 and 1, named errors."""

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from core.data.own_vocabulary import MASK, MASK_ID, PAD, PAD_ID, BpeVocabulary, CharVocabulary
from core.data.people import BIRTHPLACE, Person
from core.data.vocabulary import Vocabulary, vocabulary_from_dict

TEXTS = (
    "Where was Marie Curie born?",
    "Marie Curie was born in Warsaw, Poland, in 1867.",
    "Marie Curie is known for radium. Her life began in Warsaw.",
    "Kenzaburō Ōe (1935–2023) was a novelist from Uchiko.",
    "Gal·la Example was born in Łódź.",
    "two  spaces\tand a tab\nand a line ",
)


@pytest.fixture(scope="module")
def char() -> CharVocabulary:
    return CharVocabulary.from_text("\n".join(TEXTS))


@pytest.fixture(scope="module")
def bpe() -> BpeVocabulary:
    return BpeVocabulary.from_texts(TEXTS, n_pieces=320)


def changed(bpe: BpeVocabulary, **changes: Any) -> dict[str, Any]:
    """The stored form with another part in the tokenizer's file."""
    stored = bpe.to_dict()
    return {**stored, "tokenizer": {**stored["tokenizer"], **changes}}


@pytest.fixture(params=["char", "bpe"])
def vocabulary(request: pytest.FixtureRequest) -> Vocabulary:
    return request.getfixturevalue(request.param)


def words(vocabulary: Vocabulary, text: str) -> list[str]:
    """The text cut where words start."""
    ids = vocabulary.encode(text)
    starts = vocabulary.word_starts(ids)
    assert len(starts) == len(ids)
    edges = [i for i, start in enumerate(starts) if start] + [len(ids)]
    return [vocabulary.decode(ids[a:b]).strip() for a, b in pairwise(edges)]


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_back_from_its_ids(vocabulary: Vocabulary, text: str) -> None:
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == text
    assert all(MASK_ID < i < vocabulary.size for i in ids)


def test_pad_is_0_and_mask_is_1_and_neither_is_text(vocabulary: Vocabulary) -> None:
    assert (PAD_ID, MASK_ID, PAD, MASK) == (0, 1, "□", "⁇")
    assert (vocabulary.label(0), vocabulary.label(1)) == (PAD, MASK)
    ids = vocabulary.encode("Warsaw")
    assert vocabulary.decode([MASK_ID, *ids, MASK_ID, PAD_ID, PAD_ID]) == "Warsaw"


@pytest.mark.parametrize(("text", "code"), [("a⁇", "2047"), ("a□b", "25A1")])
def test_a_typed_control_character_is_refused_with_its_position(
    vocabulary: Vocabulary, text: str, code: str
) -> None:
    with pytest.raises(ValueError, match=rf"position 1: .{{3}} \(U\+{code}, .*cannot be typed"):
        vocabulary.encode(text)


def test_a_stored_vocabulary_gives_the_same_ids(vocabulary: Vocabulary) -> None:
    stored = json.loads(json.dumps(vocabulary.to_dict(), ensure_ascii=False))
    again = vocabulary_from_dict(stored)
    assert (again.kind, again.size) == (vocabulary.kind, vocabulary.size)
    assert [again.encode(text) for text in TEXTS] == [vocabulary.encode(text) for text in TEXTS]
    assert again.to_dict() == vocabulary.to_dict()


def test_word_pieces_with_other_control_tokens_are_refused(bpe: BpeVocabulary) -> None:
    text = json.dumps(bpe.to_dict(), ensure_ascii=False).replace(PAD, "[PAD]")
    with pytest.raises(ValueError, match=f"gives {PAD} the id 0 and {MASK} the id 1"):
        vocabulary_from_dict(json.loads(text))


def test_characters_are_sorted_after_pad_and_mask() -> None:
    vocabulary = CharVocabulary.from_text(f"banana\n{MASK}Ö{PAD}")
    assert vocabulary.characters == f"{PAD}{MASK}\nabnÖ"
    assert vocabulary.size == 7
    assert vocabulary.encode("ban") == [4, 3, 5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Marie ж", r"position 6: 'ж' \(U\+0436, CYRILLIC SMALL LETTER ZHE\) is not among the \d+"),
        ("a\u200bb", r"position 1: '‹U\+200B›' \(U\+200B, ZERO WIDTH SPACE\)"),
        ("a\u00a0b", r"position 1: '⍽' \(U\+00A0, NO-BREAK SPACE\)"),
        ("😀", r"position 0: '😀' \(U\+1F600, GRINNING FACE\)"),
    ],
)
def test_an_unknown_character_is_named_with_position_and_code_point(
    char: CharVocabulary, text: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        char.encode(text)


@pytest.mark.parametrize("text", ["ж 😀 日本", "naïve", "", "a\u00a0b", "x\r\ny"])
def test_word_pieces_can_say_every_text(bpe: BpeVocabulary, text: str) -> None:
    assert bpe.decode(bpe.encode(text)) == text


def test_a_name_has_the_same_pieces_in_a_question_and_alone(bpe: BpeVocabulary) -> None:
    question, name = bpe.encode("Where was Marie Curie born?"), bpe.encode("Marie Curie")
    at = [i for i in range(len(question)) if question[i : i + len(name)] == name]
    assert len(at) == 1


def test_word_pieces_are_trained_to_the_size_asked_for_and_always_alike(bpe: BpeVocabulary) -> None:
    assert bpe.size == 320
    assert BpeVocabulary.from_texts(TEXTS, n_pieces=320).to_dict() == bpe.to_dict()
    more = BpeVocabulary.from_texts(TEXTS, n_pieces=340)
    assert len(more.encode(TEXTS[1])) < len(bpe.encode(TEXTS[1])) < len(TEXTS[1])


def test_fewer_pieces_than_bytes_are_refused() -> None:
    assert BpeVocabulary.from_texts(TEXTS, n_pieces=258).size == 258
    with pytest.raises(ValueError, match="257 pieces: at least 258 are needed"):
        BpeVocabulary.from_texts(TEXTS, n_pieces=257)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where was Marie Curie born?", ["Where", "was", "Marie", "Curie", "born", "?"]),
        ("Kenzaburō Ōe", ["Kenzaburō", "Ōe"]),
        ("Łódź", ["Łódź"]),
        ("Gal·la Example", ["Gal·la", "Example"]),
        ("a line\nand", ["a", "line", "and"]),
    ],
)
def test_words_start_at_white_space_and_the_question_mark_stands_alone(
    vocabulary: Vocabulary, text: str, expected: list[str]
) -> None:
    assert words(vocabulary, text) == expected


def test_a_mask_stands_alone_between_words(vocabulary: Vocabulary) -> None:
    ids = vocabulary.encode("born?")
    answer = vocabulary.encode("Warsaw")
    starts = vocabulary.word_starts([*ids, MASK_ID, *answer, MASK_ID])
    inner = [False] * (len(answer) - 1)
    assert starts[len(ids) - 1 :] == [True, True, True, *inner, True]
    assert vocabulary.word_starts([]) == []


def test_every_question_of_the_table_folds_to_its_words(table: list[Person]) -> None:
    questions = [BIRTHPLACE.question(person.name) for person in table]
    bpe = BpeVocabulary.from_texts(questions, n_pieces=400)
    wrong = [q for q in questions if words(bpe, q) != q.replace("?", " ?").split()]
    assert wrong == []


def test_labels_show_what_is_invisible(char: CharVocabulary, bpe: BpeVocabulary) -> None:
    assert char.labels(char.encode("a \n\tb")) == ["a", "·", "⏎", "⇥", "b"]
    assert "".join(bpe.labels(bpe.encode("was born\nin"))) == "·was·born⏎in"


def test_a_piece_of_a_character_says_which_of_its_bytes_it_is(bpe: BpeVocabulary) -> None:
    ids = bpe.encode("ж")
    assert bpe.labels(ids)[-2:] == ["‹ж 1/2›", "‹ж 2/2›"]
    assert [bpe.label(i) for i in ids[-2:]] == ["‹byte 0xD0›", "‹byte 0xB6›"]


def test_control_tokens_stand_between_the_labels_of_pieces(bpe: BpeVocabulary) -> None:
    ids = bpe.encode("ж")
    assert bpe.labels([*ids[:-1], MASK_ID, PAD_ID, ids[-1]])[-4:] == [
        "‹byte 0xD0›",
        MASK,
        PAD,
        "‹byte 0xB6›",
    ]
    assert bpe.labels([]) == []


def test_a_vocabulary_of_letters_and_accents_apart_takes_composed_letters_apart() -> None:
    apart = CharVocabulary.from_text("Gu\u0308l")
    assert apart.encode("G\u00fcl") == apart.encode("Gu\u0308l")
    assert apart.decode(apart.encode("G\u00fcl")) == "G\u00fcl"
    with pytest.raises(ValueError, match=r"position 1: 'ö' \(U\+00F6, .* is not among the 4"):
        apart.encode("G\u00f6l")


def labels(vocabulary: Vocabulary, ids: Iterable[int]) -> list[str]:
    return [vocabulary.label(i) for i in ids]


def test_every_token_has_a_label_that_can_be_seen(vocabulary: Vocabulary) -> None:
    for label in labels(vocabulary, range(vocabulary.size)):
        assert label.strip()
        assert label.isprintable()


PADDING = {
    "strategy": {"Fixed": 10**9},
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": PAD,
}


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("padding", PADDING),
        (
            "truncation",
            {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0},
        ),
        ("normalizer", {"type": "Prepend", "prepend": "a" * 10**6}),
        ("post_processor", {"type": "ByteLevel"}),
    ],
)
def test_word_pieces_that_ask_for_more_than_pieces_are_refused(
    bpe: BpeVocabulary, part: str, value: Any
):
    assert vocabulary_from_dict(changed(bpe, **{part: None})).encode("Marie")
    with pytest.raises(ValueError, match=f"the word pieces ask for {part}; no vocabulary written"):
        vocabulary_from_dict(changed(bpe, **{part: value}))


def test_ids_beyond_the_pieces_are_refused(bpe: BpeVocabulary):
    model = bpe.to_dict()["tokenizer"]["model"]
    last = max(model["vocab"], key=model["vocab"].get)
    vocab = {**model["vocab"], last: 4_000_000_000}
    with pytest.raises(
        ValueError, match=r"320 word pieces have ids up to 4,000,000,000; 0 to 319 are needed, each"
    ):
        vocabulary_from_dict(changed(bpe, model={**model, "vocab": vocab}))
