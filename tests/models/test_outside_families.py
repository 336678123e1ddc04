"""Anyone's model behind the seam computes what transformers computes by itself, family by family.

The reference is always the untouched model with the attention that it has by default.
"""

import copy
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch
from torch import Tensor

from core.inspection.answered import attending
from core.models.heads import Heads
from core.models.outside import OutsideModel
from core.models.seam import Stream
from tests.models.families import FAMILIES
from tests.models.family import N_HEADS, POST_NORM, WIDTH, Family
from tests.models.measured import MEASURES, NO_CACHE, measured, off, off_at
from tests.models.odd_families import BOTTLENECK, BY_LENGTH, OWN_MASK, REFUSED, SEVERAL_STREAMS
from tests.models.table import table
from tests.models.tiny_models import apart, make_model, tiny

SAME = 1e-5  # relative
ROUNDS = 25
every_family = pytest.mark.parametrize("name", FAMILIES)


def test_there_are_at_least_twenty_two_families():
    assert len({family.model_type or name for name, family in FAMILIES.items()}) >= 22


@every_family
@pytest.mark.parametrize("what", MEASURES)
def test_what_a_family_can_do_equals_the_untouched_model_and_the_rest_is_said(name: str, what: str):
    found, family = measured(name, what), FAMILIES[name]
    if sentence := family.cannot.get(MEASURES[what][0]):
        assert isinstance(found, str)
        assert found.startswith(sentence)
    elif what == "cache" and not family.keeps_past:
        assert found == NO_CACHE
    else:
        assert isinstance(found, float)
        assert found < SAME


@every_family
@torch.inference_mode()
def test_what_is_equal_would_be_seen_if_it_were_not(name: str):
    """Attention of a kind of its own by default, and every change that is made does something."""
    made, family = tiny(name), FAMILIES[name]
    assert made.plain.config._attn_implementation in ("sdpa", "eager")
    assert apart(made.logits(made.others), made.expected) > 0.1
    path = family.projections[0]
    assert apart(made.logits(made.ids, off_at(family, path, 1)), made.expected) > 1e-3


@every_family
@torch.inference_mode()
def test_the_shape_is_that_of_the_configuration(name: str):
    made, family = tiny(name), FAMILIES[name]
    shape = made.model.shape
    assert (shape.kinds, shape.n_layers) == (family.kinds, len(family.kinds))
    assert (shape.n_heads, shape.n_kv_heads) == (N_HEADS, family.n_kv_heads)
    assert shape.head_dim == family.head_dim
    assert shape.keeps_past == family.keeps_past
    for layer, seen in enumerate(made.seen(made.ids)[1]):
        rows, columns = lengths(family, layer, made.ids.shape[1], source=made.source)
        assert seen.weights.shape == (2, N_HEADS, rows, columns)
        assert seen.heads.rows.tolist() == list(range(rows))
        assert seen.heads.columns.tolist() == list(range(columns))


@every_family
@torch.inference_mode()
def test_masked_cells_are_exactly_0_and_no_others(name: str):
    made, family = tiny(name), FAMILIES[name]
    for layer, seen in enumerate(made.seen(made.ids)[1]):
        hidden = family.hidden(layer, *seen.weights.shape[2:])
        assert torch.equal(seen.heads.masked, hidden)
        assert not seen.weights[..., hidden].any()
        assert bool((seen.weights[..., ~hidden] > 0).all())


def test_what_is_masked_is_told_apart_by_the_table():
    window, causal = FAMILIES["mistral"].hidden(0, 12, 12), FAMILIES["llama"].hidden(0, 12, 12)
    around = FAMILIES["modernbert"].hidden(0, 12, 12)
    assert causal.sum() == 66
    assert window.sum() == 66 + 21
    assert window[8].tolist() == [True] * 3 + [False] * 6 + [True] * 3
    assert around[7].tolist() == [True] * 4 + [False] * 7 + [True]


@every_family
@torch.inference_mode()
def test_the_output_projection_is_found_and_its_heads_stand_in_their_own_columns(name: str):
    made, family = tiny(name), FAMILIES[name]
    if "parts" in family.cannot:
        output = made.seen(made.ids)[1][0].output
        assert torch.equal(made.model.parts(0, output), output)
        return
    for layer, seen in enumerate(made.seen(made.ids)[1]):
        project = made.plain.get_submodule(family.projections[layer])
        expected = project(seen.output.transpose(1, 2).flatten(2))
        assert torch.equal(made.model.projected(layer, seen.output), expected)
        parts = made.model.parts(layer, seen.output)
        assert parts.shape == (2, N_HEADS, expected.shape[1], WIDTH)
        alone = torch.zeros_like(seen.output)
        alone[:, 2] = seen.output[:, 2]
        expected = project(alone.transpose(1, 2).flatten(2)) - made.model.attention_bias(layer)
        assert apart(parts[:, 2], expected) < SAME


@every_family
@torch.inference_mode()
def test_a_head_of_the_last_layer_can_be_off_too(name: str):
    made = tiny(name)
    assert off(made, len(made.family.kinds) - 1, 3) < SAME


