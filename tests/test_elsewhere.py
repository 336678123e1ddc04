"""Whoever runs a model brings everything to its device and the results back: tried on a device that
is made up, on which the numbers have to be the processor's own.
"""

import copy
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

from core.checkpoints.store import Checkpoint, load_checkpoint
from core.data.people import Question
from core.data.vocabulary import Vocabulary
from core.generation.greedy import answer
from core.generation.hearing import ctc_text, fused, hear, padded, recogniser_of
from core.inspection.ablate import effect, head_means
from core.inspection.answered import answered
from core.inspection.attribution import attribution, logit_lens, mean_attribution
from core.inspection.head_table import measure_heads, prepare
from core.inspection.heads import HeadsOff
from core.inspection.listening import listen
from core.inspection.offsets import mean_by_offset
from core.inspection.patching import head_sites, patch
from core.inspection.picture_looks import activations, attention_maps, occlusion
from core.inspection.repeated import measure_repeated
from core.inspection.spectrum import spectra
from core.inspection.trace import trace
from core.knowledge.signals import signals
from core.models.gpt import GPT
from core.models.outside import OutsideModel
from core.models.patch_network import PatchNetwork
from core.models.picture_networks import ConvNetwork
from core.paths import ROOT
from core.pictures.drawn import drawn_digits
from core.pictures.networks import NETWORKS
from core.pictures.sweep_spec import Case, SweepSpec
from core.training.pictures import train
from tests.models.families import FAMILIES
from tests.models.tiny_models import tiny
from tests.pretend import pretended
from tests.tiny_speech import SIZES, tiny_recogniser
from tests.variants import BLOCK_SIZE, VARIANTS
from tests.with_task import gpt_of, with_task

ASKED = [
    Question(f"Where was {name} born?", "Lima", name) for name in ("Ada Arden", "Ida Arden", "Hina")
]
TEXTS = [question.text for question in ASKED]
OFF = HeadsOff(heads=((0, 0), (1, 1)))
Tool = Callable[[Checkpoint], Any]


def _by_means(stored: Checkpoint) -> Any:
    known = answered(stored, ASKED)
    off = HeadsOff(heads=OFF.heads, mode="mean", means=head_means(stored.model, known))
    return effect(stored, known, off)


TOOLS: dict[str, Tool] = {
    "answers": lambda stored: answer(stored, TEXTS),
    "trace": lambda stored: trace(stored, TEXTS[0], OFF, max_new_tokens=2),
    "effect": lambda stored: effect(stored, answered(stored, ASKED), OFF),
    "means": _by_means,
    "table": lambda stored: measure_heads(stored, prepare(stored, ASKED), HeadsOff()),
    "attribution": lambda stored: attribution(stored, TEXTS[0], relative=True),
    "mean attribution": lambda stored: mean_attribution(stored.model, answered(stored, ASKED)),
    "lens": lambda stored: logit_lens(stored, TEXTS[0]),
    "patch": lambda stored: patch(stored, TEXTS[0], TEXTS[1], head_sites(stored.model, 8)[:3]),
    "spectra": lambda stored: spectra(stored, TEXTS[0]),
    "signals": lambda stored: signals(stored, TEXTS),
    "repeated": lambda stored: measure_repeated(stored, n_sequences=2),
}
WHOLE = ("rotary", "perceiver")
FEW = ("trace", "means", "signals")  # of the others: explicit weights, fused ones and a cache
# transformers counts experts on a device by an operation that the processor has not.
WITH_EXPERTS = ("gpt_oss", "deepseek_v3", "qwen3_next")


@pytest.fixture
def device() -> Iterator[str]:
    with pretended() as name:
        yield name


