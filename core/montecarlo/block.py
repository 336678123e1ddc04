"""One block of draws: normals to scores to weights, in place and without temporary arrays.

Features f (F, m): the averaged weights of the moving keys; where several heads move, also what
each leaves to the still keys. The averaged weights of all n keys are constant + map · f.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.montecarlo.scores import HeadPlan, Plan

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
BLOCK_NUMBERS = 2**17
LEAST_BLOCK, MOST_BLOCK = 256, 2**14


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """features (F, m). failed: per head a flag a draw, or one for all where the head stands still.

    negative: flags of k_a·q < 0 for a head that asks for a, or None where key a does not move.
    """

    features: Array
    failed: tuple[Flags | bool, ...]
    negative: Flags | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """What a block needs of a head that moves, prepared once.

    columns: (k, (R, 1)) for each normal that counts; offset (R, 1): mean scores less the shift;
    still: ln of the summed exp of the still scores, still_exp: the same after shift and exp.
    rows: asked keys among the moving ones; on_rest: the part of the rest that is asked for.
    """

    share: float
    columns: tuple[tuple[int, Array], ...]
    offset: Array
    shift: float | None
    still: float
    still_exp: float
    rows: tuple[int, ...]
    on_rest: float
    zero: float | None


class Block:
    """The buffers of a block, and the affine map from its features to the weights."""

    def __init__(self, plan: Plan, n_keys: int) -> None:
        self._plan = plan
        moves = [bool(head.factors.any()) for head in plan.heads]
        moves = moves if any(moves) else [True] * len(moves)
        self._heads = [
            _motion(head, plan) if moving else _fails_still(head, plan)
            for head, moving in zip(plan.heads, moves, strict=True)
        ]
        self._n_moving = len(plan.moving)
        self._keeps_rest = bool(plan.groups) and sum(moves) > 1
        self.n_features = self._n_moving + (sum(moves) if self._keeps_rest else 0)
        self.map, self.constant = self._affine(n_keys, moves)
        rows = plan.n_normals + 2 * self._n_moving + 2 * self.n_features + 6
        self.size = min(max(BLOCK_NUMBERS // rows, LEAST_BLOCK), MOST_BLOCK)
        self._normals = np.empty(plan.n_normals * self.size)
        self._scores = np.empty((self._n_moving, self.size))
        self._spare = np.empty((self._n_moving, self.size))
        self._line, self._rest = np.empty(self.size), np.empty(self.size)
        self._features = np.empty((self.n_features, self.size))

    def draw(self, generator: np.random.Generator, m: int) -> Drawn:
        """The next m draws, at most `size`; the arrays are valid until the next call."""
        n_moving = self._n_moving
        flat = self._normals[: self._plan.n_normals * m]
        generator.standard_normal(out=flat)
        normals = flat.reshape(self._plan.rank, n_moving, m)
        features = self._features[:, :m]
        failed: list[Flags | bool] = []
        negative: Flags | None = None
        moved = 0
        for head in self._heads:
            if isinstance(head, bool):
                failed.append(head)
                continue
            weights = self._scores[:, :m] if moved else features[:n_moving]
            self._fill_scores(head, normals, weights)
            if head.zero is not None:
                below = weights[0] < head.zero
                negative = below if negative is None else negative | below
            rest = self._normalise(head, weights)
            failed.append(self._fails(head, weights, rest))
            if moved:
                features[:n_moving] += weights
            if self._keeps_rest:
                features[n_moving + moved] = rest
            moved += 1
        return Drawn(features=features, failed=tuple(failed), negative=negative)

    def _fill_scores(self, head: Motion, normals: Array, out: Array) -> None:
        """Scores less the shift, where there is one."""
        first, *others = head.columns
        np.multiply(normals[first[0]], first[1], out=out)
        for column, factor in others:
            spare = self._spare[:, : out.shape[1]]
            np.multiply(normals[column], factor, out=spare)
            out += spare
        out += head.offset

    def _normalise(self, head: Motion, scores: Array) -> Array:
        """Turn scores into share · weights in place; returns share · what is left to the rest."""
        line, rest = self._line[: scores.shape[1]], self._rest[: scores.shape[1]]
        if head.shift is None:
            np.max(scores, axis=0, out=line)
            np.maximum(line, head.still, out=line)
            scores -= line
            np.exp(scores, out=scores)
            np.subtract(head.still, line, out=rest)
            np.exp(rest, out=rest)
            np.add(scores[0], rest, out=line)
        else:
            np.exp(scores, out=scores)
            np.add(scores[0], head.still_exp, out=line)
            if self._keeps_rest:
                rest[:] = head.still_exp
        for row in scores[1:]:
            line += row
        np.divide(head.share, line, out=line)
        scores *= line
        return np.multiply(rest, line, out=rest) if self._keeps_rest else rest

    def _fails(self, head: Motion, weights: Array, rest: Array) -> Flags:
        """Less than half of the head's weight lies on the keys it asks for."""
        rows = list(head.rows)
        if not head.on_rest:
            asked = weights[rows[0]] if len(rows) == 1 else weights[rows].sum(axis=0)
            return asked < 0.5 * head.share
        if not self._keeps_rest:
            # Of the one moving head: what the moving keys leave.
            np.subtract(head.share, weights.sum(axis=0), out=rest)
        return weights[rows].sum(axis=0) + head.on_rest * rest < 0.5 * head.share

    def _affine(self, n_keys: int, moves: list[bool]) -> tuple[Array, Array]:
        """The affine map (n, F) and its constant (n,)."""
        moving = list(self._plan.moving)
        linear, constant = np.zeros((n_keys, self.n_features)), np.zeros(n_keys)
        linear[moving, range(self._n_moving)] = 1.0
        moved = 0
        for head, moves_too in zip(self._plan.heads, moves, strict=True):
            parts = np.zeros(n_keys)
            for part, group in zip(head.parts, self._plan.groups, strict=True):
                parts[list(group)] = part / len(group)
            if not moves_too:
                own, still = head.weights
                constant[moving] += head.share * own
                constant += head.share * still.sum() * parts
            elif self._keeps_rest:
                linear[:, self._n_moving + moved] = parts
            else:  # the one moving head leaves share − Σ features
                linear[:, : self._n_moving] -= parts[:, None]
                constant += head.share * parts
            moved += moves_too
        return linear, constant


