"""What is looked at: the view, the measurement, its setting, and what is drawn with it."""

from dataclasses import dataclass

import streamlit as st

from core.bench.record import Bench, Setting
from core.bench.summary import methods_of
from core.catalogue import label
from pages.runtime import actions, data, words
from pages.runtime.data import Source
from pages.shared import bound, link
from pages.shared.text import plain

NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """One setting of a measurement as it is drawn; `beside` is another machine's."""

    source: str
    setting: Setting | None
    hidden: tuple[str, ...]
    formulas: bool
    floors: bool
    beside: str | None


def choose() -> tuple[str, Looked | None]:
    """The view, and what is looked at in the first of them; None where nothing is measured."""
    first, second, third, fourth = st.columns([1.45, 1.35, 1.3, 0.5], vertical_alignment="bottom")
    with first:
        view = bound.segmented_control(
            "View",
            list(words.VIEWS),
            default=words.GROWTH,
            required=True,
            key=actions.VIEW,
            label_visibility="collapsed",
        )
    sources = data.sources()
    if sources:
        link.known(actions.QUERY)
    if view not in (None, words.GROWTH) or not sources:
        return view or words.GROWTH, None
    with second:
        source = _choose_source(sources)
    bench = _bench(source)
    with third:
        chosen = _choose_setting(source, bench)
    with fourth:
        hidden, formulas, floors, beside = _choose_display(bench, sources, source)
    return words.GROWTH, Looked(
        source=source.id,
        setting=chosen,
        hidden=hidden,
        formulas=formulas,
        floors=floors,
        beside=beside,
    )


def _choose_source(sources: dict[str, Source]) -> Source:
    """Which measurement; its id stands in the address."""
    asked = link.named(actions.QUERY)
    wanted = asked[-1] if asked else st.session_state.get(actions.SOURCE)
    if asked is None and wanted is not None and wanted not in sources:
        st.caption(f"There is no measurement {plain(wanted[:40])} any more.")
    st.session_state[actions.SOURCE] = wanted if wanted in sources else _first(sources)
    chosen = st.selectbox(
        "Measurement",
        list(sources),
        format_func=lambda key: sources[key].label if key in sources else key,
        key=actions.SOURCE,
        label_visibility="collapsed",
        persist_state="session",
    )
    link.settle(actions.QUERY, "Measurement", asked, [chosen])
    st.query_params[actions.QUERY] = chosen
    return sources[chosen]


def _first(sources: dict[str, Source]) -> str:
    """What is measured right now, or else a stored machine, or else the newest."""
    active = [s.id for s in sources.values() if data.is_active([s])]
    stored = [s.id for s in sources.values() if s.job is None]
    return (active or stored or list(sources))[0]


def _bench(source: Source) -> Bench | None:
    try:
        return data.bench(source)
    except ValueError:  # it is said where the pictures would stand
        return None


def _choose_setting(source: Source, bench: Bench | None) -> Setting | None:
    """Of a stored machine, one of its settings; a job has one."""
    known = [] if bench is None else bench.settings
    if source.job is not None and source.job.bench is not None:
        spec = source.job.bench.spec
        known = [Setting(spec.causal, spec.pass_name, spec.head_dim)]
    options = {words.setting_label(setting): setting for setting in known}
    if not options:
        return None
    return options[
        bound.selectbox(
            "Setting",
            list(options),
            key=f"rt-setting-{len(options)}",
            follows=True,
            label_visibility="collapsed",
        )
    ]


def _choose_display(
    bench: Bench | None, sources: dict[str, Source], source: Source
) -> tuple[tuple[str, ...], bool, bool, str | None]:
    with st.popover("", icon=":material/tune:", help="What is drawn", width="stretch"):
        measured = [] if bench is None else methods_of(bench.records)
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
    return tuple(hidden), formulas, floors, None if beside == NOTHING else beside
