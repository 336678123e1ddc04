"""The replay cases of all mechanisms with a state of fixed size: naive loops against every form."""

from dataclasses import fields, is_dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from core.attention.masks import blind_rows
from tests.attention.states import MECHANISMS, Given, Mechanism, draw

every = pytest.mark.parametrize("name", MECHANISMS)
FORMS = [(name, form) for name, mechanism in MECHANISMS.items() for form in mechanism.forms]
GATED = ("gated-delta", "gate")
MATRICES = ("delta", "gated-delta", "gate")


def far(one: Tensor, other: Any) -> float:
    return float((one - torch.as_tensor(other)).abs().max())


def sizes(state: Any) -> list[tuple[int, ...]]:
    """The shapes of all tensors in a state."""
    if isinstance(state, Tensor):
        return [tuple(state.shape)]
    if not is_dataclass(state):
        return []
    return [size for entry in fields(state) for size in sizes(getattr(state, entry.name))]


def joined(*parts: Given) -> Given:
    return Given(*(torch.cat(xs, 2) for xs in zip(*parts, strict=True)))


@every
@pytest.mark.parametrize("n_tokens", [1, 3, 64, 65, 150])
def test_a_pass_equals_the_naive_loop(name: str, n_tokens: int):
    given, mechanism = draw(n_tokens), MECHANISMS[name]
    expected = mechanism.naive(given)
    assert far(mechanism.attend(given), expected) < 1e-9
    single = mechanism.attend(given.to(torch.float32))
    assert single.dtype == torch.float32
    assert far(single, expected) < 1e-5


@pytest.mark.parametrize(("name", "form"), FORMS)
@pytest.mark.parametrize("n_tokens", [1, 3, 4, 41])
def test_every_form_equals_the_naive_loop(name: str, form: str, n_tokens: int):
    given, mechanism = draw(n_tokens), MECHANISMS[name]
    expected = mechanism.naive(given)
    assert far(mechanism.forms[form](given), expected) < 1e-9
    assert far(mechanism.forms[form](given.to(torch.float32)), expected) < 1e-5


@every
def test_a_step_equals_the_whole_pass_at_each_position_and_its_state_does_not_grow(name: str):
    given, mechanism = draw(40), MECHANISMS[name]
    whole = mechanism.attend(given)
    state = mechanism.start(given)
    first = sizes(state)
    assert first
    for t in range(40):
        output, state = mechanism.step(given.at(slice(t, t + 1)), state)
        assert far(output, whole[:, :, t : t + 1]) < 1e-12
        assert sizes(state) == first


@every
@pytest.mark.parametrize("cut", [1, 8, 39])
def test_a_pass_split_in_two_equals_one(name: str, cut: int):
    given, mechanism = draw(40), MECHANISMS[name]
    begins = mechanism.start(given) if name in MATRICES else None
    early, state = mechanism.resume(given.at(slice(0, cut)), begins)
    late, _ = mechanism.resume(given.at(slice(cut, None)), state)
    assert far(torch.cat([early, late], 2), mechanism.attend(given)) < 1e-12


@every
@pytest.mark.parametrize("n_tokens", [1, 70])
def test_effective_weights_times_values_are_the_output(name: str, n_tokens: int):
    given, mechanism = draw(n_tokens), MECHANISMS[name]
    padding = torch.zeros(2, n_tokens, dtype=torch.bool)
    padding[0, :5], padding[1, 60:] = True, True
    weights = mechanism.weights(given, padding=padding)
    assert far(weights @ given.value, mechanism.attend(given, padding=padding)) < 1e-12
    future = torch.ones(n_tokens, n_tokens, dtype=torch.bool).triu(1)
    assert (weights[..., future] == 0).all()
    assert (weights[padding[:, None, None].expand_as(weights)] == 0).all()
    single = mechanism.weights(given.to(torch.float16), padding=padding)
    assert single.dtype == torch.float32


@every
def test_rows_sum_to_one_where_there_is_a_normaliser_and_only_there(name: str):
    given, mechanism = draw(70), MECHANISMS[name]
    sums = mechanism.weights(given).sum(-1)
    assert (far(sums, 1.0) < 1e-12) is mechanism.is_normalised
    ones = given._replace(value=torch.ones_like(given.value))
    assert (far(mechanism.attend(ones), 1.0) < 1e-12) is mechanism.is_normalised


@every
@pytest.mark.parametrize("at", [1, 30, 64, 69])
def test_a_changed_token_leaves_the_rows_before_it_as_they_are(name: str, at: int):
    given, mechanism = draw(70), MECHANISMS[name]
    before = mechanism.attend(given)
    changed = Given(*(x.clone() for x in given))
    changed.key[:, :, at], changed.value[:, :, at] = 20.0, -20.0
    changed.beta[:, :, at], changed.log_gate[:, :, at] = 1.0, -3.0
    after = mechanism.attend(changed)
    assert far(after[:, :, :at], before[:, :, :at]) < 1e-12
    assert far(after[:, :, at], before[:, :, at]) > 1e-3


