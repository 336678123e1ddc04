"""Pretraining objectives lose nothing, keep to the block, and depend on their generator alone."""

import random
from collections import Counter

import pytest

from core.data.objectives import (
    cued_fact,
    ordered_facts,
    question_and_answer,
    salient_span_corruption,
    salient_spans,
    shuffled_facts,
    span_corruption,
    words_before,
)

MARK = 2


def restored(ids: list[int]) -> list[int]:
    """`prefix ⁇ suffix ⁇ span` put back together."""
    first, second = [i for i, token in enumerate(ids) if token == MARK]
    return [*ids[:first], *ids[second + 1 :], *ids[first + 1 : second]]


def spans(text: str) -> list[str]:
    return [text[start:end] for start, end in salient_spans(text)]


@pytest.mark.parametrize("n_tokens", [2, 3, 4, 5, 30, 500])
def test_span_corruption_holds_the_beginning_of_the_document_whole(n_tokens: int) -> None:
    document = list(range(10, 10 + n_tokens))
    for seed in range(50):
        ids = span_corruption(document, mark=MARK, block_size=64, generator=random.Random(seed))
        text = restored(ids)
        assert text == document[: len(text)]
        assert ids.count(MARK) == 2
        assert ids[-1] != MARK  # the span is never empty
        assert min(4, n_tokens) <= len(text) <= min(n_tokens, 56)


@pytest.mark.parametrize("block_size", [4, 8, 16, 128])
def test_span_corruption_fits_the_block_and_its_shifted_targets(block_size: int) -> None:
    document = list(range(10, 400))
    lengths = [
        len(
            span_corruption(
                document, mark=MARK, block_size=block_size, generator=random.Random(seed)
            )
        )
        for seed in range(200)
    ]
    assert max(lengths) <= block_size + 1
    assert max(lengths) >= block_size * 7 // 8  # long documents use the room


