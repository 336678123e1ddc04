"""A recogniser behind the seam: layers and sizes, padding, what may look at what, its parts."""

from typing import get_args

import pytest
import torch

from core.generation.hearing import fused
from core.models.families import config_from_dict, make_model, parameter_shapes
from core.models.heads import Heads
from core.models.recogniser import Recogniser, columns_of
from core.models.recogniser_config import Decoder, RecogniserConfig
from core.models.recogniser_parts import positions
from core.training.presets import preset
from core.training.speech import speech_vocabulary
from tests.tiny_speech import tiny_config, tiny_recogniser

DECODERS = get_args(Decoder)


def model_of(decoder: Decoder) -> Recogniser:
    model = tiny_recogniser(decoder).model
    assert isinstance(model, Recogniser)
    return model


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_layers_are_counted_as_the_seam_says():
    kinds = [model_of(decoder).shape.kinds for decoder in DECODERS]
    assert kinds[0] == ("encoder", "encoder", "decoder", "cross", "decoder", "cross")
    assert kinds[1] == ("encoder", "encoder", "cross", "cross")
    assert kinds[2] == ("encoder", "encoder")
    assert [model_of(decoder).shape.has_source for decoder in DECODERS] == [True, True, False]


def test_sizes_of_the_presets_are_within_a_tenth_and_fit_their_bytes():
    names = ("speech-attention", "speech-lstm", "ablation-blind")
    sizes = [
        make_model(preset(name).model_config(speech_vocabulary().size)).n_parameters
        for name in names
    ]
    assert sizes == [1_514_478, 1_585_678, 1_638_750]
    assert max(sizes) / min(sizes) < 1.1
    assert 2 * max(sizes[:2]) < 3_200_000


@pytest.mark.parametrize("decoder", DECODERS)
def test_padding_changes_nothing_of_a_shorter_sound(decoder: Decoder):
    model = model_of(decoder)
    ids = torch.randint(2, 30, (2, 5), generator=torch.Generator().manual_seed(1))
    short, long = drawn(1, 30, 40), drawn(1, 53, 40)
    both = torch.zeros(2, 53, 40)
    both[0, :30], both[1] = short[0], long[0]
    with torch.inference_mode():
        together, _ = model(both, ids, torch.tensor([30, 53]))
        for row, alone in enumerate((short, long)):
            logits, _ = model(alone, ids[row : row + 1], torch.tensor([alone.shape[1]]))
            torch.testing.assert_close(together[row], logits[0], atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_character_depends_on_those_before_it_and_on_the_sound_alone(decoder: Decoder):
    model, frames = model_of(decoder), drawn(1, 40, 40)
    ids = torch.tensor([[1, 5, 6, 7, 8]])
    with torch.inference_mode():
        before = model.logits(model.run(ids, fused, source=frames))
        changed = ids.clone()
        changed[0, 3] = 20
        after = model.logits(model.run(changed, fused, source=frames))
        other = model.logits(model.run(ids, fused, source=-frames))
    torch.testing.assert_close(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3], after[:, 3])
    assert not torch.allclose(before[:, 0], other[:, 0])


def test_without_cross_attention_nothing_but_the_mean_of_the_sound_is_seen():
    model, ids = model_of("lstm-blind"), torch.tensor([[1, 5, 6]])
    memory = model.encode(drawn(1, 40, 40), fused)
    turned = memory._replace(x=memory.x.flip(1))
    with torch.inference_mode():
        one, other = (model.decode(ids, seen, fused) for seen in (memory, turned))
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize("decoder", DECODERS)
def test_heads_parts_and_bias_are_what_a_layer_adds(decoder: Decoder):
    model = model_of(decoder)
    outputs: dict[int, torch.Tensor] = {}

    def attend(layer: int, heads: Heads) -> torch.Tensor:
        outputs[layer] = heads.output()
        return outputs[layer]

    with torch.inference_mode():
        model.run(torch.tensor([[1, 4, 9]]), attend, source=drawn(1, 21, 40))
        assert sorted(outputs) == list(range(model.shape.n_layers))
        for layer, output in outputs.items():
            summed = model.parts(layer, output).sum(1) + model.attention_bias(layer)
            torch.testing.assert_close(summed, model.projected(layer, output), atol=1e-5, rtol=1e-4)


