"""A link restores the view; what a link may not say is ignored."""

from collections.abc import Callable

import pytest

from core.data.people import BIRTHPLACE, Person, split_of

QUESTION = "Where was Ada Arden born?"


def test_a_link_restores_checkpoint_question_head_row_view_and_fold(
    store: Callable, open_page: Callable
):
    store("one")
    store("two", seed=5)
    app = open_page(
        checkpoint="two",
        source="type freely",
        question=QUESTION,
        head="L0·H1",
        row="2 Ada",
        view="arcs",
        fold="true",
        score="distance",
    )
    assert app.selectbox(key="checkpoint").value == "two"
    assert app.markdown[0].value.startswith("#### Where was Ada Arden born?")
    grid, picture, row = (chart.proto for chart in app.get("vega_lite_chart"))
    assert "L0·H1 is chosen" in grid.alt
    assert "mean distance" in grid.alt
    assert '"detail": {"field": "arc"' in picture.spec
    assert "at “Ada”" in picture.alt
    assert row.alt == "Weights and contributions of query row 2"
    assert app.toggle(key="fold").value is True


def test_a_link_restores_the_person_and_the_written_piece(
    store: Callable, open_page: Callable, people: list[Person]
):
    store()
    name = next(person.name for person in reversed(people) if split_of(person.name) == "dev")
    asked = {"source": "never asked (dev)", "person-dev": name, "fold": "false"}
    plain = open_page(**asked)
    assert plain.markdown[0].value.startswith(f"#### {BIRTHPLACE.question(name)}")
    label = plain.select_slider(key="step").options[3]
    app = open_page(**asked, step=label)
    assert app.select_slider(key="step").value == "3"


def test_a_link_restores_the_moment_of_training(store: Callable, open_page: Callable):
    store(n_snapshots=2)
    assert open_page(moment="20").select_slider(key="moment").value == "20"


@pytest.mark.parametrize(
    "query",
    [
        {"checkpoint": "../../etc", "head": "L9·H9", "row": "900", "view": "pie", "fold": "maybe"},
        {"source": "nobody", "score": "beauty", "step": "99", "moment": "-1", "extra": "x"},
    ],
)
def test_a_link_with_nonsense_opens_the_defaults(
    store: Callable, open_page: Callable, query: dict[str, str]
):
    store()
    usual, app = open_page(), open_page(**query)
    assert not app.error
    assert [box.value for box in app.selectbox] == [box.value for box in usual.selectbox]
    assert app.markdown[0].value == usual.markdown[0].value
