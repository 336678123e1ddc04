"""Tiny models, vocabularies, corpora and checkpoints, all made here from explicit seeds."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from altair.utils.schemapi import validate_jsonschema
from altair.vegalite.v6.schema.core import load_schema
from xdist.scheduler import LoadGroupScheduling

from core.checkpoints.store import save_checkpoint
from core.data.corpus import TrainingCorpus, make_vocabulary, notable_corpus
from core.data.people import COLUMNS, Person
from core.data.vocabulary import Vocabulary
from core.figures.template import Figure, Template
from core.files import sha256
from core.models.config import GPTConfig
from core.models.families import make_model
from core.models.gpt import GPT
from core.training import examples
from core.training import loop as training_loop
from core.training.examples import training_data
from core.training.loop import Trainer
from core.training.recipe import Phase, Recipe

ROOT = Path(__file__).resolve().parents[1]
SHARING = {  # where a test lies, and with whom it shares what is dear to start, load or make
    "tests/browser/": "a server",
    "tests/slurm/": "a cluster",
    "tests/training/test_team.py": "processes",
    "tests/checkpoints/test_real_models.py": "real models",
    "tests/checkpoints/test_open_families.py": "families",
    "tests/models/test_outside_families.py": "families",
}
FIRST = ("Ada", "Bruno", "Chen", "Dalia", "Emeka", "Fatima", "Goran", "Hina")
LAST = ("Arden", "Bello", "Castro", "Dufour", "Eriksen")
PLACES = (
    ("Lagos", "Nigeria", "Africa"),
    ("Kyoto", "Japan", "Asia"),
    ("Lima", "Peru", "South America"),
)


def pytest_configure() -> None:
    """One thread for each worker and for what it starts: two that wait for each other would spin,
    which makes tests beside a busy processor take four times as long."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)


class ByServer(LoadGroupScheduling):
    """Tests that share a server, processes or loaded models stay in one worker, and begin first.

    By their place, for the marks of pytest-xdist's groups are lost on the way with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return next((whom for place, whom in SHARING.items() if nodeid.startswith(place)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByServer:
    """For the option --dist=loadgroup."""
    return ByServer(config, log)


@pytest.fixture(autouse=True)
def valid_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every chart that a test fills in is held against Vega-Lite's schema; the app checks none."""
    fill = Template.fill

    def checked(self: Template, tables: Mapping[str, pd.DataFrame], **values: Any) -> Figure:
        figure = fill(self, tables, **values)
        validate_chart(json.dumps(figure.spec))
        return figure

    monkeypatch.setattr(Template, "fill", checked)


@cache
def vega_lite() -> dict[str, Any]:
    """Vega-Lite's schema, read once."""
    return load_schema()


@lru_cache(maxsize=2048)
def validate_chart(spec: str) -> None:
    """Raises jsonschema's ValidationError for what Vega-Lite would not draw."""
    whole = {"$ref": "#/definitions/TopLevelSpec"}
    validate_jsonschema(json.loads(spec), whole, rootschema=vega_lite())


@pytest.fixture(scope="session")
def people() -> list[Person]:
    """Forty invented people; the hash of the name puts some of them into every split."""
    table: list[Person] = []
    for index, name in enumerate(f"{first} {last}" for last in LAST for first in FIRST):
        place, country, continent = PLACES[index % len(PLACES)]
        table.append(
            Person(
                name=name,
                pronoun=("he", "she", "they")[index % 3],
                birthplace=place,
                country=country,
                continent=continent,
                born=1800 + index,
                died=None if index % 4 == 0 else 1870 + index,
                occupation=("painter", "engineer")[index % 2],
                known_for="a book of letters",
            )
        )
    return table


@pytest.fixture(scope="session")
def people_table(tmp_path_factory: pytest.TempPathFactory, people: list[Person]) -> Path:
    """The same people as a table on disk."""
    path = tmp_path_factory.mktemp("people") / "people.tsv"
    rows = [COLUMNS, *([_cell(getattr(p, column)) for column in COLUMNS] for p in people)]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def people_file(people_table: Path, tmp_path: Path) -> Path:
    """A copy of the table, free to be changed."""
    return Path(shutil.copy(people_table, tmp_path / "people.tsv"))


@pytest.fixture(scope="session")
def corpus(people: list[Person]) -> TrainingCorpus:
    return notable_corpus(people, n_sentences=2)


@pytest.fixture(scope="session")
def characters(corpus: TrainingCorpus) -> Vocabulary:
    return make_vocabulary(corpus, "char", n_pieces=0)


@pytest.fixture(scope="session")
def pieces(corpus: TrainingCorpus) -> Vocabulary:
    return make_vocabulary(corpus, "bpe", n_pieces=300)


@pytest.fixture(scope="session")
def make_gpt() -> Callable[..., GPT]:
    """A tiny GPT; its parameters are far from zero, so that every one of them matters."""

    def make(seed: int = 0, **sizes: Any) -> GPT:
        small: dict[str, Any] = {"vocabulary_size": 30, "block_size": 24, "n_layers": 2}
        small |= {"n_heads": 2, "width": 16}
        generator = torch.Generator().manual_seed(seed)
        model = GPT(GPTConfig(**{**small, **sizes}), generator=generator)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                kind = 1.0 if "norm" in name and name.endswith("weight") else 0.0
                parameter.normal_(kind, 0.5, generator=generator)
        return model.eval()

    return make


