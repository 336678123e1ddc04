"""Every method is the mechanism it is called after, at any length, one way and both."""

from collections.abc import Callable

import pytest
import torch

from core.attention import softmax
from core.attention.masks import hidden_pairs
from core.bench.methods import build, inputs, once
from core.bench.reference import MOST_ROWS, chosen_rows, reference, relative_error
from core.bench.spec import BenchSpec
from core.catalogue import METHODS, ONLY_CAUSAL, WITHOUT_CAUSAL_FORM
from core.theory.costs import Sizes

Quick = Callable[..., BenchSpec]
SMALL = Sizes(n_features=512, n_terms=4, block_size=64, n_mixed=16, n_landmarks=8, n_latents=8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("seq_len", [1, 17, 70])
def test_every_method_gives_an_output_for_every_token(
    quick: Quick, method: str, causal: bool, seq_len: int
):
    if causal and method in WITHOUT_CAUSAL_FORM:
        with pytest.raises(ValueError, match="has no causal form"):
            build(quick("sdpa", causal=True), method, seq_len)(*inputs(quick(), seq_len))
        return
    if not causal and method in ONLY_CAUSAL:
        with pytest.raises(ValueError, match=f"{method} has only a causal form: a state is read"):
            build(quick("sdpa"), method, seq_len)
        return
    spec = quick(method, causal=causal, sizes=SMALL)
    output = once(spec, build(spec, method, seq_len), *inputs(spec, seq_len))
    assert output.shape == (1, 2, seq_len, 8)
    assert output.isfinite().all()


CAUSAL = [m for m in METHODS if m not in WITHOUT_CAUSAL_FORM]
# Which latents stand in a text depends on the text: the meta device has none to look at.
CASES = [(m, False) for m in METHODS if m not in ONLY_CAUSAL] + [
    (m, True) for m in CAUSAL if m != "perceiver"
]


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(("method", "causal"), CASES)
def test_every_method_stays_on_its_device(quick: Quick, method: str, causal: bool, backward: bool):
    """The meta device refuses a tensor left on the processor, as a GPU does."""
    spec = quick(method, causal=causal, backward=backward, sizes=SMALL)
    object.__setattr__(spec, "device", "meta")  # no job can ask for it
    given = [torch.empty(1, 2, 70, 8, device="meta") for _ in range(3)]
    output = once(spec, build(spec, method, 70), *given)
    assert (output.device.type, output.shape) == ("meta", (1, 2, 70, 8))


@pytest.mark.parametrize("method", CAUSAL)
def test_a_causal_method_does_not_see_the_last_token(quick: Quick, method: str):
    spec = quick(method, causal=True, sizes=SMALL)
    query, key, value = inputs(spec, 40)
    call = build(spec, method, 40)
    before = once(spec, call, query, key, value)
    key[:, :, -1], value[:, :, -1] = 9.0, 9.0
    after = once(spec, call, query, key, value)
    torch.testing.assert_close(after[:, :, :-1], before[:, :, :-1], atol=1e-6, rtol=1e-6)
    # The Perceiver's last latent stands before the last token, which is told to nobody.
    assert torch.equal(after[:, :, -1], before[:, :, -1]) is (method == "perceiver")


@pytest.mark.parametrize(
    ("method", "most"),
    [("explicit", 1e-6), ("sdpa", 1e-6), ("bigbird", 1e-6), ("taylor", 0.3), ("favor", 0.9)],
)
@pytest.mark.parametrize("causal", [False, True])
def test_errors_are_those_of_the_mechanism(quick: Quick, method: str, most: float, causal: bool):
    spec = quick(method, causal=causal, sizes=SMALL)  # BigBird sees all of so short a text
    given = inputs(spec, 60)
    output = once(spec, build(spec, method, 60), *given)
    assert relative_error(output, reference(*given, causal=causal)) < most


def test_the_reference_is_softmax_of_rows_from_the_first_to_the_last(quick: Quick):
    query, key, value = inputs(quick(), 500)
    rows = chosen_rows(500)
    assert (len(rows), int(rows[0]), int(rows[-1])) == (MOST_ROWS, 0, 499)
    assert chosen_rows(5).tolist() == [0, 1, 2, 3, 4]
    for causal in (False, True):
        hidden = hidden_pairs(query, key, causal=causal)
        whole, _ = softmax.attend(query.double(), key.double(), value.double(), hidden=hidden)
        exact = reference(query, key, value, causal=causal)
        torch.testing.assert_close(exact, whole[:, :, rows])
        assert relative_error(whole, exact) < 1e-12
        assert relative_error(1.5 * whole, exact) == pytest.approx(0.5)


def test_inputs_are_the_same_for_every_method_and_other_with_another_seed(quick: Quick):
    one, same, other = inputs(quick("elu"), 9), inputs(quick("sdpa"), 9), inputs(quick(seed=1), 9)
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one[0], other[0])
    assert not torch.equal(one[0], one[1])


@pytest.mark.parametrize("method", METHODS)
def test_both_ways_leaves_the_inputs_as_they_were_and_gives_the_same_output(
    quick: Quick, method: str
):
    causal = method in ONLY_CAUSAL
    spec, both = (quick(method, causal=causal, backward=way, sizes=SMALL) for way in (False, True))
    given = inputs(spec, 33)
    forward = once(spec, build(spec, method, 33), *given)
    output = once(both, build(both, method, 33), *given)
    torch.testing.assert_close(output, forward, atol=1e-5, rtol=1e-5)
    assert not output.requires_grad
    assert all(x.grad is None and not x.requires_grad for x in given)


def test_a_dense_synthesizer_is_another_than_a_random_one(quick: Quick):
    outputs = []
    for dense in (False, True):
        spec = quick("synthesizer", sizes=Sizes(dense=dense))
        outputs.append(once(spec, build(spec, "synthesizer", 20), *inputs(spec, 20)))
    assert not torch.equal(*outputs)


@pytest.mark.parametrize("method", METHODS)
def test_half_precision_stays_half_precision(quick: Quick, method: str):
    spec = quick(method, causal=method in ONLY_CAUSAL, dtype="bfloat16", sizes=SMALL)
    given = inputs(spec, 20)
    assert given[0].dtype == torch.bfloat16
    assert once(spec, build(spec, method, 20), *given).dtype == torch.bfloat16
