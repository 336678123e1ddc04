"""Activation patching: put one activation of another question's run into this question's run.

Which head, or which layer's residual stream, at which position carries what makes the two answers
differ? Each site is tried alone: the run on `question` goes on with the activation that stands at
the same place in the run on `other`, and the log-probabilities of both answers are read again.
(Vig et al. 2020; Meng et al. 2022, "Locating and editing factual associations".)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from core.checkpoints.progress import Counted
from core.checkpoints.store import Checkpoint
from core.generation.greedy import answer, attending, prompt_ids
from core.inspection.heads import check_head, head_name
from core.inspection.traced import Array
from core.models.heads import Heads
from core.models.seam import Change, Model, Stream, Tap, refuse_lacking

SITES_AT_ONCE = 32


class Site(NamedTuple):
    """A layer and a position; a head's output there, or without a head the residual stream."""

    layer: int
    position: int
    head: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patched:
    """Log-probabilities of the two answers, own (0) and other (1), each with its closing ⁇.

    question, other (2,): in the unchanged runs; patched (n_sites, 2): in the run on `question`
    with the activation of each site taken from the run on `other`.
    """

    answers: tuple[str, str]
    sites: tuple[Site, ...]
    question: Array
    other: Array
    patched: Array

    @property
    def moved(self) -> Array:
        """(n_sites,): how far the patch moves log p(other's answer) − log p(own answer) from the
        run on the question (0) to the run on the other (1); nan if the two answers are the same.
        """
        here, there = self.question[1] - self.question[0], self.other[1] - self.other[0]
        if self.answers[0] == self.answers[1] or here == there:
            return np.full(len(self.sites), np.nan, dtype=np.float32)
        return (self.patched[:, 1] - self.patched[:, 0] - here) / (there - here)


class Recording(NamedTuple):
    """One run: of each layer the positions of its rows, the heads' output and the stream after."""

    rows: list[list[int]]
    outputs: list[Tensor]  # (1, H, rows, d)
    streams: list[Tensor]  # (1, rows, width)


class Both(NamedTuple):
    """Two answers (2, A) and where their tokens are. The shorter one is filled up behind its end,
    where nothing that counts can look.
    """

    written: Tensor
    there: Tensor


@torch.inference_mode()
def patch(
    checkpoint: Checkpoint,
    question: str,
    other: str,
    sites: Sequence[Site],
    *,
    progress: Counted | None = None,
) -> Patched:
    """Try every site alone; `progress` is told (sites done, sites). Cost: for each one pass over
    the question with both answers.

    Raises ValueError if the questions differ in their number of tokens, and for a site that the
    model does not have (of a Perceiver, a layer and a position where no latent stands).
    """
    model = checkpoint.model
    refuse_lacking(model, "patching")
    refuse_lacking(model, "answer")  # whose probabilities are read
    prompts = aligned(checkpoint, question, other)
    given = answer(checkpoint, [question, other])
    donor = record_run(model, torch.tensor([prompts[1]], device=model.device))
    for site in sites:
        check_site(model, donor, site)
    fill = checkpoint.vocabulary.pad_id
    both = _both(given[0].ids, given[1].ids, fill=fill, device=model.device)
    patched: list[Array] = []
    for start in range(0, len(sites), SITES_AT_ONCE):
        chunk = sites[start : start + SITES_AT_ONCE]
        patched.append(_logs(model, prompts[0], both, chunk, donor))
        if progress is not None:
            progress(start + len(chunk), len(sites))
    own, others = (_logs(model, prompt, both, [None], donor)[0] for prompt in prompts)
    return Patched(
        answers=(given[0].text, given[1].text),
        sites=tuple(sites),
        question=own,
        other=others,
        patched=np.concatenate(patched) if patched else np.zeros((0, 2), dtype=np.float32),
    )


def aligned(checkpoint: Checkpoint, question: str, other: str) -> tuple[list[int], list[int]]:
    """The prompts of two questions with the same number of tokens; else ValueError."""
    own, others = prompt_ids(checkpoint, question), prompt_ids(checkpoint, other)
    if len(own) != len(others):
        sizes = [len(checkpoint.vocabulary.encode(text)) for text in (question, other)]
        raise ValueError(
            f"{question!r} has {sizes[0]} tokens and {other!r} {sizes[1]}: patching "
            "goes position by position and needs two questions of the same number of tokens"
        )
    return own, others


