"""Linear attention beside its peers: time and memory, not causal and causal, forward and backward.

    python tests/benchmarks/attention.py --peers FOLDER [--lengths 512 … 8192] [--head-dims 32 64]
    … [--only causal] [--maps elu delta …] [--clock processor]

FOLDER gets a virtual environment of its own, over the packages of this one, with the peers from
the registry; what is there already is used again. A peer that does not install is named, with the
last line of its error. The measuring is done in a fresh process with OMP_WAIT_POLICY=passive and
glibc.malloc.hugetlb=1, methods in turns, 2 warm-ups, then at least 5 repeats or 0.3 seconds.
Not a test: the figures belong to the machine that is printed with them.

flash-linear-attention is measured in plain torch: the files of its wheel that hold its chunked
forms are loaded by themselves, so that neither triton nor the rest of the package is needed. On a
machine that others use, `--clock processor` counts the seconds of this process alone.

Bars: every map at least as fast as each peer with the same map, at every length; causal forward
and backward at least twice as fast as the loops of performer-pytorch and
linear-attention-transformer; causal elu+1 within 3 times its input and output at 8,192 tokens, and
Taylor within 1.5 times elu+1 and a chunk of its features; causal elu+1 1.2 times as fast as the
compiled loop of pytorch-fast-transformers forward and backward, and twice at 1,024 tokens.
"""

import argparse
import contextlib
import importlib.util
import io
import json
import os
import platform
import statistics
import subprocess
import sys
import sysconfig
import time
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

