"""Two runs of many tokens side by side: Plotly's maps, light enough, of any kind of layer."""

import pytest
from streamlit.testing.v1 import AppTest

from core.inspection.traced import AttentionTrace
from tests.fake_trace import fake_trace
from tests.pages.sent import MOST_BYTES, bytes_of


def page(one, two):  # AppTest runs its text alone
    from functools import partial
    from pathlib import Path

    from core.checkpoints.store import load_checkpoint
    from core.inspection.align import alignments
    from pages.compare.controls import QUESTIONS, Pair, Side
    from pages.compare.maps import show_maps
    from pages.compare.view import choose_view
    from pages.shared import link
    from pages.shared.loading import Source

    link.open_page("compare")
    source = Source("none", None, "", partial(load_checkpoint, Path("nowhere")))
    first, second = (Side(letter, letter, source, letter, None) for letter in "AB")
    pair, traces = Pair(QUESTIONS, first, second), (one, two)
    show_maps(pair, traces, choose_view(pair, traces, alignments(*traces)))


def opened(one: AttentionTrace, two: AttentionTrace) -> AppTest:
    app = AppTest.from_function(page, args=(one, two), default_timeout=60).run()
    assert not app.exception, app.exception[0].value
    return app


@pytest.mark.parametrize(("n", "said"), [(61, ""), (200, "steps of 1 %"), (512, "largest of 2")])
def test_many_tokens_are_three_maps_of_plotlys_within_700_kilobytes(n: int, said: str):
    app = opened(
        fake_trace(3, 2, n), fake_trace(3, 2, n, value_norm=fake_trace(3, 2, n).value_norm)
    )
    assert len(app.get("plotly_chart")) == 3
    alts = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert [alt.split(".")[0].split(":")[0] for alt in alts] == [
        "weight, A",
        "weight, B",
        "weight, B less A",
    ]
    assert bytes_of(app._tree) < MOST_BYTES
    captions = " ".join(caption.value for caption in app.caption)
    assert said in captions
    assert "The camera above each map saves it as SVG." in captions


def test_few_tokens_are_altairs_and_can_be_saved_below():
    app = opened(fake_trace(2, 2, 20), fake_trace(2, 2, 20))
    assert not app.get("plotly_chart")
    assert len(app.get("vega_lite_chart")) == 4


def test_other_numbers_of_heads_are_refused_head_by_head():
    app = opened(fake_trace(2, 2, 70), fake_trace(2, 3, 70))
    said = " ".join(markdown.value for markdown in app.markdown)
    assert "2 layers of 2 heads here, 2 of 3 there" in said.replace("\\", "")


def test_two_encoders_are_compared_with_all_they_see():
    kinds = ("encoder",) * 2
    traces = [fake_trace(2, 2, 70, kinds=kinds, n_steps=0) for _ in range(2)]
    app = opened(traces[0], traces[1])
    assert len(app.get("plotly_chart")) == 3
    assert '"path"' not in app.get("plotly_chart")[0].proto.spec  # nothing is masked
