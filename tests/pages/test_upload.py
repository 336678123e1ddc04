"""A model of one's own: uploaded, looked at, kept in memory, and never part of a link."""

import io
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from core.checkpoints.store import write_card
from core.data.course import DEV, TEST, TRAIN, WIKI
from core.data.own_vocabulary import CharVocabulary
from core.generation.greedy import answer
from core.models.gpt import GPT
from pages.attention.downloads import TABLES_KEY
from pages.attention.upload import MOST_MEGABYTES, UPLOADED
from pages.shared.text import plain
from pages.shared.trace_files import MOST_MEGABYTES as MOST_TRACE_MEGABYTES
from tests.with_task import with_task

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "Where was Ada Arden born?"
Shown = Callable[[AppTest], str]
Make = Callable[..., GPT]
Upload = Callable[..., AppTest]
Save = Callable[[GPT], bytes]


def test_a_link_to_an_uploaded_model_says_that_the_file_must_be_uploaded_again(
    open_upload: Upload, shown: Shown
):
    app = open_upload(head="L1·H3")
    assert app.selectbox(key="checkpoint").value == UPLOADED
    (said,) = app.info
    assert "behind a shared link, too, the file must be uploaded again" in said.value
    assert f"at most {MOST_MEGABYTES} MB" in said.value
    assert "no copy of it is kept on disk" in said.value
    assert "until newer ones take their place" in said.value
    assert not app.get("vega_lite_chart")
    assert not app.number_input  # what to tell about a file has controls once there is one
    assert [uploader.key for uploader in app.file_uploader] == ["upload-params", "upload-wiki"]


def test_the_limit_of_the_server_is_the_largest_that_is_stated(open_upload: Upload):
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert config["server"]["maxUploadSize"] == MOST_TRACE_MEGABYTES >= MOST_MEGABYTES
    assert {u.proto.max_upload_size_mb for u in open_upload().file_uploader} == {MOST_MEGABYTES}


@pytest.mark.parametrize(
    ("sizes", "variant"),
    [
        ({}, "vanilla"),
        ({"attention": "synthesizer"}, "synthesizer"),
        ({"n_latents": 5, "n_layers": 4}, "perceiver"),
    ],
)
def test_the_whole_page_works_with_an_uploaded_model(
    open_upload: Upload,
    own_model: Make,
    as_params: Save,
    upload: Upload,
    shown: Shown,
    own_text: str,
    sizes: dict[str, Any],
    variant: str,
):
    mine = own_model(**sizes)
    app = upload(open_upload(), as_params(mine))
    assert not app.error
    (given,) = answer(with_task(mine, CharVocabulary.from_text(own_text)), [QUESTION])
    assert app.markdown[0].value.startswith(f"#### {plain(QUESTION)} → **{plain(given.text)}**")
    assert app.markdown[0].value.endswith(":gray-badge[right answer unknown]")
    assert "logits differ by at most" in app.markdown[1].value
    assert len(app.get("vega_lite_chart")) == 3
    assert plain(f"{variant}, {mine.n_parameters:,} parameters") in shown(app)
    app.selectbox(key="head").set_value("L1·H7").run()
    assert "L1·H7 is chosen" in app.get("vega_lite_chart")[0].proto.alt
    assert len(app.get("download_button")) == 5
    app.session_state[TABLES_KEY] = True
    assert len(app.run().dataframe) == 2


def test_the_model_is_kept_while_another_checkpoint_or_page_is_looked_at(
    open_upload: Upload, own_model: Make, as_params: Save, upload: Upload
):
    app = upload(open_upload(), as_params(own_model()))
    before = app.markdown[0].value
    app.selectbox(key="checkpoint").set_value("tiny").run()
    assert app.markdown[0].value != before
    assert not app.file_uploader
    app.selectbox(key="checkpoint").set_value(UPLOADED).run()
    app.text_input(key="question").set_value(QUESTION).run()
    assert app.markdown[0].value == before
    app.switch_page("pages/home/page.py").run()
    app.switch_page("pages/attention/page.py").run()
    app.selectbox(key="checkpoint").set_value(UPLOADED).run()
    app.text_input(key="question").set_value(QUESTION).run()
    assert app.markdown[0].value == before


