"""Question sets on the pages: from lists or uploaded, judged aloud, measured and recorded."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import content_hash
from core.checkpoints.store import asking, load_checkpoint, write_card
from core.data.question_file import MOST_BYTES, read_set
from core.data.question_set import RULES
from core.generation.greedy import answer
from core.inspection.head_record import HeadRecord, heads_file, save_record
from core.inspection.head_table import head_tables
from pages.heads.controls import ONE, PATCH
from pages.shared.questions import NO_MEANS_WITHOUT_TASK
from pages.shared.sets import FREE, OWN, UPLOAD

PROMPTS = ("Ada Arden is from", "Bo Castro is from", "Hina Bello lives in")
SHIPPED = ["birthplaces", "capitals"]


@pytest.fixture
def own_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the server's, with one set."""
    folder = tmp_path / "sets"
    folder.mkdir()
    write_set(folder / "mine.tsv", "Lagos", "Kyoto", "Lima")
    monkeypatch.setenv("EXPLORER_QUESTIONS", str(folder))
    return folder


@pytest.fixture(autouse=True)
def no_other_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLORER_QUESTIONS", raising=False)


@pytest.fixture
def free(store: Callable[..., Path]) -> Path:
    """A checkpoint without a task."""
    folder = store()
    write_card(folder, {"name": "tiny"})
    return folder


@pytest.fixture
def record_set(own_sets: Path) -> Callable[[Path], HeadRecord]:
    """Write the table over the server's set beside a checkpoint."""

    def record(folder: Path) -> HeadRecord:
        asked = read_set(own_sets / "mine.tsv")
        tables, means = head_tables(
            asking(load_checkpoint(folder), asked), asked.questions, asked.questions
        )
        found = HeadRecord(
            checkpoint=folder.name,
            split=asked.name,
            tables=tables,
            means=means,
            seconds=1.0,
            machine="a machine",
            weights=content_hash(folder),
            data=asked.digest,
            asked=asked,
        )
        save_record(folder, found)
        return found

    return record


def write_set(path: Path, *answers: str) -> None:
    path.write_bytes(table(*answers))


def table(*answers: str) -> bytes:
    rows = [f"{p}\t{a}\t{p.split()[0]}" for p, a in zip(PROMPTS, answers, strict=True)]
    return ("\n".join(["prompt\tanswer\tsubject", *rows]) + "\n").encode()


def upload(app: AppTest, data: bytes, name: str = "table.tsv") -> AppTest:
    app.file_uploader(key="set-file").set_value((name, data, "text/tab-separated-values")).run()
    assert not app.exception, app.exception[0].value
    return app


def test_sets_stand_beside_the_questions_of_a_task(
    store: Callable, own_sets: Path, open_page: Callable, open_heads: Callable
):
    store()
    for app, key in ((open_page(), "set"), (open_heads(), "heads-set")):
        box = app.selectbox(key=key)
        assert box.options == [OWN, *SHIPPED, "mine", UPLOAD]
        assert box.value == OWN
    assert open_page().selectbox(key="source").value == "test"  # that of Ada Lovelace


def test_without_a_task_they_stand_beside_free_text(free: Path, open_page: Callable):
    box = open_page().selectbox(key="set")
    assert (box.options, box.value) == ([FREE, *SHIPPED, UPLOAD], OWN)
    assert len(open_page().text_input) == 1


def test_the_answer_to_a_prompt_is_cut_and_judged_by_the_rule_which_is_said(
    free: Path, own_sets: Path, open_page: Callable, said: Callable
):
    stored = load_checkpoint(free)
    (begins,) = answer(stored, [PROMPTS[0]], max_new_tokens=4)
    spelt = begins.text.strip()
    write_set(own_sets / "mine.tsv", spelt, "Kyoto", "Lima")
    asked = read_set(own_sets / "mine.tsv")
    (given,) = answer(asking(stored, asked), [PROMPTS[0]])
    assert len(given.text) < len(answer(stored, [PROMPTS[0]])[0].text)
    app = open_page(set="mine")
    assert app.selectbox(key="prompt-mine").value == PROMPTS[0]
    assert f"An answer is {RULES['first-tokens']}" in app.sidebar.caption[-1].value
    verdict = "right" if given.text.strip().startswith(spelt) else f"wrong: {spelt}"
    assert f"{PROMPTS[0]} → **" in said(app)
    assert f"{verdict}]" in said(app)
    app.button_group(key="right").set_value("exact").run()
    assert f"An answer is {RULES['exact']}" in app.sidebar.caption[-1].value
    assert f"wrong: {spelt}]" in said(app)