def head_sites(model: Model, n_tokens: int) -> list[Site]:
    """Every head at every position of a prompt where its layer has a row."""
    n_heads = model.shape.n_heads
    return [
        Site(site.layer, site.position, head)
        for site in residual_sites(model, n_tokens)
        for head in range(n_heads)
    ]


def residual_sites(model: Model, n_tokens: int) -> list[Site]:
    """The stream after every layer at every position of a prompt where it stands."""
    shape, every = model.shape, range(n_tokens)
    latents = [p for p in every if p % shape.latent_stride == 0][: shape.n_latents]
    return [
        Site(layer, position)
        for layer in range(shape.n_layers)
        for position in (latents if shape.n_latents and layer < shape.n_layers - 1 else every)
    ]


def record_run(model: Model, ids: Tensor) -> Recording:
    """Everything that can be taken over from a run; ids (1, L)."""
    seen = Recording([], [], [])

    def attend(_: int, heads: Heads) -> Tensor:
        seen.outputs.append(heads.output())
        return seen.outputs[-1]

    def tap(_: int, stream: Stream) -> Stream:
        seen.rows.append([int(position) for position in stream.positions])
        seen.streams.append(stream.x)
        return stream

    model.run(ids, attend, tap=tap)
    return seen


def check_site(model: Model, donor: Recording, site: Site) -> None:
    """Raises ValueError for a layer, a head or a position that is not there."""
    check_head(model.shape, site.layer, site.head or 0)
    if site.position not in donor.rows[site.layer]:
        what = f"L{site.layer}" if site.head is None else head_name(site.layer, site.head)
        rows = donor.rows[site.layer]
        raise ValueError(
            f"nothing can be taken from position {site.position} of {what}: what looks there "
            f"stands at positions {', '.join(map(str, rows))}"
        )


def _both(first: Sequence[int], second: Sequence[int], *, fill: int, device: torch.device) -> Both:
    longest = max(len(first), len(second))
    padded = [[*ids, *[fill] * (longest - len(ids))] for ids in (first, second)]
    there = [[index < len(ids) for index in range(longest)] for ids in (first, second)]
    return Both(torch.tensor(padded, device=device), torch.tensor(there, device=device))


def _logs(
    model: Model, prompt: Sequence[int], both: Both, sites: Sequence[Site | None], donor: Recording
) -> Array:
    """(n_sites, 2) log-probability of each answer behind the prompt, a site a pair of rows."""
    n, mark = len(sites), len(prompt) - 1
    asked = torch.tensor([prompt, prompt], device=model.device)
    ids = torch.cat([asked, both.written[:, :-1]], 1).repeat(n, 1)
    change, tap = _exchange(sites, donor)
    x = model.run(ids, attending(change), tap=tap)
    log = model.logits(x[:, mark:]).log_softmax(-1)
    chosen = log.gather(-1, both.written.repeat(n, 1)[..., None])[..., 0]
    sums = (chosen * both.there.repeat(n, 1)).sum(-1)
    return np.asarray(sums.cpu().numpy(), dtype=np.float32).reshape(n, 2)


def _exchange(sites: Sequence[Site | None], donor: Recording) -> tuple[Change, Tap]:
    """Rows 2k and 2k + 1 of a batch get the activation of site k; None leaves them alone."""
    placed = [(2 * index, site) for index, site in enumerate(sites) if site is not None]

    def change(layer: int, _: Heads, output: Tensor) -> Tensor:
        mine = [(row, site) for row, site in placed if site.layer == layer]
        output = output.clone() if mine else output
        for row, site in mine:
            if site.head is not None:
                at = donor.rows[layer].index(site.position)
                output[row : row + 2, site.head, at] = donor.outputs[layer][0, site.head, at]
        return output

    def tap(layer: int, stream: Stream) -> Stream:
        mine = [(row, site) for row, site in placed if site.layer == layer and site.head is None]
        x = stream.x.clone() if mine else stream.x
        for row, site in mine:
            at = donor.rows[layer].index(site.position)
            x[row : row + 2, at] = donor.streams[layer][0, at]
        return stream._replace(x=x)

    return change, tap
