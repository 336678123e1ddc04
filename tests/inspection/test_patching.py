"""One activation from another run: against a plain forward pass that is changed by hand."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.data.vocabulary import Vocabulary
from core.generation.greedy import answer
from core.inspection import patching
from core.inspection.patching import Site, head_sites, patch, residual_sites
from core.models.gpt import GPT
from tests.with_task import with_task

MakeVariant = Callable[[str], GPT]
QUESTION, OTHER = "Where was Ada Arden born?", "Where was Ida Bello born?"
LENGTH = len(QUESTION) + 1
STREAMS = ["learned", "rotary", "synthesizer", "dense-synthesizer"]
# What is far has faded, or has left the window, where the answer is written.
FADING = ("gate", "gated-delta", "window")


def run_by_hand(
    model: GPT, ids: list[int], site: Site | None = None, donor: torch.Tensor | None = None
) -> tuple[list[torch.Tensor], list[torch.Tensor], torch.Tensor]:
    """Outputs and streams of every layer, and logits, of one sequence; `donor` (d,) or (width,)."""
    stream, outputs, streams = model.embed(torch.tensor([ids])), [], []
    for layer, block in enumerate(model.layers):
        output = block.heads(stream, stream).output().clone()
        here = site if site is not None and site.layer == layer else None
        if here is not None and here.head is not None and donor is not None:
            output[0, here.head, here.position] = donor
        x = block.merge(stream.x, output)
        if here is not None and here.head is None and donor is not None:
            x[0, here.position] = donor
        outputs.append(output)
        streams.append(x)
        stream = stream._replace(x=x)
    return outputs, streams, model.logits(stream.x)[0]


@torch.inference_mode()
def by_hand(model: GPT, vocabulary: Vocabulary, site: Site | None) -> list[float]:
    """Log-probabilities of both answers behind the patched question."""
    first, second = ([*vocabulary.encode(text), vocabulary.mask_id] for text in (QUESTION, OTHER))
    outputs, streams, _ = run_by_hand(model, second)
    donor = None
    if site is not None:
        where = outputs if site.head is not None else streams
        index = (0, site.position) if site.head is None else (0, site.head, site.position)
        donor = where[site.layer][index]
    logs: list[float] = []
    for given in answer(with_task(model, vocabulary), [QUESTION, OTHER]):
        _, _, logits = run_by_hand(model, [*first, *given.ids[:-1]], site, donor)
        log = logits[len(first) - 1 :].log_softmax(-1)
        logs.append(float(sum(log[i, token] for i, token in enumerate(given.ids))))
    return logs


@pytest.mark.parametrize("name", STREAMS)
def test_patched_log_probabilities_are_those_of_a_pass_that_is_changed_by_hand(
    make_variant: MakeVariant, characters: Vocabulary, name: str
):
    model = make_variant(name)
    sites = [Site(0, 10, 1), Site(1, 15, 0), Site(1, LENGTH - 1, 1), Site(0, 12), Site(1, 10)]
    found = patch(with_task(model, characters), QUESTION, OTHER, sites)
    assert found.sites == tuple(sites)
    np.testing.assert_allclose(found.question, by_hand(model, characters, None), atol=1e-3)
    for site, logs in zip(sites, found.patched, strict=True):
        np.testing.assert_allclose(logs, by_hand(model, characters, site), atol=2e-4)
    assert np.abs(found.patched - found.question).max() > 0.01


def test_every_site_gets_its_own_rows_of_the_batch(
    variant: GPT, characters: Vocabulary, monkeypatch: pytest.MonkeyPatch
):
    every = [*head_sites(variant, LENGTH), *residual_sites(variant, LENGTH)]
    seen = LENGTH - 3 if variant.config.attention in FADING else 14
    sites = [site for site in every if site.layer == 0 and site.position in (10, seen)]
    together = patch(with_task(variant, characters), QUESTION, OTHER, sites)
    monkeypatch.setattr(patching, "SITES_AT_ONCE", 2)
    apart = patch(with_task(variant, characters), QUESTION, OTHER, sites)
    noise = np.abs(together.patched - apart.patched).max()
    assert noise < 1e-4
    # The sites do differ, for one of the answers at least: an untrained model may be sure.
    assert np.ptp(together.patched, axis=0).max() > 20 * noise
    (alone,) = patch(with_task(variant, characters), QUESTION, OTHER, sites[3:4]).patched
    np.testing.assert_allclose(together.patched[3], alone, atol=1e-3)


def test_the_unchanged_runs_give_each_answer_its_own_probability(
    variant: GPT, characters: Vocabulary
):
    found = patch(with_task(variant, characters), QUESTION, OTHER, [])
    given = answer(with_task(variant, characters), [QUESTION, OTHER])
    assert found.answers == (given[0].text, given[1].text)
    assert np.exp(found.question[0]) == pytest.approx(given[0].probability, rel=1e-3)
    assert np.exp(found.other[1]) == pytest.approx(given[1].probability, rel=1e-3)
    assert found.patched.shape == (0, 2)


def test_patching_a_question_with_itself_changes_nothing(variant: GPT, characters: Vocabulary):
    sites = [*residual_sites(variant, LENGTH)[::9], *head_sites(variant, LENGTH)[::13]]
    found = patch(with_task(variant, characters), QUESTION, QUESTION, sites)
    np.testing.assert_allclose(found.patched, [found.question] * len(sites), atol=1e-3)
    assert np.isnan(found.moved).all()  # one answer: there is no way to move


def test_what_no_later_row_reads_has_no_effect(make_variant: MakeVariant, characters: Vocabulary):
    model = make_variant("rotary")
    last = model.config.n_layers - 1
    sites = [Site(last, 12), Site(last, 12, 2), Site(0, 5)]  # 5: the same text before in both
    found = patch(with_task(model, characters), QUESTION, OTHER, sites)
    np.testing.assert_allclose(found.patched, [found.question] * 3, atol=1e-3)
    np.testing.assert_allclose(found.moved, 0, atol=1e-3)


def test_the_last_stream_at_the_mark_writes_the_first_token_as_the_other_run_does(
    make_variant: MakeVariant, characters: Vocabulary
):
    model = make_variant("learned")
    prompts = [[*characters.encode(text), characters.mask_id] for text in (QUESTION, OTHER)]
    with torch.inference_mode():
        first, second = model(torch.tensor(prompts))[:, -1].log_softmax(-1)
    found = patch(with_task(model, characters), QUESTION, OTHER, [Site(2, LENGTH - 1)])
    change = found.patched[0] - found.question
    # Nothing reads this stream any more: only the first token is written otherwise.
    for column, given in enumerate(answer(with_task(model, characters), [QUESTION, OTHER])):
        token = given.ids[0]
        assert change[column] == pytest.approx(float(second[token] - first[token]), abs=1e-2)
    assert abs(change).max() > 0.1


def test_answers_of_different_lengths_count_up_to_their_own_ends(
    make_variant: MakeVariant, characters: Vocabulary, monkeypatch: pytest.MonkeyPatch
):
    model = make_variant("rotary")
    whole = answer(with_task(model, characters), [QUESTION, OTHER])
    cut = [replace(given, ids=given.ids[:n]) for given, n in zip(whole, (2, 5), strict=True)]
    monkeypatch.setattr(patching, "answer", lambda *_: cut)
    (logs,) = patch(with_task(model, characters), QUESTION, OTHER, [Site(0, 12)]).patched
    for column, n in enumerate((2, 5)):
        same = [replace(given, ids=given.ids[:n]) for given in whole]
        monkeypatch.setattr(patching, "answer", lambda *_, same=same: same)
        (alone,) = patch(with_task(model, characters), QUESTION, OTHER, [Site(0, 12)]).patched
        assert logs[column] == pytest.approx(alone[column], abs=1e-4)
        assert abs(logs[column] - alone[1 - column]) > 1e-2


def test_it_tells_after_each_batch_of_sites_how_many_are_done(
    make_variant: MakeVariant, characters: Vocabulary, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(patching, "SITES_AT_ONCE", 3)
    model, told = make_variant("rotary"), list[tuple[int, int]]()
    sites = residual_sites(model, LENGTH)[:7]
    stored = with_task(model, characters)
    patch(stored, QUESTION, OTHER, sites, progress=lambda *done: told.append(done))
    assert told == [(3, 7), (6, 7), (7, 7)]


def test_moved_is_0_at_the_question_and_1_at_the_other():
    logs = np.array([[-1.0, -5.0], [-6.0, -2.0], [-3.0, -3.0]], dtype=np.float32)
    found = patching.Patched(
        answers=("Lima", "Lagos"),
        sites=(Site(0, 0), Site(0, 1), Site(0, 2)),
        question=logs[0],
        other=logs[1],
        patched=logs,
    )
    np.testing.assert_allclose(found.moved, [0, 1, 0.5])


def test_sites_are_where_something_looks(make_variant: MakeVariant):
    assert len(head_sites(make_variant("rotary"), 10)) == 2 * 4 * 10
    assert residual_sites(make_variant("learned"), 2) == [
        Site(layer, position) for layer in range(3) for position in range(2)
    ]
    strided = residual_sites(make_variant("perceiver-stride"), 5)
    assert [s.position for s in strided if s.layer == 0] == [0, 2, 4]
    assert [s.position for s in strided if s.layer == 2] == [0, 1, 2, 3, 4]
    few = residual_sites(make_variant("perceiver"), 26)
    assert [s.position for s in few if s.layer == 1] == list(range(20))


def test_questions_of_different_lengths_are_refused(
    make_variant: MakeVariant, characters: Vocabulary
):
    message = "'Lima' has 4 tokens and 'Lagos' 5: patching goes position by position"
    with pytest.raises(ValueError, match=message):
        patch(with_task(make_variant("learned"), characters), "Lima", "Lagos", [])


@pytest.mark.parametrize(
    ("name", "site", "message"),
    [
        ("learned", Site(3, 0), "L3·H0 is not a head of this model: layers are 0 to 2"),
        ("learned", Site(0, 0, 2), "L0·H2 is not a head of this model"),
        ("learned", Site(0, LENGTH, 1), f"position {LENGTH} of L0·H1: .* stands at positions 0, 1"),
        ("learned", Site(1, -1), "position -1 of L1: what looks there stands"),
        ("perceiver-stride", Site(0, 3), "position 3 of L0: .* stands at positions 0, 2, 4"),
    ],
)
def test_a_site_that_is_not_there_is_refused(
    make_variant: MakeVariant, characters: Vocabulary, name: str, site: Site, message: str
):
    with pytest.raises(ValueError, match=message):
        patch(with_task(make_variant(name), characters), QUESTION, OTHER, [site])
