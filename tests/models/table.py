"""The table of families: what holds for each, and why not where it does not."""

from core.models.outside import OutsideModel
from tests.models.families import FAMILIES
from tests.models.measured import MEASURES, measured
from tests.models.odd_families import REFUSED, SEVERAL_STREAMS
from tests.models.tiny_models import make_model


def table() -> str:
    """Largest relative differences from the untouched model under its own default attention, a
    family a line; a number in brackets stands for a reason below.
    """
    reasons: list[str] = []

    def because(why: str) -> str:
        if why not in reasons:
            reasons.append(why)
        return f"[{reasons.index(why) + 1}]"

    def cell(name: str, what: str) -> str:
        found = measured(name, what)
        if isinstance(found, str):
            return because(found)
        return f"{found:.0e}" if found else "0"

    lines = [["family", "layers", *MEASURES]]
    for name in FAMILIES:
        kinds = " ".join(dict.fromkeys(FAMILIES[name].kinds))
        lines.append([name, kinds, *(cell(name, what) for what in MEASURES)])
    for family in (*REFUSED, SEVERAL_STREAMS):
        why = because(refusal(make_model(family)))
        lines.append([family.name, "refused", *[why] * len(MEASURES)])
    below = [f"[{index}] {why}" for index, why in enumerate(reasons, 1)]
    return "\n".join([*aligned(lines), "", *below])


def refusal(module: object) -> str:
    """The sentence, without the name of the class."""
    try:
        OutsideModel(module, has_head=True)  # pyright: ignore[reportArgumentType]
    except ValueError as error:
        said = str(error)
        return said.replace(type(module).__name__, "the model")
    raise AssertionError(f"{type(module).__name__} was not refused")


def aligned(lines: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
