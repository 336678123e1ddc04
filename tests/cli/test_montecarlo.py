"""`montecarlo` on its own parser: the JSON a script reads, and what is refused."""

import argparse
import json

import pytest

from core.cli import montecarlo
from core.montecarlo.compare import compare, law_of
from core.montecarlo.spec import PerturbationSpec

SMALL = ("--draws", "20000")


def call(*arguments: str) -> None:
    parser = argparse.ArgumentParser()
    montecarlo.add_montecarlo(parser)
    options = parser.parse_args(arguments)
    options.run(options)


def test_the_rows_set_theory_beside_the_sample(capsys: pytest.CaptureFixture[str]):
    call("--heads", "two", "--beta", "10", "--keys", "6", *SMALL, "--json")
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"settings", "seconds", "rows"}
    assert report["settings"]["heads"] == "two"
    rows = {row["quantity"]: row for row in report["rows"]}
    assert {"mean_share_a", "variance_share_a", "p_off_center", "p_head_fails"} <= set(rows)
    assert rows["p_head_fails"]["theory"] == pytest.approx(0.1177, abs=1e-4)
    for row in rows.values():
        assert abs(row["theory"] - row["sample"]) <= 4 * row["standard_error"] + 1e-12


def test_a_number_of_heads_and_many_keys_are_understood(capsys: pytest.CaptureFixture[str]):
    call("--heads", "7", "--keys", "70", *SMALL, "--json")
    settings = json.loads(capsys.readouterr().out)["settings"]
    assert (settings["heads"], settings["keys"], settings["dimension"]) == (7, 70, 70)


def test_what_only_the_sample_knows_is_said(capsys: pytest.CaptureFixture[str]):
    call("--noise-variance", "0.1", *SMALL)
    out = capsys.readouterr().out
    assert out.startswith("20,000 draws in ")
    assert "p_off_center       sample only" in out


def test_json_gives_null_where_theory_is_silent(capsys: pytest.CaptureFixture[str]):
    call("--noise-variance", "0.1", *SMALL, "--json")
    rows = {row["quantity"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["p_off_center"]["theory"] is None
    assert rows["mean_share_a"]["theory"] is not None


def test_one_draw_has_no_error_no_variance_and_no_verdict(capsys: pytest.CaptureFixture[str]):
    call("--draws", "1", "--json")
    rows = {row["quantity"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert {row["standard_error"] for row in rows.values()} == {None}
    assert {row["verdict"] for row in rows.values()} == {"too few draws"}
    assert rows["variance_share_a"]["sample"] is None
    call("--draws", "1")
    lines = capsys.readouterr().out.splitlines()
    assert [line.endswith("  too few draws") for line in lines] == [False] * 2 + [True] * 6 + [
        False
    ]
    assert lines[3].split()[:4] == ["variance_share_a", "0.1953", "-", "-"]


def test_what_a_verdict_means_is_said(capsys: pytest.CaptureFixture[str]):
    call(*SMALL)
    out = capsys.readouterr().out
    assert out.count("  agrees\n") == 6
    assert "any row disagrees in at most 1% of all samples" in out


def test_a_row_that_disagrees_is_marked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    wrong = law_of(PerturbationSpec(radial_variance=0.4))
    monkeypatch.setattr(montecarlo, "compare", lambda drawn: compare(drawn, wrong))
    call(*SMALL)
    assert "  disagrees" in capsys.readouterr().out


def test_a_long_run_tells_its_progress(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(montecarlo, "SLOW_DRAWS", 1000)
    call(*SMALL, "--json")
    captured = capsys.readouterr()
    assert captured.err.splitlines()[-1] == "20,000 of 20,000 draws"
    json.loads(captured.out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--heads", "three"), "heads 'three'"),
        (("--beta", "0"), "scale β is 0"),
        (("--keys", "1"), "keys: 1"),
        (("--keys", "8", "--dimension", "7"), "7 dimensions for 8 keys"),
        (("--radial-variance", "-1"), "radial variance ρ: -1.0"),
        (("--draws", "1000000000000"), "draws: 1000000000000"),
    ],
)
def test_bad_settings_are_refused(arguments: tuple[str, ...], message: str):
    with pytest.raises(ValueError, match=message):
        call(*arguments)