def test_a_file_that_is_taken_away_is_forgotten(
    open_upload: Upload, own_model: Make, as_params: Save, upload: Upload
):
    app = upload(open_upload(), as_params(own_model()))
    app.file_uploader(key="upload-params").set_value(None).run()
    assert "A link cannot carry it" in app.info[0].value
    assert not app.get("vega_lite_chart")


def test_another_file_of_the_same_name_is_another_model(
    open_upload: Upload, own_model: Make, as_params: Save, upload: Upload
):
    app = upload(open_upload(), as_params(own_model()))
    before = app.markdown[1].value
    upload(app, as_params(own_model(seed=3)))
    assert app.markdown[1].value != before


def test_the_number_of_heads_is_guessed_aloud_and_can_be_told(
    open_upload: Upload, own_model: Make, as_params: Save, upload: Upload, shown: Shown
):
    app = upload(open_upload(), as_params(own_model(n_heads=4)))
    assert plain("read with 8 heads: the file cannot say") in shown(app)
    assert "of the text only the number of characters" in shown(app)
    assert len(app.selectbox(key="head").options) == 2 * 8
    eight = app.markdown[1].value
    app.number_input(key="upload-heads").set_value(4).run()
    assert "the file cannot say" not in shown(app)
    assert len(app.selectbox(key="head").options) == 2 * 4
    assert app.markdown[1].value != eight


def test_a_link_carries_what_was_told_about_the_file(
    open_upload: Upload, own_model: Make, as_params: Save, upload: Upload
):
    app = upload(open_upload(**{"upload-heads": "4"}), as_params(own_model(n_heads=4)))
    assert len(app.selectbox(key="head").options) == 2 * 4


@pytest.mark.parametrize(
    ("key", "said", "then"),
    [
        ("upload-residual", "read with residual paths", "read without residual paths"),
        ("upload-norm", "ln1 before both their sides", "ln1 before the latents' side alone"),
    ],
)
def test_only_a_perceiver_asks_how_its_projections_are_wired(
    open_upload: Upload,
    own_model: Make,
    as_params: Save,
    upload: Upload,
    shown: Shown,
    key: str,
    said: str,
    then: str,
):
    app = upload(open_upload(), as_params(own_model()))
    assert key not in [toggle.key for toggle in app.toggle]
    upload(app, as_params(own_model(n_latents=5, n_layers=4)))
    before = app.markdown[1].value
    assert plain(said) in shown(app)
    app.toggle(key=key).set_value(False).run()
    assert not app.error
    assert plain(then) in shown(app)
    assert app.markdown[1].value != before


def test_a_perceiver_answers_as_the_model_that_it_is_said_to_be(
    open_upload: Upload, own_model: Make, as_params: Save, upload: Upload, own_text: str
):
    mine = own_model(n_latents=5, n_layers=4, latent_norm="latents")
    app = upload(open_upload(**{"upload-norm": "false"}), as_params(mine))
    (given,) = answer(with_task(mine, CharVocabulary.from_text(own_text)), [QUESTION])
    assert app.markdown[0].value.startswith(f"#### {plain(QUESTION)} → **{plain(given.text)}**")
    app.toggle(key="upload-norm").set_value(True).run()
    assert plain(given.text) not in app.markdown[0].value


def test_a_rotary_model_without_its_cache_needs_the_block(
    open_upload: Upload, own_model: Make, as_params: Save, upload: Upload, shown: Shown
):
    app = upload(open_upload(), as_params(own_model(positions="rotary")))
    assert "how long its inputs may be: tell the block" in app.text[0].value
    app.number_input(key="upload-block").set_value(40).run()
    assert not app.error
    assert "rotary, " in shown(app)