@every_family
def test_two_threads_on_one_model_never_mix(name: str):
    """They meet at every layer, so that each pass is in the middle of the other."""
    made = tiny(name)
    barrier = Barrier(2, timeout=60)

    @torch.inference_mode()
    def run(ids: Tensor, meet: bool) -> Tensor:
        def attend(_: int, heads: Heads) -> Tensor:
            if meet:
                barrier.wait()
            return heads.output()

        return made.model.logits(made.model.run(ids, attend, source=made.source))

    alone = [run(ids, False) for ids in (made.ids, made.others)]

    def work(index: int) -> list[bool]:
        turns = [(index + turn) % 2 for turn in range(ROUNDS)]
        try:
            return [torch.equal(run((made.ids, made.others)[i], True), alone[i]) for i in turns]
        except BaseException:
            barrier.abort()  # nobody is to wait for who has failed
            raise

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(work, (0, 1)))
    assert results == [[True] * ROUNDS] * 2
    assert not torch.equal(*alone)


@torch.inference_mode()
def test_the_stream_is_tapped_where_heads_attend_only():
    tapped: list[int] = []

    def tap(layer: int, stream: Stream) -> Stream:
        tapped.append(layer)
        return stream

    for name, expected in (("llama", [0, 1]), ("qwen3_next", [0]), ("t5", [3, 5])):
        tapped.clear()
        made = tiny(name)
        made.model.run(made.ids, attending(None), source=made.source, tap=tap)
        assert tapped == expected


@pytest.mark.parametrize("family", [OWN_MASK, BOTTLENECK], ids=lambda family: family.name)
@torch.inference_mode()
def test_a_family_without_a_cache_or_of_another_width_is_shown_all_the_same(family: Family):
    plain = make_model(family)
    ids = tiny("llama").ids
    expected = plain(input_ids=ids).logits
    model = OutsideModel(copy.deepcopy(plain), has_head=True)
    assert not model.shape.keeps_past
    assert model.cannot("attribution").startswith(POST_NORM)
    assert apart(model.logits(model.run(ids, attending(None))), expected) < SAME


@pytest.mark.parametrize("family", BY_LENGTH, ids=lambda family: family.name)
@torch.inference_mode()
def test_what_one_text_does_to_positions_another_never_sees(family: Family):
    plain = make_model(family)
    model = OutsideModel(copy.deepcopy(plain), has_head=True)
    assert not model.shape.keeps_past
    texts = {n: torch.arange(5, 5 + n)[None] for n in (6, 10, 12, 20)}
    alone = {n: copy.deepcopy(plain)(input_ids=ids).logits for n, ids in texts.items()}
    for n in (12, 6, 20, 12, 10, 6):
        assert apart(model.logits(model.run(texts[n], attending(None))), alone[n]) < SAME
    assert apart(alone[20][:, :6], alone[6]) > 1e-3  # the angles are others


def test_a_family_with_several_residual_streams_is_refused():
    model = make_model(SEVERAL_STREAMS)
    with pytest.raises(ValueError, match="it has several residual streams side by side"):
        OutsideModel(model, has_head=True)


@pytest.mark.parametrize("family", REFUSED, ids=lambda family: family.name)
def test_a_family_that_does_not_go_through_the_interface_is_refused(family: Family):
    model = make_model(family)
    with pytest.raises(ValueError, match="does not call its attention by transformers' interface"):
        OutsideModel(model, has_head=True)


def test_the_table_of_families_has_a_figure_or_a_reason_everywhere():
    shown = table()
    print(shown)
    lines, reasons = (part.splitlines() for part in shown.split("\n\n"))
    names = [re.split("  +", line)[0] for line in lines]
    odd = [family.name for family in (*REFUSED, SEVERAL_STREAMS)]
    assert names == ["family", *FAMILIES, *odd]
    cells = [cell for line in lines[1:] for cell in re.split("  +", line)[2:]]
    assert len(cells) == (len(names) - 1) * len(MEASURES)
    figures = [float(cell) for cell in cells if cell[0] != "["]
    assert len(figures) > 250
    assert max(figures) < SAME
    pointed = {cell for cell in cells if cell.startswith("[")}
    assert pointed == {reason.split()[0] for reason in reasons}


def test_a_source_goes_with_an_encoder_beside_a_decoder_only():
    for name in ("t5", "llama"):
        made = tiny(name)
        source = made.ids if made.source is None else None
        with pytest.raises(ValueError, match="a source goes with an encoder beside a decoder"):
            made.model.run(made.ids, attending(None), source=source)


def lengths(family: Family, layer: int, n: int, *, source: Tensor | None) -> tuple[int, int]:
    """Rows and columns of a layer whose inputs have n tokens."""
    if source is None or family.kinds[layer] == "decoder":
        return n, n
    n_source = source.shape[1]
    return (n, n_source) if family.kinds[layer] == "cross" else (n_source, n_source)