def test_another_prompt_is_asked_when_it_is_chosen(
    free: Path, own_sets: Path, open_page: Callable, said: Callable
):
    app = open_page(set="mine", **{"prompt-mine": PROMPTS[2]})
    assert f"{PROMPTS[2]} → **" in said(app)
    app.selectbox(key="prompt-mine").set_value(PROMPTS[1]).run()
    assert f"{PROMPTS[1]} → **" in said(app)
    assert "wrong: Kyoto" in said(app)


def test_the_server_answers_to_names_of_its_list_only(
    free: Path, own_sets: Path, tmp_path: Path, open_page: Callable
):
    write_set(tmp_path / "secret.tsv", "Lagos", "Kyoto", "Lima")
    for asked in ("../secret", str(tmp_path / "secret.tsv"), "secret"):
        app = open_page(set=asked)
        assert app.selectbox(key="set").value == OWN
        assert "which cannot be had here" in app.warning[0].value


def test_a_broken_set_of_the_server_is_named_without_its_folder(
    free: Path, own_sets: Path, open_page: Callable, open_heads: Callable
):
    (own_sets / "mine.tsv").write_text("prompt\tanswer\nonly one\n", encoding="utf-8")
    for app in (open_page(set="mine"), open_heads(**{"heads-set": "mine"})):
        assert "cannot be used" in app.error[0].value
        assert (
            app.text[0].value
            == "mine.tsv, line 2: 1 columns, the header has 2, with a tab between them"
        )
    assert len(open_page(set="mine").text_input) == 1  # free text meanwhile


def test_an_uploaded_table_is_asked_and_its_name_opens_nothing(
    free: Path, open_page: Callable, said: Callable
):
    app = open_page(set=UPLOAD)
    assert len(app.text_input) == 1
    upload(app, table("Lagos", "Kyoto", "Lima"), name="../../evil.tsv")
    assert app.selectbox(key="prompt-uploaded").options == [
        f"{n}: {prompt}" for n, prompt in enumerate(PROMPTS, 1)
    ]
    assert "wrong: Lagos" in said(app)
    app.switch_page("pages/heads/page.py").run()  # it is kept
    app.selectbox(key="heads-set").set_value(UPLOAD).run()
    assert not app.exception
    captions = "".join(caption.value.replace("\\", "") for caption in app.sidebar.caption)
    assert "In memory: ../../evil.tsv" in captions
    assert "of the set uploaded" in app.info[0].value
    assert not app.code  # no command knows it


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the table: empty; a header and at least one question are needed"),
        (b"a,b\n", "the table, line 1: the header must be prompt and answer"),
        (b"prompt\tanswer\n\xff\tb\n", "the table, line 2: bytes that are not UTF-8"),
        (b"a" * (MOST_BYTES + 1), "the table has 1,048,577 bytes; at most 1,048,576 are read"),
    ],
)
def test_an_uploaded_table_that_is_none_is_one_sentence(
    free: Path, open_page: Callable, data: bytes, message: str
):
    app = upload(open_page(set=UPLOAD), data)
    assert message in app.sidebar.text[0].value
    assert len(app.text_input) == 1


def test_the_table_over_a_set_is_measured_when_it_is_wanted(
    free: Path, own_sets: Path, open_heads: Callable, said: Callable, record_set: Callable
):
    expected = record_set(free).tables["zero"]
    heads_file(free, "mine").unlink()
    app = open_heads(**{"heads-set": "mine"})
    assert "of the set mine" in app.info[0].value
    assert app.code[0].value == ("python -m core heads --checkpoint tiny --questions mine --record")
    app.button(key="heads-measure").click().run()
    assert not app.exception
    first = expected.by_importance[0]
    assert f"Without {first.name} alone" in said(app)
    assert "of mine is right" in said(app)
    assert f"An answer is {RULES['first-tokens']}" in said(app)
    assert "surname" not in said(app)


