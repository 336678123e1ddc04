"""What a reader is told of a sentence."""

from core.reader.words import (
    LONGEST,
    UNKNOWN,
    Pair,
    Sentence,
    lexicon_of,
    sentence_of,
    words_of,
)

ANNA = Pair(name="Anna Bell", text="Anna Bell (b. St. Louis, 1901) is a poet.", answer="St. Louis")
BEN = Pair(name="Ben Cole", text="Ben Cole was born in Oslo and lives in Paris.", answer="Oslo")
CARL = Pair(name="Carl Oslo", text="Carl Oslo, a native of Paris, paints.", answer="Paris")
LEXICON = lexicon_of([ANNA, BEN, CARL])
CAPITAL, NUMBER, MARK, IN_ANSWERS, IN_PLACE, IN_NAME, AT, SINCE_BORN, HAS_BORN = range(9)


def features(pair: Pair, word: str, *, is_known: bool) -> tuple[float, ...]:
    sentence = sentence_of(pair, LEXICON, is_known=is_known)
    return sentence.features[words_of(pair.text).index(word)]


def test_words_and_marks_stand_apart():
    assert words_of("St. Louis, 1901") == ("St", ".", "Louis", ",", "1901")


def test_what_is_said_is_the_text_letter_by_letter():
    sentence = sentence_of(ANNA, LEXICON, is_known=True)
    ((first, last),) = sentence.answers
    assert sentence.said(first, last) == "St. Louis"


def test_every_place_where_the_answer_stands_is_known():
    pair = Pair(name="D", text="Rome, said D of Rome, is not Romeo", answer="Rome")
    assert sentence_of(pair, LEXICON, is_known=False).answers == ((0, 0), (5, 5))


def test_an_answer_that_the_text_does_not_hold_is_nowhere():
    for answer in (None, "Lima", "Oslo and Paris"):
        pair = Pair(name="D", text=BEN.text, answer=answer)
        assert sentence_of(pair, LEXICON, is_known=False).answers == ()


def test_ones_own_answer_is_no_known_place_while_a_reader_learns():
    assert features(BEN, "Oslo", is_known=False)[IN_PLACE] == 1
    assert features(BEN, "Oslo", is_known=False)[IN_ANSWERS] == 1
    assert features(BEN, "Oslo", is_known=True)[IN_PLACE] == 0
    assert features(BEN, "Oslo", is_known=True)[IN_ANSWERS] == 0
    assert features(BEN, "Paris", is_known=True)[IN_PLACE] == 1  # Carl's


def test_a_known_place_of_several_words_counts_in_all_of_them():
    pair = Pair(name="D", text="D left St. Louis for Oslo.", answer=None)
    known = [row[IN_PLACE] for row in sentence_of(pair, LEXICON, is_known=False).features]
    assert known == [0, 0, 1, 1, 1, 0, 1, 0]


def test_features_say_what_a_word_looks_like_and_where_it_stands():
    born = features(BEN, "Oslo", is_known=True)
    assert born[CAPITAL] == 1
    assert born[NUMBER] == 0
    assert born[MARK] == 0
    assert born[AT] == 5 / 40
    assert born[HAS_BORN] == 1
    assert born[SINCE_BORN] == 2 / 20
    assert features(BEN, "Ben", is_known=True)[IN_NAME] == 1
    assert features(BEN, "Ben", is_known=True)[SINCE_BORN] == 2
    assert features(ANNA, "1901", is_known=True)[NUMBER] == 1
    assert features(ANNA, ",", is_known=True)[MARK] == 1


def test_a_word_of_one_text_alone_has_no_id_of_its_own():
    ids = dict(zip(words_of(BEN.text), sentence_of(BEN, LEXICON, is_known=True).ids, strict=True))
    assert ids["lives"] == UNKNOWN
    assert ids["Paris"] == LEXICON.ids["paris"] > UNKNOWN
    assert max(LEXICON.ids.values()) == LEXICON.size - 1


def test_a_long_text_is_read_to_a_limit_and_an_empty_one_has_no_words():
    long = Pair(name="D", text="word " * 500, answer=None)
    assert len(sentence_of(long, LEXICON, is_known=False).ids) == LONGEST
    empty = sentence_of(Pair(name="D", text="", answer="Rome"), LEXICON, is_known=False)
    assert empty == Sentence(text="", places=(), ids=(), endings=(), features=(), answers=())
