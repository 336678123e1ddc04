"""A trace from a file whose target was given: every page that opens it says so."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.inspection.trace_file import save_trace
from pages.shared.choosing import TRACE
from tests.fake_trace import PROOF, fake_trace
from tests.pages.conftest import open_link

BOTH = ("encoder", "encoder", "decoder", "cross", "decoder", "cross")
BADGE = ":gray-badge[target given, not written]"
Said = Callable[[AppTest], str]


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`given`, and `written`, which differs from it in nothing else."""
    found = fake_trace(6, 2, 9, kinds=BOTH, n_source=5)
    found = replace(found, proof=replace(PROOF, row_sum_max_error=1e-6))
    for name, given in (("given", True), ("written", False)):
        save_trace(tmp_path / f"{name}.trace", replace(found, teacher_forced=given))
    monkeypatch.setenv("EXPLORER_TRACES", str(tmp_path))


def test_attention_shows_its_tokens_and_how_likely_they_are(said: Said):
    app = open_link("attention", checkpoint=TRACE, trace="given.trace")
    assert BADGE in app.markdown[0].value
    assert "Probability of this target, which was given and not written, **25.0 %**" in said(app)
    assert list(app.dataframe[0].value["token"]) == ["w7", "w8"]
    assert list(app.dataframe[0].value["probability"]) == ["50.0 %"] * 2
    assert list(app.dataframe[0].value["next best"]) == ["x 25.0 %, y 12.5 %"] * 2
    written = open_link("attention", checkpoint=TRACE, trace="written.trace")
    assert "Probability of this answer **25.0 %**" in said(written)
    assert not written.dataframe
    assert BADGE not in said(written)


def test_heads_and_compare_say_which_was_given(said: Said):
    query = {"heads-checkpoint": TRACE, "heads-part": "one question"}
    heads = open_link("heads", **query, **{"heads-trace": "given.trace"})
    assert BADGE in said(heads)
    sides = {f"compare-{side}-checkpoint": TRACE for side in ("first", "second")}
    chosen = {"compare-first-trace": "given.trace", "compare-second-trace": "written.trace"}
    compared = said(open_link("compare", **{"compare-what": "two checkpoints"}, **sides, **chosen))
    (line,) = (text for text in compared.splitlines() if BADGE in text)
    assert line.startswith("**A** · ")
