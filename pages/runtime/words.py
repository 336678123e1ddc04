"""What the page says: labels, headlines, the table of verdicts, and how a job stands."""

from collections.abc import Mapping, Sequence

from core.bench.curves import Curve, sizes_of
from core.bench.estimate import BenchEstimate
from core.bench.fits import Crossover, Fit
from core.bench.record import Bench, Setting
from core.bench.spec import GENERATION, PASS
from core.catalogue import MECHANISMS, family, label, size_of
from core.jobs.state import Job

GROWTH, STEPS, ERRORS, QUESTIONS = "Growth", "Generation", "Error", "Questions"
VIEWS = (GROWTH, STEPS, ERRORS, QUESTIONS)
ASKED = {GROWTH: PASS, STEPS: GENERATION}  # what a view's measurements ask
FIRST = "method"
EMPTY = (
    "Nothing is measured here yet. Press **Measure**: the first points appear after some seconds."
)
HOW = (
    "Point at a line to single it out. Red is exact softmax, indigo a feature map (linear "
    "attention), violet low rank, green sparse, grey-brown no pairs, pink a state. Upright "
    "lines: where a linear map overtakes SDPA, torch's fused softmax."
)
MORE = (
    "Full lines are medians, bands quartiles, dashes formulas, grey dots the least this machine "
    "could need. Hollow: read with care, its tooltip says why. Stripes and ±: 95 % intervals."
)


def machine_label(name: str, bench: Bench | None) -> str:
    """A stored machine: its hardware, and when."""
    if bench is None:
        return f"{name} (cannot be read)"
    machine = bench.machine
    what = (
        machine.get("gpu") or f"{machine.get('processor', name)}, {machine.get('cores', '?')} cores"
    )
    return f"{what} ({bench.environment.get('date', 'no date')})"


def job_label(job: Job) -> str:
    """A measurement that was started here, and where it is made."""
    when = f"{job.id[4:6]}-{job.id[6:8]} {job.id[9:11]}:{job.id[11:13]}"
    where = "here" if job.on == "local" else "on the cluster"
    return f"{where}: {job.name} ({job.state}, {when})"


def setting_label(setting: Setting) -> str:
    """What one picture shows."""
    if setting.question == GENERATION:
        return f"generation, d = {setting.head_dim}"
    order = "causal" if setting.causal else "not causal"
    return f"{order}, {setting.pass_name}, d = {setting.head_dim}"


def not_asked(question: str) -> str:
    """Of a measurement that has nothing of the question."""
    asked, other = ("generation", "whole passes")
    if question != GENERATION:
        asked, other = other, asked
    return (
        f"This measurement is of {other}, and has nothing of {asked}. Choose another, or press "
        "**Measure**: the first points appear after some seconds."
    )


def which(here: str, there: str) -> str:
    """Which machine is drawn how."""
    return f"Full lines: **{here}**. Dotted lines: **{there}**."


def conditions(bench: Bench) -> str:
    """What the times depend on, in one line."""
    environment = bench.environment
    if not environment:
        return "The machine is described when the measurement begins."
    variables = ", ".join(f"{k}={v}" for k, v in environment.get("variables", {}).items() if v)
    device = environment.get("device", "cpu")
    precise = (
        f", float32 products: {environment['float32_matmul_precision']}" if device != "cpu" else ""
    )
    return (
        f"{bench.machine.get('gpu') or bench.machine.get('processor', '?')}, {device}, "
        f"{environment.get('threads', '?')} thread(s), torch {environment.get('torch', '?')}, "
        f"{environment.get('dtype', '?')}{precise}, batch {environment.get('batch', '?')}, "
        f"{environment.get('n_heads', '?')} heads, SDPA by {environment.get('sdpa_backend', '?')}; "
        f"{variables or 'no variables set'}; {environment.get('date', '')}"
    )


def growth(curve: Curve) -> str:
    """How fast it grows, or why the lengths do not tell it."""
    is_known = curve.slope is not None and curve.slope.doubt is None
    return f"as L^{power(curve.slope)}" if is_known else power(curve.slope)


def power(slope: Fit | None) -> str:
    """The power of L with its 95 % interval, or why the lengths do not tell it."""
    if slope is None:
        return "–"
    if slope.doubt is not None or slope.half_width is None:
        return f"{slope.doubt} to tell"
    return f"{slope.slope:.2f} ± {slope.half_width:.2f}"


