"""The top of the page: the verdict, the proof, and typed text as typed."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import list_checkpoints
from core.checkpoints.store import load_checkpoint
from core.data.people import COLUMNS, split_of
from core.generation.greedy import answer
from core.paths import CHECKPOINTS
from pages.attention.downloads import TABLES_KEY
from pages.shared.text import plain

HOSTILE = "<b>x</b> $y$ **z** `c` [l](u) :red[r] # _i_"
SHIPPED = list_checkpoints(CHECKPOINTS)


def test_the_wrong_birthplace_is_called_wrong_and_the_right_one_named(
    store: Callable, open_page: Callable
):
    store()
    app = open_page()
    assert ":red-badge[:material/close: wrong: " in app.markdown[0].value
    assert app.markdown[0].value.endswith(("Lagos]", "Kyoto]", "Lima]"))


def test_the_right_birthplace_is_called_right(
    store: Callable, open_page: Callable, people_file: Path, monkeypatch: pytest.MonkeyPatch
):
    stored = load_checkpoint(store())
    question = "Where was Ada Arden born?"
    (given,) = answer(stored, [question])
    rows = list(csv.reader(people_file.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
    column = COLUMNS.index("birthplace")
    for row in rows:
        if row[0] == "Ada Arden":
            row[column] = given.text.strip()
    people_file.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    monkeypatch.setattr("pages.shared.loading.PEOPLE", people_file)
    app = open_page(source="type freely", question=question)
    assert app.markdown[0].value.endswith(":green-badge[:material/check: right]")


def test_a_person_outside_the_table_is_neither_right_nor_wrong(
    store: Callable, open_page: Callable
):
    store()
    app = open_page(source="type freely", question="Where was Nobody Atall born?")
    assert app.markdown[0].value.endswith(":gray-badge[nobody in the table]")


def test_the_integrity_line_states_difference_row_sums_mask_and_precision(
    store: Callable, open_page: Callable
):
    store()
    line = open_page().markdown[1].value
    for part in (
        "Probability of this answer **",
        "logits differ by at most ",
        "e-0",
        "rows sum to 1 within ",
        "future exactly 0, float32.",
    ):
        assert part in line
    assert line.count("%") == 1 + 3  # the answer and three runners-up


def test_an_answer_of_one_piece_needs_no_slider(store: Callable, open_page: Callable):
    store(block_size=27)  # 25 characters, the end mark, and room for one more token
    app = open_page(source="type freely", question="Where was Ada Arden born?")
    assert len(app.get("vega_lite_chart")) == 3
    assert "step" not in [slider.key for slider in app.select_slider]


def test_typed_markup_is_escaped_wherever_it_is_shown_as_markdown(
    store: Callable, open_page: Callable
):
    store(block_size=60)
    app = open_page(source="type freely", question=HOSTILE)
    assert app.text_input(key="question").value == HOSTILE
    assert app.markdown[0].value.startswith(f"#### {plain(HOSTILE)} → ")
    for text in ("<b>", "$y$", "**z**", "](u)", ":red[r]"):
        assert all(text not in element.value for element in app.markdown)
    assert all(not element.allow_html for element in app.markdown)


def test_repeated_characters_keep_every_row_and_column(store: Callable, open_page: Callable):
    store()
    app = open_page(source="type freely", question="Anna Hannah", fold="false")
    app.session_state[TABLES_KEY] = True
    table = app.run().dataframe[0].value
    assert table.shape == (40, 40)
    assert table.index.is_unique
    assert list(table.index[:11]) == [f"{i} {c}" for i, c in enumerate("Anna·Hannah")]
    assert list(table.columns) == list(table.index)
    assert table.isna().to_numpy().sum() == 40 * 39 // 2  # the future is masked, not zero


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_checkpoint_answers_and_proves_its_weights(
    name: str, open_page: Callable, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("A5_DATA", raising=False)  # else those of the course ask their own people
    app = open_page(checkpoint=name)
    assert not app.error
    assert "Ada Lovelace" in app.markdown[0].value
    assert "future exactly 0, float32" in app.markdown[1].value
    assert len(app.get("vega_lite_chart")) == 3
    for slider in app.select_slider:
        if slider.key == "moment":
            slider.set_value(slider.options[0]).run()
            assert not app.error
            assert not app.exception


@pytest.mark.skipif("notable-pretrained" not in SHIPPED, reason="notable-pretrained is not there")
def test_the_shipped_model_knows_where_marie_curie_was_born(open_page: Callable):
    assert split_of("Marie Curie") != "train"
    app: AppTest = open_page(
        checkpoint="notable-pretrained",
        source="type freely",
        question="Where was Marie Curie born?",
    )
    assert "→ **Warsaw**  :green-badge" in app.markdown[0].value
