"""CTC's sums over beginnings against all alignments, and a wide beam against all texts."""

import itertools

import numpy as np
import pytest
import torch

from core.generation.beam import best_texts
from core.generation.ctc_prefix import NEVER, extended, log_shares, nothing_yet
from core.generation.hearing import fused, hear, padded
from core.models.recogniser import Recogniser
from tests.tiny_speech import tiny_recogniser

BLANK, END = 0, 1


def said(path: tuple[int, ...]) -> tuple[int, ...]:
    kept = [c for c, before in zip(path, (-1, *path), strict=False) if c != before]
    return tuple(c for c in kept if c != BLANK)


def every_text(shares: np.ndarray) -> dict[tuple[int, ...], float]:
    """The probability of every text, by all alignments."""
    found: dict[tuple[int, ...], float] = {}
    n_columns, n_characters = shares.shape
    for path in itertools.product(range(n_characters), repeat=n_columns):
        text = said(path)
        found[text] = found.get(text, 0.0) + float(shares[range(n_columns), path].prod())
    return found


def test_a_beginning_is_worth_all_texts_that_begin_so():
    logits = torch.randn(1, 4, 4, generator=torch.Generator().manual_seed(0))
    logits[..., END] = -30.0  # CTC is never taught the end
    logs = log_shares(logits, None, blank=BLANK)
    texts = every_text(logs[0].exp().numpy())
    prefixes = nothing_yet(logs, blank=BLANK)
    for text in ((2,), (2, 3), (2, 3, 3)):
        more = extended(prefixes, logs, blank=BLANK, end=END)
        for c in (2, 3):
            begun = (*text[:-1], c)
            total = sum(p for whole, p in texts.items() if whole[: len(begun)] == begun)
            found = float(more.psi[0, 0, c].exp())
            assert found == pytest.approx(total, abs=1e-6)
        assert float(more.psi[0, 0, END].exp()) == pytest.approx(texts[text[:-1]], abs=1e-6)
        assert float(more.psi[0, 0, BLANK]) == NEVER
        prefixes = more.chosen(torch.tensor([[0]]), torch.tensor([[text[-1]]]))
        assert float(prefixes.psi.exp()) > 0


def test_padding_changes_no_sum():
    logits = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(1))
    logits[1, :3] = logits[0, :3]
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    together = log_shares(logits, padding, blank=BLANK)
    alone = log_shares(logits[:1, :3], None, blank=BLANK)
    second: list[torch.Tensor] = []
    for logs, row in ((together, 1), (alone, 0)):
        first = extended(nothing_yet(logs, blank=BLANK), logs, blank=BLANK, end=END)
        parents = torch.zeros(len(logs), 1, dtype=torch.long)
        chosen = first.chosen(parents, torch.full((len(logs), 1), 4))
        second.append(extended(chosen, logs, blank=BLANK, end=END).psi[row, 0])
    torch.testing.assert_close(second[0][END:], second[1][END:])


def recogniser(**changes) -> Recogniser:
    """Of four characters, so that all texts can be tried."""
    stored = tiny_recogniser(**changes)
    assert isinstance(stored.model, Recogniser)
    model = stored.model
    with torch.no_grad():
        model.head.weight[4:] = 0.0
        model.head.weight *= 2
        if model.ctc is not None:
            model.ctc.weight *= 3
            model.ctc.bias[4:] = -20.0
            model.ctc.bias[END] = -20.0
    return model


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_a_beam_wide_enough_finds_the_best_of_all_texts(share: float):
    model = recogniser()
    frames = torch.randn(1, 13, 40, generator=torch.Generator().manual_seed(4))
    most = 3
    with torch.inference_mode():
        memory = model.encode(frames, fused)
        assert model.ctc is not None
        logs = model.ctc(memory.x)[0].log_softmax(-1)
        ctc = every_text(logs.exp().numpy()[:, :4])
        scores: dict[tuple[int, ...], float] = {}
        for n in range(most + 1):
            for text in itertools.product((2, 3), repeat=n):
                logits = model.logits(model.decode(torch.tensor([[END, *text]]), memory, fused))[0]
                logits[:, BLANK] = -torch.inf
                shares = logits.log_softmax(-1)
                own = sum(float(shares[i, c]) for i, c in enumerate((*text, END)))
                by_ctc = np.log(max(ctc.get(text, 0.0), 1e-30))
                scores[text] = (1 - share) * own + share * by_ctc
        (found,) = best_texts(
            model, memory, fused, blank=BLANK, end=END, most=most, beam=60, ctc_share=share
        )
    assert found == max(scores, key=lambda text: scores[text])


@pytest.mark.parametrize("decoder", ["attention", "lstm", "lstm-blind"])
def test_sounds_in_a_beam_do_not_hear_each_other(decoder):
    stored = tiny_recogniser(decoder)
    generator = np.random.default_rng(0)
    sounds = [generator.normal(size=(n, 40)).astype(np.float32) for n in (30, 19, 25)]
    together = [one.text for one in hear(stored, sounds, most=8)]
    assert together == [hear(stored, [sound], most=8)[0].text for sound in sounds]


def test_a_text_that_never_ends_is_cut_where_told():
    model = recogniser()
    with torch.no_grad():
        model.head.weight[END] = 0.0
        model.norm.weight.zero_()
        model.norm.bias.fill_(1.0)
        model.head.weight[2] = 5.0
    frames, _ = padded([np.zeros((60, 40), np.float32)])
    with torch.inference_mode():
        memory = model.encode(frames, fused)
        found = best_texts(
            model, memory, fused, blank=BLANK, end=END, most=4, beam=2, ctc_share=0.0
        )
    assert len(found[0]) <= 4