PEERS = ("performer-pytorch", "linear-attention-transformer", "pytorch-fast-transformers")
# Read from its wheel: installing it would need triton, and a newer torch than ours.
FLA = "fla-core"
FLA_FILES = ("delta_rule", "gated_delta_rule", "simple_gla")
ENVIRONMENT = {"OMP_WAIT_POLICY": "passive", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
N_HEADS, N_FEATURES, CHUNK = 8, 128, 64
SECONDS, FEWEST, MOST_SHARE = 0.3, 5, 0.6
# Ours -> peers that compute the same map.
SAME_MAP = {
    "elu+1": ("performer-pytorch elu+1", "pytorch-fast-transformers elu+1"),
    "FAVOR+": ("performer-pytorch FAVOR+",),
    "delta rule": ("flash-linear-attention delta rule",),
    "gated delta": ("flash-linear-attention gated delta",),
    "gate": ("flash-linear-attention gate",),
}
# Ours -> peers whose exact causal form is a loop or a cumulative sum over positions.
LOOPS = {
    "elu+1": ("performer-pytorch elu+1", "linear-attention-transformer"),
    "FAVOR+": ("performer-pytorch FAVOR+",),
}
# Ours -> the peer whose causal form is a compiled loop.
COMPILED = {"elu+1": ("pytorch-fast-transformers elu+1",)}
NOTES = """
linear-attention-transformer has its own maps (softmax over the numbers of a query, exp of a key or
softmax over all keys), and elu+1 in none of its forms
linear-attention-transformer, blind 64: another function, a token does not see its own bucket of 64
flash-linear-attention's delta rules divide by √d, and take keys of length 1 as they are
performer-pytorch adds 0.001 to its elu+1 features and scales its inputs by d^-¼
"""

Call = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One setting of the comparison."""

    causal: bool
    backward: bool
    head_dim: int
    seq_len: int

    def __str__(self) -> str:
        order = "causal" if self.causal else "not causal"
        passes = "forward+backward" if self.backward else "forward"
        return f"{order}, {passes}, d = {self.head_dim}, L = {self.seq_len}"


@dataclass(slots=True, kw_only=True)
class Times:
    """Milliseconds of one method in one case, and the processor's share that others used."""

    case: Case
    milliseconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    others: float = 0.0

    def median(self, name: str) -> float:
        return statistics.median(self.milliseconds[name])


def main() -> None:
    """Prepare the peers, then measure in a process of their environment."""
    arguments = parse()
    if arguments.memory:
        print(extra_bytes(arguments.memory, *arguments.lengths, *arguments.head_dims))
        return
    if arguments.missing is None:
        python, missing = prepare(arguments.peers)
        environment = {**os.environ, **ENVIRONMENT, "OMP_NUM_THREADS": str(arguments.threads)}
        flags = ["--missing", json.dumps(missing)]
        again = [str(python), __file__, *sys.argv[1:], *flags]
        raise SystemExit(subprocess.run(again, env=environment, check=False).returncode)
    compare(arguments)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peers", type=Path, help="folder for the peers' environment")
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192])
    parser.add_argument("--head-dims", type=int, nargs="+", default=[32, 64])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", choices=("causal", "not-causal"), help="one of the two orders")
    parser.add_argument("--maps", nargs="+", default=[], help="only names that hold one of these")
    parser.add_argument(
        "--clock", choices=("wall", "processor"), default="wall", help="what is measured"
    )
    parser.add_argument("--json", type=Path, help="write all repeats there")
    parser.add_argument("--missing", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    return parser.parse_args()


def prepare(folder: Path | None) -> tuple[Path, dict[str, str]]:
    """The python to measure with, and the peers that it has not, with why."""
    if folder is None:
        return Path(sys.executable), dict.fromkeys([*PEERS, FLA], "no --peers folder was given")
    python = folder.resolve() / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    inner = ("python" + sysconfig.get_python_version(), "site-packages", "outer.pth")
    folder.joinpath("lib", *inner).write_text(sysconfig.get_paths()["purelib"] + "\n")
    missing: dict[str, str] = {}
    for name in PEERS:
        known = subprocess.run(
            [python, "-m", "pip", "show", "-q", name], check=False, capture_output=True
        )
        if known.returncode == 0:
            continue
        print(f"installing {name} …", flush=True)
        command = [python, "-m", "pip", "install", "-q", "--no-build-isolation", name]
        found = subprocess.run(
            command, check=False, capture_output=True, text=True, env=without_nvcc()
        )
        if found.returncode:
            lines = [x.strip() for x in found.stderr.splitlines() if "rror" in x]
            missing[name] = lines[-1] if lines else f"pip ended with {found.returncode}"
    if not wheels(folder):
        command = [python, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, FLA]
        found = subprocess.run(command, check=False, capture_output=True, text=True)
        if found.returncode or not wheels(folder):
            lines = [x.strip() for x in found.stderr.splitlines() if "rror" in x]
            missing[FLA] = lines[-1] if lines else f"pip ended with {found.returncode}"
    return python, missing


def wheels(folder: Path | None) -> list[Path]:
    """The wheel whose files of plain torch are read."""
    return [] if folder is None else sorted(folder.glob("fla_core-*.whl"))


def without_nvcc() -> dict[str, str]:
    """A CUDA compiler without CUDA would make pytorch-fast-transformers look for the rest."""
    import torch

    if torch.version.cuda:
        return dict(os.environ)
    kept = [
        x for x in os.environ.get("PATH", "").split(os.pathsep) if not (Path(x) / "nvcc").exists()
    ]
    return {**os.environ, "PATH": os.pathsep.join(kept)}


def compare(arguments: argparse.Namespace) -> None:
    """Measure every case and print it, then the verdicts."""
    import torch

    from core.devices import processor_name

    torch.set_num_threads(arguments.threads)
    print(
        f"{platform.node()}: {processor_name()}, {os.cpu_count()} cores, "
        f"{arguments.threads} thread(s), torch {torch.__version__}, "
        f"Python {platform.python_version()}, "
        + ", ".join(f"{k}={os.environ.get(k)}" for k in ENVIRONMENT)
    )
    for name, why in arguments.missing.items():
        print(f"not installed: {name}: {why}")
    print(NOTES)
    found: list[Times] = []
    for head_dim in arguments.head_dims:
        for causal in (False, True):
            if arguments.only == ("not-causal" if causal else "causal"):
                continue
            for backward in (False, True):
                for seq_len in arguments.lengths:
                    case = Case(
                        causal=causal, backward=backward, head_dim=head_dim, seq_len=seq_len
                    )
                    found.append(measure(case, arguments))
                    show(found[-1])
    verdicts(found)
    if not arguments.maps:
        memory(8192, arguments.head_dims)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(x) for x in found]))