def _motion(head: HeadPlan, plan: Plan) -> Motion:
    shift = head.shift or 0.0
    still = float(np.logaddexp.reduce(head.still)) if len(head.still) else -np.inf
    used = [k for k in range(plan.rank) if k == 0 or head.factors[:, k].any()]
    return Motion(
        share=head.share,
        columns=tuple((k, head.factors[:, k : k + 1]) for k in used),
        offset=(head.means - shift)[:, None],
        shift=head.shift,
        still=still,
        still_exp=float(np.exp(still - shift)) if head.shift is not None else 0.0,
        rows=tuple(row for row, key in enumerate(plan.moving) if key in head.asked),
        on_rest=_asked_part(head, plan),
        zero=-shift if head.asks_for_a and plan.moving[0] == 0 else None,
    )


def _asked_part(head: HeadPlan, plan: Plan) -> float:
    """What part of the rest lies on asked keys."""
    return sum(
        float(part) * len(set(group) & set(head.asked)) / len(group)
        for part, group in zip(head.parts, plan.groups, strict=True)
    )


def _fails_still(head: HeadPlan, plan: Plan) -> bool:
    """Whether a head whose scores never move fails."""
    moving, still = head.weights
    on_moving = sum(
        float(weight) for weight, key in zip(moving, plan.moving, strict=True) if key in head.asked
    )
    return on_moving + _asked_part(head, plan) * float(still.sum()) < 0.5
