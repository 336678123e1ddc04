"""The app in Streamlit's AppTest, over tiny checkpoints and the invented people."""

import importlib
import io
import itertools
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
import torch
from streamlit.components.v2 import manifest_scanner
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

import pages
from core.checkpoints.course_layout import course_parameters
from core.checkpoints.shelf import CONFIG, SNAPSHOTS, content_hash
from core.checkpoints.store import (
    load_checkpoint,
    save_checkpoint,
    save_weights,
    write_card,
)
from core.data.own_vocabulary import CharVocabulary
from core.data.people import Person, questions_of
from core.files import sha256
from core.inspection.head_record import HeadRecord, save_record
from core.inspection.head_table import head_tables
from core.jobs import actions
from core.jobs.folder import LOG
from core.models.gpt import GPT
from pages.attention.upload import UPLOADED

ROOT = Path(__file__).resolve().parents[2]
CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ?.<>/$*_\\[]()&:`#~|!-"

TEACHER_CODE = "open sesame"

Store = Callable[..., Path]
Open = Callable[..., AppTest]


@pytest.fixture(scope="session", autouse=True)
def installed_once() -> Iterator[None]:
    """Streamlit looks through all installed packages for components at each first run of a page."""
    scan = cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(scope="session", autouse=True)
def imported_first() -> None:
    """What a page imports names folders as they are then: not as a test has changed them."""
    for module in pkgutil.walk_packages(pages.__path__, "pages."):
        if not module.name.endswith(".page"):  # which draws
            importlib.import_module(module.name)


@cache
def known_pages() -> dict[str, Any]:
    """What a run of the home page registers; AppTest finds no page without it."""
    return AppTest.from_file(ROOT / "app.py", default_timeout=60).run()._registered_pages


def open_link(page: str, **query: Any) -> AppTest:
    """The page with its query, as the first of a session."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60)
    app._registered_pages = known_pages()
    app.switch_page(f"pages/{page}/page.py")
    app.query_params.update(query)
    app.run()
    assert not app.exception, app.exception[0].value
    return app


@dataclass(slots=True)
class FakeLauncher:
    """Launches nothing; what a worker would say is put on the disk by `put_job`."""

    patience: float = 30.0

    def obstacle(self) -> str | None:
        return None

    def launch(self, folder: Path, *, threads: int) -> None:
        (folder / LOG).write_text("hello <b>log</b>\n", encoding="utf-8")

    def launch_all(self, folders: Sequence[Path], *, threads: int) -> None:
        for folder in folders:
            self.launch(folder, threads=threads)


@pytest.fixture
def launcher() -> FakeLauncher:
    """For jobs that only stand on the disk."""
    return FakeLauncher()


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of all jobs, beside an empty shelf; no worker starts, the newest id is highest."""
    shelf, numbers = tmp_path / "checkpoints", itertools.count(10)
    shelf.mkdir(exist_ok=True)
    monkeypatch.setattr("core.paths.CHECKPOINTS", shelf)
    monkeypatch.setattr("core.paths.RUNS", shelf / "runs")
    for module in ("pages.shared.jobs", "core.jobs.places"):
        monkeypatch.setattr(f"{module}.LocalLauncher", FakeLauncher)
    monkeypatch.setattr(actions, "new_id", lambda _: f"20260131-1200{next(numbers)}-0a1b2c")
    monkeypatch.delenv("A5_DATA", raising=False)
    st.cache_data.clear()
    yield shelf / "runs"
    st.cache_data.clear()


@pytest.fixture
def serve_as(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put the server into a mode, with these lines in its file; in class with a teacher's code."""

    def serve(mode: str, *lines: str) -> None:
        code = [f'teacher_code = "{TEACHER_CODE}"'] if mode == "class" and not lines else []
        text = "\n".join([f'mode = "{mode}"', *code, *lines])
        (tmp_path / "server.toml").write_text(text, encoding="utf-8")
        monkeypatch.setenv("EXPLORER_SERVER", str(tmp_path / "server.toml"))
        monkeypatch.delenv("EXPLORER_MODE", raising=False)
        st.cache_resource.clear()  # wrong codes are counted over all sessions

    return serve


@pytest.fixture
def as_teacher() -> Callable[[AppTest], AppTest]:
    """Type the teacher's code."""

    def typed(app: AppTest, code: str = TEACHER_CODE) -> AppTest:
        app.text_input(key="who-code").set_value(code).run()
        assert not app.exception, app.exception[0].value
        return app

    return typed


@pytest.fixture
def shelf(tmp_path: Path, people_table: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of checkpoints and the invented people, in place of what is shipped."""
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    monkeypatch.setattr("pages.shared.choosing.CHECKPOINTS", folder)
    monkeypatch.setattr("pages.shared.records.CHECKPOINTS", folder)
    monkeypatch.setattr("pages.compare.controls.CHECKPOINTS", folder)
    monkeypatch.setattr("pages.shared.loading.CHECKPOINTS", folder)
    monkeypatch.setattr("pages.shared.models.CHECKPOINTS", folder)
    monkeypatch.setattr("pages.shared.models.MODELS", folder / "models")
    monkeypatch.delenv("EXPLORER_MODELS", raising=False)
    monkeypatch.setattr("pages.heads.repeated_data.CHECKPOINTS", folder)
    for part in ("controls", "ask"):
        monkeypatch.setattr(f"pages.listen.{part}.CHECKPOINTS", folder)
    monkeypatch.setattr("pages.shared.loading.PEOPLE", people_table)
    monkeypatch.setattr("core.data.task.PEOPLE", people_table)
    st.cache_resource.clear()
    yield folder
    st.cache_resource.clear()


@pytest.fixture
def store(shelf: Path, make_gpt: Callable[..., GPT]) -> Store:
    """Put a tiny character model on the shelf: 2 layers, 2 heads; it writes until the block ends.

    With a block of 40 tokens arcs are offered, with more they are not.
    """
    vocabulary = CharVocabulary.from_text(CHARACTERS)

    def put(name: str = "tiny", *, seed: int = 0, n_snapshots: int = 0, **sizes: int) -> Path:
        sizes = {"vocabulary_size": vocabulary.size, "block_size": 40, **sizes}
        save_checkpoint(shelf / name, make_gpt(seed, **sizes), vocabulary, {}, dtype=torch.float32)
        for step in range(1, n_snapshots + 1):
            path = shelf / name / SNAPSHOTS / f"{step * 10:06d}.safetensors"
            save_weights(path, make_gpt(seed + step, **sizes), dtype=torch.float32)
        write_card(shelf / name, {"name": name, "task": "notable"})
        return shelf / name

    return put


@pytest.fixture(scope="session")
def measure_heads(people: list[Person]) -> Callable[[Path], Any]:
    """Measure every head of a checkpoint; the same model is measured once."""
    measured: dict[tuple[str, str], Any] = {}

    def measure(folder: Path) -> Any:
        key = (sha256(folder / CONFIG), content_hash(folder))
        if key not in measured:
            stored, dev = load_checkpoint(folder), questions_of(people, "dev")
            measured[key] = head_tables(stored, dev, dev)
        return measured[key]

    return measure


@pytest.fixture
def record_heads(shelf: Path, measure_heads: Callable[[Path], Any]) -> Callable[..., HeadRecord]:
    """Write the table of a checkpoint's heads beside it."""

    def record(name: str = "tiny", **changes: Any) -> HeadRecord:
        tables, means = measure_heads(shelf / name)
        found = HeadRecord(
            checkpoint=name,
            split="dev",
            tables=tables,
            means=means,
            seconds=1.0,
            machine="a machine",
            weights=content_hash(shelf / name),
            data="of the questions",
        )
        save_record(shelf / name, replace(found, **changes))
        return found

    return record


@pytest.fixture(scope="session")
def open_by_link() -> Open:
    """Open any page, named by its folder, as a link does."""

    return open_link


@pytest.fixture(scope="session")
def alone() -> Callable[[str], list[str]]:
    """The words that a script prints in a process of its own, which has imported nothing yet."""

    def alone_(script: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return alone_


@pytest.fixture(scope="session")
def open_page() -> Open:
    """Open the attention page as a link does: home first, then the page with its query."""

    return partial(open_link, "attention")


@pytest.fixture(scope="session")
def open_heads() -> Open:
    """Open the page of all heads as a link does."""

    return partial(open_link, "heads")


@pytest.fixture(scope="session")
def open_compare() -> Open:
    """Open the page of comparisons as a link does."""

    return partial(open_link, "compare")


@pytest.fixture(scope="session")
def address() -> Callable[[AppTest], dict[str, Any]]:
    """The query that a browser shows: of each control in the address what is not its default."""

    def address_(app: AppTest) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for control in bound_controls(app):
            spelled, default = spelled_value(control)
            if spelled != default:
                shown[control.proto.query_param_key] = spelled
        return shown

    return address_


@pytest.fixture(scope="session")
def view() -> Callable[[AppTest], dict[str, Any]]:
    """The value of every control that is in the address."""

    def view_(app: AppTest) -> dict[str, Any]:
        return {c.proto.query_param_key: spelled_value(c)[0] for c in bound_controls(app)}

    return view_


def bound_controls(app: AppTest) -> list[Any]:
    """Every control that has a key in the address."""
    kinds = ("selectbox", "select_slider", "slider", "text_input", "number_input", "toggle")
    found = [c for kind in (*kinds, "multiselect", "button_group") for c in app.get(kind)]
    return [control for control in found if control.proto.query_param_key]


def spelled_value(control: Any) -> tuple[Any, Any]:
    """What a browser writes into the address for a control's value, and for its default."""
    proto, value = control.proto, control.value
    if control.type in ("slider", "text_input", "number_input", "toggle"):
        default = proto.default[0] if control.type == "slider" else proto.default
        return value, default
    labels = list(control.options)
    values = list(value) if isinstance(value, list | tuple) else [value] if value else []
    default = [proto.default] if control.type == "selectbox" else list(proto.default)
    if control.type == "selectbox" and not proto.HasField("default"):
        default = []
    return [control.format_func(v) for v in values], [labels[int(i)] for i in default]


@pytest.fixture(scope="session")
def click() -> Callable[..., None]:
    """Click a mark of a chart: what Vega's point selection `parameter` sends, callbacks and all."""

    def click_(app: AppTest, key: str, parameter: str, **point: Any) -> None:
        states = app._tree.get_widget_states()
        value = json.dumps({"selection": {parameter: [point]}})
        chart = next(c for c in app.get("vega_lite_chart") if f"-{key}" in c.proto.id)
        states.widgets.append(WidgetState(id=chart.proto.id, string_value=value))
        app._run(states)
        assert not app.exception, app.exception[0].value

    return click_


@pytest.fixture(scope="session")
def shown() -> Callable[[AppTest], str]:
    """Everything that the page says: Markdown, texts, captions, errors and the charts' alt."""

    def shown_(app: AppTest) -> str:
        texts = [e.value for kind in (app.markdown, app.text, app.caption, app.error) for e in kind]
        return "\n".join([*texts, *(chart.proto.alt for chart in app.get("vega_lite_chart"))])

    return shown_


@pytest.fixture(scope="session")
def own_model(make_gpt: Callable[..., GPT], own_text: str) -> Callable[..., GPT]:
    """A tiny model in a variant of the course, to be uploaded; eight heads unless told."""
    n_characters = CharVocabulary.from_text(own_text).size

    def make(**sizes: Any) -> GPT:
        base: dict[str, Any] = {"block_size": 40, "n_heads": 8, "width": 32}
        return make_gpt(vocabulary_size=n_characters, **{**base, **sizes})

    return make


@pytest.fixture(scope="session")
def own_text() -> str:
    """The wiki.txt of such a model; its characters can ask where somebody was born."""
    return "abcdefghijklmnopqrstuvwxyz\nABCDEFGHIJKLMNOPQRSTUVWXYZ ?.\n"


@pytest.fixture(scope="session")
def as_params() -> Callable[[GPT], bytes]:
    """The bytes of a model's state dict under the course's names."""

    def save(model: GPT) -> bytes:
        tensors, buffer = model.state_dict(), io.BytesIO()
        names = course_parameters(model.config).items()
        torch.save({name: tensors[ours] for ours, (name, _) in names}, buffer)
        return buffer.getvalue()

    return save


@pytest.fixture
def open_upload(
    store: Store, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AppTest]:
    """The page as a link to an uploaded model opens it, where the course's files are unknown."""
    monkeypatch.delenv("A5_DATA", raising=False)

    def open_(**query: Any) -> AppTest:
        store()
        return open_page(checkpoint=UPLOADED, question="Where was Ada Arden born?", **query)

    return open_


@pytest.fixture(scope="session")
def upload(own_text: str) -> Callable[..., AppTest]:
    """Give the page a state dict and, unless it is None, a text."""

    def upload_(
        app: AppTest, data: bytes, *, text: bytes | None = own_text.encode(), name: str = "a.params"
    ) -> AppTest:
        app.file_uploader(key="upload-params").set_value((name, data, ""))
        if text is not None:
            app.file_uploader(key="upload-wiki").set_value(("wiki.txt", text, "text/plain"))
        app.run()
        assert not app.exception, app.exception[0].value
        return app

    return upload_


@pytest.fixture
def card_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The report card's assets without what was trained for it, beside a shelf for `put_course`.

    The course's files are nowhere.
    """
    shelf, folder = tmp_path / "checkpoints", tmp_path / "tables"
    shelf.mkdir()
    shutil.copytree(ROOT / "assets" / "report_card", folder)
    for name in ("ablation.json", "seeds.json", "reader.json", "self_taught.json", "hearing.json"):
        (folder / name).unlink(missing_ok=True)
    for part in ("table", "speech"):
        monkeypatch.setattr(f"pages.report_card.{part}.CHECKPOINTS", shelf)
    for part in ("table", "pretraining", "self_taught", "decoders"):
        monkeypatch.setattr(f"pages.report_card.{part}.TABLES", folder)
    monkeypatch.setattr("pages.shared.loading.CHECKPOINTS", shelf)
    monkeypatch.delenv("A5_DATA", raising=False)
    return folder


@pytest.fixture
def open_card(card_tables: Path) -> Open:
    """Open the report card as a link does."""

    return partial(open_link, "report_card")


@pytest.fixture(scope="session")
def said() -> Callable[[AppTest], str]:
    """The Markdown of the page as it is read: without escapes and invisible characters."""

    def said_(app: AppTest) -> str:
        return read_text("\n".join(element.value for element in app.main.markdown))

    return said_


@pytest.fixture(scope="session")
def said_of() -> Callable[[str], str]:
    """A text as it is read: without escapes and invisible characters."""
    return read_text


def read_text(text: str) -> str:
    """Without escapes and invisible characters."""
    return text.replace("\\", "").replace("\u00a0", " ").replace("\u2060", "")
