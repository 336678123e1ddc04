"""One run on a machine with a GPU: trains, stops, goes on, evaluates, traces, measures mechanisms.

    python tests/device/measure.py --device cuda --out assets/benchmarks/MACHINE.json
    python tests/device/measure.py --device cpu --quick --out /tmp/tried.json

It takes at most four minutes (`--quick`: less, of shorter texts and a few steps; its figures say
nothing). Each part has seconds of its own; one that fails or is too slow is written down as failed,
and the others stay. The file is one of Runtime's stored machines, with more beside the records:
`training`, `evaluation`, `trace`, `kernels` (those of torch, and flash-linear-attention's where it
is installed), `seconds` of each part, and `failed`. Not a test: the figures belong to the machine
that is written with them.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.bench.machine import describe_machine  # noqa: E402
from core.bench.record import Bench, read_bench  # noqa: E402
from core.bench.summary import summaries_of  # noqa: E402
from core.catalogue import METHODS, ONLY_CAUSAL, WITHOUT_CAUSAL_FORM, WRITERS  # noqa: E402
from core.devices import resolve_device  # noqa: E402
from core.files import check_target, write_json  # noqa: E402
from core.runs.card import machine  # noqa: E402

MOST_SECONDS = 240.0
BUDGETS = {
    "training": 100.0,
    "evaluation": 15.0,
    "trace": 15.0,
    "mechanisms": 80.0,
    "kernels": 25.0,
}
QUICK_SECONDS = 3600.0
ENDING_SECONDS = 10.0  # that a program has to end after it was asked to
QUESTION = "Where was Ada Lovelace born?"
LENGTHS, QUICK_LENGTHS = (512, 1024, 2048, 4096, 8192), (64, 128)
GENERATION = ("--question", "generation")
LINES_BEFORE_STOP = 8  # of progress, of which a training tells twenty


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured where, and what there is time for."""

    device: str
    quick: bool
    folder: Path
    budgets: Mapping[str, float] = field(default_factory=lambda: BUDGETS)

    @property
    def checkpoint(self) -> Path:
        return self.folder / "trained"

    @property
    def lengths(self) -> tuple[int, ...]:
        return QUICK_LENGTHS if self.quick else LENGTHS


Part = Callable[[Plan, float], dict[str, Any]]


