"""To another address of this app from within it, its own page included.

What an address names is taken as the browser's way back takes it: every control that it does not
name has its default, whatever the session remembers.
"""

from collections.abc import Iterable, Mapping
from typing import NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.query_params import QueryParams

Query = Mapping[str, str | Iterable[str]]


def file_of(page: str) -> str:
    """The file that Streamlit opens for the path of an address; "" is the home page."""
    return f"pages/{page or 'home'}/page.py"


def go(page: str, query: Query) -> NoReturn:
    """Open a page with this query and nothing else."""
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as params:
            _unbind(params, query)
    st.switch_page(file_of(page), query_params=query)


def _unbind(params: QueryParams, query: Query) -> None:
    """Streamlit refuses to set a key that a control of the present page is bound to."""
    for key in query:
        if binding := params.get_binding_for_param(key):
            params.unbind_widget(binding.widget_id)


def _add(params: QueryParams, query: Query) -> None:
    for key, value in query.items():
        params.set_with_no_forward_msg(key, value if isinstance(value, str) else list(value))


def is_way_back() -> bool:
    """Whether the browser's history led here."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def replace(query: Query) -> None:
    """On the way back, before any control is drawn: another address for this entry."""
    context = get_script_run_ctx()
    if context is None:
        return
    with context.session_state.query_params() as params:
        _unbind(params, query)
        params.clear_with_no_forward_msg(preserve_embed=True)
        _add(params, query)
        params.set_initial_query_params_from_current()
    st.query_params.from_dict({key: st.query_params.get_all(key) for key in st.query_params})


def arrive(query: Query) -> bool:
    """Before any control is drawn: add to the address what it does not name, and let it win over
    what the session remembers. Whether the browser has yet to be told of the addition.
    """
    context = get_script_run_ctx()
    if context is None:
        return False
    back, missing = context.is_history_navigation, set(query) - set(st.query_params)
    with context.session_state.query_params() as params:
        _add(params, {key: query[key] for key in missing})
        params.set_initial_query_params_from_current()
    context.is_history_navigation = True
    return bool(missing) and not back
