"""What `heads` says in words: the table, and how far it is."""

import sys
import time
from typing import Any

from core.checkpoints.progress import Counted
from core.inspection.head_rows import HeadTable
from core.inspection.heads import head_name

INSTEAD = {"zero": "zero", "mean": "its mean over the {} questions"}
NAMES = "head|looks at|weight on name|contribution|attribution|accuracy without".split("|")


def off_text(report: dict[str, Any]) -> str:
    """Some heads off together, in a sentence."""
    return (
        f"{report['checkpoint']}, {report['split']}: {report['accuracy']:.1%} of "
        f"{report['total']} with every head, {report['accuracy_without']:.1%} without "
        f"{', '.join(report['off'])} ({report['mode']} in their place); {report['changed']} "
        f"answers change, log-probability {report['log_probability_change']:+.2f} on average"
        f"{_rule(report)}"
    )


def table_text(report: dict[str, Any], table: HeadTable) -> str:
    """The heads that matter most first."""
    lines = [[*NAMES]] if "right" not in report else [[n.replace("name", "subject") for n in NAMES]]
    for row in table.by_importance:
        numbers = (row.weight_on_name, row.contribution, row.attribution)
        shown = ["-" if value is None else f"{value:.2g}" for value in numbers]
        name = head_name(row.layer, row.head)
        lines.append([name, row.caption, *shown, f"{row.accuracy_without:.1%}"])
    agreed = "; ".join(
        f"{pair.replace('_', ' ')}: {'not defined' if value is None else f'{value:.2f}'}"
        for pair, value in report["rank_agreement"].items()
    )
    over = "dev" if "right" not in report else f"{report['split']}"
    start = (
        f"{report['checkpoint']}, {report['split']}: {report['accuracy']:.1%} of "
        f"{report['total']} with every head; a head that is off gives "
        f"{INSTEAD[table.mode].format(over)}{_rule(report)}{_left_out(report)}"
    )
    together = [
        f"those that matter {which}, off together "
        f"({', '.join(head_name(*at) for at in off.heads)}): {off.accuracy_without:.1%}"
        for which, off in (("most", table.most), ("least", table.least))
    ]
    return "\n".join([start, *aligned(lines), *together, f"rank agreement (Spearman): {agreed}"])


def aligned(lines: list[list[str]]) -> list[str]:
    """Lines of cells as columns of one width each."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def _rule(report: dict[str, Any]) -> str:
    """What is right, of a question set."""
    return f"\nan answer is {report['right']}" if "right" in report else ""


def _left_out(report: dict[str, Any]) -> str:
    if "measured" not in report:
        return ""
    n, left = len(report["measured"]), report["not_measured"]
    return (
        f"\nswitched off alone were the {n} heads of {n + left} with the largest "
        f"{report['chosen_by']}; of the other {left} nobody knows here what they are worth, and "
        "what follows speaks of the former only"
    )


def progress_over(n_questions: int | None, n_tables: int = 1) -> Counted | None:
    """Says on standard error how far it is, on a terminal; over a question set, which may be asked
    of a large model, also how long it will take, from the second head on: by what it took.
    """
    on_terminal = sys.stderr.isatty()
    if n_questions is None:
        return _show if on_terminal else None
    times: list[float] = []

    def say(done: int, total: int) -> None:
        times.append(time.perf_counter())
        if len(times) == 2:
            one = times[1] - times[0]
            whole = (total * n_tables - 2) * one
            print(
                f"{total} heads, each off alone over {n_questions} questions: one takes "
                f"{one:.2g} s, all that are left about {_long(whole)}; --top N measures fewer",
                file=sys.stderr,
            )
        if on_terminal:
            _show(done, total)

    return say


def _long(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _show(done: int, total: int) -> None:
    print(f"\r{done} of {total} heads", end="\n" if done == total else "", file=sys.stderr)