def measure(case: Case, arguments: argparse.Namespace) -> Times:
    """All methods in turns on the same inputs, after ours were checked against float64."""
    import torch

    clock = time.process_time if arguments.clock == "processor" else time.perf_counter

    generator = torch.Generator().manual_seed(0)
    shape = (1, N_HEADS, case.seq_len, case.head_dim)
    query, key, value = (torch.randn(shape, generator=generator) for _ in range(3))
    times, calls = Times(case=case), dict[str, Callable[[], None]]()
    check(case, query, key, value)
    for name, call in {**ours(case), **peers(case), **states(case, arguments.peers)}.items():
        if arguments.maps and not any(x in name for x in arguments.maps):
            continue
        needed, free = predicted_bytes(name, case), free_bytes()
        if needed > MOST_SHARE * free:
            times.left_out[name] = f"would take {needed / 1e9:.1f} of {free / 1e9:.1f} GB"
        else:
            calls[name] = partial(once, call, query, key, value, backward=case.backward)
            calls[name]()
            calls[name]()
    times.milliseconds = {name: [] for name in calls}
    others, own = processor_seconds(), time.process_time()
    waiting = list(calls)
    while waiting:
        for name in waiting:
            start = clock()
            calls[name]()
            times.milliseconds[name].append(1000 * (clock() - start))
        waiting = [x for x in waiting if not enough(times.milliseconds[x])]
    busy, total = (y - x for x, y in zip(others, processor_seconds(), strict=True))
    times.others = max(0.0, busy - (time.process_time() - own)) / max(total, 1e-9)
    return times


def enough(milliseconds: list[float]) -> bool:
    return len(milliseconds) >= FEWEST and sum(milliseconds) >= 1000 * SECONDS


def once(call: Call, query: Any, key: Any, value: Any, *, backward: bool) -> None:
    """One pass; the gradient that comes in is the value, which is as good as any."""
    import torch

    if not backward:
        with torch.no_grad():
            call(query, key, value)
        return
    leaves = [x.detach().requires_grad_() for x in (query, key, value)]
    call(*leaves).backward(value)


def ours(case: Case) -> dict[str, Call]:
    """The maps of core.attention, and the fused softmax as the baseline."""
    from core.attention import linear, sdpa, taylor
    from core.attention.feature_maps import elu

    maps = {
        "elu+1": elu,
        "FAVOR+": favor_map(case.head_dim),
        "Taylor, 3 terms": taylor.feature_map(case.head_dim, 3),
    }
    found: dict[str, Call] = {
        name: partial(linear.attend, feature_map=feature_map, causal=case.causal)
        for name, feature_map in maps.items()
    }
    found["SDPA"] = partial(sdpa.attend_all, causal=case.causal)
    return found


def favor_map(head_dim: int) -> Any:
    import torch

    from core.attention import favor

    generator = torch.Generator().manual_seed(1)
    return favor.feature_map(favor.draw_projection(N_FEATURES, head_dim, generator=generator))


def peers(case: Case) -> dict[str, Call]:
    """What is installed of them; their own warnings and messages are left out."""
    found: dict[str, Call] = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for build in (performer, linear_transformer, fast_transformers):
            with contextlib.suppress(ImportError):
                found.update(build(case))
    return found


def performer(case: Case) -> dict[str, Call]:
    import torch.nn.functional as F
    from performer_pytorch import FastAttention  # pyright: ignore[reportMissingImports]

    elu = FastAttention(
        case.head_dim,
        causal=case.causal,
        generalized_attention=True,
        kernel_fn=lambda x: F.elu(x) + 1.0,
    )
    elu.projection_matrix = None
    favor = FastAttention(case.head_dim, nb_features=N_FEATURES, causal=case.causal)
    return {"performer-pytorch elu+1": elu, "performer-pytorch FAVOR+": favor}


