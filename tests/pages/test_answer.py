"""The top of the page: the verdict, the proof, and typed text as typed."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import list_checkpoints
from core.checkpoints.store import load_checkpoint, write_card
from core.data.people import COLUMNS, split_of
from core.data.task import NOTABLE_UNREAD, TASKS
from core.generation.greedy import answer
from core.paths import CHECKPOINTS
from pages.attention.downloads import TABLES_KEY
from pages.shared.questions import NEVER_READ, SOURCES
from pages.shared.text import plain
from tests.pages.conftest import open_link

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
    monkeypatch.setattr("core.data.task.PEOPLE", people_file)
    app = open_page(source="type freely", question=question)
    assert app.markdown[0].value.endswith(":green-badge[:material/check: right]")


def test_a_person_outside_the_table_is_neither_right_nor_wrong(
    store: Callable, open_page: Callable
):
    store()
    app = open_page(source="type freely", question="Where was Nobody Atall born?")
    assert app.markdown[0].value.endswith(":gray-badge[nobody in the table]")


@pytest.fixture
def leaves_out(
    store: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Put a model on the shelf, under a name, whose corpus says nothing of Ada Bello."""

    def put(name: str) -> None:
        names = tmp_path / "unread.txt"
        names.write_text("Ada Bello\n", encoding="utf-8")
        monkeypatch.setitem(TASKS, "notable-unread", replace(NOTABLE_UNREAD, left_out=names))
        write_card(store(name, block_size=60), {"name": name, "task": "notable-unread"})

    return put


def test_of_people_whom_a_corpus_leaves_out_the_truth_is_told_and_that_they_were_never_read(
    leaves_out: Callable, open_page: Callable
):
    leaves_out("tiny")
    app: AppTest = open_page()
    assert app.selectbox(key="source").options == list(SOURCES.values())
    read = app.selectbox(key=f"person-{app.selectbox(key='source').value}").options
    assert "Ada Bello" not in read
    assert NEVER_READ not in [caption.value for caption in app.caption]
    assert "never read" not in app.markdown[0].value
    app.selectbox(key="source").set_value("unread").run()
    assert app.selectbox(key="person-unread").options == ["Ada Bello"]
    assert NEVER_READ in [caption.value for caption in app.caption]
    assert app.markdown[0].value.endswith("wrong: Lima]  :orange-badge[never read]")
    typed = {"source": "type freely", "question": "Where was Ada Bello born?"}
    assert open_page(**typed).markdown[0].value == app.markdown[0].value


def test_a_corpus_that_tells_of_everybody_offers_nobody_who_was_never_read(
    store: Callable, open_page: Callable
):
    store()
    app: AppTest = open_page(source="never read")
    assert "never read" not in app.selectbox(key="source").options
    typed = {"source": "type freely", "question": "Where was Ada Bello born?"}
    assert "never read" not in open_page(**typed).markdown[0].value


def test_beside_another_model_only_the_one_that_did_not_read_is_marked(
    leaves_out: Callable, store: Callable
):
    store("one")
    leaves_out("two")
    query = {"compare-source": "type freely", "compare-question": "Where was Ada Bello born?"}
    sides = {"compare-first-checkpoint": "one", "compare-second-checkpoint": "two"}
    app = open_link("compare", **{"compare-what": "two checkpoints"}, **sides, **query)
    (said,) = [text.value for text in app.markdown if "**A** · one" in text.value]
    first, second = said.splitlines()[1:]
    assert first.endswith("wrong: Lima]  ")
    assert second.endswith("wrong: Lima]  :orange-badge[never read]")


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
