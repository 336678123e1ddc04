"""Made-up records, and specs that take a moment."""

from collections.abc import Callable
from typing import Any

import pytest

from core.bench.record import Bench, Record
from core.bench.spec import BenchSpec


@pytest.fixture(scope="session")
def make_record() -> Callable[..., Record]:
    def make(method: str = "elu", seq_len: int = 128, median: float | None = 1e-3, **more: Any):
        times: dict[str, Any] = {}
        if median is not None:
            times = {"median_seconds": median, "p25_seconds": 0.9 * median}
            times |= {"p75_seconds": 1.1 * median, "peak_bytes": 1000, "relative_error": 0.5}
            quantiles = tuple(float(f"{share * median:.4g}") for share in (0.9, 1.0, 1.1))
            times |= {"repeats": 9, "quantiles": quantiles}
        base: dict[str, Any] = {"causal": False, "pass_name": "forward", "head_dim": 32}
        return Record(method=method, seq_len=seq_len, **{**base, **times, **more})

    return make


@pytest.fixture
def make_bench(make_record: Callable[..., Record]) -> Callable[..., Bench]:
    def make(*records: Record, **environment: Any) -> Bench:
        told = {"torch": "2", "threads": 1, "date": "2026-01-31", **environment}
        return Bench(machine={"processor": "a", "gpu": None}, environment=told, records=records)

    return make


@pytest.fixture
def quick() -> Callable[..., BenchSpec]:
    """Two short lengths, three calls each."""

    def make(*methods: Any, **changes: Any) -> BenchSpec:
        base: dict[str, Any] = {"lengths": (16, 32), "head_dim": 8, "n_heads": 2}
        base |= {"repeats": 3, "seconds": 0.0}
        return BenchSpec(methods=methods or ("sdpa", "elu"), **{**base, **changes})

    return make
