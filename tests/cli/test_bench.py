"""`python -m core bench` end to end, over texts of a few tokens."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.bench import machine
from core.bench import measure as measuring
from core.bench.memory import MemoryMeter
from core.bench.record import Record, read_bench
from core.cli import bench as verb
from core.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
QUICK = ["--heads", "2", "--head-dim", "8", "--repeats", "3", "--seconds", "0"]
ALL = ("explicit sdpa elu favor taylor linformer bigbird nystrom perceiver synthesizer").split()
RECORD = (
    "method causal pass seq_len head_dim median_seconds p25_seconds p75_seconds peak_bytes "
    "relative_error flags"
).split()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "COPIED_BYTES", 2**20)
    monkeypatch.setattr(machine, "MATRIX_SIDE", 64)
    monkeypatch.setattr(MemoryMeter, "peak_bytes", lambda *_: 4096)


@pytest.fixture
def bench(small: None, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*arguments: str, lengths: tuple[str, ...] = ("16", "32")) -> tuple[int, str, str]:
        status = main(["bench", "--lengths", *lengths, *QUICK, *arguments])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_the_json_has_the_form_that_is_asked_for(bench: Callable[..., Any]):
    status, out, err = bench("--methods", *ALL, "--json")
    assert status == 0
    report = json.loads(out)
    assert set(report) == {"machine", "environment", "records", "fits", "crossovers"}
    assert [(r["method"], r["seq_len"]) for r in report["records"]] == [
        (method, length) for length in (16, 32) for method in ALL
    ]
    assert all(list(record) == RECORD for record in report["records"])
    assert [set(fit) for fit in report["fits"]] == [{"method", "slope", "standard_error"}] * 10
    crossed = {(row["method"], row["baseline"]) for row in report["crossovers"]}
    assert crossed == {(m, b) for m in ALL[2:] for b in ("sdpa", "explicit")}
    assert report["environment"]["threads"] == 1
    assert "0 of 20: explicit at 16 tokens" in err


def test_causal_and_backward_are_said_in_each_record(bench: Callable[..., Any]):
    _, out, _ = bench("--methods", "elu", "linformer", "--causal", "--backward", "--json")
    records = json.loads(out)["records"]
    assert {(r["causal"], r["pass"]) for r in records} == {(True, "forward+backward")}
    assert records[1]["flags"] == [
        "no causal form: each of its k rows is a mixture of all positions"
    ]
    assert records[1]["median_seconds"] is None


def test_states_are_measured_in_order_alone_with_the_sizes_that_are_given(
    bench: Callable[..., Any],
):
    states = ("delta", "gated-delta", "gate", "window", "based")
    sizes = ("--window", "4", "--sinks", "1")
    _, out, _ = bench("--methods", *states, "--causal", *sizes, "--json")
    report = json.loads(out)
    assert [r["median_seconds"] > 0 for r in report["records"]] == [True] * 10
    assert report["environment"]["sizes"]["window"] == 4
    assert report["environment"]["sizes"]["n_sinks"] == 1
    _, out, _ = bench("--methods", "sdpa", "delta", "--json")
    flags = {r["method"]: r["flags"] for r in json.loads(out)["records"]}
    assert "only a causal form" in flags["delta"]
    assert "only a causal form" not in flags["sdpa"]


def test_generation_is_causal_and_tells_what_is_kept(bench: Callable[..., Any], tmp_path: Path):
    path = tmp_path / "machine.json"
    bench("--methods", "sdpa", "elu", "--out", str(path))
    asked = ("--question", "generation", "--methods", "sdpa", "delta", "bigbird")
    _, out, _ = bench(*asked, "--json", "--out", str(path))
    report = json.loads(out)
    assert {(r["causal"], r["pass"]) for r in report["records"]} == {(True, "generation")}
    assert [list(record) for record in report["records"]] == [[*RECORD, "kept_bytes"]] * 6
    kept = {(r["method"], r["seq_len"]): r["kept_bytes"] for r in report["records"]}
    assert (kept["sdpa", 16], kept["sdpa", 32]) == (2 * 2 * 16 * 8 * 4, 2 * 2 * 32 * 8 * 4)
    assert kept["delta", 16] == kept["delta", 32] == 2 * 8 * 8 * 4
    assert kept["bigbird", 16] is None
    assert {row["method"] for row in report["crossovers"]} == {"delta"}
    stored = read_bench(path)
    assert [s.question for s in stored.settings] == ["pass", "generation"]
    _, out, _ = bench(*asked, lengths=("128", "256", "512"))
    assert "kB kept" in out
    assert "bigbird          128           -         -         -  no step: its random blocks" in out


def test_generation_has_no_way_back(bench: Callable[..., Any]):
    status, _, err = bench("--question", "generation", "--backward")
    assert status != 0
    assert "generation has no backward pass" in err


def test_the_text_has_a_line_a_case_a_slope_and_a_verdict(bench: Callable[..., Any]):
    _, out, _ = bench("--methods", "sdpa", "elu")
    assert out.count("\nelu  ") == 2
    assert "elu: too few lengths to tell how time grows" in out
    assert "elu faster than sdpa: " in out


def test_powers_of_lengths_under_128_are_not_told(bench: Callable[..., Any]):
    _, out, _ = bench("--methods", "sdpa", "elu", lengths=("16", "32", "64"))
    assert "sdpa: too short to tell how time grows\nelu: too short to tell how time grows" in out
    assert "L^" not in out


def test_powers_and_crossings_are_told_with_their_intervals(
    bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    laws = {"sdpa": lambda n: 1e-9 * n * n, "elu": lambda n: 4e-7 * n}

    def measured(spec: Any, **_: Any) -> list[Record]:
        return [
            Record(
                method=method,
                causal=False,
                pass_name="forward",
                seq_len=n,
                head_dim=8,
                median_seconds=laws[method](n),
                quantiles=(0.9 * laws[method](n), 1.1 * laws[method](n)),
                repeats=5,
            )
            for n in spec.lengths
            for method in spec.methods
        ]

    monkeypatch.setattr(verb, "measure", measured)
    _, out, _ = bench("--methods", "sdpa", "elu", lengths=("128", "256", "512", "1024"))
    assert "sdpa: time grows as L^2.00 ± 0.00\nelu: time grows as L^1.00 ± 0.00" in out
    assert re.search(r"elu faster than sdpa: from 400 tokens \(3\d\d to 4\d\d\)", out)


def test_what_is_no_stored_file_is_written_and_never_read(
    bench: Callable[..., Any], tmp_path: Path
):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    status, _, _ = bench("--methods", "elu", "--out", str(fifo))
    assert status == 0
    assert [r["method"] for r in json.loads(os.read(reader, 2**20))["records"]] == ["elu"] * 2
    os.close(reader)


def test_settings_join_in_one_file(bench: Callable[..., Any], tmp_path: Path):
    path = tmp_path / "machine.json"
    for more in ([], ["--causal"], ["--causal"]):
        assert bench("--methods", "sdpa", "elu", "--out", str(path), *more)[0] == 0
    kept = read_bench(path)
    assert [(r.causal, r.method, r.seq_len) for r in kept.records] == [
        (causal, method, length)
        for causal in (False, True)
        for length in (16, 32)
        for method in ("sdpa", "elu")
    ]
    assert all(record.quantiles for record in kept.records)
    stored = json.loads(path.read_text())
    assert {fit["causal"] for fit in stored["fits"]} == {False, True}


def test_a_file_of_another_setting_of_the_machine_is_refused_before_anything_is_measured(
    bench: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "machine.json"
    bench("--methods", "elu", "--out", str(path))
    before = path.read_bytes()
    monkeypatch.setattr(verb, "measure", None)  # calling it would fail
    status, _, err = bench("--methods", "elu", "--out", str(path), "--seed", "3")
    assert (status, path.read_bytes() == before) == (2, True)
    assert "measured with another seed: name another file" in err
    path.write_text("{")
    status, _, err = bench("--methods", "elu", "--out", str(path))
    assert status == 2
    assert "machine.json: not JSON" in err


def test_an_interrupted_measurement_keeps_and_prints_what_there_is(
    bench: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    calls, real = 0, measuring.seconds_of

    def seconds_of(*given: Any) -> float:
        nonlocal calls
        calls += 1
        if calls == 8:  # in the second length
            os.kill(os.getpid(), 2)
        return real(*given)

    monkeypatch.setattr(measuring, "seconds_of", seconds_of)
    path = tmp_path / "machine.json"
    status, out, err = bench("--methods", "sdpa", "elu", "--json", "--out", str(path))
    assert status == 130
    assert "interrupted" in err
    assert {r["seq_len"] for r in json.loads(out)["records"]} == {16}
    assert len(read_bench(path).records) == 2


def test_an_estimate_measures_nothing(bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(verb, "measure", None)
    _, out, _ = bench("--methods", "sdpa", "nystrom", "--causal", "--estimate")
    assert out.startswith("about 6 s and 0 MB for 2 cases\nnystrom at 16: no causal form")
    _, out, _ = bench("--methods", "sdpa", "nystrom", "--causal", "--estimate", "--json")
    report = json.loads(out)
    assert (report["cases"], len(report["left_out"])) == (2, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "performer"], "unknown method 'performer'; methods: explicit"),
        (["--repeats", "1"], "repeats is 1; 3 to 1000"),
        (["--device", "tpu"], "unknown device 'tpu'; devices: auto, cpu, cuda, cuda:N, mps"),
        (["--terms", "9"], "n_terms is 9; 1 to 5"),
    ],
)
def test_a_wrong_option_is_one_line(
    small: None, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
):
    try:
        status = main(["bench", "--lengths", "16", *arguments])
    except SystemExit as error:  # argparse
        status = error.code
    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the variables are those of Linux")
def test_from_a_terminal_it_is_measured_with_its_environment_and_with_its_memory():
    options = "bench --methods explicit --lengths 256 --repeats 3 --seconds 0 --json".split()
    found = subprocess.run(
        [sys.executable, "-m", "core", *options],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GLIBC_TUNABLES")},
        capture_output=True,
        check=True,
        text=True,
    )
    report = json.loads(found.stdout)
    assert report["environment"]["variables"]["OMP_WAIT_POLICY"] == "passive"
    assert report["environment"]["variables"]["GLIBC_TUNABLES"] == "glibc.malloc.hugetlb=1"
    (record,) = report["records"]
    assert record["peak_bytes"] == pytest.approx(2 * 8 * 256 * 256 * 4 + 8 * 256 * 32 * 4, rel=0.2)
