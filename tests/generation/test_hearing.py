"""What a recogniser writes: alone or in a batch the same, letter by letter the likeliest."""

import numpy as np
import pytest
import torch

from core.generation.hearing import Heard, ctc_text, fused, hear, padded, recogniser_of
from core.models.recogniser import Memory, Recogniser
from tests.tiny_speech import tiny_recogniser


def sounds(*lengths: int) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    return [generator.normal(size=(n, 40)).astype(np.float32) for n in lengths]


@pytest.mark.parametrize("decoder", ["attention", "lstm", "lstm-blind"])
def test_sounds_together_are_heard_as_each_alone(decoder):
    stored, given = tiny_recogniser(decoder), sounds(50, 21, 33)
    together = hear(stored, given, most=12)
    for one, frames in zip(together, given, strict=True):
        (alone,) = hear(stored, [frames], most=12)
        assert alone.text == one.text
        np.testing.assert_allclose(alone.probabilities, one.probabilities, rtol=1e-3)


def test_each_letter_is_the_likeliest_given_those_before_it():
    stored, (frames,) = tiny_recogniser(), sounds(40)
    (found,) = hear(stored, [frames], most=10, beam=1)
    model = recogniser_of(stored)
    ids = [stored.vocabulary.mask_id]
    with torch.inference_mode():
        for wrote, share in zip(found.ids, found.probabilities, strict=False):
            source = torch.from_numpy(frames)[None]
            logits = model.logits(model.run(torch.tensor([ids]), fused, source=source))[0, -1]
            logits[stored.vocabulary.pad_id] = -torch.inf
            assert int(logits.argmax()) == wrote
            assert float(logits.softmax(-1)[wrote]) == pytest.approx(share, rel=1e-4)
            ids.append(wrote)
    assert stored.vocabulary.decode(found.ids) == found.text


def test_a_text_ends_with_its_mark_or_at_the_limit():
    ends = Heard("ab", (4, 5), (0.5, 0.5, 0.1))
    assert ends.probability == pytest.approx(0.025)
    for one in hear(tiny_recogniser(), sounds(20, 30), most=3):
        assert len(one.ids) <= 3
        assert len(one.ids) <= len(one.probabilities) <= len(one.ids) + 1


def test_no_sound_is_heard_as_nothing_at_all():
    assert hear(tiny_recogniser(), []) == []


def test_padding_follows_what_is_there():
    frames, lengths = padded(sounds(3, 5))
    assert frames.shape == (2, 5, 40)
    assert lengths.tolist() == [3, 5]
    assert not frames[0, 3:].any()


def test_ctc_says_each_column_s_best_once():
    stored = tiny_recogniser()
    model = recogniser_of(stored)
    assert model.ctc is not None
    a, b = stored.vocabulary.encode("ab")
    with torch.no_grad():
        model.ctc.weight.zero_()
        model.ctc.bias.zero_()
        model.ctc.weight[[0, a, b], [0, 1, 2]] = 9.0
    x = torch.zeros(1, 7, 16)
    for column, unit in enumerate((1, 1, 0, 1, 2, 2, 0)):
        x[0, column, unit] = 1.0
    assert ctc_text(stored, Memory(x)) == ["aab"]
    assert ctc_text(stored, Memory(x), torch.tensor([8])) == ["a"]


def test_without_its_head_ctc_says_nothing():
    stored = tiny_recogniser(ctc=False)
    assert isinstance(stored.model, Recogniser)
    with pytest.raises(ValueError, match="tiny-attention was trained without CTC"):
        ctc_text(stored, Memory(torch.zeros(1, 2, 16)))
