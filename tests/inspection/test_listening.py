"""What is told of a sound: the weights that were used, heads off, how diagonal a head is."""

import numpy as np
import pytest

from core.generation.hearing import hear
from core.inspection.heads import HeadsOff
from core.inspection.heard import BAND, END, diagonal
from core.inspection.listening import listen
from tests.tiny_speech import tiny_recogniser


def frames(n: int = 45) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(n, 40)).astype(np.float32)


@pytest.mark.parametrize("decoder", ["attention", "lstm", "lstm-blind"])
def test_what_is_shown_is_what_was_used(decoder):
    stored = tiny_recogniser(decoder)
    heard = listen(stored, frames())
    (written,) = hear(stored, [frames()])
    assert heard.text == written.text
    assert heard.probability == pytest.approx(written.probability, rel=1e-3)
    assert heard.proof.replay_max_difference < 1e-4
    assert heard.proof.row_sum_max_error < 1e-5
    n_rows = len(written.probabilities)
    assert heard.weights["encoder"].shape == (2, 2, 12, 12)
    if "cross" in heard.weights:
        assert heard.weights["cross"].shape == (2, 2, n_rows, 12)
    if "decoder" in heard.weights:
        own = heard.weights["decoder"]
        assert own.shape == (2, 2, n_rows, n_rows)
        assert not np.triu(own, 1).any()
    assert (heard.labels[-1] == END) == (len(written.ids) < n_rows)
    assert "".join(heard.labels).removesuffix(END).replace("␣", " ").strip() == written.text.strip()


def test_layers_are_those_of_the_model():
    heard = listen(tiny_recogniser(), frames())
    assert heard.layers == {"encoder": (0, 1), "decoder": (2, 4), "cross": (3, 5)}
    assert heard.seconds_a_column == 0.05


def test_next_best_are_the_likeliest_others():
    for one in listen(tiny_recogniser(), frames()).characters:
        shares = [share for _, share in one.next_best]
        assert shares == sorted(shares, reverse=True)
        assert one.label not in [label for label, _ in one.next_best]
        assert one.probability + sum(shares) <= 1 + 1e-5


def test_a_head_that_is_off_changes_what_is_heard_and_is_still_proved():
    stored = tiny_recogniser()
    before = listen(stored, frames())
    after = listen(stored, frames(), off=HeadsOff(heads=((5, 0), (5, 1), (3, 0))))
    assert after.proof.replay_max_difference < 1e-4
    assert after.probability != before.probability
    with pytest.raises(ValueError, match="6"):
        listen(stored, frames(), off=HeadsOff(heads=((6, 0),)))


def test_what_the_encoder_says_alone_is_told_where_it_was_taught():
    assert isinstance(listen(tiny_recogniser(), frames()).ctc_text, str)
    assert listen(tiny_recogniser(ctc=False), frames()).ctc_text is None


def test_a_head_on_the_diagonal_scores_one_and_a_dull_one_what_uniform_does():
    sharp = diagonal(np.eye(40, dtype=np.float32))
    dull = diagonal(np.full((40, 40), 1 / 40, np.float32))
    assert sharp.share == pytest.approx(1.0)
    assert sharp.order == pytest.approx(1.0)
    assert dull.share == pytest.approx(dull.uniform, rel=1e-4)
    assert dull.uniform == pytest.approx(2 * BAND, abs=0.03)
    assert dull.order == 0.0


def test_a_head_that_goes_backwards_has_an_order_of_minus_one():
    turned = diagonal(np.eye(20, dtype=np.float32)[::-1])
    assert turned.order == pytest.approx(-1.0)
    assert turned.share < 0.3


def test_one_row_has_no_order():
    assert diagonal(np.ones((1, 1), np.float32)).order == 0.0