@pytest.fixture
def saved(tmp_path: Path, make_gpt: Callable[..., GPT], characters: Vocabulary) -> Path:
    """A whole checkpoint folder that no training made; float32, so nothing is rounded."""
    folder = tmp_path / "tiny"
    model = make_gpt(vocabulary_size=characters.size, block_size=64)
    save_checkpoint(folder, model, characters, {"name": "tiny"}, dtype=torch.float32)
    return folder


@pytest.fixture(scope="session")
def recipe() -> Recipe:
    """Two phases and every kind of example; Muon and AdamW."""
    mixed = Phase(
        name="mixed", share=0.6, shuffled_facts=1, salient_spans=1, span_corruption=1, questions=1
    )
    return Recipe(
        name="tiny",
        phases=(mixed, Phase(name="answers", share=0.4, questions=1, answer_only=True)),
        n_pieces=300,
        n_sentences=2,
        block_size=64,
        n_layers=1,
        n_heads=2,
        width=16,
        tokens_per_batch=150,
        n_snapshots=2,
    )


@pytest.fixture
def make_trainer(
    corpus: TrainingCorpus, pieces: Vocabulary, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Trainer]:
    """A trainer on the invented people with pools of 12 examples, a few batches each."""
    monkeypatch.setattr(examples, "POOL_SIZE", 12)
    data = training_data(corpus.documents, corpus.train, pieces, recipe)

    def make(*, n_steps: int = 16, seed: int = 0, **changes: Any) -> Trainer:
        changed = replace(recipe, **changes)
        model = make_model(
            changed.model_config(pieces.size), generator=torch.Generator().manual_seed(seed)
        )
        return Trainer(model, data, changed, n_steps=n_steps, seed=seed)

    return make


@pytest.fixture(scope="session")
def real_course() -> Path:
    """The course's own files; they are no part of the project."""
    given = os.environ.get("A5_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data" / "cs224n-a5"
    if not (folder / "wiki.txt").is_file():
        pytest.skip("the course's files are neither in A5_DATA nor in ../shared/data/cs224n-a5")
    return folder


@pytest.fixture(scope="session")
def record() -> Callable[..., dict[str, Any]]:
    """What `evaluate --record` writes beside weights, as far as the report card reads it."""

    def make(weights: Path, correct: int = 300, **changes: Any) -> dict[str, Any]:
        accuracy = correct / 500
        return {
            "correct": correct,
            "total": 500,
            "accuracy": accuracy,
            "interval_95": [accuracy - 0.04, accuracy + 0.04],
            "constant_answer": "London",
            "constant_baseline": 0.05,
            "nearest_name_baseline": 0.03,
            "lookup_baseline": 0.856,
            "ceiling": 0.958,
            "kinds": {"right_country": 20, "known_place": 480 - correct, "made_up": 0},
            "weights_sha256": sha256(weights),
            "data_sha256": "of the questions",
            **changes,
        }

    return make


@pytest.fixture
def put_course(tmp_path: Path, record: Callable[..., dict[str, Any]]) -> Callable[..., Path]:
    """Put a checkpoint on the shelf that says it was trained on the course's files.

    Its weights are a few bytes: only the report card can use it.
    """

    def put(
        name: str = "course-pieces",
        correct: int | None = 300,
        *,
        config: dict[str, Any] | None = None,
        vocabulary: str = "bpe",
        recipe: dict[str, Any] | None = None,
        **card: Any,
    ) -> Path:
        folder = tmp_path / "checkpoints" / name
        folder.mkdir(parents=True)
        phases = [{"questions": 0.2, "shuffled_facts": 0.8, "span_corruption": 0.0}]
        whole = {
            "name": name,
            "recipe": {"corpus": "course", "phases": phases, **(recipe or {})},
            "seconds": 1700.0,
            "machine": "a machine",
            "n_parameters": 3104512,
            "command": f"python -m core train --preset {name}",
            **card,
        }
        sizes = {"vocabulary_size": 256, "positions": "rotary", **(config or {})}
        (folder / "model.safetensors").write_bytes(name.encode())
        for file, content in {
            "card.json": whole,
            "config.json": sizes,
            "vocabulary.json": {"kind": vocabulary},
        }.items():
            (folder / file).write_text(json.dumps(content), encoding="utf-8")
        if correct is not None:
            content = record(folder / "model.safetensors", correct)
            (folder / "evaluation-dev.json").write_text(json.dumps(content), encoding="utf-8")
        return folder

    return put


@pytest.fixture
def at_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], Any]], None]:
    """Do something once, in the middle of a step (counted from 1)."""

    def arrange(step: int, act: Callable[[], Any]) -> None:
        real, calls = training_loop.set_rates, 0

        def set_rates(*arguments: Any) -> None:
            nonlocal calls
            calls += 1
            if calls == step:
                act()
            real(*arguments)

        monkeypatch.setattr(training_loop, "set_rates", set_rates)

    return arrange


# Torch alone maps two gigabytes of address space.
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (5 * 10**9,) * 2)
arguments = sys.argv[2:]
try:
    exec(sys.argv[1])
except ValueError as error:
    print(error)
"""


@pytest.fixture(scope="session")
def limited() -> Callable[..., list[str]]:
    """Run code in a process that gets five gigabytes, so that a size that is believed ends that
    process and not the machine: the lines that it prints, the last of them a ValueError's text.
    """

    def run(code: str, *arguments: object) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, code, *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout.splitlines()

    return run


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """A job sets torch's threads for its whole process; here other tests share that process."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def _cell(value: object) -> str:
    return "" if value is None else str(value)
