"""What the address names, what of it cannot be had, and which defaults gave way to a choice.

A link is read where a control is drawn for the first time since its page was opened. What it names
and no control takes is said in one place at the top of the page, until another choice is made.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared.text import plain

STATE = "link"
MOST_CHARACTERS = 60  # of a value, in a sentence
# Of an address, what belongs to the view as a whole and to no control.
OF_THE_VIEW = frozenset({"lesson", "lesson-step", "hide", "weights", "class", "pupil", "present"})
Spelled = list[str]
Query = frozenset[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Refused:
    """What a link asked of a control, and what was chosen instead."""

    label: str
    asked: Spelled
    instead: Spelled


@dataclass(slots=True)
class Link:
    """What a session remembers: `met`, `quiet` and `refused` since its `page` was opened, `drawn`
    and what else was `told` in the last whole run; by page all its `keys` and the query that a menu
    led to (`came`); by key its label and the default that was `put` last.
    """

    page: str | None = None
    came: bool = False
    met: set[str] = field(default_factory=set[str])
    quiet: set[str] = field(default_factory=set[str])
    drawn: set[str] = field(default_factory=set[str])
    refused: dict[str, Refused] = field(default_factory=dict[str, Refused])
    keys: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    queries: dict[str, Query] = field(default_factory=dict[str, Query])
    chosen: set[str] = field(default_factory=set[str])
    put: dict[str, Any] = field(default_factory=dict[str, Any])
    labels: dict[str, str] = field(default_factory=dict[str, str])
    told: list[str] = field(default_factory=list[str])


def open_page(page: str, *, arrives: bool = False) -> None:
    """Before a page is drawn: what its controls remember, and on the way back in the browser, too.

    What `arrives` is taken as the browser's way back takes an entry, and was left behind by nobody.

    Streamlit leaves entries without the page's whole query in the browser's history when a menu is
    followed, and takes the default of every control that an entry does not name. Drawn again as
    after a menu, the page has the values of the session, and they return into the address. Any
    other entry is shown as it was.
    """
    link, context = _link(), get_script_run_ctx()
    back = context is not None and context.is_history_navigation
    moved, keys = link.page != page, link.keys.setdefault(page, set())
    _drop_foreign(link, page)
    if back and not arrives and _is_left_behind(link, page):
        if moved:
            _begin(link, page)
        for key in link.met & set(st.session_state):
            st.session_state[key] = st.session_state[key]
        st.rerun()
    if back:
        for key in keys - set(st.query_params):
            link.chosen.discard(key)
            link.put.pop(key, None)
    if back or moved:
        _begin(link, page)
        link.came = not back
    link.drawn.clear()


def _is_left_behind(link: Link, page: str) -> bool:
    """Whether nobody has seen an entry of the history: without any key of a page that was left, or
    on the way to the whole query of a page that was come back to.
    """
    if link.page != page:
        return link.page is not None and not link.keys[page] & set(st.query_params)
    return _query() < link.queries.get(page, frozenset())


def _drop_foreign(link: Link, page: str) -> None:
    """Streamlit also writes what another page's controls say below this page's path."""
    elsewhere = {key for keys in link.keys.values() for key in keys} - link.keys[page]
    elsewhere -= OF_THE_VIEW
    for key in elsewhere & set(st.query_params):
        del st.query_params[key]


def _begin(link: Link, page: str) -> None:
    link.page = page
    for known_here in (link.met, link.quiet, link.refused):
        known_here.clear()


def _query() -> Query:
    return frozenset((key, tuple(st.query_params.get_all(key))) for key in st.query_params)


def tell(sentence: str) -> None:
    """Say this, too, at the top of the page; in Markdown."""
    _link().told.append(sentence)


def controls() -> dict[str, str]:
    """The labels of all controls that the last whole run drew, by key, in their order."""
    link = _link()
    return {key: label for key, label in link.labels.items() if key in link.drawn}


def keys_here() -> frozenset[str]:
    """The keys of the page that is open, as far as it has drawn or named them."""
    link = _link()
    return frozenset(link.keys.get(link.page or "", set()))


def say(place: DeltaGenerator, *, covered: bool = False) -> None:
    """After a page was drawn: every sentence about what a link named in vain.

    Of a page that is still covered nothing is known.
    """
    link = _link()
    told, link.told = link.told, []
    if covered:
        _show(place, told)
        return
    if link.came:
        link.came = False
        link.queries[link.page or ""] = _query()
    told += [_refusal(found) for key, found in link.refused.items() if key in link.drawn]
    told += [
        f"The link also names {plain(key)} {_quoted(st.query_params.get_all(key))}; with what is "
        "shown here there is nothing of that kind to choose."
        for key in st.query_params
        if key not in link.met | link.quiet | OF_THE_VIEW
    ]
    _show(place, told)


def _show(place: DeltaGenerator, sentences: Sequence[str]) -> None:
    if sentences:
        place.warning("  \n".join(sentences), icon=":material/link_off:")


def known(*keys: str) -> None:
    """These belong to the page, though no control of the present view may take them."""
    link = _link()
    link.quiet.update(keys)
    link.keys.setdefault(link.page or "", set()).update(keys)


def named(
    key: str,
    respell: Callable[[str], str] = str,
    read: Callable[[Spelled], Any] | None = None,
) -> Spelled | None:
    """What a link names for a control, None if nothing or if the control was drawn before.

    Another spelling than the page's own is mended in the address, and the page is drawn again;
    `read` gives the value of what is spelled.
    """
    asked = st.query_params.get_all(key)
    if not is_new(key) or not asked:
        return None
    spelled = [respell(text) for text in asked]
    if spelled != asked and read is not None:
        _mend(key, spelled, read)
    return asked


def _mend(key: str, spelled: Spelled, read: Callable[[Spelled], Any]) -> None:
    """Does not return."""
    try:
        st.query_params[key] = spelled
    except StreamlitAPIException:  # on the way back the control has it already
        st.session_state[key] = read(spelled)
        _meet(key)
    st.rerun()


def is_new(key: str) -> bool:
    """Whether a control was not drawn yet since its page was opened."""
    return key not in _link().met


def settle(key: str, label: str, asked: Spelled | None, shown: Spelled) -> None:
    """After a control was drawn: keep what was asked in vain until another choice is made."""
    _meet(key)
    _link().labels[key] = label
    refused = _link().refused
    if asked is not None and _essence(asked) != _essence(shown):
        refused[key] = Refused(label, asked, shown)
    elif key in refused and refused[key].instead != shown:
        del refused[key]


def is_chosen(key: str, default: Any, named: Any, is_possible: Callable[[Any], bool]) -> bool:
    """Whether somebody chose the value of a control, or its computed default is followed.

    `named` is the value that a link names, or None. A value that the session holds is chosen if it
    is not the default that was put there; once chosen it stays, though it may equal the default.
    """
    link, held = _link(), st.session_state.get(key)
    if named is not None:
        link.chosen.add(key)
        return True
    if not is_possible(held):
        link.chosen.discard(key)
    elif key in link.put and held != link.put[key]:
        link.chosen.add(key)
    if key in link.chosen:
        if key not in st.query_params:  # what code sets goes into the address, too
            st.session_state[key] = held
        return True
    link.put[key] = default
    if held is not None and held != default:
        st.session_state[key] = default
    return False


def _meet(key: str) -> None:
    link = _link()
    link.met.add(key)
    link.drawn.add(key)
    link.keys.setdefault(link.page or "", set()).add(key)


def _link() -> Link:
    return st.session_state.setdefault(STATE, Link())


def _refusal(found: Refused) -> str:
    instead = f"{_quoted(found.instead)} was" if _essence(found.instead) else "nothing was"
    return (
        f"The link asks for {_quoted(found.asked)} as {plain(found.label)}, which cannot be had "
        f"here; {instead} chosen instead."
    )


def _quoted(values: Sequence[str]) -> str:
    return ", ".join(f"“{plain(value[:MOST_CHARACTERS])}”" for value in values)


def _essence(values: Iterable[str]) -> set[str]:
    """Without order and empty values, which stand for nothing in an address."""
    return {value for value in values if value}
