"""What a state dict of the course says by its shapes, and what has to be told."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from core.checkpoints.course_import import Hints, import_course
from core.checkpoints.store import CheckpointError
from core.models.config import GPTConfig

BLOCK, WIDTH, HEADS, LATENTS = 12, 32, 8, 5
BUFFERS = ("attn.mask", "attn.rope_cache")
State = dict[str, Tensor]
MakeState = Callable[..., State]
AsFile = Callable[[State], bytes]


@pytest.mark.parametrize(
    ("variant", "sizes", "n_buffers"),
    [
        ("vanilla", {}, 2),
        ("rotary", {"positions": "rotary"}, 4),
        ("synthesizer", {"attention": "synthesizer"}, 2),
        ("perceiver", {"n_latents": LATENTS, "n_layers": 4}, 4),
    ],
)
def test_sizes_are_inferred_and_buffers_left_out(
    course_state: MakeState,
    as_file: AsFile,
    wiki: str,
    variant: str,
    sizes: dict[str, Any],
    n_buffers: int,
):
    state = course_state(variant)
    imported = import_course(as_file(state), wiki, Hints())
    expected: dict[str, Any] = {"n_layers": 2, "n_heads": HEADS, "width": WIDTH, **sizes}
    n_characters = 2 + len(set(wiki))
    assert imported.model.config == GPTConfig(
        vocabulary_size=n_characters, block_size=BLOCK, **expected
    )
    assert imported.variant == variant
    assert imported.vocabulary.size == n_characters
    assert any(note.startswith(f"{n_buffers} buffers") for note in imported.notes)
    n_parameters = sum(
        t.numel() for name, t in state.items() if not name.endswith(("mask", "ache"))
    )
    assert imported.model.n_parameters == n_parameters
    assert not imported.model.training


def test_a_text_with_accents_apart_is_kept_as_it_stands_and_said(
    course_state: MakeState, as_file: AsFile, wiki: str
):
    apart = wiki.replace("B", "u\u0308")
    imported = import_course(as_file(course_state("vanilla")), apart, Hints())
    assert imported.vocabulary.to_dict()["characters"][2:] == "".join(sorted(set(apart)))
    assert imported.vocabulary.encode("\u00fc") == imported.vocabulary.encode("u\u0308")
    (note,) = [note for note in imported.notes if "letters and accents apart" in note]
    assert "is kept so, for its characters are the vocabulary" in note
    plain = import_course(as_file(course_state("vanilla")), wiki, Hints())
    assert not [note for note in plain.notes if "accents" in note]


@pytest.mark.parametrize("variant", ["vanilla", "rotary", "synthesizer", "perceiver"])
def test_a_file_without_buffers_is_whole(
    course_state: MakeState, as_file: AsFile, wiki: str, variant: str
):
    state = course_state(variant)
    bare = {n: t for n, t in state.items() if not n.endswith(BUFFERS)}
    told = Hints(block=BLOCK)
    model, same = (import_course(as_file(part), wiki, told).model for part in (bare, state))
    for name, tensor in same.state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor)


def test_a_rotary_cache_may_be_complex_numbers(course_state: MakeState, as_file: AsFile, wiki: str):
    state = course_state("rotary")
    for name in list(state):
        if name.endswith("rope_cache"):
            state[name] = torch.view_as_complex(state[name])
    assert import_course(as_file(state), wiki, Hints()).model.config.n_heads == HEADS


@pytest.mark.parametrize(
    ("variant", "told", "heads"),
    [
        ("vanilla", Hints(), 8),
        ("vanilla", Hints(heads=4), 4),
        ("perceiver", Hints(), 8),
        ("perceiver", Hints(heads=2), 2),
        ("synthesizer", Hints(heads=8), 8),
        ("rotary", Hints(heads=8), 8),
    ],
)
def test_the_number_of_heads_is_said_where_the_file_cannot(
    course_state: MakeState, as_file: AsFile, wiki: str, variant: str, told: Hints, heads: int
):
    imported = import_course(as_file(course_state(variant)), wiki, told)
    assert imported.model.config.n_heads == heads
    guessed = any("8 heads: the file cannot say" in note for note in imported.notes)
    assert guessed == (told.heads is None)


def test_a_rotary_file_without_its_cache_says_neither_heads_nor_block(
    course_state: MakeState, as_file: AsFile, wiki: str
):
    state = course_state("rotary")
    bare = {n: t for n, t in state.items() if not n.endswith(BUFFERS)}
    with pytest.raises(CheckpointError, match="how long its inputs may be: tell the block"):
        import_course(as_file(bare), wiki, Hints())
    imported = import_course(as_file(bare), wiki, Hints(block=99))
    assert (imported.model.config.block_size, imported.model.config.n_heads) == (99, 8)
    assert any("8 heads" in note for note in imported.notes)
    masked = {n: t for n, t in state.items() if not n.endswith("rope_cache")}
    assert import_course(as_file(masked), wiki, Hints()).model.config.block_size == BLOCK


@pytest.mark.parametrize(
    ("told", "note"),
    [
        (Hints(), "read with residual paths around both projections, and with ln1 before both "),
        (Hints(residual=False), "read without residual paths .* ln1 before both their sides"),
        (Hints(norm="latents"), "read with residual paths .* ln1 before the latents' side alone"),
    ],
)
def test_a_perceivers_wiring_is_said_aloud(
    course_state: MakeState, as_file: AsFile, wiki: str, told: Hints, note: str
):
    imported = import_course(as_file(course_state("perceiver")), wiki, told)
    config = imported.model.config
    assert (config.latent_residual, config.latent_norm) == (told.residual, told.norm)
    assert any(re.fullmatch(f"{note}.*: the file cannot say", said) for said in imported.notes)


@pytest.mark.parametrize("variant", ["vanilla", "rotary", "synthesizer", "perceiver"])
def test_that_the_text_was_compared_by_its_size_alone_is_said_aloud(
    course_state: MakeState, as_file: AsFile, wiki: str, variant: str
):
    n = 2 + len(set(wiki))
    said = f"of the text only the number of characters, {n}, could be compared with the file"
    other = wiki.replace("A", "Z")  # as many others
    for text in (wiki, other):
        assert said in import_course(as_file(course_state(variant)), text, Hints()).notes


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_floating_point_numbers_become_float32(
    course_state: MakeState, as_file: AsFile, wiki: str, dtype: torch.dtype
):
    state = {name: tensor.to(dtype) for name, tensor in course_state("vanilla").items()}
    model = import_course(as_file(state), wiki, Hints()).model
    assert {tensor.dtype for tensor in model.state_dict().values()} == {torch.float32}
    assert torch.equal(model.state_dict()["head.weight"], state["head.weight"].float())


@pytest.mark.parametrize(
    ("variant", "told", "message"),
    [
        (
            "rotary",
            Hints(variant="vanilla"),
            "by its names it is a rotary model, not a vanilla one",
        ),
        ("vanilla", Hints(variant="perceiver"), "it is a vanilla model, not a perceiver one"),
        ("vanilla", Hints(heads=5), "width 32 cannot be cut into 5 equal heads"),
        ("vanilla", Hints(heads=0), "n_heads is 0"),
        ("synthesizer", Hints(heads=4), "the file says heads 8, not 4"),
        ("rotary", Hints(heads=4), "the file says heads 8, not 4"),
        ("rotary", Hints(block=64), "the file says block 12, not 64"),
        ("vanilla", Hints(block=64), "the file says block 12, not 64"),
        (
            "vanilla",
            Hints(residual=False),
            "^--no-residual can be told of a Perceiver alone; by its names it is a vanilla model",
        ),
        ("rotary", Hints(norm="latents"), "^--latent-norm can be told of .* it is a rotary model$"),
        (
            "synthesizer",
            Hints(norm="latents", residual=False),
            "^--no-residual and --latent-norm can be told of .* it is a synthesizer model$",
        ),
    ],
)
def test_what_is_told_against_the_file_is_refused(
    course_state: MakeState, as_file: AsFile, wiki: str, variant: str, told: Hints, message: str
):
    with pytest.raises(ValueError, match=message):
        import_course(as_file(course_state(variant)), wiki, told)


@pytest.mark.parametrize("text", ["", "Lima", "Ada Arden was born in Łódź ."])
def test_a_text_with_other_characters_is_refused(
    course_state: MakeState, as_file: AsFile, wiki: str, text: str
):
    n, m = 2 + len(set(wiki)), 2 + len(set(text))
    assert n != m
    with pytest.raises(CheckpointError, match=f"knows {n} characters, but the text makes {m}:"):
        import_course(as_file(course_state("vanilla")), text, Hints())
