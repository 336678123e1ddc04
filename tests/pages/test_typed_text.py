"""Typed text: composed before it is asked, whole in words, and nothing in it is invisible."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import list_checkpoints
from core.data.people import split_of
from core.paths import CHECKPOINTS
from pages.attention.downloads import TABLES_KEY
from pages.heads.controls import ONE, PATCH
from pages.shared.questions import COMPOSED, SOURCES

APART, TOGETHER = "Where was Abdullah Gu\u0308l born?", "Where was Abdullah G\u00fcl born?"
AGNES = "Where was \u00c1gnes Keleti born?"
SHIPPED = "notable-pretrained"
Open = Callable[..., AppTest]
needs_shipped = pytest.mark.skipif(
    SHIPPED not in list_checkpoints(CHECKPOINTS), reason=f"{SHIPPED} is not there"
)


def captions(app: AppTest) -> list[str]:
    return [caption.value for caption in app.sidebar.caption]


@needs_shipped
def test_decomposed_letters_get_the_answer_of_composed_ones_and_the_page_says_so(open_page: Open):
    app = open_page(checkpoint=SHIPPED, source="type freely", question=APART)
    assert app.text_input(key="question").value == APART
    assert app.markdown[0].value == (
        f"#### {TOGETHER} → **Kayseri**  :green-badge[:material/check: right]"
    )
    assert COMPOSED in captions(app)
    app.text_input(key="question").set_value(TOGETHER).run()
    assert "→ **Kayseri**" in app.markdown[0].value
    assert COMPOSED not in captions(app)


@needs_shipped
def test_a_person_in_the_address_is_found_in_decomposed_letters(open_page: Open):
    split = split_of("Abdullah G\u00fcl")
    query = {"source": SOURCES[split], f"person-{split}": "Abdullah Gu\u0308l"}
    app = open_page(checkpoint=SHIPPED, **query)
    assert app.selectbox(key=f"person-{split}").value == "Abdullah G\u00fcl"


@needs_shipped
def test_a_word_that_is_cut_inside_a_letter_is_shown_whole(open_page: Open):
    app = open_page(checkpoint=SHIPPED, source="type freely", question=AGNES, fold="false")
    rows = app.selectbox(key="row").options
    assert any(label.startswith("2 ·‹\u00c1 1/2›") for label in rows)
    app.toggle(key="fold").set_value(True).run()
    assert "2 \u00c1gnes" in app.selectbox(key="row").options
    app.session_state[TABLES_KEY] = True
    assert "2 \u00c1gnes" in list(app.run().dataframe[0].value.columns)


def test_every_page_that_asks_says_when_it_composed_a_question(store: Callable, open_by_link: Open):
    store(block_size=60)
    typed = {"question": "Where was A\u0301 born?", "source": "type freely"}
    for page, prefixes, query in (
        ("attention", ("",), {}),
        ("compare", ("compare-", "compare-other-"), {}),
        ("heads", ("heads-",), {"heads-part": ONE}),
        ("heads", ("heads-", "heads-other-"), {"heads-part": PATCH, "heads-fits": "false"}),
    ):
        asked = {f"{prefix}{key}": text for prefix in prefixes for key, text in typed.items()}
        app = open_by_link(page, **asked, **query)
        assert captions(app).count(COMPOSED) == len(prefixes), page


@needs_shipped
def test_a_control_of_direction_is_shown_in_the_heading_and_on_the_axes(open_page: Open):
    question = "Where was \u202eada\u202c born?"
    app = open_page(checkpoint=SHIPPED, source="type freely", question=question)
    assert app.markdown[0].value.startswith("#### Where was ‹U\\+202E›ada‹U\\+202C› born? → ")
    assert "2 ‹U+202E›ada‹U+202C›" in app.selectbox(key="row").options
    told = [element.value for kind in (app.markdown, app.caption) for element in kind]
    alts = [chart.proto.alt for chart in app.get("vega_lite_chart")]
    assert not [text for text in [*told, *alts] if {"\u202e", "\u202c"} & set(text)]


@pytest.mark.parametrize("part", [ONE, PATCH])
def test_a_refused_question_hides_nothing(store: Callable, open_heads: Open, part: str):
    store(block_size=60)
    typed = {"source": "type freely", "question": "Where was a\ufe0f born?"}
    asked = {f"heads-{key}": text for key, text in typed.items()}
    app = open_heads(**{"heads-part": part, "heads-fits": "false", **asked})
    told = "".join(element.value for kind in (app.text, app.info) for element in kind)
    assert "\ufe0f" not in told
    assert "FE0F, VARIATION SELECTOR" in told
