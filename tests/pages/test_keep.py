"""Keep this page: what the file of a run holds, and what it leaves out."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import content_hash, list_checkpoints
from core.lessons.lesson import Claim, Lesson, Prediction, Step
from core.offline.fitting import MOST_BYTES
from core.paths import CHECKPOINTS
from pages.shared import keep, lesson_file
from pages.shared.keep import BUTTON, STATE, Keeping

Open = Callable[..., AppTest]
SHIPPED = "notable-pretrained"
PAGES = (
    "home lessons attention heads knowledge compare listen look monte_carlo attention_by_hand "
    "memory runtime training report_card"
).split()
needs_shipped = pytest.mark.skipif(
    SHIPPED not in list_checkpoints(CHECKPOINTS), reason=f"{SHIPPED} is not there"
)


def state(app: AppTest) -> Keeping:
    return app.session_state[STATE]


def kept(app: AppTest) -> str:
    """Press the button and read the file."""
    app.button(key=BUTTON).click().run()
    assert not app.exception, app.exception[0].value
    file = state(app).kept
    assert file is not None
    assert not file.problem
    assert len(file.data) <= MOST_BYTES
    return file.data.decode()


class Seen(HTMLParser):
    """Pictures with their words, addresses that a browser would follow, and scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.followed: list[str] = []
        self.n_scripts = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.n_scripts += tag == "script"
        if tag in ("img", "svg"):
            self.words.append(given.get("alt") or given.get("aria-label") or "")
        self.followed += [
            value or ""
            for name, value in attrs
            if name in ("src", "href", "xlink:href", "action")
            and not (value or "").startswith("data:")
        ]
        assert not [name for name, _ in attrs if name.startswith("on") or name == "style"]


@needs_shipped
@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_kept_with_words_for_its_pictures_and_nothing_to_fetch(
    page: str, open_by_link: Open
):
    html = kept(open_by_link(page))

    seen = Seen(html)
    assert all(seen.words)
    assert seen.n_scripts == 1
    assert [one for one in seen.followed if not one.startswith("#")] == []
    if page not in ("lessons", "training"):
        assert seen.words
        assert "data-t=" in html
    if page == "listen":
        assert "<pre><code>said  where was " in html


@needs_shipped
def test_a_file_names_its_address_the_weights_by_their_content_and_what_was_chosen(
    open_page: Open,
):
    html = unescape(kept(open_page(checkpoint=SHIPPED, head="L1·H5")))

    assert f"<dt>Weights of {SHIPPED}</dt> <dd>sha256 {content_hash(CHECKPOINTS / SHIPPED)}" in html
    assert re.search(r"<dt>Address</dt> <dd>[^<]*attention\?[^<]*head=L1%C2%B7H5", html)
    assert "<dt>Head</dt> <dd>L1·H5</dd>" in html
    assert "streamlit 1." in html


def test_typed_text_stays_text_in_the_file(store: Callable[..., Path], open_page: Open):
    store()
    typed = "<b>$x_1$</b> [a](http://b) :red[c] *d*"

    html = kept(open_page(checkpoint="tiny", question=typed))

    assert "<b>$" not in html
    assert "&lt;b&gt;$x_1$&lt;/b&gt; [a](http://b) :red[c] *d*" in html.replace("\u2060", "")
    assert Seen(html).followed == []


def test_what_the_link_hides_is_not_in_the_file(store: Callable[..., Path], open_page: Open):
    store()

    whole, less = (kept(open_page(checkpoint="tiny", **more)) for more in ({}, {"hide": "head"}))

    assert "<dt>Head</dt>" in whole
    assert "<dt>Head</dt>" not in less


def test_a_page_that_stops_at_a_message_is_not_kept_and_not_later_either(
    store: Callable[..., Path], shelf: Path, open_page: Open
):
    app = open_page(checkpoint=store().name)
    shutil.rmtree(shelf / "tiny")

    app.button(key=BUTTON).click().run()

    assert "There is no checkpoint in the folder" in app.error[0].value
    assert state(app).asked is None
    assert state(app).kept is None


def test_the_next_run_is_another_page_so_the_file_is_gone(open_by_link: Open):
    app = open_by_link("attention_by_hand")
    kept(app)

    app.run()

    assert state(app).asked is None
    assert state(app).kept is None
    assert app.button(key=BUTTON)


def test_what_has_no_room_is_said_in_place_of_the_file(
    open_by_link: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("core.offline.fitting.file_of.__kwdefaults__", {"most": 1000})
    app = open_by_link("attention_by_hand")

    app.button(key=BUTTON).click().run()

    assert "This page cannot be kept" in app.sidebar.error[0].value


def test_a_lesson_that_is_not_there_is_said():
    assert "no lesson is called 'nothing'" in keep.file_of_lesson("nothing").problem


@pytest.fixture
def lesson() -> Lesson:
    """Two steps on pages that need no model."""
    asked = Prediction(ask="Which <b>?", choices=("the *first*", "none"), right="none")
    half = Claim(name="half", text="lies on a key", stated=50.0, tolerance=0.5, unit="%", call="x")
    return Lesson(
        name="two",
        title="Two steps",
        minutes=5,
        order=1,
        learns="Much.",
        steps=(
            Step(
                title="By hand",
                text="Say {half}.",
                after="So {half}.",
                page="attention_by_hand",
                state={"hand-beta": "2"},
                predict=asked,
                claims=(half,),
            ),
            Step(title="Home", text="Look.", page=""),
        ),
    )


def test_a_lesson_in_one_file_has_the_question_before_the_folded_answer(lesson: Lesson):
    html = lesson_file.lesson_file(lesson).decode()

    first, second = html.split('<section class="chapter">')[1:]
    before, after = first.split("<details>")
    assert "Say 50.0 %." in before
    assert "Which &lt;b&gt;?" in before
    assert "<li>the *first*</li>" in before
    assert "<svg" not in before
    assert "<strong>none</strong>" in after
    assert "So 50.0 %." in after
    assert "<td>50.0 % lies on a key</td><td>± 0.5 %</td>" in after
    assert "<svg" in after
    assert "<details>" not in second
    assert "<svg" in second
    assert all(Seen(html).words)


@needs_shipped
def test_a_lesson_names_the_weights_of_its_steps_though_their_control_is_hidden(lesson: Lesson):
    state = {"checkpoint": SHIPPED, "head": "L1·H5"}
    step = Step(title="a", text="a", page="attention", state=state, hide=("sidebar",))

    html = lesson_file.lesson_file(replace(lesson, steps=(step,))).decode()

    assert f"<dt>Weights of {SHIPPED}</dt> <dd>sha256 {content_hash(CHECKPOINTS / SHIPPED)}" in html
    assert "<dt>Head</dt> <dd>L1·H5</dd>" in html
    assert "<dt>Checkpoint</dt>" not in html
    assert "<dt>View</dt>" not in html


def test_a_step_that_cannot_be_drawn_is_named(lesson: Lesson, monkeypatch: pytest.MonkeyPatch):
    def fail(_: Step) -> None:
        raise ValueError("its page heads fails: no")

    monkeypatch.setattr(lesson_file, "page_parts", fail)
    with pytest.raises(ValueError, match="two, step 1: its page heads fails: no"):
        lesson_file.lesson_file(lesson)
