"""Anyone's models on the pages: offered by name, opened once, asked, and what they lack is said."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.attention.heads import FOLLOW_GIVEN
from pages.attention.switches import GIVEN
from pages.heads.overview import CHOOSE_SET
from pages.shared.models import kept_models
from pages.shared.questions import COMPOSED
from tests.models.family import LONGEST
from tests.models.saved import save_tiny
from tests.pages.conftest import open_link

Open = Callable[..., AppTest]
Shown = Callable[[AppTest], str]
TEXT = "w7 w9 w11 w13"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the server's: a decoder, an encoder and both."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("llama", "bert", "t5"):
        save_tiny(name, folder / name)
    return folder


@pytest.fixture
def served(
    store: Callable[..., Path], models: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The server names the folder; one checkpoint of ours stands beside them."""
    store()
    monkeypatch.setenv("EXPLORER_MODELS", str(models))
    st.cache_data.clear()
    yield
    st.cache_data.clear()


@pytest.mark.usefixtures("served")
def test_a_decoder_is_opened_once_asked_and_proved(open_page: Open, shown: Shown):
    app = open_page(checkpoint="llama", question=TEXT, tokens="3")
    assert not app.error, shown(app)
    assert "Replayed through the weights shown: logits differ by at most" in shown(app)
    assert "future exactly 0" in shown(app)
    assert "the likeliest tokens the same" in shown(app)
    assert "the heads add up to their layer within" in shown(app)
    assert app.number_input(key="tokens").value == 3
    (first,) = kept_models().keys
    open_page(checkpoint="llama", question=f"{TEXT} w15")
    assert kept_models().keys == [first]


@pytest.mark.usefixtures("served")
def test_heads_of_anyones_model_can_be_switched_off(open_page: Open, shown: Shown):
    query = {"checkpoint": "llama", "question": TEXT, "tokens": "2", "off-L0": "H1"}
    app = open_page(**query)
    assert not app.error, shown(app)
    assert "Off: L0·H1" in shown(app)
    assert "With every head" in shown(app)


@pytest.mark.usefixtures("served")
def test_an_encoder_fills_its_gap_and_without_one_is_only_looked_at(open_page: Open, shown: Shown):
    filled = open_page(checkpoint="bert", question="w7 [MASK] w9")
    assert not filled.error, shown(filled)
    assert "Probability of this answer" in shown(filled)
    assert "what is masked exactly 0" in shown(filled)
    read = open_page(checkpoint="bert", question=TEXT)
    assert "read, nothing written" in shown(read)
    assert "Nothing is written behind this text, so no head can matter to it" in shown(read)
    assert "do not add up to the residual stream" in shown(read)


@pytest.mark.usefixtures("served")
def test_a_translator_has_three_parts(open_page: Open, shown: Shown):
    app = open_page(checkpoint="t5", question=TEXT, tokens="3")
    assert not app.error, shown(app)
    assert app.button_group(key="part").options == ["encoder", "decoder", "cross-attention"]


@pytest.mark.usefixtures("served")
def test_a_target_is_given_to_a_model_with_a_source(open_page: Open, shown: Shown, said: Shown):
    app = open_page(checkpoint="t5", question=TEXT, target="w8 w21", tokens="3")
    assert app.text_input(key="target").value == "w8 w21"
    assert app.markdown[0].value == (
        f"#### {TEXT} → **w8 w21**  :gray-badge[target given, not written]"
    )
    assert "Probability of this target, which was given and not written, **" in said(app)
    table = app.dataframe[0].value
    assert list(table["token"]) == ["w8", "w21"]
    assert all(text.endswith(" %") for text in table["probability"])
    assert [len(text.split(", ")) for text in table["next best"]] == [5, 5]
    assert "tokens look back at the target before them" in said(app)
    assert app.selectbox(key="row").options[0] == FOLLOW_GIVEN
    assert "for w8" in "".join(app.selectbox(key="row").options)
    assert "Piece of the target" in [slider.label for slider in app.select_slider]
    app.selectbox(key="row").set_value("4").run()
    app.selectbox(key="row").set_value("of the written piece").run()
    assert "before the given “w8”" in said(app)
    app.text_input(key="target").set_value("").run()
    assert not app.exception
    assert "Probability of this answer **" in said(app)
    assert "given" not in app.markdown[0].value


