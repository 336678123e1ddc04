"""What cannot be asked or loaded is named, and the rest of the page still works."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import CARD, CONFIG, VOCABULARY, WEIGHTS
from core.checkpoints.store import write_card


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (" ", "the question is empty: type a text"),
        ("x" * 39, "the question has 39 tokens; .* at most 38 fit into this model's block of 40"),
        ("Where was Björk born?", r"position 12: 'ö' \(U\+00F6, LATIN SMALL LETTER O WITH DIAER"),
        ("Where was \u200bAda born?", r"position 10: '‹U\+200B›' \(U\+200B, ZERO WIDTH SPACE\)"),
        ("Where ⁇", r"position 6: '⁇' \(U\+2047, DOUBLE QUESTION MARK\) is a control character"),
        ("□", r"position 0: '□' \(U\+25A1, WHITE SQUARE\) is a control character"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_with_the_reason(
    store: Callable, open_page: Callable, question: str, reason: str
):
    store()
    app = open_page(source="type freely", question=question)
    (text,) = app.text
    with pytest.raises(ValueError, match=f"This question cannot be asked: {reason}"):
        raise ValueError(text.value)
    assert not app.get("vega_lite_chart")


def test_the_page_recovers_from_a_refused_question(store: Callable, open_page: Callable):
    store()
    app = open_page(source="type freely", question="⁇")
    assert len(app.error) == 1
    app.text_input(key="question").set_value("Who?").run()
    assert not app.error
    assert len(app.get("vega_lite_chart")) == 3


def truncate(folder: Path) -> None:
    path = folder / WEIGHTS
    path.write_bytes(path.read_bytes()[:500])
    write_card(folder, {})


def change_the_weights(folder: Path) -> None:
    content = bytearray((folder / WEIGHTS).read_bytes())
    content[-1] ^= 1
    (folder / WEIGHTS).write_bytes(content)


def change_the_shape(folder: Path) -> None:
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**config, "width": 32}))
    write_card(folder, {})


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def empty_the_card(folder: Path) -> None:
    (folder / CARD).write_text("{}")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (truncate, "model.safetensors: not a whole safetensors file"),
        (change_the_weights, "model.safetensors is not the file that the card describes"),
        (change_the_shape, "the config needs"),
        (remove(VOCABULARY), "vocabulary.json: cannot be read"),
        (empty_the_card, "the card does not list config.json"),
    ],
)
def test_a_damaged_checkpoint_is_named_and_another_one_still_loads(
    store: Callable,
    open_page: Callable,
    shown: Callable[[AppTest], str],
    damage: Callable[[Path], None],
    reason: str,
):
    damage(store("broken"))
    store("whole")
    app = open_page(checkpoint="broken")
    assert "This checkpoint cannot be used: " in app.text[0].value
    assert reason in app.text[0].value
    assert "broken" in app.text[0].value
    assert not app.get("vega_lite_chart")
    app.selectbox(key="checkpoint").set_value("whole").run()
    assert not app.error
    assert len(app.get("vega_lite_chart")) == 3


def test_damage_to_one_snapshot_leaves_the_others_usable(store: Callable, open_page: Callable):
    folder = store(n_snapshots=2)
    (folder / "snapshots" / "000010.safetensors").write_bytes(b"")
    app = open_page(moment="10")
    assert "snapshots/000010.safetensors is not the file that the card describes" in (
        app.text[0].value
    )
    app.select_slider(key="moment").set_value("20").run()
    assert not app.error
    assert len(app.get("vega_lite_chart")) == 3


def test_without_any_checkpoint_the_page_says_where_one_belongs(shelf: Path, open_page: Callable):
    app = open_page()
    assert app.error[0].value == "There is no checkpoint in the folder checkpoints/."
    assert not app.get("vega_lite_chart")


def test_a_checkpoint_that_changed_on_disk_is_loaded_anew(store: Callable, open_page: Callable):
    store()
    app = open_page()
    before = app.markdown[0].value
    store(seed=5)
    app.run()
    assert app.markdown[0].value != before


def test_a_checkpoint_without_weights_is_not_offered_and_a_link_to_it_is_told_why(
    store: Callable, open_page: Callable
):
    card = json.loads((store("unshipped") / CARD).read_text())
    unshipped = store("lost").parent / "unshipped"
    (unshipped / CARD).write_text(json.dumps({**card, "command": "python -m core train"}))
    remove(WEIGHTS)(unshipped)
    remove(WEIGHTS)(unshipped.parent / "lost")
    store("whole")
    app = open_page(checkpoint="unshipped")
    assert app.selectbox(key="checkpoint").options[:2] == ["whole", "uploaded model"]
    assert len(app.get("vega_lite_chart")) == 3
    told = app.warning[0].value.replace("\\", "")
    assert "The weights of unshipped are not shipped; its card holds the command" in told
    assert "“whole” was chosen instead" in told
    told = open_page(checkpoint="lost").warning[0].value
    assert "not shipped" not in told
    assert "“whole” was chosen instead" in told
