"""Fine-tuning: a job that begins with the parameters, shape and vocabulary of a checkpoint."""

import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import CARD, CONFIG, VOCABULARY, WEIGHTS
from core.checkpoints.state import load_state
from core.checkpoints.store import load_checkpoint
from core.files import read_json, sha256, write_json
from core.jobs import actions
from core.jobs.keep import keep
from core.jobs.spec import TrainSpec, check, spec_from_dict, train_spec
from core.jobs.state import Job, read_job, read_spec
from core.runs.fine_tuning import can_start_from, shaped_like
from core.runs.folder import RUN, STATE
from core.training.presets import FINE_TUNING, PRESETS
from core.training.recipe import Overrides
from tests.with_task import gpt_of

Start = Callable[..., Path]
Work = Callable[[Path], Job]
TUNE = "course-fine-tune"


@pytest.fixture
def trained(start: Start, work: Work, runs: Path) -> Path:
    """A kept checkpoint of the invented course: 1 layer, 2 heads, width 16, 300 pieces."""
    folder = start(seed=7)
    assert work(folder).state == "finished"
    return keep(runs, folder.name, "base", checkpoints=runs.parent)


@pytest.fixture
def tune(runs: Path, launcher: Any) -> Callable[..., Path]:
    """Put a fine-tuning into the queue without a worker; returns its folder."""

    def put(checkpoint: Path, **options: Any) -> Path:
        given: dict[str, Any] = {"steps": 6, "threads": 1, **options}
        return runs / actions.start(
            runs, train_spec(TUNE, start_from=checkpoint, **given), launcher
        )

    return put


def test_a_fine_tuning_has_the_shape_of_its_checkpoint_and_the_phases_of_its_preset(trained: Path):
    spec = train_spec(TUNE, start_from=trained, steps=5)
    shape = {"width": 16, "n_layers": 1, "n_heads": 2, "block_size": 64, "n_pieces": 300}
    preset = PRESETS[TUNE]
    assert asdict(spec.recipe) == {**asdict(preset), **shape}
    assert spec.start_from == "base"
    assert "--start-from base" in " ".join(spec.arguments())
    assert spec_from_dict(spec.to_dict()) == spec


def test_it_begins_with_the_checkpoint_s_parameters_and_says_so_in_its_card(
    trained: Path, tune: Callable[..., Path], work: Work, at_step: Any, runs: Path, launcher: Any
):
    folder = tune(trained)
    first = gpt_of(load_checkpoint(trained)).state_dict()
    seen: list[int] = []

    def look_and_stop() -> None:
        tensors, meta = load_state(folder / STATE)
        seen.append(meta["cursor"]["step"])
        assert all(tensors[f"model.{name}"].equal(tensor) for name, tensor in first.items())
        actions.stop(runs, folder.name)

    at_step(1, look_and_stop)
    assert work(folder).state == "stopped"
    assert seen == [0]
    actions.resume(runs, folder.name, launcher)
    assert work(folder).state == "finished"
    card = read_json(folder / CARD)
    assert card["start_from"]["name"] == "base"
    assert card["start_from"]["weights_sha256"] == sha256(trained / WEIGHTS)
    assert card["start_from"]["recipe"] == read_json(trained / CARD)["recipe"]
    assert read_json(folder / VOCABULARY) == read_json(trained / VOCABULARY)
    assert gpt_of(load_checkpoint(folder)).config == gpt_of(load_checkpoint(trained)).config
    assert "--start-from base" in card["command"]


def test_once_begun_it_needs_its_checkpoint_no_more(
    trained: Path, tune: Callable[..., Path], work: Work, at_step: Any, runs: Path, launcher: Any
):
    whole, folder = tune(trained), tune(trained)
    assert work(whole).state == "finished"

    def die(*_: object) -> None:
        raise SystemExit  # as if it were killed in its first step

    at_step(1, die)
    with pytest.raises(SystemExit):
        work(folder)
    assert (folder / RUN).exists()
    shutil.rmtree(trained)
    actions.resume(runs, folder.name, launcher)
    assert work(folder).state == "finished"
    assert (folder / WEIGHTS).read_bytes() == (whole / WEIGHTS).read_bytes()


def test_a_checkpoint_that_is_gone_before_the_job_begins_is_named(
    trained: Path, tune: Callable[..., Path], work: Work
):
    folder = tune(trained)
    trained.rename(trained.with_name("moved"))
    job = work(folder)
    assert (job.state, (folder / RUN).exists()) == ("failed", False)
    assert job.message.startswith("there is no checkpoint 'base'")


@pytest.mark.parametrize(
    ("preset", "options", "message"),
    [
        (
            "tiny",
            {},
            "preset tiny begins anew; notable-fine-tune, course-fine-tune and speech-real start",
        ),
        ("notable-fine-tune", {}, "was trained on the corpus 'course'; .* reads 'notable'"),
        (TUNE, {"overrides": Overrides(width=8)}, "width cannot be set: it is that of .* base"),
    ],
)
def test_what_does_not_go_together_is_refused(
    trained: Path, preset: str, options: dict[str, Any], message: str
):
    with pytest.raises(ValueError, match=message):
        train_spec(preset, start_from=trained, **options)


def test_a_checkpoint_without_weights_cannot_be_gone_on_with(trained: Path):
    assert can_start_from(trained, "course")
    (trained / WEIGHTS).unlink()
    with pytest.raises(ValueError, match="its weights are not shipped; train them again with"):
        shaped_like(PRESETS[TUNE], trained)
    assert not can_start_from(trained, "course")


@pytest.mark.parametrize("preset", FINE_TUNING)
def test_fine_tuning_needs_a_checkpoint(preset: str, tmp_path: Path):
    with pytest.raises(ValueError, match=f"{preset} goes on with a checkpoint: name one"):
        train_spec(preset)
    with pytest.raises(ValueError, match="there is no checkpoint 'absent'"):
        train_spec(preset, start_from=tmp_path / "absent")


def test_a_checkpoint_from_elsewhere_or_with_a_card_that_lies_is_refused(trained: Path):
    recipe = PRESETS[TUNE]
    card, config = read_json(trained / CARD), read_json(trained / CONFIG)
    write_json(trained / CONFIG, {**config, "width": 32})
    with pytest.raises(ValueError, match="base has not the shape that its card describes"):
        shaped_like(recipe, trained)
    assert can_start_from(trained, "course")
    assert not can_start_from(trained, "notable")
    write_json(trained / CARD, {**card, "recipe": {**card["recipe"], "corpus": "notable-unread"}})
    with pytest.raises(ValueError, match="on the corpus 'notable-unread'; .* reads 'notable'"):
        shaped_like(PRESETS["notable-fine-tune"], trained)  # it would ask about the unread
    del card["recipe"]
    write_json(trained / CARD, card)
    with pytest.raises(ValueError, match="the card of checkpoint base has no recipe"):
        shaped_like(recipe, trained)
    assert not can_start_from(trained, "course")


@pytest.mark.parametrize("name", ["..", "../base", "/etc", "", ".hidden", "a/b"])
def test_a_name_that_would_leave_the_shelf_is_refused(
    make_spec: Callable[..., TrainSpec], name: str
):
    with pytest.raises(ValueError, match="is no name of a checkpoint"):
        check(replace(make_spec(), start_from=name))


def test_jobs_of_before_have_no_start(start: Start):
    folder = start()
    data = read_json(folder / "job.json")
    del data["start_from"]
    write_json(folder / "job.json", data)
    spec = read_spec(folder)
    assert isinstance(spec, TrainSpec)
    assert spec.start_from is None
    assert read_job(folder).state == "queued"
