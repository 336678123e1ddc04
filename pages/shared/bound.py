"""Streamlit's controls with their value in the address, each under its key.

They are called as Streamlit's own. With `follows` a default is computed: an untouched control has
it after every change of what it depends on, and a chosen value stays, in the address, too, even
where it equals the default. A link may name an option as the page or as the command line does.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import streamlit as st

from core.data.characters import compose
from pages.shared import link

Option = TypeVar("Option")
Number = TypeVar("Number", int, float)
Ends = tuple[str, str]
Labels = dict[Any, str]  # of each option, as it stands in the address
BIND: Any = "query-params"
SWITCH = {"true": "on", "false": "off"}


def selectbox(
    label: str,
    options: Sequence[Option],
    index: int | None = 0,
    *,
    key: str,
    format_func: Callable[[Option], str] = str,
    follows: bool = False,
    **how: Any,
) -> Option:
    """One of several; None only where `index` is None."""
    labels = {option: format_func(option) for option in options}
    asked = _asked(key, labels)
    if follows:
        index = options.index(_declared(key, options[index or 0], labels, asked))
    else:
        _keep(key, labels, None if index is None else options[index])
    chosen: Any = st.selectbox(
        label, options, index, key=key, bind=BIND, format_func=format_func, **how
    )
    link.settle(key, label, asked, [labels[chosen]] if chosen in labels else [])
    return chosen


@overload
def segmented_control(
    label: str, options: Sequence[Option], *, default: Option, key: str, **how: Any
) -> Option: ...
@overload
def segmented_control(
    label: str, options: Sequence[Option], *, key: str, **how: Any
) -> Option | None: ...
def segmented_control(
    label: str,
    options: Sequence[Option],
    *,
    default: Option | None = None,
    key: str,
    format_func: Callable[[Option], str] = str,
    **how: Any,
) -> Option | None:
    """One of several, side by side."""
    labels = {option: format_func(option) for option in options}
    asked = _asked(key, labels)
    _keep(key, labels, default)
    chosen: Any = st.segmented_control(
        label, options, default=default, key=key, bind=BIND, format_func=format_func, **how
    )
    link.settle(key, label, asked, [labels[chosen]] if chosen in labels else [])
    return chosen


def select_slider(
    label: str,
    options: Sequence[Option],
    value: Option | None = None,
    *,
    key: str,
    format_func: Callable[[Option], str] = str,
    follows: bool = False,
    **how: Any,
) -> Option:
    """One of several in their order; the first unless `value` is given."""
    labels = {option: format_func(option) for option in options}
    default = options[0] if value is None else value
    asked = _asked(key, labels)
    if follows:
        default = _declared(key, default, labels, asked)
    else:
        _keep(key, labels, default)
    chosen: Any = st.select_slider(
        label, options, default, key=key, bind=BIND, format_func=format_func, **how
    )
    link.settle(key, label, asked, [labels[chosen]])
    return chosen


def range_slider(
    label: str, options: Sequence[str], value: Ends, *, key: str, follows: bool = False, **how: Any
) -> Ends:
    """The first and the last of several in their order."""
    asked = link.named(key)
    if follows:
        value = _declared_ends(key, options, value, asked)
    low, high = st.select_slider(label, options, value, key=key, bind=BIND, **how)
    link.settle(key, label, asked, [low, high])
    return low, high


def pills(
    label: str,
    options: Sequence[Option],
    *,
    default: Sequence[Option] = (),
    key: str,
    format_func: Callable[[Option], str] = str,
    **how: Any,
) -> list[Option]:
    """Any of several, side by side."""
    labels = {option: format_func(option) for option in options}
    asked = _asked(key, labels, several=True)
    chosen: Any = st.pills(
        label,
        options,
        selection_mode="multi",
        default=list(default),
        key=key,
        bind=BIND,
        format_func=format_func,
        **how,
    )
    link.settle(key, label, asked, [labels[option] for option in chosen])
    return chosen


def multiselect(
    label: str,
    options: Sequence[Option],
    *,
    key: str,
    format_func: Callable[[Option], str] = str,
    **how: Any,
) -> list[Option]:
    """Any of several, from a list."""
    labels = {option: format_func(option) for option in options}
    asked = _asked(key, labels, several=True)
    chosen: Any = st.multiselect(label, options, key=key, bind=BIND, format_func=format_func, **how)
    link.settle(key, label, asked, [labels[option] for option in chosen])
    return chosen


def toggle(label: str, *, value: bool = False, key: str, **how: Any) -> bool:
    """On or off."""
    asked = link.named(key)
    on = st.toggle(label, value, key=key, bind=BIND, **how)
    said = None if asked is None else [SWITCH.get(text.lower(), text) for text in asked]
    link.settle(key, label, said, [SWITCH[str(on).lower()]])
    return on


def slider(label: str, *limits: Number, key: str, **how: Any) -> Number:
    """A number between limits: least, most, default, step."""
    asked = link.named(key)
    chosen: Any = st.slider(label, *limits, key=key, bind=BIND, **how)
    link.settle(key, label, asked, _number(asked, chosen))
    return chosen


def number_input(label: str, *limits: Any, key: str, **how: Any) -> Any:
    """A typed number; None where its default is None and nothing is typed."""
    asked = link.named(key)
    chosen = st.number_input(label, *limits, key=key, bind=BIND, **how)
    link.settle(key, label, asked, _number(asked, chosen))
    return chosen


def text_input(label: str, value: str = "", *, key: str, follows: bool = False, **how: Any) -> str:
    """A typed text."""
    asked = link.named(key)
    named = asked[-1] if asked else None
    if follows and link.is_chosen(key, value, named, lambda held: isinstance(held, str)):
        typed = st.session_state[key] if named is None else named
        value = "" if typed else value  # any but what is typed, see _declared
    text = st.text_input(label, value, key=key, bind=BIND, **how)
    link.settle(key, label, asked, [text])
    return text


def _asked(key: str, labels: Labels, *, several: bool = False) -> list[str] | None:
    """What a link names, in the page's spelling as far as it is an option."""

    def options_of(spelled: list[str]) -> Any:
        found = [option for option, name in labels.items() if name in spelled]
        return found if several else found[0]

    return link.named(key, lambda text: _respelled(text, labels), options_of)


