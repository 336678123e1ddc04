"""The layers of a GPT with a state of fixed size, and the one with a window.

They are softmax blocks (core.models.block) in all but what becomes of queries, keys and values.
What is written and what fades each token decides for each head, from the stream x under its norm:

    β = sigmoid(x W_β + b_β)       how much of a key's value is replaced; at first a half
    log a = log sigmoid(x W_a + b_a)    what is left of the state; at first 1 − 2^−e, and e rises
                                        from 3 for the first head to 7 for the last

so that half of what is written has faded after 5 to 88 tokens. Rotary positions turn query and key
before all of it.
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.attention import based, delta, gate, gated_delta
from core.attention.feature_maps import FeatureMap
from core.models.block import DotBlock
from core.models.config import GPTConfig
from core.models.heads import DotHeads
from core.models.seam import Stream
from core.models.state_heads import Pairs, Resume, StateHeads, WindowHeads

FIRST_EXPONENT, LAST_EXPONENT = 3.0, 7.0


def open_gates(n_heads: int) -> Tensor:
    """Where the gates begin, as b_a (n_heads,): log a / (1 − a) with a = 1 − 2^−e."""
    lost = torch.linspace(FIRST_EXPONENT, LAST_EXPONENT, n_heads).neg().exp2()
    return torch.log1p(-lost) - lost.log()


class DeltaBlock(DotBlock):
    """A key's new value takes the place of its old one."""

    def add_scoring(self, config: GPTConfig) -> None:
        super().add_scoring(config)
        self.beta = nn.Linear(config.width, config.n_heads)

    def heads(self, target: Stream, source: Stream) -> StateHeads:
        looking, seen = self.read(target, source)
        beta = rate(self.beta, seen).sigmoid()
        return with_state(
            self.dots(looking, seen, target, source),
            resume=partial(_resume_delta, beta),
            products=delta.products,
            effective=partial(delta.weights, beta=beta),
        )


class GatedDeltaBlock(DotBlock):
    """The state fades before a key's value is replaced."""

    def add_scoring(self, config: GPTConfig) -> None:
        super().add_scoring(config)
        self.beta, self.gate = (nn.Linear(config.width, config.n_heads) for _ in range(2))

    def heads(self, target: Stream, source: Stream) -> StateHeads:
        looking, seen = self.read(target, source)
        beta, log_gate = rate(self.beta, seen).sigmoid(), F.logsigmoid(rate(self.gate, seen))
        return with_state(
            self.dots(looking, seen, target, source),
            resume=partial(_resume_gated_delta, beta, log_gate),
            products=partial(gated_delta.products, log_gate=log_gate),
            effective=partial(gated_delta.weights, beta=beta, log_gate=log_gate),
        )


class GateBlock(DotBlock):
    """The state fades, and everything is added to it."""

    def add_scoring(self, config: GPTConfig) -> None:
        super().add_scoring(config)
        self.gate = nn.Linear(config.width, config.n_heads)

    def heads(self, target: Stream, source: Stream) -> StateHeads:
        looking, seen = self.read(target, source)
        log_gate = F.logsigmoid(rate(self.gate, seen))
        shown = partial(gate.weights, log_gate=log_gate)
        return with_state(
            self.dots(looking, seen, target, source),
            resume=partial(_resume_gate, log_gate),
            products=shown,
            effective=shown,
        )


class WindowBlock(DotBlock):
    """Softmax over the last tokens and the first few."""

    def add_scoring(self, config: GPTConfig) -> None:
        super().add_scoring(config)
        self.window, self.n_sinks = config.window, config.n_sinks

    def heads(self, target: Stream, source: Stream) -> WindowHeads:
        dots = super().heads(target, source)
        return WindowHeads(
            query=dots.query,
            key=dots.key,
            value=dots.value,
            rows=dots.rows,
            columns=dots.columns,
            window=self.window,
            n_sinks=self.n_sinks,
        )


class BasedBlock(DotBlock):
    """Softmax in a window, its Taylor polynomial before it; the tables follow from the sizes."""

    def add_scoring(self, config: GPTConfig) -> None:
        super().add_scoring(config)
        self.window = config.window
        with torch.device("cpu"):  # tables are no parameters: they are needed on meta, too
            self._map = based.feature_map(config.head_dim)

    def heads(self, target: Stream, source: Stream) -> StateHeads:
        return with_state(
            super().heads(target, source),
            resume=partial(_resume_based, self._map, self.window),
            products=partial(based.products, window=self.window),
            effective=partial(based.weights, window=self.window),
        )


def rate(layer: nn.Linear, seen: Tensor) -> Tensor:
    """A number a head and token, (B, L, width) to (B, H, L)."""
    return layer(seen).transpose(1, 2)


def with_state(dots: DotHeads, *, resume: Resume, products: Pairs, effective: Pairs) -> StateHeads:
    """The same queries, keys and values, weighed in another way."""
    return StateHeads(
        query=dots.query,
        key=dots.key,
        value=dots.value,
        rows=dots.rows,
        columns=dots.columns,
        resume=resume,
        products=products,
        effective=effective,
    )


def _resume_delta(
    beta: Tensor, query: Tensor, key: Tensor, value: Tensor, state: delta.State | None
) -> tuple[Tensor, delta.State]:
    state = delta.start(key, value) if state is None else state
    read = delta.step if query.shape[2] == 1 else delta.resume
    return read(query, key, value, beta, state)


def _resume_gated_delta(
    beta: Tensor,
    log_gate: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    state: gated_delta.State | None,
) -> tuple[Tensor, gated_delta.State]:
    state = gated_delta.start(key, value) if state is None else state
    read = gated_delta.step if query.shape[2] == 1 else gated_delta.resume
    return read(query, key, value, beta, log_gate, state)


def _resume_gate(
    log_gate: Tensor, query: Tensor, key: Tensor, value: Tensor, state: gate.State | None
) -> tuple[Tensor, gate.State]:
    state = gate.start(key, value) if state is None else state
    read = gate.step if query.shape[2] == 1 else gate.resume
    return read(query, key, value, log_gate, state)


def _resume_based(
    features: FeatureMap,
    window: int,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    state: based.State | None,
) -> tuple[Tensor, based.State]:
    return based.resume(query, key, value, features, state, window=window)