def test_a_quarter_of_the_tokens_is_masked_on_average_at_every_place() -> None:
    generator = random.Random(0)
    shares: list[float] = []
    starts: Counter[int] = Counter()
    for _ in range(3000):
        ids = span_corruption(list(range(10, 50)), mark=MARK, block_size=1000, generator=generator)
        kept, masked = len(restored(ids)), ids[::-1].index(MARK)
        assert 1 <= masked <= max(1, kept // 2)
        shares.append(masked / kept)
        starts[ids.index(MARK)] += 1
    # For n tokens the mean is (1 + n // 2) / 2n; n is uniform on 4 … 40. A share has a deviation
    # of at most 0.15, so four standard errors of the mean are 0.011.
    expected = sum((1 + n // 2) / (2 * n) for n in range(4, 41)) / 37
    assert expected == pytest.approx(0.275, abs=0.005)
    assert sum(shares) / len(shares) == pytest.approx(expected, abs=0.011)
    assert set(starts) >= set(range(30))


def test_span_corruption_depends_on_the_seed_alone() -> None:
    document = list(range(10, 60))

    def draw(seed: int) -> list[list[int]]:
        generator = random.Random(seed)
        return [
            span_corruption(document, mark=MARK, block_size=64, generator=generator)
            for _ in range(5)
        ]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    assert len({tuple(ids) for ids in draw(1)}) == 5


@pytest.mark.parametrize("document", [[], [7]])
def test_a_document_too_short_to_corrupt_is_refused(document: list[int]) -> None:
    with pytest.raises(ValueError, match=f"needs at least 2 tokens, not {len(document)}"):
        span_corruption(document, mark=MARK, block_size=64, generator=random.Random(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("was born in Warsaw in 1867.", ["Warsaw", "1867"]),
        ("from Rio de Janeiro, Brazil.", ["Rio de Janeiro", "Brazil"]),
        ("in New York City and Stratford-upon-Avon.", ["New York City", "Stratford-upon-Avon"]),
        ("near Santiago de la Vega", ["Santiago de la Vega"]),
        ("or Newcastle upon Tyne", ["Newcastle upon Tyne"]),
        ("Ōe came from Łódź to Évry and Århus.", ["Ōe", "Łódź", "Évry", "Århus"]),
        ("lived in Xi'an, 551 BC–479 BC", ["Xi'an", "551 BC", "479 BC"]),
        ("born in The Hague, raised in A Coruña", ["The Hague", "A Coruña"]),
        (
            "of eMalahleni, Côte d'Ivoire and Maarat al-Numan",
            ["eMalahleni", "Côte d'Ivoire", "Maarat al-Numan"],
        ),
        ("St. Louis or Sault Ste. Marie", ["St. Louis", "Sault Ste. Marie"]),
        ("in Washington, D.C., in 1899", ["Washington", "D.C.", "1899"]),
        ("from Mogi das Cruzes to Dar es Salaam", ["Mogi das Cruzes", "Dar es Salaam"]),
        ("no names, no numbers: only é and ö", []),
        ("écoles, ñandú and çedilla", []),
        ("", []),
    ],
)
def test_names_and_numbers_are_salient(text: str, expected: list[str]) -> None:
    assert spans(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He was born in Rome.", ["Rome"]),
        ("She was first. Her life began in Lima.", ["Lima"]),
        ("They were born. Their birthplace is Oslo.", ["Oslo"]),
        ("Born in Rome in 1901, Ada Example is known.", ["Rome", "1901", "Ada Example"]),
        ("In 1901, Ada came.", ["1901", "Ada"]),
        ("The engineer Ada. It was in Rome. Known for glass.", ["Ada", "Rome"]),
        ("Among the people is Ada. At noon? In Rome!", ["Ada", "Rome"]),
        ("Born in Rome in 1901, Ada", ["Rome", "1901", "Ada"]),
        ("The Beatles came from Liverpool.", ["Beatles", "Liverpool"]),
        ("Hermann was an Inuit at Thebes.", ["Hermann", "Inuit", "Thebes"]),
    ],
)
def test_a_word_that_only_opens_a_sentence_is_not_salient(text: str, expected: list[str]) -> None:
    assert spans(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(3 March 1822 Rome - 1901 Bad Ischl)", ["Rome", "Bad Ischl"]),
        ("in May 1907 Øster Élan, 12", ["Øster Élan"]),
        ("Apollo 11 landed on Luna", ["Luna"]),
        ("In 1867, Marie Curie was born in Warsaw", ["Marie Curie", "Warsaw"]),
        ("1903 and 1911", []),
    ],
)
def test_without_numbers_only_names_are_salient(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in salient_spans(text, numbers=False)] == expected


def test_salient_spans_are_in_order_and_do_not_overlap() -> None:
    text = "In 1867, Marie Curie was born in Warsaw, Poland. Her work won 2 Nobel Prizes."
    edges = [edge for span in salient_spans(text) for edge in span]
    assert edges == sorted(set(edges))
    assert spans(text) == ["1867", "Marie Curie", "Warsaw", "Poland", "2 Nobel Prizes"]


def test_a_salient_span_is_asked_for_after_the_rest_of_the_text() -> None:
    ids = salient_span_corruption([10, 11], [20], [30], mark=MARK)
    assert ids == [10, 11, MARK, 30, MARK, 20, MARK]
    assert restored(ids[:-1]) == [10, 11, 20, 30]


def test_shuffled_facts_hold_the_name_and_every_fact_once() -> None:
    facts = [[20], [30, 31], [40]]
    ids = shuffled_facts([10, 11], facts, mark=MARK, n_most=9, generator=random.Random(0))
    assert ids[:3] == [10, 11, MARK]
    assert ids[-1] == MARK
    assert sorted(cut(ids[3:])) == facts


def test_each_fact_stands_first_after_the_name_equally_often() -> None:
    generator = random.Random(0)
    facts = [[20], [30], [40], [50]]
    first = Counter(
        shuffled_facts([10], facts, mark=MARK, n_most=2, generator=generator)[2]
        for _ in range(2000)
    )
    # 500 each; the standard deviation of one count is sqrt(2000 · 1/4 · 3/4) = 19.4.
    assert set(first) == {20, 30, 40, 50}
    assert all(abs(count - 500) < 4 * 19.4 for count in first.values())


def test_no_more_facts_than_asked_for_and_none_twice() -> None:
    facts = [[20], [30], [40], [50]]
    for seed in range(20):
        ids = shuffled_facts([10], facts, mark=MARK, n_most=2, generator=random.Random(seed))
        chosen = cut(ids[2:])
        assert len(chosen) == 2
        assert chosen[0] != chosen[1]
        assert all(fact in facts for fact in chosen)
    assert shuffled_facts([10], [], mark=MARK, n_most=2, generator=random.Random(0)) == [10, MARK]


def test_shuffled_facts_depend_on_the_seed_alone() -> None:
    facts = [[i] for i in range(20, 30)]
    draws = [
        shuffled_facts([10], facts, mark=MARK, n_most=6, generator=random.Random(s))
        for s in (1, 1, 2)
    ]
    assert draws[0] == draws[1] != draws[2]


def test_ordered_facts_keep_the_order_of_the_text() -> None:
    facts = [[20], [30, 31], [40], [50]]
    generator = random.Random(0)
    for _ in range(100):
        ids = ordered_facts([10, 11], facts, mark=MARK, n_most=3, generator=generator)
        assert ids[:3] == [10, 11, MARK]
        assert ids[-1] == MARK
        places = [facts.index(fact) for fact in cut(ids[3:])]
        assert 1 <= len(places) <= 3
        assert places == sorted(set(places))


def test_an_ordered_fact_that_is_said_twice_stands_once() -> None:
    generator = random.Random(0)
    draws = {
        tuple(ordered_facts([10], [[20], [20]], mark=MARK, n_most=9, generator=generator))
        for _ in range(50)
    }
    assert draws == {(10, MARK, 20, MARK)}


def test_each_ordered_fact_is_kept_half_of_the_time_and_the_first_leads_most() -> None:
    generator, n = random.Random(0), 4000
    draws = [
        cut(ordered_facts([10], [[20], [30], [40]], mark=MARK, n_most=9, generator=generator)[2:])
        for _ in range(n)
    ]
    first = Counter(draw[0][0] for draw in draws)
    # Of eight equally likely choices one is empty, and then each fact stands alone a third.
    for fact, expected in ((20, 1 / 2 + 1 / 24), (30, 1 / 4 + 1 / 24), (40, 1 / 8 + 1 / 24)):
        error = (expected * (1 - expected) / n) ** 0.5
        assert abs(first[fact] / n - expected) < 4 * error
    kept = sum([40] in draw for draw in draws) / n
    assert abs(kept - (1 / 2 + 1 / 24)) < 4 * 0.5 / n**0.5


@pytest.mark.parametrize(
    ("n_most", "words"),
    [
        (0, []),
        (1, ["in"]),
        (3, ["born", "March", "in"]),
        (9, ["Ada", "was", "born", "March", "in"]),
    ],
)
def test_the_words_before_a_place_in_the_text_are_without_numbers_and_marks(
    n_most: int, words: list[str]
) -> None:
    text = "Ada (was born 3 March 1822) in Rome."
    assert words_before(text, text.index("Rome"), n_most=n_most) == words


def test_a_cued_fact_stands_between_masks_behind_name_and_cue() -> None:
    assert cued_fact([5, 6, 7], [8, 9], mark=MARK) == [5, 6, 7, MARK, 8, 9, MARK]


def test_a_question_is_followed_by_its_answer_between_masks() -> None:
    assert question_and_answer([10, 11], [20], mark=MARK) == [10, 11, MARK, 20, MARK]


def cut(ids: list[int]) -> list[list[int]]:
    """`fact ⁇ fact ⁇` as facts."""
    facts: list[list[int]] = [[]]
    for token in ids:
        if token == MARK:
            facts.append([])
        else:
            facts[-1].append(token)
    return facts[:-1]