def linear_transformer(case: Case) -> dict[str, Call]:
    from linear_attention_transformer import (  # pyright: ignore[reportMissingImports]
        linear_attention_transformer as peer,
    )

    if not case.causal:
        return {"linear-attention-transformer": peer.linear_attn}
    return {
        "linear-attention-transformer": partial(peer.causal_linear_attn, bucket_size=1),
        "linear-attention-transformer, blind 64": partial(peer.causal_linear_attn, bucket_size=64),
    }


def fast_transformers(case: Case) -> dict[str, Call]:
    """Its axes are (batch, position, head, head_dim): views, which cost nothing."""
    import torch
    from fast_transformers.attention import (  # pyright: ignore[reportMissingImports]
        CausalLinearAttention,
        LinearAttention,
    )
    from fast_transformers.masking import (  # pyright: ignore[reportMissingImports]
        FullMask,
        LengthMask,
        TriangularCausalMask,
    )

    kind, mask = (
        (CausalLinearAttention, TriangularCausalMask)
        if case.causal
        else (LinearAttention, FullMask)
    )
    attention, pairs = kind(case.head_dim), mask(case.seq_len)
    lengths = LengthMask(torch.full((1,), case.seq_len))

    def call(query: Any, key: Any, value: Any) -> Any:
        query, key, value = (x.transpose(1, 2) for x in (query, key, value))
        return attention(query, key, value, pairs, lengths, lengths).transpose(1, 2)

    return {"pytorch-fast-transformers elu+1": call}


def states(case: Case, folder: Path | None) -> dict[str, Call]:
    """The delta rule, the gated one and the scalar gate, ours and theirs, checked first.

    Theirs has the chunks of its defaults, 32 tokens for the delta rule and 64 for the others. Both
    are given keys and queries of length 1, for its plain forms leave that to the layer.
    """
    import torch

    from core.attention import delta, gate, gated_delta

    if not case.causal:
        return {}
    generator = torch.Generator().manual_seed(2)
    beta, closed = (torch.rand(1, N_HEADS, case.seq_len, generator=generator) for _ in range(2))
    log_gate = torch.log1p(-0.1 * closed)
    mine: dict[str, Call] = {
        "delta rule": partial(delta.attend, beta=beta),
        "gated delta": partial(gated_delta.attend, beta=beta, log_gate=log_gate),
        "gate": partial(gate.attend, log_gate=log_gate),
    }
    found: dict[str, Call] = {name: at_length_one(call) for name, call in mine.items()}
    with contextlib.suppress(ImportError):
        for name, call in flash_linear_attention(folder, beta, log_gate).items():
            theirs, scale = at_length_one(call), 1.0 if name == "gate" else case.head_dim**0.5
            generator = torch.Generator().manual_seed(3)
            given = [torch.randn(1, N_HEADS, case.seq_len, case.head_dim, generator=generator)] * 3
            expected = found[name](*given)
            torch.testing.assert_close(theirs(*given) * scale, expected, atol=1e-3, rtol=1e-3)
            found[f"flash-linear-attention {name}"] = theirs
    return found


def at_length_one(call: Call) -> Call:
    """The same of queries and keys of length 1, which costs both sides as much."""
    import torch.nn.functional as F

    def of_directions(query: Any, key: Any, value: Any) -> Any:
        return call(F.normalize(query, dim=-1), F.normalize(key, dim=-1), value)

    return of_directions


def flash_linear_attention(folder: Path | None, beta: Any, log_gate: Any) -> dict[str, Call]:
    """Its plain forms in chunks; two of them have the axes (batch, position, head, head_dim)."""
    forms = {name: plain_file(folder, name) for name in FLA_FILES}
    rates = {"g": log_gate.transpose(1, 2), "beta": beta.transpose(1, 2)}

    def turned(form: Any, **given: Any) -> Call:
        def call(*tokens: Any) -> Any:
            return form(*(x.transpose(1, 2) for x in tokens), **given)[0].transpose(1, 2)

        return call

    rule = forms["delta_rule"].delta_rule_chunkwise
    return {
        "delta rule": lambda *tokens: rule(*tokens, beta)[0],
        "gated delta": turned(forms["gated_delta_rule"].naive_chunk_gated_delta_rule, **rates),
        "gate": turned(forms["simple_gla"].naive_chunk_simple_gla, g=rates["g"]),
    }