@every
@pytest.mark.parametrize("size", [0.0, 3.0])
def test_appended_tokens_that_are_padding_change_nothing(name: str, size: float):
    given, mechanism = draw(70), MECHANISMS[name]
    more = draw(16, seed=9)
    whole = joined(given, Given(*(size * x for x in more)))
    padding = torch.arange(86).expand(2, -1) >= 70
    after = mechanism.attend(whole, padding=padding)[:, :, :70]
    assert far(after, mechanism.attend(given)) < 1e-12


@pytest.mark.parametrize("name", MATRICES)
def test_padding_anywhere_neither_writes_nor_fades(name: str):
    given, pads, mechanism = draw(70), draw(9, seed=9), MECHANISMS[name]
    parts = (pads.at(slice(0, 5)), given.at(slice(0, 30)), pads.at(slice(5, 9)))
    whole = joined(*parts, given.at(slice(30, None)))
    padding = torch.zeros(2, 79, dtype=torch.bool)
    padding[:, :5], padding[:, 35:39] = True, True
    output = mechanism.attend(whole, padding=padding)[:, :, ~padding[0]]
    assert far(output, mechanism.attend(given)) < 1e-12


@every
def test_a_row_that_sees_nothing_is_zero_and_its_gradients_are_finite(name: str):
    """The first text is all padding; the second begins with some."""
    given = Given(*(x.requires_grad_() for x in draw(30)))
    padding = torch.zeros(2, 30, dtype=torch.bool)
    padding[0], padding[1, :20] = True, True
    output = MECHANISMS[name].attend(given, padding=padding)
    blind = blind_rows(padding, 30, causal=True)
    rows = output.detach().transpose(1, 2)
    assert (rows[blind] == 0).all()
    assert (rows[~blind] != 0).all()
    output.sum().backward()
    assert all(x.grad is None or x.grad.isfinite().all() for x in given)


@every
def test_no_tokens_give_no_output(name: str):
    assert MECHANISMS[name].attend(draw(0)).shape == (2, 2, 0, 5)


@every
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_half_precision_is_computed_in_float32(name: str, dtype: torch.dtype, size: float):
    given = draw(100)
    large = given._replace(query=size * given.query, key=size * given.key).to(dtype)
    mechanism = MECHANISMS[name]
    output = mechanism.attend(large)
    wide = mechanism.attend(large.to(torch.float32)).to(dtype)
    assert output.dtype == dtype
    assert output.isfinite().all()
    torch.testing.assert_close(output, wide, rtol=0.02, atol=0.02)
    step, _ = mechanism.step(large.at(slice(0, 1)), mechanism.start(large))
    assert step.dtype == dtype


@every
def test_what_half_precision_can_hold_overflows_nowhere(name: str):
    given = draw(40)
    ends = given._replace(query=6e4 * given.query.sign(), key=6e4 * given.key.sign())
    output = MECHANISMS[name].attend(ends.to(torch.float16).to(torch.float32))
    assert output.isfinite().all()


@every
def test_zero_keys_and_queries_are_as_in_the_naive_loop(name: str):
    given, mechanism = draw(41), MECHANISMS[name]
    given.key[:, :, ::3], given.query[:, :, ::5] = 0.0, 0.0
    output = mechanism.attend(given)
    assert far(output, mechanism.naive(given)) < 1e-9
    assert output.isfinite().all()


@every
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_one_key_again_and_again_is_as_in_the_naive_loop(name: str, beta: float):
    given, mechanism = draw(100), MECHANISMS[name]
    given.key[:] = given.key[:, :, :1]
    given.beta[:] = beta
    expected = mechanism.naive(given)
    assert far(mechanism.attend(given), expected) < 1e-9
    single = mechanism.attend(given.to(torch.float32))
    assert far(single, expected) < 2e-5 * abs(expected).max()  # two writes of β = 2 undo each other


@pytest.mark.parametrize("name", GATED)
def test_gates_of_one_forget_nothing_and_gates_of_zero_all_before_them(name: str):
    given, mechanism = draw(100), MECHANISMS[name]
    given.log_gate[:] = 0.0
    kept = mechanism.attend(given)
    assert far(kept, mechanism.naive(given)) < 1e-9
    given.log_gate[:, :, 40] = -torch.inf
    cut = mechanism.attend(given)
    assert torch.equal(cut[:, :, :40], kept[:, :, :40])
    assert far(cut[:, :, 40:], mechanism.attend(given.at(slice(40, None)))) < 1e-12
    for form in mechanism.forms.values():
        assert far(form(given), cut) < 1e-12
    given.log_gate[:] = -torch.inf
    assert far(mechanism.attend(given), mechanism.naive(given)) < 1e-12


@pytest.mark.parametrize("name", GATED)
@pytest.mark.parametrize("log_gate", [-1e-9, -0.5, -80.0, -torch.inf])
def test_products_of_many_gates_stay_exact_in_float32(name: str, log_gate: float):
    """A thousand gates of exp(−80) are beyond every exponent, and differences of their sums would
    have no digit left.
    """
    given, mechanism = draw(300, n_batch=1), MECHANISMS[name]
    given.log_gate[:] = log_gate
    given.log_gate[:, :, ::7] = -0.01
    output, expected = mechanism.attend(given.to(torch.float32)), mechanism.naive(given)
    assert far(output, expected) < 1e-6 * abs(expected).max()


