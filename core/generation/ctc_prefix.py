"""How likely a text begins in some way, by CTC alone: the sum over all alignments.

For a beginning g, the columns up to t end with its last character (r[…, 0]) or with a blank
(r[…, 1]); g · c begins at some column behind g:

    ψ(g·c) = log Σ_t φ_t p_t(c),   φ_t = r_blank(t − 1) + (r_char(t − 1) unless g ends with c)

(Watanabe et al. 2017, "Hybrid CTC/attention architecture", algorithm 2.) All in logarithms. Axes:
batch B, beginnings K, characters V, columns T. Cost: B·K·V·T a character written.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

NEVER = -1e9  # what is not possible; −∞ would make NaN of differences


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Scores of K beginnings of B texts: r (B, K, T, 2), ψ of each (B, K), its last character."""

    r: Tensor
    psi: Tensor
    last: Tensor


@dataclass(frozen=True, slots=True)
class Extended:
    """Every beginning with every character behind it: r (B, K, V, T, 2), ψ (B, K, V).

    ψ of the end is that of the beginning as a whole text.
    """

    r: Tensor
    psi: Tensor

    def chosen(self, parents: Tensor, characters: Tensor) -> Prefixes:
        """Those of a parent and a character each, (B, K')."""
        rows = torch.arange(len(parents))[:, None]
        return Prefixes(
            self.r[rows, parents, characters], self.psi[rows, parents, characters], characters
        )


def log_shares(logits: Tensor, padding: Tensor | None, *, blank: int) -> Tensor:
    """(B, T, V) log p of every column; what pads says blank for sure, which changes nothing."""
    logs = logits.log_softmax(-1)
    if padding is None:
        return logs
    silent = torch.full_like(logs[0, 0], NEVER)
    silent[blank] = 0.0
    return torch.where(padding[..., None], silent, logs)


def nothing_yet(logs: Tensor, *, blank: int) -> Prefixes:
    """The empty beginning of each of B texts: K is 1."""
    blanks = logs[..., blank].cumsum(1)
    r = torch.stack([torch.full_like(blanks, NEVER), blanks], -1)[:, None]
    n = len(logs)
    return Prefixes(r, torch.zeros(n, 1), torch.full((n, 1), blank))


def extended(found: Prefixes, logs: Tensor, *, blank: int, end: int) -> Extended:
    """Scores of every character behind every beginning."""
    n_columns, n_characters = logs.shape[1:]
    is_first = (found.last == blank)[..., None]  # of a text: nothing stands before it
    repeats = found.last[..., None] == torch.arange(n_characters)
    char = torch.where(is_first, logs[:, None, 0], NEVER)
    char = char.expand(*found.last.shape, n_characters)
    silent = torch.full_like(char, NEVER)
    psi, columns = char, [torch.stack([char, silent], -1)]
    for t in range(1, n_columns):
        before, before_blank = found.r[:, :, t - 1, 0, None], found.r[:, :, t - 1, 1, None]
        phi = torch.where(repeats, before_blank, torch.logaddexp(before, before_blank))
        here, here_blank = logs[:, None, t], logs[:, None, t, blank, None]
        psi = torch.logaddexp(psi, phi + here)
        silent = torch.logaddexp(silent, char) + here_blank
        char = torch.logaddexp(char, phi) + here
        # What was said up to the column before: `silent` above read `char` of t − 1.
        columns.append(torch.stack([char, silent], -1))
    whole = torch.logaddexp(found.r[:, :, -1, 0], found.r[:, :, -1, 1])
    psi = psi.clone()
    psi[..., end] = whole
    psi[..., blank] = NEVER
    return Extended(torch.stack(columns, 3), psi)
