"""Measurements as files and as jobs would leave them, and the page over them. Nothing is timed."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
import streamlit as st
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from core.bench.record import Bench, Record, write_bench
from core.bench.spec import FORWARD, GENERATION, BenchSpec
from core.jobs import actions
from core.jobs.bench_job import BENCH, bench_job
from core.jobs.folder import LOCK
from core.jobs.launcher import Launcher
from core.jobs.locks import held
from core.jobs.status import Reporter
from core.runs.journal import METRICS
from core.theory.costs import Shape
from core.theory.steps import kept_bytes

ROOT = Path(__file__).resolve().parents[3]
LENGTHS = (128, 256, 512, 1024)
# Seconds of one pass: SDPA and elu+1 cross at 500 tokens, FAVOR+ never, the Perceiver always.
LAWS: dict[str, Callable[[int], float]] = {
    "explicit": lambda n: 4e-8 * n * n,
    "sdpa": lambda n: 2e-8 * n * n,
    "elu": lambda n: 1e-5 * n,
    "favor": lambda n: 1e-3 * n,
    "perceiver": lambda n: 1e-6 * n,
}

Open = Callable[..., AppTest]


def records(
    *, causal: bool = False, methods: tuple[str, ...] = tuple(LAWS), lengths: Any = LENGTHS
) -> list[Record]:
    found: list[Record] = []
    for n in lengths:
        for method in methods:
            seconds = LAWS[method](n)
            found.append(
                Record(
                    method=method,
                    causal=causal,
                    pass_name=FORWARD,
                    seq_len=n,
                    head_dim=32,
                    median_seconds=seconds,
                    p25_seconds=0.95 * seconds,
                    p75_seconds=1.05 * seconds,
                    peak_bytes=8 * n * n if method in ("explicit", "sdpa") else 4000 * n,
                    relative_error=0.5,
                    repeats=9,
                    quantiles=(0.95 * seconds, seconds, 1.05 * seconds),
                )
            )
    return found


# Seconds of one token more: SDPA's cache and elu+1 meet at 500 tokens, the delta rule is always
# faster, Based never here.
STEPS: dict[str, Callable[[int], float]] = {
    "explicit": lambda n: 2e-7 * n,
    "sdpa": lambda n: 1e-7 * n,
    "elu": lambda n: 5e-5,
    "delta": lambda n: 1e-5,
    "based": lambda n: 1e-3,
}


def step_records(*, factor: float = 1.0) -> list[Record]:
    """Of generation, 8 heads of 32 numbers; BigBird has no step."""
    base: dict[str, Any] = {"causal": True, "pass_name": GENERATION}
    shape = partial(Shape, head_dim=32)
    found = [
        Record(
            method=method,
            seq_len=n,
            head_dim=32,
            median_seconds=(seconds := factor * law(n)),
            p25_seconds=0.95 * seconds,
            p75_seconds=1.05 * seconds,
            relative_error=0.5,
            repeats=9,
            quantiles=(0.95 * seconds, seconds, 1.05 * seconds),
            kept_bytes=kept_bytes(method, shape(seq_len=n)),
            **base,
        )
        for n in LENGTHS
        for method, law in STEPS.items()
    ]
    why = "no step: its random blocks are drawn for a text of known length"
    return [*found, Record(method="bigbird", seq_len=128, head_dim=32, flags=(why,), **base)]


def environment(**changes: Any) -> dict[str, Any]:
    return {
        "torch": "2.13",
        "threads": 1,
        "variables": {"OMP_WAIT_POLICY": "passive", "GLIBC_TUNABLES": None},
        "device": "cpu",
        "dtype": "float32",
        "batch": 1,
        "n_heads": 8,
        "sdpa_backend": "flash_attention",
        "sizes": {"n_features": 128, "n_terms": 3},
        "roof": {"bytes_per_second": 1e10, "operations_per_second": 1e11},
        "date": "2026-01-31",
        **changes,
    }


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of stored machines."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    monkeypatch.setattr("core.paths.BENCHMARKS", folder)
    st.cache_resource.clear()
    return folder


@pytest.fixture
def store(stored: Path) -> Callable[..., Path]:
    """Put a machine's measurement into the folder of stored ones."""

    def put(name: str = "epyc", *given: Record, processor: str = "EPYC") -> Path:
        kept = given or (*records(), *records(causal=True, methods=("sdpa", "elu", "favor")))
        bench = Bench(
            machine={"processor": processor, "cores": 2, "gpu": None},
            environment=environment(),
            records=tuple(kept),
        )
        write_bench(stored / f"{name}.json", bench, {})
        return stored / f"{name}.json"

    return put