def test_mlps_stand_where_their_layer_ends():
    model, x = model_of("attention"), drawn(1, 3, 16)
    added = [model.mlp(layer, x, x).abs().sum().item() > 0 for layer in range(6)]
    assert added == [True, True, False, True, False, True]


def test_a_readout_reads_the_logits_of_the_stream():
    model, x = model_of("attention"), drawn(2, 16)
    tokens = torch.tensor([4, 9])
    with torch.inference_mode():
        found = model.readout(x, tokens, relative=False)
        logits = model.logits(x).gather(1, tokens[:, None])[:, 0]
    torch.testing.assert_close((x * found.vector).sum(-1) + found.constant, logits)


def test_positions_are_the_sines_of_vaswani():
    table = positions(7, 6, torch.zeros(1))
    assert table.shape == (7, 6)
    rate = 10000 ** (-2 / 6)
    torch.testing.assert_close(table[5, 2], torch.tensor(5 * rate).sin())
    torch.testing.assert_close(table[5, 3], torch.tensor(5 * rate).cos())


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9])
def test_a_sound_has_a_column_for_every_fourth_frame_begun(n: int):
    model = model_of("attention")
    memory = model.encode(torch.zeros(1, n, 40), fused)
    assert memory.x.shape[1] == int(columns_of(torch.tensor(n))) == -(-n // 4)


def test_too_long_sounds_and_texts_and_missing_ones_are_refused():
    model = model_of("attention")
    with pytest.raises(ValueError, match="1281 frames are more than the 1280 that this"):
        model.encode(torch.zeros(1, 1281, 40), fused)
    memory = model.encode(torch.zeros(1, 8, 40), fused)
    with pytest.raises(ValueError, match="121 characters are more than the 120 that this model"):
        model.decode(torch.ones(1, 121, dtype=torch.long), memory, fused)
    with pytest.raises(ValueError, match="a recogniser needs a sound as its source"):
        model.run(torch.ones(1, 2, dtype=torch.long), fused)
    with pytest.raises(ValueError, match="all that it has written"):
        model.run(torch.ones(1, 2, dtype=torch.long), fused, source=torch.zeros(1, 8, 40), start=1)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"family": "sight"}, "family 'sight'; speech is known"),
        ({"decoder": "gru"}, "decoder 'gru'; allowed: "),
        ({"ctc": 3}, "ctc is 3; true or false"),
        ({"width": 15}, "width 15 must be even and be cut into 2 equal heads"),
        ({"width": 1025}, "width is 1025; whole numbers from 1 to 1,024 are allowed"),
        ({"n_heads": True}, "n_heads is True; whole numbers"),
        ({"lstm_width": 4}, "lstm_width is 4 and the decoder 'attention'"),
        ({"decoder": "lstm"}, "lstm_width is 0 and the decoder 'lstm'"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(change: dict, match: str):
    with pytest.raises(ValueError, match=match):
        config_from_dict({**tiny_config().to_dict(), **change})


def test_a_config_comes_back_and_knows_its_shapes():
    config = tiny_config("lstm")
    assert config_from_dict(config.to_dict()) == config
    assert isinstance(config, RecogniserConfig)
    state = make_model(config).state_dict()
    assert parameter_shapes(config) == {n: tuple(t.shape) for n, t in state.items()}


def test_what_it_cannot_be_asked_for_it_says():
    model = model_of("attention")
    assert "nothing else of it is taken apart" in model.cannot("lens")
    assert model.cannot("answer") == ""
