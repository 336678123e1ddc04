"""Names of the visitor's own, asked like all others. Stub until core asks them."""

from core.knowledge.record import Group
from pages.knowledge.controls import Chosen


def own_group(chosen: Chosen) -> Group | None:
    return None


def show_own(chosen: Chosen, own: Group | None) -> None:
    return None
