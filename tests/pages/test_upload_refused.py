"""Uploads that are no model: one clear sentence, nothing run, and the page goes on."""

import io
import pickle
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from core.models.gpt import GPT
from pages.attention import upload as upload_page
from pages.attention.upload import MOST_BYTES, UPLOADED
from pages.shared.text import plain

Shown = Callable[[AppTest], str]
Make = Callable[..., GPT]
Upload = Callable[..., AppTest]
Save = Callable[[GPT], bytes]
NAME = "../../evil $x$ <b>*y*</b>.params"


class Command:
    """Pickles as a call that would leave a file behind."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.target,)


def saved(content: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def zip_bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(10**7))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"hello", r"not a whole file that torch.save wrote \(no zip archive\)"),
        (zip_bomb(), "its parts claim 10,000,000 bytes; the file has"),
        (saved({"state_dict": {"a": torch.ones(2)}}), "tok_emb.weight is missing: it is no model"),
        (saved(torch.nn.Linear(2, 2)), "holds more than tensors: it asks for torch.nn"),
    ],
)
def test_what_is_no_checkpoint_is_refused_in_one_sentence(
    open_upload: Upload, upload: Upload, data: bytes, reason: str
):
    app = upload(open_upload(), data)
    with pytest.raises(ValueError, match=f"^This checkpoint cannot be used: ({reason})") as caught:
        raise ValueError(app.text[0].value)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)
    assert not app.get("vega_lite_chart")


def test_code_in_a_file_is_refused_and_not_run(open_upload: Upload, upload: Upload, tmp_path: Path):
    left = tmp_path / "left behind"
    bare = pickle.dumps({"tok_emb.weight": Command(left)})
    for data in (bare, saved(Command(left)), saved({"tok_emb.weight": Command(left)})):
        app = upload(open_upload(), data)
        assert "This checkpoint cannot be used: " in app.text[0].value
        assert not left.exists()
    pickle.loads(bare)
    assert left.exists()  # the code does what it says, if one lets it


def test_a_truncated_file_is_named_and_the_whole_one_is_taken_after_it(
    open_upload: Upload, upload: Upload, own_model: Make, as_params: Save
):
    whole = as_params(own_model())
    app = upload(open_upload(), whole[: len(whole) // 2])
    assert "not a whole file that torch.save wrote" in app.text[0].value
    assert len(app.error) == 1
    upload(app, whole)
    assert not app.error
    assert len(app.get("vega_lite_chart")) == 3


@pytest.mark.parametrize("what", ["the state dict", "the text"])
def test_a_file_beyond_the_limit_is_refused_and_not_kept(
    open_upload: Upload,
    upload: Upload,
    own_model: Make,
    as_params: Save,
    what: str,
    monkeypatch: pytest.MonkeyPatch,
):
    good = as_params(own_model())
    most = len(good)
    monkeypatch.setattr(upload_page, "MOST_BYTES", most)
    assert not upload(open_upload(), good).error  # just at the limit
    large = bytes(most + 1)
    files = {"data": large} if what == "the state dict" else {"data": good, "text": large}
    app = upload(open_upload(), **files)
    assert f"{what} has {most + 1:,} bytes, more than the {most:,} that are read" in (
        app.text[0].value
    )
    kept = [app.session_state[f"kept-upload-{name}"] for name in ("params", "wiki")]
    assert all(len(file.data) <= most for file in kept)
    assert MOST_BYTES == 32 * 2**20


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"abc\n", r"the model knows \d+ characters, but the text makes 6: it is not the wiki.txt"),
        (b"", r"the model knows \d+ characters, but the text makes 2"),
        (b"good\nb\xffd\n", "the text, line 2: bytes that are not UTF-8"),
    ],
)
def test_a_text_that_does_not_fit_is_refused(
    open_upload: Upload,
    upload: Upload,
    own_model: Make,
    as_params: Save,
    text: bytes,
    reason: str,
):
    app = upload(open_upload(), as_params(own_model()), text=text)
    with pytest.raises(ValueError, match=f"^This checkpoint cannot be used: {reason}"):
        raise ValueError(app.text[0].value)


def test_without_a_text_the_page_waits_for_it(
    open_upload: Upload, upload: Upload, own_model: Make, as_params: Save
):
    app = upload(open_upload(), as_params(own_model()), text=None)
    assert "with the `wiki.txt` that it was trained on" in app.info[0].value
    assert not app.error


@pytest.mark.parametrize(
    ("control", "value", "reason"),
    [
        ("upload-variant", "rotary", "by its names it is a vanilla model, not a rotary one"),
        ("upload-heads", 5, "width 32 cannot be cut into 5 equal heads"),
        ("upload-block", 128, "the file says block 40, not 128"),
    ],
)
def test_what_is_told_wrongly_is_contradicted_and_can_be_taken_back(
    open_upload: Upload,
    upload: Upload,
    own_model: Make,
    as_params: Save,
    control: str,
    value: Any,
    reason: str,
):
    app = upload(open_upload(), as_params(own_model()))
    boxes = app.selectbox if control == "upload-variant" else app.number_input
    usual = boxes(key=control).value
    boxes(key=control).set_value(value).run()
    assert reason in app.text[0].value
    boxes = app.selectbox if control == "upload-variant" else app.number_input
    boxes(key=control).set_value(usual).run()
    assert not app.error
    assert len(app.get("vega_lite_chart")) == 3


@pytest.mark.parametrize(
    "sizes",
    [{"n_heads": 64, "width": 64, "n_layers": 5}, {"block_size": 1100, "n_heads": 8}],
)
def test_a_model_with_more_to_draw_than_a_page_holds_is_refused(
    open_upload: Upload, upload: Upload, own_model: Make, as_params: Save, sizes: dict[str, int]
):
    app = open_upload(**{"upload-heads": str(sizes["n_heads"])})
    upload(app, as_params(own_model(**sizes)))
    assert "this page draws up to 256 heads and 16,777,216 weights" in app.text[0].value
    assert not app.get("vega_lite_chart")


def test_the_name_of_the_file_is_shown_as_text_and_opens_nothing(
    open_upload: Upload, upload: Upload, own_model: Make, as_params: Save, shown: Shown
):
    paths: list[str] = []
    listening = [True]

    def listen(event: str, arguments: tuple[Any, ...]) -> None:
        if listening and event in ("open", "os.mkdir", "os.rename", "os.remove", "os.listdir"):
            paths.append(str(arguments[0]))

    app = open_upload()
    sys.addaudithook(listen)  # for good: it is told to stop
    upload(app, as_params(own_model()), name=NAME)
    app.selectbox(key="checkpoint").set_value("tiny").run()
    app.selectbox(key="checkpoint").set_value(UPLOADED).run()
    listening.clear()
    assert f"In memory: {plain(NAME)}, " in shown(app)
    assert NAME not in shown(app)
    assert all(not element.allow_html for element in (*app.markdown, *app.caption))
    assert any(path.endswith("card.json") for path in paths)
    assert not [path for path in paths if "evil" in path]