def plain_file(folder: Path | None, name: str) -> Any:
    """A file of the wheel as a module of its own. Raises ImportError without the wheel."""
    found = wheels(folder)
    if not found:
        raise ImportError(FLA)
    with zipfile.ZipFile(found[-1]) as wheel:
        path = wheel.extract(f"fla/ops/{name}/naive.py", found[-1].with_suffix(""))
    spec = importlib.util.spec_from_file_location(f"fla_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(case: Case, query: Any, key: Any, value: Any) -> None:
    """Ours in float32 against ours in float64, and that against its quadratic form."""
    import torch

    from core.attention import linear
    from core.attention.feature_maps import elu
    from core.attention.masks import hidden_pairs

    for feature_map in (elu, favor_map(case.head_dim)):
        attend = partial(linear.attend, feature_map=feature_map, causal=case.causal)
        double = attend(query.double(), key.double(), value.double())
        torch.testing.assert_close(attend(query, key, value).double(), double, atol=1e-4, rtol=1e-3)
        q, k, v = (x[:, :, :256].double() for x in (query, key, value))
        hidden = hidden_pairs(q, k, causal=case.causal)
        quadratic = linear.weights(q, k, feature_map, hidden=hidden) @ v
        torch.testing.assert_close(attend(q, k, v), quadratic, atol=1e-9, rtol=1e-9)


def predicted_bytes(name: str, case: Case) -> float:
    """Of the peers that form a state for every position; the others stay far below any limit."""
    per_state = N_HEADS * case.head_dim * 4
    passes = 4 if case.backward else 2
    if name == "linear-attention-transformer" and case.causal:
        return passes * case.seq_len * case.head_dim * per_state
    if name.startswith("performer") and case.causal:
        n_features = N_FEATURES if name.endswith("FAVOR+") else case.head_dim
        kept = case.seq_len if case.backward else 128
        return passes * kept * n_features * per_state
    return 0.0


def show(times: Times) -> None:
    """One case: medians with quartiles, and ours over theirs."""
    print(f"\n{times.case} (others used {times.others:.0%} of the processor)", flush=True)
    for name, milliseconds in times.milliseconds.items():
        low, middle, high = statistics.quantiles(milliseconds, n=4)
        flag = "  wide" if high - low > 0.25 * middle else ""
        print(f"  {name:42} {middle:10.2f} ms  [{low:.2f}, {high:.2f}]{flag}")
    for name, why in times.left_out.items():
        print(f"  {name:42} left out: {why}")


def verdicts(found: list[Times]) -> None:
    """Each bar with the least ratio of theirs to ours, and where it was."""
    print("\ntheirs / ours, the least over all lengths")
    for head_dim in sorted({x.case.head_dim for x in found}):
        for causal in (False, True):
            for backward in (False, True):
                chosen = [
                    x
                    for x in found
                    if (x.case.head_dim, x.case.causal, x.case.backward)
                    == (head_dim, causal, backward)
                ]
                bars = [(SAME_MAP, 1.0)] + [(LOOPS, 2.0)] * (causal and backward)
                bars += [(COMPILED, 1.2)] * (causal and backward)
                for pairs, bar in bars:
                    for mine, others in pairs.items():
                        for other in others:
                            verdict(chosen, mine, other, bar)


def verdict(found: list[Times], mine: str, other: str, bar: float) -> None:
    """One line; nothing if the peer was not there."""
    both = [x for x in found if {mine, other} <= set(x.milliseconds)]
    ratios = [(x.median(other) / x.median(mine), x.case) for x in both]
    if ratios:
        ratio, case = min(ratios, key=lambda pair: pair[0])
        word = "met" if ratio >= bar else "MISSED"
        print(f"  {word:7} {mine} against {other}: {ratio:.2f}, bar {bar:g} ({case})", flush=True)
        by_length = ", ".join(f"{case.seq_len}: {ratio:.2f}" for ratio, case in ratios)
        print(f"          {by_length}", flush=True)


def memory(seq_len: int, head_dims: list[int]) -> None:
    """What a causal forward pass takes beside its inputs, each in a fresh process."""
    print(f"\nmemory of a causal forward pass at L = {seq_len}, beside query, key and value")
    for head_dim in head_dims:
        taken: dict[str, int] = {}
        for name in ("elu+1", "FAVOR+", "Taylor, 3 terms", "Taylor, 3 terms, full"):
            command = [sys.executable, __file__, "--memory", name]
            command += ["--lengths", str(seq_len), "--head-dims", str(head_dim)]
            printed = subprocess.run(
                command, check=True, capture_output=True, text=True, env=giving_back()
            ).stdout
            taken[name] = int(printed)
            print(f"  d = {head_dim}: {name:24} {taken[name] / 1e6:8.1f} MB")
        one = N_HEADS * seq_len * head_dim * 4
        share = (3 * one + taken["elu+1"]) / (4 * one)
        word = "met" if share <= 3 else "MISSED"
        print(f"  {word}: elu+1 with its inputs is {share:.2f} times its input and output, bar 3")
        for name, n_features in (
            ("Taylor, 3 terms", (head_dim + 2) * (head_dim + 1) // 2),
            ("Taylor, 3 terms, full", 1 + head_dim + head_dim**2),
        ):
            allowed = 1.5 * taken["elu+1"] + N_HEADS * CHUNK * n_features * 4
            word = "met" if taken[name] <= allowed else "MISSED"
            print(f"  {word}: {name} {taken[name] / 1e6:.1f} MB, bar {allowed / 1e6:.1f} MB")


def giving_back() -> dict[str, str]:
    """An environment in which freed tensors leave the process, and do not count as taken."""
    kept = {k: v for k, v in os.environ.items() if k != "GLIBC_TUNABLES"}
    return {**kept, "MALLOC_MMAP_THRESHOLD_": "65536"}


def extra_bytes(name: str, seq_len: int, head_dim: int) -> int:
    """How far this process's resident memory rises over what it was with the inputs."""
    import torch

    from core.attention import linear, taylor
    from core.attention.feature_maps import elu

    torch.set_num_threads(1)
    maps: dict[str, Any] = {"elu+1": elu, "FAVOR+": favor_map(head_dim)}
    maps["Taylor, 3 terms"] = taylor.feature_map(head_dim, 3)
    maps["Taylor, 3 terms, full"] = taylor.feature_map(head_dim, 3, symmetric=False)
    x = torch.ones(1, N_HEADS, seq_len, head_dim)
    small = x[:, :, :1].contiguous()
    with torch.no_grad():
        linear.attend(small, small, small, maps[name], causal=True)
        Path("/proc/self/clear_refs").write_text("5")
        before = memory_line("VmRSS")
        linear.attend(x, x, x, maps[name], causal=True, chunk=CHUNK)
    return memory_line("VmHWM") - before


def memory_line(name: str) -> int:
    """A line of /proc/self/status in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [x for x in lines if x.startswith(name + ":")]
    return int(line.split()[1]) * 1024


def free_bytes() -> float:
    lines = Path("/proc/meminfo").read_text().splitlines()
    (line,) = [x for x in lines if x.startswith("MemAvailable:")]
    return float(line.split()[1]) * 1024


def processor_seconds() -> tuple[float, float]:
    """Seconds that all processors were busy, and that there were."""
    ticks = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    second = os.sysconf("SC_CLK_TCK")
    return (sum(ticks) - ticks[3] - ticks[4]) / second, sum(ticks) / second


if __name__ == "__main__":
    main()
