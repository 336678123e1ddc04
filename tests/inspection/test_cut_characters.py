"""A character that is cut over word pieces: named in each label, whole in each word."""

from collections.abc import Callable

import pytest
import torch

from core.data.characters import SPACE_GLYPH
from core.data.own_vocabulary import MASK_ID
from core.data.vocabulary import Vocabulary
from core.inspection.align import PARTS, POSITIONS, WORDS, alignments
from core.inspection.attribution import attribution, logit_lens
from core.inspection.captions import row_sentence
from core.inspection.fold import word_labels
from core.inspection.trace import steps_of, trace
from core.inspection.trace_json import trace_from_dict, trace_to_dict
from core.inspection.traced import AttentionTrace
from core.models.gpt import GPT
from tests.with_task import with_task

AGNES, OSE = "Where was Ágnes born?", "Where was Ōgnes born?"
Ask = Callable[[str], AttentionTrace]


@pytest.fixture(scope="module")
def model(make_gpt: Callable[..., GPT], pieces: Vocabulary) -> GPT:
    return make_gpt(seed=5, vocabulary_size=pieces.size, block_size=64)


@pytest.fixture(scope="module")
def ask(model: GPT, pieces: Vocabulary) -> Ask:
    return lambda text: trace(with_task(model, pieces), text)


def test_each_piece_of_a_character_says_which_of_its_bytes_it_holds(ask: Ask):
    traced = ask(AGNES)
    n = traced.steps[0].row + 1
    assert [label for label in traced.labels[:n] if "/" in label] == ["‹Á 1/2›", "‹Á 2/2›"]
    assert traced.labels[n - 1] == "⁇"


def test_a_word_has_whole_characters(ask: Ask):
    traced = ask(AGNES)
    n = traced.steps[0].row + 1
    words = word_labels(traced.labels[:n], traced.word_starts[:n], SPACE_GLYPH)
    assert words == ["Where", "was", "Ágnes", "born", "?", "⁇"]
    assert row_sentence("L0·H0", 2, [0, 0, 1.0], words, None).startswith("L0·H0 looks at “Ágnes”")


def test_a_stored_trace_folds_to_the_same_words(ask: Ask):
    traced = ask(AGNES)
    again = trace_from_dict(trace_to_dict(traced))
    assert again.labels == traced.labels
    words = [word_labels(t.labels, t.word_starts, SPACE_GLYPH) for t in (traced, again)]
    assert words[0] == words[1]
    assert words[0][2] == "Ágnes"


def test_two_questions_are_aligned_by_whole_words_and_by_named_bytes(ask: Ask):
    found = alignments(ask(AGNES), ask(OSE))
    assert found[WORDS].labels == ("Where", "was", "Ágnes | Ōgnes", "born", "?", "⁇")
    assert "‹Á 1/2› | ‹Ō 1/2›" in found[POSITIONS].labels
    assert found[PARTS].labels == ("Where", "was", "name", "born", "?", "⁇")


def test_steps_and_their_runners_up_say_which_byte_they_are(pieces: Vocabulary):
    first, second = pieces.encode("aÁ")[-2:]
    other = pieces.encode("aÂ")[-1]
    written = [first, second, MASK_ID]
    logits = torch.full((3, pieces.size), -20.0)
    for row, token in enumerate(written):
        logits[row, token] = 5.0
    logits[0, other], logits[1, other], logits[2, first] = 4.0, 4.0, 4.0
    steps = steps_of(logits, written, [(0, 1), (1, 2), (2, 3)], pieces)
    assert [step.label for step in steps] == ["‹Á 1/2›", "‹Á 2/2›", "⁇"]
    best = [step.next_best[0].label for step in steps]
    assert best == ["‹byte 0x82›", "‹Â 2/2›", "‹byte 0xC3›"]


def test_an_answer_of_cut_characters_is_named_as_its_labels_are(
    make_gpt: Callable[..., GPT], pieces: Vocabulary
):
    first, second = pieces.encode("aÁ")[-2:]
    model = make_gpt(seed=5, vocabulary_size=pieces.size, block_size=64)
    for chosen, named in ((first, "‹byte 0xC3›"), (second, "‹byte 0x81›")):
        with torch.no_grad():  # the same token each time
            model.head.weight.zero_()
            model.head.weight[chosen] = 1.0
            model.norm.weight.zero_()
            model.norm.bias.fill_(1.0)
        traced = trace(with_task(model, pieces), AGNES, max_new_tokens=3)
        assert [step.label for step in traced.steps] == [named] * 3
        assert traced.answer == 3 * named
    whole = pieces.decode([first, second, first])
    assert whole == "Á‹byte 0xC3›"


def test_attribution_and_lens_name_the_written_token_as_the_trace_does(
    make_gpt: Callable[..., GPT], pieces: Vocabulary
):
    first, second = pieces.encode("aÁ")[-2:]
    model = make_gpt(seed=5, vocabulary_size=pieces.size, block_size=64)
    with torch.no_grad():  # one of the two has the only logit above 0
        direction = model.head.weight[first].clone()
        model.head.weight.zero_()
        model.head.weight[first], model.head.weight[second] = direction, -direction
    labels = [step.label for step in trace(with_task(model, pieces), AGNES).steps]
    at = labels.index("‹Á 1/2›")
    for step, label in ((at, "‹Á 1/2›"), (at + 1, "‹Á 2/2›")):
        assert labels[step] == label
        assert attribution(with_task(model, pieces), AGNES, step=step).token == label
        lens = logit_lens(with_task(model, pieces), AGNES, step=step)
        assert lens.token == label
        assert lens.best[-1] == label
        others = {"‹byte 0x81›", label} if step == at else {"‹byte 0xC3›", label}
        assert set(lens.best) <= others