@pytest.mark.parametrize("mode", ["zero", "mean"])
def test_a_recorded_set_is_offered_though_its_file_is_gone(
    free: Path,
    own_sets: Path,
    open_heads: Callable,
    said: Callable,
    record_set: Callable,
    mode: str,
):
    tables = record_set(free).tables
    (own_sets / "mine.tsv").unlink()
    app = open_heads(**{"heads-set": "mine", "heads-mode": "its mean" if mode == "mean" else mode})
    assert app.selectbox(key="heads-set").value == "mine"
    assert f"Without {tables[mode].by_importance[0].name} alone" in said(app)
    assert not app.info
    app.button_group(key="heads-part").set_value(ONE).run()
    assert f"{PROMPTS[0]} → " in said(app)
    assert "wrong: Lagos" in said(app)
    assert "average of 3" in said(app)


def test_a_table_of_other_questions_or_another_rule_is_not_shown(
    free: Path, own_sets: Path, open_heads: Callable, record_set: Callable
):
    record_set(free)
    assert not open_heads(**{"heads-set": "mine"}).info
    app = open_heads(**{"heads-set": "mine", "heads-right": "exact"})
    assert "No table of these weights is recorded" in app.info[0].value
    assert app.code[0].value.endswith("--questions mine --right exact --record")
    write_set(own_sets / "mine.tsv", "Lagos", "Kyoto", "Paris")
    assert "No table" in open_heads(**{"heads-set": "mine"}).info[0].value


def test_a_recorded_set_of_other_weights_is_not_offered(
    free: Path, own_sets: Path, open_heads: Callable, record_set: Callable
):
    record = record_set(free)
    (own_sets / "mine.tsv").unlink()
    save_record(free, replace(record, weights="of other weights"))
    assert "mine" not in open_heads().selectbox(key="heads-set").options


def test_two_prompts_of_as_many_tokens_are_patched(
    free: Path, own_sets: Path, open_heads: Callable, said: Callable
):
    app = open_heads(**{"heads-set": "mine", "heads-part": PATCH})
    other = app.selectbox(key="heads-other-prompt-mine")
    assert other.options == [f"2: {PROMPTS[1]}"]  # the third is longer
    assert f"{PROMPTS[0]} → " in said(app)
    assert f"{PROMPTS[1]} → " in said(app)
    app.selectbox(key="heads-prompt-mine").set_value(PROMPTS[2]).run()
    assert "No other prompt of this set has as many tokens" in app.sidebar.caption[-1].value


def test_a_head_may_give_its_mean_over_the_set(
    free: Path, own_sets: Path, open_page: Callable, shown: Callable, said: Callable
):
    app = open_page(**{"off-L0": "H1"})
    assert NO_MEANS_WITHOUT_TASK in shown(app)
    app = open_page(set="mine", **{"off-mode": "its mean", "off-L0": "H1"})
    assert NO_MEANS_WITHOUT_TASK not in shown(app)
    assert "in place: their mean over the mine questions" in said(app)


def test_the_ranking_of_a_recorded_set_is_said(
    free: Path, own_sets: Path, open_page: Callable, shown: Callable, record_set: Callable
):
    record_set(free)
    assert "over 3 mine questions" in shown(open_page(set="mine"))
    assert "Ranked by this question alone" in shown(open_page())


def test_every_head_of_a_set_links_to_its_map_with_the_set(
    free: Path, own_sets: Path, open_heads: Callable, record_set: Callable
):
    record_set(free)
    (rows,) = [
        m.value for m in open_heads(**{"heads-set": "mine"}).main.markdown if "| head |" in m.value
    ]
    assert "(attention?checkpoint=tiny&set=mine&head=L" in rows