@pytest.fixture
def course_files(tmp_path: Path, own_text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the course hands it out, named by the environment."""
    people = [("Ada Arden", "Lagos"), ("Bruno Bello", "Lima"), ("Chen Castro", "Kyoto")]
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / WIKI).write_text(own_text + "last line\n", encoding="utf-8")
    for name, (who, place) in zip((TRAIN, DEV, TEST), people, strict=True):
        known = "" if name == TEST else f"\t{place}"
        (folder / name).write_text(f"Where was {who} born?{known}\n", encoding="utf-8")
    monkeypatch.setenv("A5_DATA", str(folder))
    return folder


def test_with_the_courses_files_at_hand_its_text_and_questions_are_offered(
    open_upload: Upload,
    own_model: Make,
    as_params: Save,
    upload: Upload,
    shown: Shown,
    course_files: Path,
):
    app = upload(open_upload(), as_params(own_model()), text=None)
    assert not app.error
    assert "Read with the wiki.txt of A5\\_DATA." in shown(app)
    assert app.selectbox(key="source").value == "dev"
    assert "train" not in shown(app)  # what it was asked in training is not known
    assert app.markdown[0].value.endswith("wrong: Lima]")
    app.selectbox(key="source").set_value("test").run()
    assert app.markdown[0].value.startswith("#### Where was Chen Castro born?")
    assert app.markdown[0].value.endswith(":gray-badge[right answer unknown]")


def test_a_text_of_a_terabyte_at_hand_is_refused_before_it_is_read(
    open_upload: Upload, own_model: Make, as_params: Save, upload: Upload, course_files: Path
):
    os.truncate(course_files / WIKI, 10**12)
    app = upload(open_upload(), as_params(own_model()), text=None)
    assert "the text has 1,000,000,000,000 bytes, more than the 33,554,432 that are read" in (
        app.text[0].value
    )


def test_a_model_wrapped_by_training_code_is_read_and_the_wrapper_is_said(
    open_upload: Upload, own_model: Make, as_params: Save, upload: Upload, shown: Shown
):
    data = as_params(own_model())
    state = torch.load(io.BytesIO(data))
    buffer = io.BytesIO()
    torch.save({"model": {f"_orig_mod.{name}": t for name, t in state.items()}}, buffer)
    app = upload(open_upload(), buffer.getvalue())
    assert not app.error
    assert plain("'_orig_mod.' of torch.compile was taken off all names") in shown(app)
    wrapped = app.markdown[0].value
    assert upload(open_upload(), data).markdown[0].value == wrapped  # the same answer


def test_questions_that_cannot_be_read_are_typed_and_the_reason_is_said(
    open_upload: Upload,
    own_model: Make,
    as_params: Save,
    upload: Upload,
    shown: Shown,
    course_files: Path,
):
    (course_files / DEV).write_text("Where was Ada Arden born?\n")
    app = upload(open_upload(), as_params(own_model()))
    assert "The questions of A5\\_DATA cannot be read" in shown(app)
    assert app.markdown[0].value.startswith(f"#### {plain(QUESTION)}")
    assert "source" not in [box.key for box in app.selectbox]


def test_a_checkpoint_trained_on_the_courses_data_is_asked_about_its_own_people(
    store: Callable, open_page: Callable, course_files: Path, monkeypatch: pytest.MonkeyPatch
):
    write_card(store(), {"recipe": {"corpus": "course"}})
    app = open_page()
    assert app.selectbox(key="course-person-dev").options == ["Bruno Bello"]
    assert app.markdown[0].value.endswith("wrong: Lima]")
    app.selectbox(key="source").set_value("train").run()
    assert app.markdown[0].value.endswith("wrong: Lagos]")
    monkeypatch.delenv("A5_DATA")
    app = open_page()
    assert "A5_DATA" in app.text_input(key="question").help
    assert app.markdown[0].value.endswith(":gray-badge[right answer unknown]")