def same(one: Any, other: Any) -> bool:
    """Whatever it is made of; but for rounding, since torch takes other kernels there."""
    if isinstance(one, np.ndarray):
        is_real = one.dtype.kind == "f"
        equal = np.allclose(one, other, 1e-4, 1e-5, equal_nan=True) if is_real else one == other
        return one.shape == other.shape and bool(np.all(equal))
    if isinstance(one, float):
        return same(np.array(one), np.array(other))
    if is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def said(tool: Tool, stored: Checkpoint) -> Any:
    """What a tool finds, or why it finds nothing of this model."""
    try:
        return tool(stored)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_tool_finds_on_a_device_what_it_finds_on_the_processor(
    name: str, device: str, make_gpt: Callable[..., GPT], characters: Vocabulary
):
    sizes = {"block_size": BLOCK_SIZE, "vocabulary_size": characters.size, **VARIANTS[name]}
    here, there = (
        replace(with_task(make_gpt(seed=5, **sizes), characters), limit=2) for _ in range(2)
    )
    gpt_of(there).to(device)
    for tool in TOOLS if name in WHOLE else FEW:
        assert same(said(TOOLS[tool], here), said(TOOLS[tool], there)), tool


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in WITH_EXPERTS])
def test_families_of_transformers_run_on_a_device(name: str, device: str):
    known = tiny(name)
    model = OutsideModel(copy.deepcopy(known.plain).to(device), has_head=True)
    assert model.shape == known.model.shape
    source = None if known.source is None else known.source.to(device)
    with torch.inference_mode():
        stream = model.run(known.ids.to(device), fused, source=source)
        assert same(model.logits(stream).cpu().numpy(), known.expected.numpy())
        if model.cannot("attribution"):
            return
        tokens, final = known.ids[:, 0], stream[:, 0]
        found = model.readout(final, tokens.to(device), relative=True).vector
        expected = known.model.readout(final.cpu(), tokens, relative=True).vector
    assert same(found.cpu().numpy(), expected.numpy())


@pytest.mark.parametrize("decoder", SIZES)
def test_a_recogniser_hears_on_a_device_what_it_hears_on_the_processor(decoder: Any, device: str):
    generator = np.random.default_rng(0)
    sounds = [generator.normal(size=(n, 40)).astype(np.float32) for n in (50, 21)]
    here, there = tiny_recogniser(decoder), tiny_recogniser(decoder)
    model = recogniser_of(there).to(device)
    for beam in (1, 3):
        assert same(*(hear(stored, sounds, most=5, beam=beam) for stored in (here, there)))
    assert same(*(listen(stored, sounds[1]) for stored in (here, there)))
    frames, n_frames = padded(sounds)
    with torch.inference_mode():
        memory = model.encode(frames.to(device), fused, n_frames=n_frames.to(device))
        assert len(ctc_text(there, memory, n_frames)) == 2


def test_networks_of_pictures_learn_on_a_device_what_they_learn_on_the_processor():
    """In a process of its own: what autograd knows of devices it learns at the first way back."""
    code = "from tests.test_elsewhere import learn_alike; learn_alike()"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


def learn_alike() -> None:
    """Every network, on the processor and there. Raises AssertionError where they differ."""
    with pretended() as device:
        for network in NETWORKS:
            _learn_alike(network, device)


def _learn_alike(network: str, device: str) -> None:
    pictures = drawn_digits(40, 10, 10)
    spec = SweepSpec(source="drawn", rates=(0.02,), seeds=1, epochs=1, batch=16, threads=1)
    case = Case(network, 0.02, 0)
    here, there = (
        train(case, spec, pictures, is_stopped=bool, tell=lambda _, __: None, device=where)
        for where in ("cpu", device)
    )
    assert here is not None
    assert there is not None
    assert same(here.run.epochs, there.run.epochs)
    assert here.run.shifted_correct == there.run.shifted_correct
    one = pictures.test.pictures[0]
    assert same(occlusion(here.network, one), occlusion(there.network, one))
    if isinstance(here.network, PatchNetwork) and isinstance(there.network, PatchNetwork):
        assert same(*(attention_maps(which, one) for which in (here.network, there.network)))
        assert same(*(mean_by_offset(n, one[None]) for n in (here.network, there.network)))
    if isinstance(here.network, ConvNetwork) and isinstance(there.network, ConvNetwork):
        assert same(*(activations(which, one) for which in (here.network, there.network)))


def test_a_checkpoint_is_loaded_to_its_device(saved: Any, device: str):
    stored = load_checkpoint(saved, device=device)
    assert stored.model.device.type == device
    assert load_checkpoint(saved).model.device.type == "cpu"


def test_what_is_left_on_the_processor_is_found(device: str, make_gpt: Callable[..., GPT]):
    model = make_gpt().to(device)
    with pytest.raises(RuntimeError, match="expected all tensors to be on the same device"):
        model(torch.tensor([[1, 2, 3]]))
    with pytest.raises(RuntimeError, match="numpy"):
        model(torch.tensor([[1, 2, 3]], device=device)).detach().numpy()
