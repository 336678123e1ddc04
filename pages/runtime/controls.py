"""What is looked at: stored machines and jobs, the view, the setting, what is drawn with it, and
what can be done with a job. Without torch, so that the page opens at once.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core import paths
from core.bench.record import Bench, Setting, read_bench
from core.bench.spec import GENERATION
from core.bench.summary import methods_of
from core.catalogue import label
from core.jobs.bench_job import bench_of
from core.jobs.state import Job, list_benches
from pages.runtime import words
from pages.shared import bound, link
from pages.shared import jobs as job_kit
from pages.shared.jobs import JobPage

PAGE = JobPage(refusals="rt-said", chosen="rt-source", view="rt-view", query="bench")
NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a measurement is: a stored file, or the folder of a job."""

    id: str
    label: str
    path: Path
    job: Job | None = None


def all_sources() -> dict[str, Source]:
    """Jobs, the newest first, then stored machines; by what stands in the address."""
    found = [
        Source(id=job.id, label=words.job_label(job), path=paths.RUNS / job.id, job=job)
        for job in benches()
    ]
    found += _machines()
    return {source.id: source for source in found}


def _machines() -> list[Source]:
    """Stored ones; those that say the same of themselves are told apart by their files' names."""
    stored = sorted(paths.BENCHMARKS.glob("*.json"))
    labels = {path: words.machine_label(path.stem, _stored(path)) for path in stored}
    alike = Counter(labels.values())
    return [
        Source(
            id=path.stem,
            label=said if alike[said] == 1 else f"{said}, {path.stem}",
            path=path,
        )
        for path, said in labels.items()
    ]


def benches() -> list[Job]:
    """All measurements of this server, the newest first."""
    return list_benches(paths.RUNS)


def read_source(source: Source) -> Bench:
    """What has been measured there so far. Raises ValueError for a damaged file."""
    if source.job is not None:
        return bench_of(source.path)
    return _read(source.path, source.path.stat().st_mtime)


def show_actions(job: Job) -> None:
    """The buttons of one measurement."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        job_kit.stop_go_remove(
            PAGE,
            job,
            prefix="rt-",
            kept="What is measured is kept.",
            left="Only what is not measured yet.",
            lost="Its points are lost.",
        )
    job_kit.say_refused(job, "stop" if job.is_active else "remove")


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """One setting of a measurement as it is drawn, None where it asks another `question`; `beside`
    is another machine's, `pointed` are methods that stand out.
    """

    source: str
    question: str
    setting: Setting | None
    pointed: tuple[str, ...]
    hidden: tuple[str, ...]
    formulas: bool
    floors: bool
    beside: str | None


def choose() -> tuple[str, Looked | None]:
    """The view, and what is looked at where something is measured; None where nothing is."""
    line = st.grid(12, min_column_width=66, gap="xsmall", vertical_alignment="bottom")
    first, second, third, fourth = (line.cell(column_span=span) for span in (5, 3, 3, 1))
    with first:
        view = bound.segmented_control(
            "View",
            list(words.VIEWS),
            default=words.GROWTH,
            required=True,
            key=PAGE.view,
            label_visibility="collapsed",
        )
    view = view or words.GROWTH
    sources = all_sources()
    if sources:
        link.known(PAGE.query)
    if view not in words.ASKED or not sources:
        return view, None
    question = words.ASKED[view]
    with second:
        source = _choose_source(sources, question)
    bench = _bench(source)
    with third:
        chosen = _choose_setting(source, bench, question)
    with fourth:
        looked = _choose_display(bench, sources, source, chosen, question)
    return view, looked


def _choose_source(sources: dict[str, Source], question: str) -> Source:
    """Which measurement: at first what is measured right now, or else a stored machine, or else
    the newest; of those that ask this question, if there are any.
    """
    asking = {key: source for key, source in sources.items() if _asks(source, question)}
    able = asking or sources
    active = [s.id for s in able.values() if s.job is not None and s.job.is_active]
    stored = [s.id for s in able.values() if s.job is None]
    first = (active or stored or list(able))[0]
    labels = {source.id: source.label for source in sources.values()}
    return sources[job_kit.choose(PAGE, "Measurement", labels, first=first, what="measurement")]


def _asks(source: Source, question: str) -> bool:
    """Whether something of the question is measured there; what cannot be read may."""
    if source.job is not None:
        return source.job.bench is None or source.job.bench.spec.question == question
    bench = _stored(source.path)
    return bench is None or any(setting.question == question for setting in bench.settings)


def _bench(source: Source) -> Bench | None:
    try:
        return read_source(source)
    except ValueError:  # it is said where the pictures would stand
        return None


def _choose_setting(source: Source, bench: Bench | None, question: str) -> Setting | None:
    """Of a stored machine, one of its settings that ask the question; a job has one."""
    known = [] if bench is None else bench.settings
    if source.job is not None and source.job.bench is not None:
        spec = source.job.bench.spec
        known = [Setting(spec.causal, spec.pass_name, spec.head_dim)]
    options = {words.setting_label(s): s for s in known if s.question == question}
    if not options:
        return None
    prefix = "rt-steps" if question == GENERATION else "rt-setting"
    return options[
        bound.selectbox(
            "Setting",
            list(options),
            key=f"{prefix}-{len(options)}",
            follows=True,
            label_visibility="collapsed",
        )
    ]


def _choose_display(
    bench: Bench | None,
    sources: dict[str, Source],
    source: Source,
    setting: Setting | None,
    question: str,
) -> Looked:
    with st.popover("", icon=":material/tune:", help="What is drawn", width="stretch"):
        measured = [] if bench is None else methods_of(bench.records)
        pointed = bound.multiselect("Point out", measured, format_func=label, key="rt-point")
        hidden = bound.multiselect("Leave out", measured, format_func=label, key="rt-hidden")
        formulas = bound.toggle("Formulas (dashed)", value=True, key="rt-formulas")
        floors = bound.toggle("Floor of the machine", value=True, key="rt-floors")
        others = [key for key in sources if key != source.id]
        beside = bound.selectbox(
            "Beside it (dotted)",
            [NOTHING, *others],
            format_func=lambda key: sources[key].label if key in sources else key,
            key="rt-beside",
        )
    return Looked(
        source=source.id,
        question=question,
        setting=setting,
        pointed=tuple(pointed),
        hidden=tuple(hidden),
        formulas=formulas,
        floors=floors,
        beside=None if beside == NOTHING else beside,
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(path: Path, modified: float) -> Bench:
    return read_bench(path)


def _stored(path: Path) -> Bench | None:
    """None where the file cannot be read; whoever chooses it is told why."""
    try:
        return _read(path, path.stat().st_mtime)
    except ValueError:
        return None