@pytest.mark.parametrize("name", GATED)
def test_a_gradient_through_a_gate_of_zero_is_finite(name: str):
    given = draw(20)
    given.log_gate[:, :, 7] = -torch.inf
    leaves = Given(*(x.requires_grad_() for x in given))
    MECHANISMS[name].attend(leaves).square().sum().backward()
    for x in leaves:
        assert x.grad is None or x.grad.isfinite().all()
    assert leaves.log_gate.grad is not None
    assert (leaves.log_gate.grad[:, :, 7] == 0).all()


def inputs(name: str, given: Given) -> Given:
    """What the mechanism has a gradient for, wanting one."""
    own = {"delta": ("beta",), "gated-delta": ("beta", "log_gate"), "gate": ("log_gate",)}
    wanted = ("query", "key", "value", *own.get(name, ()))
    for entry in wanted:
        getattr(given, entry).requires_grad_()
    return given


@pytest.mark.parametrize(("name", "form"), [*FORMS, *((name, "whole") for name in MECHANISMS)])
def test_gradients_are_those_of_finite_differences(name: str, form: str):
    mechanism = MECHANISMS[name]
    call = mechanism.attend if form == "whole" else mechanism.forms[form]
    given = inputs(name, Given(*(x[:1, :1] for x in draw(7))))
    assert torch.autograd.gradcheck(lambda *xs: call(Given(*xs)), tuple(given))


@every
def test_gradients_equal_those_of_the_effective_weights(name: str):
    """Over several blocks and chunks, with padding."""
    mechanism, given = MECHANISMS[name], inputs(name, draw(200))
    padding = torch.zeros(2, 200, dtype=torch.bool)
    padding[0, :20] = True
    leaves = [x for x in given if x.requires_grad]
    pull = draw(200, seed=9).value
    quadratic = mechanism.weights(given, padding=padding) @ given.value
    expected = torch.autograd.grad((quadratic * pull).sum(), leaves)
    found = torch.autograd.grad((mechanism.attend(given, padding=padding) * pull).sum(), leaves)
    for x, y in zip(found, expected, strict=True):
        assert far(x, y) < 1e-10 * float(y.abs().max())


@pytest.mark.parametrize("name", MATRICES)
def test_a_gradient_flows_back_through_the_carried_state(name: str):
    mechanism, given = MECHANISMS[name], inputs(name, draw(40))
    leaves = [x for x in given if x.requires_grad]
    whole = mechanism.attend(given)
    expected = torch.autograd.grad(whole[:, :, 20:].square().sum(), leaves)
    _, state = mechanism.resume(given.at(slice(0, 20)), mechanism.start(given))
    late, _ = mechanism.resume(given.at(slice(20, None)), state)
    found = torch.autograd.grad(late.square().sum(), leaves)
    for x, y in zip(found, expected, strict=True):
        assert far(x, y) < 1e-11 * float(y.abs().max())


@every
def test_two_calls_are_identical_and_leave_what_was_given(name: str):
    given, mechanism = draw(70), MECHANISMS[name]
    before = Given(*(x.clone() for x in given))
    assert torch.equal(mechanism.attend(given), mechanism.attend(given))
    assert all(torch.equal(x, y) for x, y in zip(given, before, strict=True))


@every
def test_other_tokens_for_queries_are_refused(name: str):
    given = draw(5)
    with pytest.raises(ValueError, match="4 queries and 5 keys: .* the same tokens"):
        MECHANISMS[name].attend(given._replace(query=given.query[:, :, :4]))


@every
def test_padding_of_another_shape_is_refused(name: str):
    with pytest.raises(ValueError, match=r"padding is \(2, 4\); \(batch, keys\) is \(2, 5\)"):
        MECHANISMS[name].attend(draw(5), padding=torch.zeros(2, 4, dtype=torch.bool))


@pytest.mark.parametrize("name", MATRICES)
def test_chunks_of_no_token_are_refused(name: str):
    with pytest.raises(ValueError, match="chunks of 0 tokens; at least 1"):
        MECHANISMS[name].attend(draw(5), chunk=0)


@pytest.mark.parametrize(("name", "rate"), [("delta", "beta"), ("gate", "log_gate")])
def test_rates_that_are_not_one_a_token_and_head_are_refused(name: str, rate: str):
    given: Given = draw(5)
    short = given._replace(**{rate: getattr(given, rate)[:, :, :4]})
    mechanism: Mechanism = MECHANISMS[name]
    with pytest.raises(ValueError, match=rf"{rate} is \(2, 2, 4\); one a token .* is \(2, 2, 5\)"):
        mechanism.attend(short)
    with pytest.raises(ValueError, match=rf"{rate} is \(2, 2, 4\)"):
        mechanism.weights(short)
