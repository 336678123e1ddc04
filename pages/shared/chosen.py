"""What is chosen in each control that a page drew, as it is read there."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from core.offline.parts import Choice

NOTHING = "nothing"
# Kinds of controls, and the field that holds what the page itself has just set.
CONTROLS = {
    "selectbox": "raw_value",
    "multiselect": "raw_values",
    "button_group": "raw_values",
    "slider": "value",
    "checkbox": "value",
    "number_input": "value",
    "text_input": "value",
    "text_area": "value",
    "radio": "raw_value",
    "file_uploader": "",
    "audio_input": "",
}
TYPED = ("number_input", "text_input", "text_area")
ValueOf = Callable[[str], str]


def choice(
    element: Element,
    value_of: ValueOf,
    hidden: Collection[str] = frozenset(),
    only: Collection[str] | None = None,
) -> Choice | None:
    """The control's label and what is chosen; None if the element is no control, or one whose key
    is hidden or not among `only`.

    A value stands in the element where the page has just set it, else in the session's state:
    `value_of` gives it for the control's id.
    """
    kind = str(element.WhichOneof("type"))
    if kind not in CONTROLS:
        return None
    control = getattr(element, kind)
    key = control.id.split("-", maxsplit=2)[-1]  # an id is "$$ID", a hash and the key
    if key in hidden or (only is not None and key not in only):
        return None
    if CONTROLS[kind] and control.set_value:
        words = kind == "slider" and control.options
        value = _said(getattr(control, "raw_value" if words else CONTROLS[kind]))
    else:
        value = value_of(control.id)
    usual = control.placeholder if kind in TYPED else ""  # what an empty field stands for
    return Choice(label=control.label, value=value or usual or NOTHING)


def session_values(context: ScriptRunContext) -> ValueOf:
    """The values of a session's controls, as they are read.

    A browser names no control that it does not show, such as those of a closed popover; the session
    remembers their values, but not how they are spelled.
    """
    states = {state.id: state for state in context.session_state.get_widget_states()}

    def value_of(id_: str) -> str:
        if id_ in states:
            return _held(states[id_])
        return _said(context.session_state[id_]) if id_ in context.session_state else ""

    return value_of


def _held(state: WidgetState) -> str:
    kind = state.WhichOneof("value")
    if kind is None:
        return ""
    if kind == "file_uploader_state_value":
        return _said(one.name for one in state.file_uploader_state_value.uploaded_file_info)
    value: Any = getattr(state, kind)
    return _said(value.data if kind.endswith("_array_value") else value)


def _said(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(map(_said, value))
    return str(value)
