"""Without the first token: on maps, in scores and tables, and said wherever it is on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.store import load_checkpoint
from core.files import read_json, write_json
from core.inspection.head_record import heads_file
from core.inspection.sinks import fold_without_first, without_first
from core.inspection.trace import trace
from core.inspection.traced import AttentionTrace
from pages.attention.apart import leave_out_first, row_said
from pages.attention.downloads import TABLES_KEY
from pages.attention.view import make_view
from pages.compare.maps import TABLE_KEY
from pages.heads.controls import ONE

ADA, IDA = "Where was Ada Arden born?", "Where was Ida Arden born?"
COMPARED = {
    "compare-source": "type freely",
    "compare-question": ADA,
    "compare-other-source": "type freely",
    "compare-other-question": IDA,
}
Open = Callable[..., AppTest]


def toggle(app: AppTest, key: str = "no-first") -> Any:
    return app.sidebar.toggle(key=key)


def weights_table(app: AppTest) -> Any:
    app.session_state[TABLES_KEY] = True
    return app.run().dataframe[0].value


@pytest.fixture
def traced(store: Callable) -> AttentionTrace:
    return trace(load_checkpoint(store()), ADA)


def test_the_map_loses_its_first_key_and_the_page_says_so(
    traced: AttentionTrace, open_page: Open, shown: Callable, address: Callable
):
    app = open_page(source="type freely", question=ADA, head="L1·H0", fold="false")
    before, text = weights_table(app), shown(app)
    assert "Without the first token “" not in text.replace("\\", "")
    toggle(app).set_value(True).run()
    assert not app.exception
    assert address(app)["no-first"] is True
    after = weights_table(app)
    assert after.iloc[:, 0].isna().all()  # masked, not zero
    expected = without_first(traced.weights[1, 0])
    np.testing.assert_allclose(after.iloc[-1, 1:], expected[-1, 1:], atol=1e-6)
    assert before.iloc[-1, 0] > 0
    assert "Without the first token “" in shown(app).replace("\\", "")
    assert "without the first token, which has" in shown(app).replace("\\", "")


def test_a_link_names_the_toggle_and_it_works_folded_on_every_row(
    traced: AttentionTrace, open_page: Open
):
    query = {"source": "type freely", "question": ADA, "no-first": "true", "fold": "true"}
    app = open_page(**query, row="0", head="L1·H0")
    assert toggle(app).value
    assert "without the first token, which has" in app.get("vega_lite_chart")[1].proto.alt
    table = weights_table(app)
    expected = fold_without_first(traced.weights[1, 0], traced.word_starts)
    np.testing.assert_allclose(table.iloc[-1, 1:], expected[-1, 1:], atol=1e-6)
    app = open_page(**{**query, "fold": "false"}, row="0")
    assert "looks at nothing but the first token" in app.get("vega_lite_chart")[1].proto.alt
    for view in ("arcs", "q·k parts"):
        app.segmented_control(key="view").set_value(view).run()
        assert not app.exception


def test_scores_are_those_without_it_and_its_share_is_one(store: Callable, open_page: Open):
    store()
    app = open_page(source="type freely", question=ADA)
    assert {"first token", "sink share"} <= set(app.selectbox(key="score").options)
    assert "next token" not in app.selectbox(key="score").options
    app.selectbox(key="score").set_value("distance").run()
    before = app.get("vega_lite_chart")[0].proto
    toggle(app).set_value(True).run()
    after = app.get("vega_lite_chart")[0].proto
    assert [t.data.data for t in before.datasets] != [t.data.data for t in after.datasets]
    assert "first token" not in app.selectbox(key="score").options
    app.selectbox(key="score").set_value("sink_share").run()
    assert "share of the first token" in app.get("vega_lite_chart")[0].proto.alt


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({"n_latents": 20, "n_layers": 3}, "are latents, not tokens"),
        ({"attention": "taylor", "n_terms": 2}, "some effective weights are negative"),
    ],
)
def test_where_there_is_nothing_to_leave_out_the_page_says_why(
    store: Callable, open_page: Open, sizes: dict[str, Any], reason: str
):
    store(**sizes)
    app = open_page(source="type freely", question=ADA)
    assert toggle(app, "no-first-lacking").disabled
    assert reason in "".join(caption.value for caption in app.sidebar.caption)


def test_where_sinks_are_set_apart_a_row_is_never_named_by_its_first_token(
    traced: AttentionTrace,
):
    weights, first, own = traced.weights.copy(), traced.labels[0], traced.labels[2]
    weights[0, 0, 2, :3] = [0.9, 0.0, 0.1]
    trained = replace(traced, weights=weights)
    opened = replace(trained, kinds=("decoder",) * traced.n_layers)
    said = [
        row_said(t, make_view(t, folded=False), (0, 0), 2, None, no_first=False)
        for t in (trained, opened)
    ]
    assert said[0] == f"L0·H0 looks at “{first}” (weight 0.9) at “{own}”"
    assert said[1] == (
        f"L0·H0 looks at “{own}” (weight 1 without the first token, which has 0.9) at “{own}”"
    )
    view = make_view(opened, folded=False)
    others, whole = leave_out_first(view), view.contribution((1, 0))
    assert not others.contribution((1, 0))[..., 0].any()
    np.testing.assert_array_equal(others.contribution((1, 0))[..., 1:], whole[..., 1:])
    assert row_said(opened, others, (0, 0), 2, None, no_first=True) == said[1]


def test_the_table_of_heads_has_captions_and_scores_without_it(
    store: Callable, record_heads: Callable, open_heads: Open, shown: Callable
):
    store()
    table = record_heads().tables["zero"].without_first
    app = open_heads(**{"heads-sort": "layer and head"})
    assert "Without the first token:" not in shown(app)
    toggle(app, "heads-no-first").set_value(True).run()
    assert not app.exception
    assert "Without the first token: patterns" in shown(app)
    (lines,) = [m.value for m in app.main.markdown if m.value.startswith("| head |")]
    looks = [line.replace("\u00a0", " ").split(" | ")[1] for line in lines.splitlines()[2:]]
    assert [text.replace("\\", "") for text in looks] == [row.caption for row in table.rows]
    assert "its sink share is" in shown(app) or "rests on the first token" in shown(app)


def test_a_table_of_before_says_why_there_is_no_choice(
    store: Callable, record_heads: Callable, open_heads: Open
):
    folder = store()
    record_heads()
    data = read_json(heads_file(folder, "dev"))
    kept = {name: value for name, value in data.items() if not name.endswith("without_first")}
    write_json(heads_file(folder, "dev"), kept)
    app = open_heads()
    assert toggle(app, "heads-no-first-lacking").disabled
    captions = "".join(caption.value for caption in app.sidebar.caption)
    assert "was recorded before there were scores without the first token" in captions
    app = open_heads(
        **{
            "heads-part": ONE,
            "heads-source": "type freely",
            "heads-question": ADA,
            "heads-no-first": "true",
        }
    )
    assert "No averages stand beside" in "".join(caption.value for caption in app.main.caption)


def test_one_question_shows_measures_without_it(
    store: Callable, record_heads: Callable, open_heads: Open
):
    store()
    record_heads()
    app = open_heads(
        **{"heads-part": ONE, "heads-source": "type freely", "heads-question": ADA},
        **{"heads-measure-one": "weight: previous token"},
    )
    assert "weight: first token" in app.selectbox(key="heads-measure-one").options
    before = app.get("vega_lite_chart")[0].proto.datasets[0].data.data
    toggle(app, "heads-no-first").set_value(True).run()
    assert not app.exception
    assert app.get("vega_lite_chart")[0].proto.datasets[0].data.data != before
    options = app.selectbox(key="heads-measure-one").options
    assert "weight: first token" not in options
    assert any(option.startswith("sink share") for option in options)


def test_two_runs_are_compared_without_it(store: Callable, open_compare: Open, shown: Callable):
    store()
    app = open_compare(**COMPARED)
    app.session_state[TABLE_KEY] = True
    before = app.run().dataframe[0].value
    assert "Without the first token: " not in shown(app)
    toggle(app, "compare-no-first").set_value(True).run()
    assert not app.exception
    after = app.dataframe[0].value
    assert "Without the first token: weights are renormalised" in shown(app)
    assert len(after) < len(before)  # its cells are gone
    for side in ("A", "B"):
        sums = np.bincount(after["row"], after[side])
        np.testing.assert_allclose(sums[1:], 1, atol=1e-5)
        assert sums[0] == 0  # the first row has nothing else