def headline(found: Mapping[tuple[str, str], Crossover]) -> str:
    """Which linear maps beat the fused form of softmax, and from where; else all that do."""
    against = {method: c for (method, baseline), c in found.items() if baseline == "sdpa"}
    maps = {method: c for method, c in against.items() if family(method) == "feature map"}
    if not against:
        return "Measure SDPA and another method to see where they cross."
    said = [f"{label(method)} {_shortly(c)}" for method, c in (maps or against).items()]
    return f"Faster than fused softmax, in tokens: {', '.join(said)}"


def _shortly(found: Crossover) -> str:
    """A verdict without its interval."""
    if found.seq_len is not None:
        return f"{found.verdict} {found.seq_len:,.0f}"
    return verdict(found)


def verdict(found: Crossover | None) -> str:
    """A crossover in words."""
    if found is None:
        return "–"
    if found.seq_len is not None and found.low is not None and found.high is not None:
        return f"{_shortly(found)} ({found.low:,.0f} to {found.high:,.0f})"
    if found.verdict == "several" and found.low is not None and found.high is not None:
        return f"several crossings, {found.low:,.0f} to {found.high:,.0f}"
    return found.verdict


def table(
    bench: Bench,
    times: Sequence[Curve],
    memory: Sequence[Curve],
    found: Mapping[tuple[str, str], Crossover],
    predicted: Mapping[str, float],
    there: Sequence[Curve] = (),
) -> list[dict[str, str]]:
    """A row a method: growth, and from where it is faster; its time at the longest text, and that
    of the machine beside it.
    """
    by_method = {curve.method: curve for curve in memory}
    rows: list[dict[str, str]] = []
    for curve in times:
        method = curve.method
        size = size_of(method, sizes_of(bench))
        row = {
            FIRST: f"{label(method)}{f' ({size})' if size else ''}",
            "time, power of L": power(curve.slope),
            "memory": power(by_method[method].slope) if method in by_method else "–",
            "faster than SDPA": verdict(found.get((method, "sdpa"))),
            "by operations": f"{predicted[method]:,.0f}" if method in predicted else "–",
            "faster than explicit": verdict(found.get((method, "explicit"))),
            **longest(curve, times, there),
            "what it is": MECHANISMS[method].meaning if method in MECHANISMS else "",
        }
        rows.append(row)
    return rows


def longest(curve: Curve, curves: Sequence[Curve], there: Sequence[Curve]) -> dict[str, str]:
    """A method's time at the longest text that any has, here and, if it is drawn, there."""
    at = max((point.seq_len for one in curves for point in one.points), default=None)
    if at is None:
        return {}
    cells = {f"at {at:,} tokens": _time_at(curve, at)}
    if there:
        others = {other.method: other for other in there}
        cells["dotted"] = _time_at(others.get(curve.method), at)
    return cells


def _time_at(curve: Curve | None, seq_len: int) -> str:
    points = () if curve is None else curve.points
    found = [point.value for point in points if point.seq_len == seq_len]
    return seconds_text(found[0]) if found else "–"


def seconds_text(seconds: float) -> str:
    """Three digits, in µs, ms or s."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def estimated(found: BenchEstimate, n_cases: int, ahead: float | None) -> str:
    """What a measurement would take."""
    left_out = len(found.left_out)
    more = f"; {left_out} of {n_cases} cases are left out" if left_out else ""
    wait = f" It waits about {duration(ahead)} for what runs before it." if ahead else ""
    wait = " Something else runs before it; for how long is not known." if ahead is None else wait
    return f"About {duration(found.seconds)} and {memory(found.peak_bytes)}{more}.{wait}"


def left_out(found: BenchEstimate) -> str:
    """Why, each reason once a method."""
    reasons = dict.fromkeys((method, why) for (method, _), why in found.left_out.items())
    said = "; ".join(f"{label(method)}: {why}" for method, why in reasons)
    return f"Left out: {said}." if said else ""


def duration(seconds: float) -> str:
    """Seconds up to two minutes, then minutes."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def memory(n_bytes: float) -> str:
    """MB or GB, two digits."""
    return f"{n_bytes / 1e9:.2g} GB" if n_bytes >= 1e9 else f"{max(1, round(n_bytes / 1e6))} MB"