@pytest.fixture
def store_steps(store: Callable[..., Path]) -> Callable[..., Path]:
    """A stored machine with both questions."""

    def put(name: str = "epyc", *, factor: float = 1.0, processor: str = "EPYC") -> Path:
        return store(name, *records(), *step_records(factor=factor), processor=processor)

    return put


@pytest.fixture
def put_job(runs: Path, launcher: Launcher) -> Iterator[Callable[..., str]]:
    """A job of two methods in a state, with some of its points; returns its id."""
    with ExitStack() as locks:

        def put(
            state: str = "finished", n_lengths: int = 4, message: str = "", **changes: Any
        ) -> str:
            spec = BenchSpec(methods=("sdpa", "elu"), lengths=LENGTHS, **changes)
            job_id = actions.start(runs, bench_job(spec), launcher)
            folder = runs / job_id
            if state == "queued":
                locks.enter_context(held(folder / LOCK, seconds=1))
                return job_id
            reporter = Reporter(folder, 1)
            rows = records(methods=("sdpa", "elu"), lengths=LENGTHS[:n_lengths])
            if spec.writes:
                rows = [row for row in step_records() if row.method in spec.methods]
            begun = Bench(
                machine={"processor": "EPYC", "cores": 2, "gpu": None},
                environment=environment(),
                records=(),
            )
            write_bench(folder / BENCH, begun, {})
            lines = [{"step": i + 1, **row.to_dict()} for i, row in enumerate(rows)]
            (folder / METRICS).write_text("".join(json.dumps(line) + "\n" for line in lines))
            told: dict[str, Any] = {"step": len(rows), "n_steps": 8, "seconds_left": 21.0}
            told["activity"] = "measuring: 2 methods at 512 tokens, in turns"
            if state == "running":
                locks.enter_context(held(folder / LOCK, seconds=1))
                reporter.write(state="running", started_at=1.0, **told)
            else:
                reporter.write(**{**told, "seconds_left": None})
                reporter.close(cast(Any, state), message)
            return job_id

        yield put


@pytest.fixture
def open_runtime(stored: Path, runs: Path, open_by_link: Open) -> Open:
    """Open the page as a link does: home first, then the page with its query."""

    return partial(open_by_link, "runtime")


@pytest.fixture(scope="session")
def read() -> Callable[[AppTest], str]:
    """All that the main part says, without escapes."""

    def read_(app: AppTest) -> str:
        kinds = (app.main.markdown, app.main.caption, app.main.info, app.main.error, app.main.text)
        texts = [element.value for kind in kinds for element in kind]
        return "\n".join(texts).replace("\\", "").replace("\u2060", "")

    return read_


def _rows(dataset: Any) -> list[dict[str, Any]]:
    return convert_arrow_bytes_to_pandas_df(dataset.data.data).to_dict("records")


@pytest.fixture(scope="session")
def charts() -> Callable[[AppTest], list[dict[str, Any]]]:
    """The charts of a page, each with the rows of its tables."""

    def charts_(app: AppTest) -> list[dict[str, Any]]:
        return [
            json.loads(chart.proto.spec)
            | {"tables": {d.name: _rows(d) for d in chart.proto.datasets}}
            for chart in app.get("vega_lite_chart")
        ]

    return charts_