@pytest.mark.usefixtures("served")
def test_a_given_target_stays_with_heads_off_and_its_probability_changes(
    open_page: Open, shown: Shown, said: Shown
):
    query = {"checkpoint": "t5", "question": TEXT, "target": "w8 w21"}
    app = open_page(**query, **{"off-L0": "H1", "predict": "true"})
    assert not app.error, shown(app)
    assert "Off: L0·H1** (in place: zero). With every head this target has **" in said(app)
    assert "| target | w8 | w21 |" in said(app)
    assert GIVEN in [caption.value for caption in app.caption]
    assert "predict" not in [toggle.key for toggle in app.toggle]
    assert "off-least" not in [button.key for button in app.button]


@pytest.mark.usefixtures("served")
def test_only_models_with_a_source_have_a_target_and_a_long_one_is_refused(
    open_page: Open, shown: Shown
):
    for name in ("llama", "bert", "tiny"):
        app = open_page(checkpoint=name, question=TEXT, target="w8")
        assert "target" not in [box.key for box in app.text_input]
    long = open_page(checkpoint="t5", question=TEXT, target=" ".join(["w8"] * LONGEST))
    assert f"the target has {LONGEST} tokens; at most {LONGEST - 1} fit" in shown(long)
    apart = open_page(checkpoint="t5", question=TEXT, target="w8 u\u0308")
    assert COMPOSED in [caption.value for caption in apart.sidebar.caption]
    blank = open_page(checkpoint="t5", question=TEXT, target=" ")
    assert "Probability of this answer" in shown(blank)


@pytest.mark.usefixtures("served")
def test_a_chat_without_a_template_is_refused(open_page: Open, shown: Shown):
    app = open_page(checkpoint="llama", question=TEXT, chat="true")
    assert "this tokenizer has no chat template: give it plain text" in shown(app)


@pytest.mark.usefixtures("served")
def test_heads_asks_for_a_set_and_compare_lays_two_texts_side_by_side(shown: Shown):
    heads = open_link("heads", **{"heads-checkpoint": "llama"})
    assert CHOOSE_SET in [info.value for info in heads.info]
    query = {"compare-question": TEXT, "compare-other-question": "w7 w9 w11 w17"}
    app = open_link("compare", **{"compare-checkpoint": "llama", **query})
    assert not app.error, shown(app)
    assert "position by position" in shown(app)


@pytest.mark.usefixtures("served")
def test_compare_lays_two_of_anyones_models_side_by_side(shown: Shown):
    sides = {"compare-first-checkpoint": "llama", "compare-second-checkpoint": "llama"}
    query = {"compare-what": "two checkpoints", "compare-question": TEXT}
    app = open_link("compare", **sides, **query)
    assert not app.error, shown(app)
    assert "**none puts any weight elsewhere" in shown(app).replace("All heads: ", "")


@pytest.mark.usefixtures("served")
def test_two_texts_that_an_encoder_reads_have_no_answer(shown: Shown):
    texts = {"compare-question": TEXT, "compare-other-question": "w7 w9 w11 w17"}
    app = open_link("compare", **{"compare-checkpoint": "bert", **texts})
    assert [box.label for box in app.text_input] == ["Text A", "Text B"]
    assert "w7 w9 w11 w17: read, nothing written" in shown(app)
    assert "100 %" not in shown(app).split("All heads")[0]


@pytest.mark.usefixtures("served")
def test_one_text_of_a_translator_shows_its_heads_and_says_once_what_lacks(shown: Shown):
    query = {"heads-part": "one question", "heads-question": TEXT}
    app = open_link("heads", **{"heads-checkpoint": "t5", **query})
    assert not app.error, shown(app)
    assert shown(app).count("have two residual streams") == 1
    assert "weight on the name" not in app.selectbox(key="heads-measure-one").options
    labels = [box.label for box in app.selectbox]
    assert "Averages over questions" not in labels


@pytest.mark.usefixtures("served")
def test_tokens_said_twice_are_refused_to_an_encoder_before_a_command_is_offered(shown: Shown):
    query = {"heads-checkpoint": "bert", "heads-part": "tokens said twice"}
    app = open_link("heads", **query)
    assert app.info[0].value.startswith("An encoder looks both ways")
    assert not app.code


@pytest.mark.usefixtures("served")
def test_a_model_that_is_too_large_is_refused_with_the_numbers(
    open_page: Open, shown: Shown, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EXPLORER_MODEL_MEMORY", "1000")
    app = open_page(checkpoint="llama", question=TEXT)
    assert "models may take 0.0 GB together" in shown(app)


@pytest.mark.usefixtures("served")
def test_a_name_that_is_not_on_the_shelf_opens_nothing(open_page: Open, models: Path):
    app = open_page(checkpoint=str(models / "llama"))
    assert app.selectbox(key="checkpoint").value == "tiny"
    assert kept_models().keys == []
