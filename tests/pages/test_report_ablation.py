"""Ablation, seeds and what was practised, on the report card."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

Put = Callable[..., Path]
Open = Callable[..., AppTest]
Said = Callable[[AppTest], str]
RUN = {"n_steps": 1234, "seconds": 600.0, "n_parameters": 3116032, "total": 200}
ABLATION = {
    "minutes": 10,
    "seed": 0,
    "machine": "a machine",
    "split": "held-out",
    "runs": [
        {**RUN, "label": "base", "differs": "of all others", "correct": 130},
        {
            **RUN,
            "preset": "ablation-shuffled",
            "label": "span corruption",
            "differs": "alone *here*",
            "n_parameters": 2271488,
            "correct": 31,
            "machine": "its own",
        },
    ],
}


def test_the_ablation_is_drawn_with_what_differs(
    put_course: Put, card_tables: Path, open_card: Open, said: Said
):
    put_course()
    (card_tables / "ablation.json").write_text(json.dumps(ABLATION), encoding="utf-8")
    app = open_card()
    _, chart, _ = app.get("vega_lite_chart")
    assert chart.proto.alt == "The same 10 minutes, one thing changed at a time"
    assert "**span corruption**: alone *here*" in said(app)
    assert r"alone \*here\*" in "".join(element.value for element in app.main.markdown)
    assert "of all others (1,234 steps, 3,116,032 parameters)" in said(app)
    assert "alone *here* (1,234 steps, 2,271,488 parameters)" in said(app)
    assert "Held-out** questions: 200 of the training questions, kept aside for tuning" in said(app)
    assert "Seed 0, one run each; a machine." in said(app)
    assert not app.main.info


def test_the_shipped_trainings_stand_on_the_page(
    open_by_link: Open, said: Said, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("A5_DATA", raising=False)
    app = open_by_link("report_card")
    assert not app.error
    assert not app.main.info
    charts = [chart.proto.alt for chart in app.get("vega_lite_chart")]
    assert "The same 10 minutes, one thing changed at a time" in charts
    assert "course-untaught trained anew with 3 seeds: " in said(app)


def test_questions_of_another_split_are_not_called_held_out(
    put_course: Put, card_tables: Path, open_card: Open, said: Said
):
    put_course()
    table = {**ABLATION, "split": "dev"}
    (card_tables / "ablation.json").write_text(json.dumps(table), encoding="utf-8")
    text = said(open_card())
    assert "Seed 0, one run each" in text
    assert "Held-out" not in text


def test_what_was_practised_is_explained_as_far_as_it_occurs(
    put_course: Put, card_tables: Path, open_card: Open, said: Said
):
    def explained() -> list[str]:
        (box,) = [box for box in open_card().expander if box.label == "What was practised"]
        return [line.split("**")[1] for line in box.markdown[0].value.split("\n") if "**" in line]

    put_course(recipe={"phases": [{"questions": 0.2, "span_corruption": 0.8}]})
    assert explained() == ["span corruption"]
    (card_tables / "ablation.json").write_text(json.dumps(ABLATION), encoding="utf-8")
    both = ["shuffled facts", "facts after a cue", "span corruption"]
    assert explained() == both  # ablation-shuffled; a run without a preset adds nothing


def test_without_pretraining_nothing_is_said_to_be_practised(put_course: Put, open_card: Open):
    put_course(recipe={"phases": [{"questions": 1.0}]})
    assert "What was practised" not in [box.label for box in open_card().expander]


def test_the_spread_over_seeds_is_told_in_one_sentence(
    put_course: Put, card_tables: Path, open_card: Open, said: Said
):
    put_course()
    assert "Seeds." not in said(open_card())
    table = {
        "preset": "course-*pieces*",
        "minutes": 30,
        "machine": "a machine",
        "split": "dev",
        "runs": [
            {"seed": 0, "accuracy": 0.8, "n_steps": 6503, "seconds": 1838.0},
            {"seed": 1, "accuracy": 0.9, "n_steps": 6503, "seconds": 2346.0},
        ],
    }
    (card_tables / "seeds.json").write_text(json.dumps(table), encoding="utf-8")
    app = open_card()
    text = said(app)
    assert "anew with 2 seeds: 85.0 % of dev on average, from 80.0 % to 90.0 %." in text
    assert "All had the 6,503 steps that 30 minutes gave the first, and took 31 to 39" in text
    assert r"\*pieces\*" in "".join(element.value for element in app.main.markdown)