def _respelled(text: str, labels: Labels) -> str:
    """The label of an option that is named by it, by its own name, or as a terminal types it."""
    if text in labels.values():
        return text
    for option, name in labels.items():
        if text == str(option) or _typed(text) == _typed(name):
            return name
    return text


def _typed(text: str) -> str:
    """L0·H3 as somebody types it, l0h3; decomposed letters are composed."""
    return compose(text).replace("·", "").casefold()


def _keep(key: str, labels: Labels, default: Any) -> None:
    """Labels depend on what is shown: the address gets the new one of an option that stays."""
    if link.is_new(key) or key not in st.session_state:
        return
    held = st.session_state[key]
    if held is not None and held not in labels:
        st.session_state[key] = default
    elif key in st.query_params and st.query_params.get_all(key) != [labels.get(held)]:
        st.session_state[key] = held


def _declared(key: str, default: Option, labels: Labels, asked: list[str] | None) -> Option:
    """The default that Streamlit is told, for it leaves a default out of the address.

    That of an untouched control is the computed one; that of a chosen one is any but its value.
    """
    named = next((o for o, name in labels.items() if asked and name == asked[-1]), None)
    if not link.is_chosen(key, default, named, labels.__contains__):
        return default
    _keep(key, labels, default)
    held = st.session_state[key] if named is None else named
    return next((option for option in reversed(labels) if option != held), default)


def _declared_ends(
    key: str, options: Sequence[str], default: Ends, asked: list[str] | None
) -> Ends:
    """The same for a range, which can be had if both its ends can."""
    named = (asked[0], asked[-1]) if asked and {*asked} <= {*options} else None
    if not link.is_chosen(key, default, named, lambda held: {*(held or "?")} <= {*options}):
        return default
    held, whole = named or tuple(st.session_state[key]), (options[0], options[-1])
    return whole if held != whole else (options[0], options[0])


def _number(asked: list[str] | None, chosen: float | None) -> list[str]:
    """A number as it was asked for, if that is the same number."""
    if chosen is None:
        return []
    try:
        same = asked is not None and float(asked[-1]) == chosen
    except ValueError:
        same = False
    return list(asked) if same and asked else [str(chosen)]
