"""What is chosen in each control that a page drew, as it is read there."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetState

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
}
TYPED = ("number_input", "text_input", "text_area")
States = Mapping[str, WidgetState]


def choice(
    element: Element, states: States, hidden: Collection[str] = frozenset()
) -> Choice | None:
    """The control's label and what is chosen; None if the element is no control, or one whose key
    is hidden.

    A value stands in the element where the page has just set it, else in the session's state, which
    has the default of a control that nobody has touched, too.
    """
    kind = str(element.WhichOneof("type"))
    if kind not in CONTROLS:
        return None
    control = getattr(element, kind)
    if any(control.id.endswith(f"-{key}") for key in hidden):  # an id ends in the key
        return None
    if CONTROLS[kind] and control.set_value:
        words = kind == "slider" and control.options
        value = _said(getattr(control, "raw_value" if words else CONTROLS[kind]))
    else:
        value = _held(states.get(control.id))
    usual = control.placeholder if kind in TYPED else ""  # what an empty field stands for
    return Choice(label=control.label, value=value or usual or NOTHING)


def _held(state: WidgetState | None) -> str:
    """A value of the session."""
    kind = None if state is None else state.WhichOneof("value")
    if state is None or kind is None:
        return ""
    if kind == "file_uploader_state_value":
        return _said(one.name for one in state.file_uploader_state_value.uploaded_file_info)
    value: Any = getattr(state, kind)
    return _said(value.data if kind.endswith("_array_value") else value)


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(map(_said, value))
    return str(value)
