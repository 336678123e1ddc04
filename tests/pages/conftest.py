"""The app in Streamlit's AppTest, over tiny checkpoints and the invented people."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
import torch
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from core.checkpoints.store import SNAPSHOTS, save_checkpoint, save_weights, write_card
from core.data.vocabulary import CharVocabulary
from core.models.gpt import GPT

ROOT = Path(__file__).resolve().parents[2]
CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ?.<>/$*_\\[]()&:`#~|!-"

Store = Callable[..., Path]
Open = Callable[..., AppTest]


@pytest.fixture
def shelf(tmp_path: Path, people_table: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of checkpoints and the invented people, in place of what is shipped."""
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    monkeypatch.setattr("pages.attention.controls.CHECKPOINTS", folder)
    monkeypatch.setattr("pages.shared.loading.CHECKPOINTS", folder)
    monkeypatch.setattr("pages.shared.loading.PEOPLE", people_table)
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
        write_card(shelf / name, {"name": name})
        return shelf / name

    return put


@pytest.fixture(scope="session")
def open_page() -> Open:
    """Open the attention page as a link does: home first, then the page with its query."""

    def open_(**query: str) -> AppTest:
        app = AppTest.from_file(ROOT / "app.py", default_timeout=60).run()
        app.switch_page("pages/attention/page.py")
        app.query_params.update(query)
        app.run()
        assert not app.exception, app.exception[0].value
        return app

    return open_


@pytest.fixture(scope="session")
def click() -> Callable[..., None]:
    """Click a mark of a chart: what Vega's point selection `parameter` sends, callbacks and all."""

    def click_(app: AppTest, key: str, parameter: str, **point: int) -> None:
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
