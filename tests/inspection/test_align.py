"""Which rows of one question belong to which of another, and why sometimes none do."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.data.vocabulary import Vocabulary
from core.inspection.align import PARTS, POSITIONS, TOKENS, WORDS, alignments
from core.inspection.trace import trace
from core.inspection.traced import AttentionTrace
from core.models.gpt import GPT
from tests.with_task import with_task

ADA, EDA, BO = (f"Where was {name} born?" for name in ("Ada Arden", "Eda Arden", "Bo Bello"))
HINA, CHEN = (f"Where was {name} born?" for name in ("Hina", "Chen B. Castro"))
OTHER = "Lima is a"
Ask = Callable[..., AttentionTrace]


@pytest.fixture(scope="module")
def ask(make_variant: Callable[[str], GPT], characters: Vocabulary) -> Ask:
    """A trace over characters."""
    models = {name: make_variant(name) for name in ("rotary", "learned", "perceiver")}
    return lambda text, name="rotary": trace(with_task(models[name], characters), text)


@pytest.fixture(scope="module")
def ask_pieces(make_gpt: Callable[..., GPT], pieces: Vocabulary) -> Ask:
    """The same over word pieces."""
    model = make_gpt(vocabulary_size=pieces.size, block_size=48, n_layers=3)
    return lambda text: trace(with_task(model, pieces), text)


def test_the_same_question_is_aligned_token_by_token_then_by_word_then_by_part(ask: Ask):
    found = alignments(ask(ADA), ask(ADA))
    assert list(found) == [TOKENS, WORDS, PARTS]
    assert found[TOKENS].labels == ask(ADA).labels
    assert found[TOKENS].how == "the same tokens, one by one"
    assert found[WORDS].labels == ("Where", "was", "Ada", "Arden", "born", "?", "⁇")
    assert found[PARTS].labels == ("Where", "was", "name", "born", "?", "⁇")


def test_answers_are_aligned_as_long_as_they_are_the_same(ask: Ask):
    one, other = ask(ADA, "rotary"), ask(ADA, "learned")
    found = alignments(one, other)[TOKENS]
    n = len(found.labels)
    assert n >= len(ADA) + 1
    assert one.labels[:n] == other.labels[:n]
    assert one.labels[n : n + 1] != other.labels[n : n + 1]
    assert found.how.endswith("after that the answers differ")


def test_names_of_the_same_length_are_aligned_position_by_position(ask: Ask):
    found = alignments(ask(ADA), ask(EDA))
    assert list(found) == [POSITIONS, WORDS, PARTS]
    assert found[POSITIONS].labels[10] == "A | E"
    assert found[POSITIONS].labels[0] == "W"
    assert len(found[POSITIONS].labels) == len(ADA) + 1  # without what is written


def test_names_of_as_many_words_are_aligned_by_word(ask: Ask):
    found = alignments(ask(ADA), ask(BO))
    assert list(found) == [WORDS, PARTS]
    assert found[WORDS].labels[2:4] == ("Ada | Bo", "Arden | Bello")


@pytest.mark.parametrize("name", [HINA, CHEN])
def test_other_names_are_aligned_by_the_parts_of_the_template(ask: Ask, name: str):
    found = alignments(ask(ADA), ask(name))
    assert list(found) == [PARTS]
    assert found[PARTS].how.endswith("Where | was | name | born | ? | ⁇")


def test_characters_and_pieces_are_aligned_by_word(ask: Ask, ask_pieces: Ask):
    one, other = ask(ADA), ask_pieces(ADA)
    found = alignments(one, other)
    assert list(found) == [WORDS, PARTS]
    assert found[WORDS].how == "the same words, one by one"
    assert len(found[WORDS].starts[0]) == len(ADA) + 1 > len(found[WORDS].starts[1])


@pytest.mark.parametrize("kind", [TOKENS, WORDS, PARTS])
def test_every_row_still_sums_to_1(ask: Ask, kind: str):
    one, other = ask(ADA), ask(ADA, "learned")
    alignment = alignments(one, other)[kind]
    for side, record in enumerate((one, other)):
        folded = alignment.fold(record.weights, side)
        n = len(alignment.labels)
        assert folded.shape == (*record.weights.shape[:2], n, n)
        np.testing.assert_allclose(folded.sum(-1), 1, atol=1e-5)
        assert not np.triu(folded, k=1).any()


def test_the_weight_of_a_part_is_that_of_its_tokens(ask: Ask):
    record = ask(ADA)
    alignment = alignments(record, ask(HINA))[PARTS]
    folded, mark = alignment.fold(record.weights, 0), record.steps[0].row
    start, *_, last = record.name_positions  # a word takes the space before it
    name = record.weights[..., mark, start - 1 : last + 1].sum(-1)
    np.testing.assert_allclose(folded[..., 5, 2], name, rtol=1e-5)


def test_questions_off_the_template_are_refused_unless_they_are_as_long(ask: Ask):
    with pytest.raises(ValueError, match=r"4 and 7 words.*'Lima is a' does not follow it"):
        alignments(ask(OTHER), ask(ADA))
    assert list(alignments(ask(OTHER), ask(OTHER))) == [TOKENS, WORDS]
    assert list(alignments(ask(OTHER), ask("Lima is b"))) == [POSITIONS, WORDS]


def test_latents_are_aligned_by_position_only(ask: Ask):
    assert list(alignments(ask(ADA, "perceiver"), ask(ADA, "perceiver"))) == [TOKENS]
    assert list(alignments(ask(ADA, "perceiver"), ask(EDA, "perceiver"))) == [POSITIONS]
    with pytest.raises(ValueError, match="26 and 21 tokens: where latents look"):
        alignments(ask(ADA, "perceiver"), ask(HINA, "perceiver"))
    with pytest.raises(ValueError, match="one model looks through latents and the other does not"):
        alignments(ask(ADA), ask(ADA, "perceiver"))


def test_latents_at_other_places_are_refused(
    make_variant: Callable[[str], GPT], characters: Vocabulary, ask: Ask
):
    strided = trace(with_task(make_variant("perceiver-stride"), characters), ADA)
    with pytest.raises(ValueError, match="stand at different positions"):
        alignments(ask(ADA, "perceiver"), strided)


def test_texts_that_write_nothing_are_aligned_whole(small_trace: AttentionTrace):
    silent = replace(small_trace, steps=(), kinds=("encoder",), name_positions=())
    found = alignments(silent, silent)
    assert found[TOKENS].labels == silent.labels
    other = replace(silent, labels=("·x", "·b", "⁇"))
    assert list(alignments(silent, other)) == [POSITIONS, WORDS]
    assert alignments(silent, other)[POSITIONS].how == "position by position: both have 3 tokens"
    assert alignments(silent, other)[WORDS].how == "word by word: both have as many words"
    # An encoder writes into its text: what stands behind is no answer.
    filled = replace(silent, steps=(replace(small_trace.steps[0], row=1, position=1),))
    assert alignments(filled, filled)[TOKENS].labels == filled.labels


def test_a_source_must_be_as_long_in_both(two_texts: AttentionTrace):
    assert TOKENS in alignments(two_texts, two_texts)
    assert alignments(two_texts, two_texts)[TOKENS].labels == two_texts.labels
    longer = replace(two_texts, n_source=5, labels=tuple("abcdexyz"), name_positions=())
    with pytest.raises(ValueError, match="neither has one that is known"):
        alignments(replace(two_texts, name_positions=()), longer)


def test_layers_that_look_elsewhere_are_not_laid_on_one_another(
    small_trace: AttentionTrace, two_texts: AttentionTrace
):
    encoder = replace(small_trace, kinds=("encoder",))
    with pytest.raises(ValueError, match="layers that look both ways, the other back:"):
        alignments(encoder, small_trace)
    with pytest.raises(ValueError, match="look back, the other both ways and back and across"):
        alignments(small_trace, two_texts)
