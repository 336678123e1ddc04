"""Random tokens said twice: scores and losses in closed form, against loops, and on every model."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from core.checkpoints.store import Checkpoint
from core.data.vocabulary import Vocabulary
from core.generation.greedy import attending
from core.inspection import repeated as measuring
from core.inspection.repeated import heads_off, look, loss_without, measure_repeated
from core.inspection.repeated_rows import SCORES, Repeated
from core.inspection.repeated_tokens import N_DRAWS, Twice, drawn_heads, said_twice
from core.models.gpt import GPT
from core.models.heads import Heads
from core.models.seam import Attend, Model, Shape
from tests.other_model import OtherModel, other_model
from tests.variants import VARIANTS
from tests.with_task import with_task

PREVIOUS, DUPLICATE, INDUCTION, UNIFORM, SINK, HALF_SINK = range(6)
N_TOKENS, SHARPNESS = 6, 9.0
DECODERS = [name for name in VARIANTS if not name.startswith("perceiver")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointing(Heads):
    """Heads whose scores are written down."""

    written: Tensor  # (H, L, L)

    def scores(self) -> Tensor:
        hidden = self.written.masked_fill(self.masked, -torch.inf)
        return hidden.expand(len(self.value), -1, -1, -1)


class PointingModel:
    """Layers of the same six heads; what its induction head of L1 brings is the logit."""

    n_parameters = 0
    device = torch.device("cpu")

    def __init__(self, size: int, *, begins: bool = False, longest_input: int = 2 * N_TOKENS):
        self.size, self.begins, self.longest_input = size, begins, longest_input + begins

    @property
    def shape(self) -> Shape:
        return Shape(
            n_layers=2,
            n_heads=6,
            n_kv_heads=6,
            head_dim=self.size,
            vocabulary_size=self.size,
            longest_input=self.longest_input,
            mechanism="softmax",
        )

    def run(self, ids: Tensor, attend: Attend, **_: Any) -> Tensor:
        rows = torch.arange(ids.shape[1])
        heads = Pointing(
            value=torch.eye(self.size)[ids][:, None].expand(-1, 6, -1, -1),
            rows=rows,
            columns=rows,
            written=written(len(rows), self.begins),
        )
        return [attend(layer, heads) for layer in (0, 1)][1][:, INDUCTION]

    def logits(self, x: Tensor) -> Tensor:
        return SHARPNESS * x


def written(length: int, begins: bool) -> Tensor:
    """Scores (6, L, L) of heads that do one thing each; the first half looks at itself."""
    n = (length - begins) // 2
    scores = torch.full((6, length, length), -torch.inf)
    scores[UNIFORM] = 0
    for row in range(length):
        second = row >= begins + n
        at = {
            PREVIOUS: (max(row - 1, 0),),
            DUPLICATE: (row - n * second,),
            INDUCTION: (row - (n - 1) * second,),
            SINK: (0,),
            HALF_SINK: (0, row - (n - 1) * second),
        }
        for head, columns in at.items():
            scores[head, row, list(columns)] = 0
    return scores


def pointing(vocabulary: Vocabulary, **how: Any) -> Checkpoint:
    model: Any = PointingModel(vocabulary.size, **how)
    return with_task(model, vocabulary)


def values(found: Repeated, name: str, field: str = "weight", layer: int = 0) -> list[Any]:
    rows = [row for row in found.rows if row.layer == layer]
    return [getattr(row.score(name), field) for row in rows]


@pytest.mark.parametrize("begins", [False, True])
def test_a_head_that_does_one_thing_scores_1_in_it_and_uniform_attention_its_baseline(
    characters: Vocabulary, begins: bool
):
    stored = pointing(characters, begins=begins)
    found = measure_repeated(stored, n_sequences=3, begin=2 if begins else None)
    assert found.n_tokens == N_TOKENS
    first = begins + N_TOKENS
    even = np.mean([1 / (row + 1) for row in range(first, first + N_TOKENS)])
    for name, head in zip(SCORES, (PREVIOUS, DUPLICATE, INDUCTION), strict=True):
        for layer in (0, 1):
            weights = values(found, name, layer=layer)
            assert weights[head] == 1
            assert weights[UNIFORM] == pytest.approx(even, rel=1e-6)
            assert values(found, name, "uniform", layer) == pytest.approx([even] * 6, rel=1e-12)
        assert [row.at for row in found.clear(name)][:2] == [(0, head), (1, head)]
    assert values(found, "induction")[HALF_SINK] == 0.5
    assert values(found, "previous_token")[DUPLICATE] == 0


@pytest.mark.parametrize("begins", [False, True])
def test_without_the_first_token_the_rest_of_a_row_is_all_there_is(
    characters: Vocabulary, begins: bool
):
    stored = pointing(characters, begins=begins)
    found = measure_repeated(stored, n_sequences=3, begin=2 if begins else None)
    induction = values(found, "induction", "without_first")
    assert induction[INDUCTION] == induction[HALF_SINK] == 1
    assert induction[SINK] == 0  # nothing is left of it
    # The first row of the second half duplicates the first token where none is in front.
    assert values(found, "duplicate_token", "without_first")[DUPLICATE] == 1
    first = begins + N_TOKENS
    for name, left_out in zip(SCORES, (0, not begins, 0), strict=True):
        rows = range(first + left_out, first + N_TOKENS)
        even = np.mean([1 / row for row in rows])
        assert values(found, name, "uniform_without_first") == pytest.approx([even] * 6, rel=1e-12)
        assert values(found, name, "without_first")[UNIFORM] == pytest.approx(even, rel=1e-6)


def test_losses_are_those_of_the_one_head_that_writes(characters: Vocabulary):
    found = measure_repeated(pointing(characters), n_sequences=4)
    losses, size = found.losses, characters.size
    wrong = math.log(math.exp(SHARPNESS) + size - 1)
    assert losses.first.mean == pytest.approx(wrong, rel=1e-6)
    assert losses.second.mean == pytest.approx(wrong - SHARPNESS, abs=1e-6)
    assert (found.looks_back, losses.saved.mean) == (True, pytest.approx(SHARPNESS, rel=1e-6))
    assert (1, INDUCTION) in losses.best
    assert losses.without_best.mean == pytest.approx(math.log(size), rel=1e-6)
    assert len({draw.loss for draw in losses.draws}) == 2
    for draw in losses.draws:
        left = math.log(size) if (1, INDUCTION) in draw.heads else wrong - SHARPNESS
        assert draw.loss == pytest.approx(left, abs=1e-6)
    mean = np.mean([draw.loss for draw in losses.draws])
    assert losses.without_random.mean == pytest.approx(mean)
    assert losses.best_above_random.mean == pytest.approx(losses.without_best.mean - mean)
    assert losses.added_by_best.mean == pytest.approx(
        losses.best_above_random.mean + losses.added_by_random.mean
    )
    assert losses.range[0] < losses.without_random.mean < losses.range[1]
    assert found.chance == pytest.approx(math.log(size - 2))


def collected(model: Model, ids: Tensor) -> list[Tensor]:
    """The weights (B, H, L, L) of every layer."""
    kept = list[Tensor]()

    def attend(_: int, heads: Heads) -> Tensor:
        kept.append(heads.weights(heads.scores()))
        return heads.output()

    with torch.inference_mode():
        model.run(ids, attend)
    return kept


@pytest.fixture(scope="module", params=[*DECODERS, "other"])
def stored(
    request: pytest.FixtureRequest, make_variant: Callable[[str], GPT], characters: Vocabulary
) -> Checkpoint:
    if request.param == "other":
        return with_task(other_model(characters.size), characters)
    return with_task(make_variant(request.param), characters)


def test_scores_are_those_of_a_loop_over_every_weight(stored: Checkpoint):
    found = measure_repeated(stored, n_sequences=3, seed=4, begin=5)
    twice = said_twice(stored, n_sequences=3, seed=4, begin=5)
    maps, n = collected(stored.model, twice.ids), found.n_tokens
    assert len(maps) * maps[0].shape[1] == len(found.rows)
    for row in found.rows:
        weights = maps[row.layer][:, row.head].double().numpy()
        expected = dict.fromkeys(SCORES, 0.0)
        rest = dict.fromkeys(SCORES, 0.0)
        for sequence in weights:
            for k in range(n):
                i = 1 + n + k
                for name, j in zip(SCORES, (i - 1, i - n, i - n + 1), strict=True):
                    expected[name] += sequence[i, j] / (3 * n)
                    rest[name] += sequence[i, j] / sequence[i, 1:].sum() / (3 * n)
        for name in SCORES:
            score = row.score(name)
            assert score.weight == pytest.approx(expected[name], abs=1e-9)
            if score.without_first is not None:
                assert score.without_first == pytest.approx(rest[name], rel=1e-5)
            assert (score.without_first is None) == bool((weights[:, 1 + n :] < 0).any())


def plain_losses(model: Model, twice: Twice, half: int) -> list[float]:
    """Mean nats of x₂ … xₙ of one half, sequence by sequence, token by token."""
    with torch.inference_mode():
        log = model.logits(model.run(twice.ids, attending(None))).double().log_softmax(-1)
    first, n = twice.start + half * twice.n_tokens, twice.n_tokens
    return [
        -sum(float(log[s, at - 1, ids[at]]) for at in range(first + 1, first + n)) / (n - 1)
        for s, ids in enumerate(twice.ids)
    ]


def test_losses_are_those_of_a_plain_pass_however_it_is_cut(
    stored: Checkpoint, monkeypatch: pytest.MonkeyPatch
):
    twice = said_twice(stored, n_sequences=3)
    whole = look(stored.model, twice)
    for half in (0, 1):
        expected = plain_losses(stored.model, twice, half)
        np.testing.assert_allclose(whole.losses[half], expected, rtol=1e-5)
    np.testing.assert_allclose(loss_without(stored.model, twice, ()), whole.losses[1], rtol=1e-6)
    monkeypatch.setattr(measuring, "BATCH_BYTES", 1)  # a sequence at a time
    apart = look(stored.model, twice)
    np.testing.assert_allclose(apart.losses, whole.losses, rtol=1e-5)
    np.testing.assert_allclose(apart.weights, whole.weights, atol=1e-6)


@pytest.mark.parametrize("variant", ["learned", "rotary", "synthesizer", "elu"], indirect=True)
def test_heads_that_are_off_are_columns_that_are_erased(
    variant: GPT, characters: Vocabulary, without_columns: Callable[..., GPT]
):
    twice = said_twice(with_task(variant, characters), n_sequences=3)
    heads = ((0, 1), (1, 0))
    off = loss_without(variant, twice, heads)
    erased = plain_losses(without_columns(variant, heads), twice, 1)
    np.testing.assert_allclose(off, erased, rtol=1e-5)
    assert np.abs(off - look(variant, twice).losses[1]).max() > 1e-3


def test_negative_effective_weights_are_not_renormalised(
    make_gpt: Callable[..., GPT], characters: Vocabulary
):
    model = make_gpt(5, vocabulary_size=characters.size, attention="taylor", n_terms=2)
    found = measure_repeated(with_task(model, characters), n_sequences=3)
    assert found.has_effective_weights
    assert None in {row.induction.without_first for row in found.rows}
    order = found.sorted_by("induction", without_first=True)
    assert order[-1].induction.without_first is None
    assert not measure_repeated(pointing(characters), n_sequences=2).has_effective_weights


def test_the_same_seed_is_the_same_result_and_another_another(stored: Checkpoint):
    one, again, other = (measure_repeated(stored, n_sequences=2, seed=seed) for seed in (3, 3, 4))
    assert one == again
    assert one.rows != other.rows


@pytest.mark.parametrize(
    ("longest", "begin", "n_tokens"), [(24, None, 12), (24, 7, 11), (200, None, 25), (8, None, 4)]
)
def test_sequences_are_different_ordinary_tokens_said_twice_as_long_as_they_fit(
    characters: Vocabulary, longest: int, begin: int | None, n_tokens: int
):
    stored = with_task(other_model(characters.size, longest_input=longest), characters)
    twice = said_twice(stored, n_sequences=40, seed=1, begin=begin)
    front = [] if begin is None else [begin]
    assert twice.ids.shape == (40, len(front) + 2 * n_tokens)
    assert twice.n_ordinary == characters.size - 2 - len(front)
    for ids in twice.ids.tolist():
        first, second = ids[len(front) : -n_tokens], ids[-n_tokens:]
        assert ids[: len(front)] == front
        assert first == second
        assert len(set(first)) == n_tokens
        assert not {characters.pad_id, characters.mask_id, begin} & set(first)
    assert len({tuple(ids) for ids in twice.ids.tolist()}) == 40


def test_of_a_model_with_fewer_tokens_than_its_vocabulary_only_those_are_drawn(
    make_gpt: Callable[..., GPT], characters: Vocabulary
):
    twice = said_twice(with_task(make_gpt(vocabulary_size=9, block_size=48), characters))
    assert (twice.n_tokens, twice.n_ordinary) == (7, 7)
    assert set(twice.ids.flatten().tolist()) == set(range(2, 9))


def test_draws_have_as_many_heads_and_are_never_just_the_best(characters: Vocabulary):
    model = other_model(characters.size)
    best = [(0, 0), (0, 1)]
    drawn = drawn_heads(model.shape, best, seed=10)
    assert list(drawn) == list(range(11, 11 + N_DRAWS))
    assert all(len(set(heads)) == 2 for heads in drawn.values())
    assert len(set(drawn.values())) > N_DRAWS / 2
    assert drawn == drawn_heads(model.shape, best, seed=10)


def test_of_two_heads_the_other_one_is_drawn(make_gpt: Callable[..., GPT], characters: Vocabulary):
    model = make_gpt(vocabulary_size=characters.size, n_layers=1, n_heads=2)
    twice = said_twice(with_task(model, characters), n_sequences=2)
    best, *drawn = heads_off(model, twice, look(model, twice))
    assert set(drawn) == {((0, 1 - best[0][1]),)}


def test_progress_is_told_of_every_pass(stored: Checkpoint):
    told = list[tuple[int, int]]()
    measure_repeated(stored, n_sequences=2, progress=lambda *of: told.append(of))
    assert told == [(done, 22) for done in range(1, 23)]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"n_sequences": 1}, "1 sequences; 2 to 1000 are allowed"),
        ({"n_sequences": 1001}, "1001 sequences; 2 to 1000 are allowed"),
        ({"seed": -1}, "seed -1; 0 and more are allowed"),
        ({"begin": -1}, "-1 is no token of this model: ids are 0 to "),
        ({"begin": 9999}, "9999 is no token of this model"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    characters: Vocabulary, how: dict[str, Any], message: str
):
    with pytest.raises(ValueError, match=message):
        measure_repeated(pointing(characters), **how)


def test_models_that_are_no_decoders_are_refused(
    make_variant: Callable[[str], GPT], characters: Vocabulary
):
    with pytest.raises(ValueError, match="a Perceiver looks at latents, not at tokens"):
        measure_repeated(with_task(make_variant("perceiver"), characters))
    encoder = other_model(characters.size, is_encoder=True)
    with pytest.raises(ValueError, match="an encoder looks both ways: tokens said twice need"):
        measure_repeated(with_task(encoder, characters))
    sizes = [getattr(encoder, name) for name in OtherModel.__slots__]
    with pytest.raises(ValueError, match="this model sees later tokens"):
        measure_repeated(with_task(Silent(*sizes), characters))


class Silent(OtherModel):
    """An encoder that does not say so: its masks do."""

    @property
    def shape(self) -> Shape:
        return replace(super().shape, kinds=())


def test_models_that_are_too_small_are_refused(
    make_gpt: Callable[..., GPT], characters: Vocabulary
):
    short = other_model(characters.size, longest_input=7)
    with pytest.raises(ValueError, match="inputs of at most 7 tokens out of .*: 4 different ones"):
        measure_repeated(with_task(short, characters))
    single = make_gpt(vocabulary_size=characters.size, n_layers=1, n_heads=1)
    with pytest.raises(ValueError, match="a model with one head: there is no other"):
        measure_repeated(with_task(single, characters))