def measured(
    plan: Plan, parts: Mapping[str, Part], *, clock: Callable[[], float] = time.monotonic
) -> dict[str, Any]:
    """What each part gives, one after the other; what fails is told under `failed`."""
    found: dict[str, Any] = {}
    failed: dict[str, str] = {}
    seconds: dict[str, float] = {}
    began = clock()
    for name, part in parts.items():
        started = clock()
        left = min(plan.budgets[name], MOST_SECONDS - (started - began))
        if plan.quick:  # nothing is to be learned from its times
            left = QUICK_SECONDS
        try:
            found[name] = part(plan, left)
        except (ValueError, OSError, KeyError, RuntimeError, subprocess.SubprocessError) as error:
            failed[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"
        seconds[name] = round(clock() - started, 1)
        print(f"{name}: {failed.get(name, 'done')} in {seconds[name]:.0f} s", file=sys.stderr)
    return {**found, "failed": failed, "seconds": seconds}


def train(plan: Plan, seconds: float) -> dict[str, Any]:
    """A minute of `notable-small`, stopped after a part of it and gone on with to its end. Dev is
    left to the next part, and so are the snapshots, whose figures take as long as the training.
    """
    length = ("--steps", "20") if plan.quick else ("--minutes", "1")
    began = time.monotonic()
    out = str(plan.checkpoint)
    asked = ["train", "--preset", "notable-small", *length, "--tuning", "--device", plan.device]
    _train_until([*asked, "--out", out], 1 if plan.quick else LINES_BEFORE_STOP, seconds)
    stopped = time.monotonic() - began
    said = _core(["train", "--resume", out, "--json"], seconds - stopped)
    card = json.loads(said)
    kept = ("n_steps", "seconds", "where", "machine", "n_parameters", "figures")
    report = {name: card.get(name) for name in kept}
    return {
        **report,
        "preset": "notable-small",
        "stopped_after_seconds": round(stopped, 1),
        "steps_per_second": round(card["n_steps"] / card["seconds"], 2),
    }


def evaluate(plan: Plan, seconds: float) -> dict[str, Any]:
    """All dev questions, and how long it took to answer them."""
    folder = str(plan.checkpoint)
    asked = ["evaluate", "--checkpoint", folder, "--split", "dev", "--device", plan.device]
    report = json.loads(_core([*asked, "--json"], seconds))
    kept = ("split", "correct", "total", "accuracy", "interval_95", "seconds")
    return {name: report[name] for name in kept}


def trace(plan: Plan, seconds: float) -> dict[str, Any]:
    """One question, with the proof that the weights shown are those used."""
    asked = ["trace", "--checkpoint", str(plan.checkpoint), "--device", plan.device, "--json"]
    return {"question": QUESTION, **json.loads(_core([*asked, QUESTION], seconds))}


def mechanisms(plan: Plan, seconds: float) -> dict[str, Any]:
    """Every mechanism of Runtime: forward, with the backward pass, both causal, and generation.

    A setting that comes to its time is stopped as by Ctrl-C, and keeps what it has.
    """
    out, problems = plan.folder / "bench.json", list[str]()
    settings = [(), ("--causal",), ("--backward",), ("--causal", "--backward"), GENERATION]
    for setting in settings:
        asked = ["bench", "--device", plan.device, "--out", str(out), *setting]
        asked += ["--lengths", *map(str, plan.lengths), "--methods", *_methods(setting)]
        asked += ["--repeats", "3", "--seconds", "0" if plan.quick else "0.1"]
        try:
            _core(asked, seconds / len(settings), keeps=True)
        except (RuntimeError, subprocess.SubprocessError) as error:
            problems.append(f"{' '.join(setting) or 'forward'}: {error}")
    if not out.exists():
        raise RuntimeError("; ".join(problems) or "nothing was measured")
    return {"file": str(out), "problems": problems}


def kernels(plan: Plan, seconds: float) -> dict[str, Any]:
    """The fused kernels by name, in a process of their own: what ends it ends nothing else."""
    script = [sys.executable, str(Path(__file__).with_name("kernels.py"))]
    asked = ["--device", plan.device, "--lengths", *map(str, plan.lengths)]
    said = _said([*script, *asked, "--seconds", "0" if plan.quick else "0.1"], seconds)
    return json.loads(said.splitlines()[-1])


PARTS: dict[str, Part] = {
    "training": train,
    "evaluation": evaluate,
    "trace": trace,
    "mechanisms": mechanisms,
    "kernels": kernels,
}


def report(plan: Plan, found: dict[str, Any]) -> dict[str, Any]:
    """The file: a stored machine of Runtime, and the other parts beside it."""
    bench = Bench(machine=describe_machine(plan.device), environment={}, records=())
    told = found.pop("mechanisms", None)
    if told is not None:
        bench = replace(read_bench(Path(told["file"])), machine=bench.machine)
        found["failed"] |= {f"mechanisms {n}": said for n, said in enumerate(told["problems"])}
    return {
        "machine": bench.machine,
        "environment": bench.environment,
        **summaries_of(bench),
        **found,
        "device": plan.device,
        "described": machine(),
        "quick": plan.quick,
        "records": [record.to_dict() for record in bench.records],
    }


def _methods(setting: tuple[str, ...]) -> list[str]:
    if setting == GENERATION:
        return list(WRITERS)
    without = WITHOUT_CAUSAL_FORM if "--causal" in setting else ONLY_CAUSAL
    return [method for method in METHODS if method not in without]


def _core(arguments: list[str], seconds: float, *, keeps: bool = False) -> str:
    """What a verb prints. With `keeps`, being interrupted at the end of its time is no failure."""
    return _said([sys.executable, "-m", "core", *arguments], seconds, keeps=keeps)


def _said(command: list[str], seconds: float, *, keeps: bool = False) -> str:
    """Standard output. Raises RuntimeError with the last line of its errors."""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        late = False
        try:
            out, errors = process.communicate(timeout=max(seconds, 1.0))
        except subprocess.TimeoutExpired:
            late = True
            out, errors = _ended(process)
    if process.returncode and not (late and keeps):
        why = (errors.splitlines() or ["no answer"])[-1]
        raise RuntimeError(f"more than {seconds:.0f} s" if late else why)
    return out


def _ended(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """As by Ctrl-C; whoever does not hear it is killed."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()


def _train_until(arguments: list[str], n_lines: int, seconds: float) -> None:
    """Train until it has told its progress so often, then stop it between two steps."""
    command = [sys.executable, "-m", "core", *arguments]
    until, lines, last = time.monotonic() + seconds, 0, ""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            last, lines = line.strip() or last, lines + line.startswith("step ")
            if lines == n_lines or time.monotonic() > until:
                process.send_signal(signal.SIGINT)
                lines = n_lines + 1
    if "continue with --resume" not in last:
        raise RuntimeError(f"it did not stop as asked: {last}")


def main() -> None:
    """Measure and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto", help="auto unless told")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="to try the script, not the machine")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    check_target(options.out)
    device = resolve_device(options.device)
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(device=device, quick=options.quick, folder=Path(folder))
        found = measured(plan, {name: PARTS[name] for name in options.parts})
        write_json(options.out, report(plan, found))
    print(f"{options.out}: {', '.join(found['failed']) or 'nothing'} failed")


if __name__ == "__main__":
    main()
