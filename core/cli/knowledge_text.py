"""What `knowledge` says in words: tables of groups, of signals, and of whose places are known."""

from collections.abc import Sequence

from core.cli.heads_text import aligned
from core.knowledge.record import OUTCOMES, SIGNALS, Continent, Knowledge, Share

SAID = {
    "right": "right",
    "nearest": "nearest name's",
    "most_frequent": "most frequent",
    "known_place": "other known",
    "made_up": "made up",
}
BREAKDOWNS = {
    "by_continent": "continent",
    "by_pronoun": "pronoun",
    "by_century": "born",
    "by_frequency": "place's answers in training",
}


def knowledge_text(found: Knowledge) -> str:
    """Groups, signals, calibration, breakdowns; at the end what is not there, and why."""
    read, never = found.groups[found.read].label, found.groups[found.never].label
    start = f"{found.checkpoint}, {found.split}: what was answered, in {found.seconds:.0f} s"
    often = f"; the most frequent place is {found.most_frequent}" if found.most_frequent else ""
    lines = [
        f"{start}{often}",
        *_groups(found),
        "",
        f"how well a signal tells {read!r} from {never!r} (0.5 is a coin, 1 always)",
        *_signals(found),
        "",
        f"expected calibration error of {read!r}: {found.ece:.1%} ({len(found.calibration)} bins)",
        *_breakdowns(found),
        *(f"{part.replace('_', ' ')}: {why}" for part, why in found.lacking.items()),
    ]
    return "\n".join(lines)


def _groups(found: Knowledge) -> list[str]:
    lines = [["group", "names", *SAID.values(), "median probability"]]
    for group in found.groups.values():
        shares = [
            f"{group.counts[outcome] / group.n:.1%}" if outcome in group.counts else "-"
            for outcome in OUTCOMES
        ]
        lines.append([group.label, str(group.n), *shares, f"{group.probability_median:.2g}"])
    return aligned(lines)


def _signals(found: Knowledge) -> list[str]:
    lines = [["signal", "AUROC", "95 % interval", ""]]
    for name, row in found.auroc.items():
        lines.append([SIGNALS[name], f"{row.value:.3f}", _between(row.low, row.high, 3), row.note])
    return aligned(lines)


def _breakdowns(found: Knowledge) -> list[str]:
    lines: list[str] = []
    for name, title in BREAKDOWNS.items():
        rows: Sequence[Share] = getattr(found, name)
        if rows:
            lines += ["", *_shares(title, rows)]
    if found.continents_of_invented:
        lines += ["", *_continents(found.continents_of_invented)]
    return lines


def _shares(title: str, rows: Sequence[Share]) -> list[str]:
    lines = [[title, "people", "right", "95 % interval", "made up"]]
    for row in rows:
        right, made_up = f"{row.right / row.n:.1%}", f"{row.made_up / row.n:.1%}"
        lines.append([row.name, str(row.n), right, _between(row.low, row.high), made_up])
    return aligned(lines)


def _continents(rows: Sequence[Continent]) -> list[str]:
    lines = [["invented names' places in", "names", "share", "95 % interval", "in training"]]
    for row in rows:
        share, trained = f"{row.share:.1%}", f"{row.training_share:.1%}"
        lines.append([row.name, str(row.n), share, _between(row.low, row.high), trained])
    return aligned(lines)


def _between(low: float, high: float, digits: int = 0) -> str:
    if digits:
        return f"{low:.{digits}f} to {high:.{digits}f}"
    return f"{low:.1%} to {high:.1%}"
