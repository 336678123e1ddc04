"""Numbers, vectors and matrices in LaTeX, and the table of checks in Markdown."""

from collections.abc import Sequence

from core.theory.by_hand.check import Array, Check

Lines = Sequence[Sequence[str]]
HOLDS, FAR, FAILS = ":material/check:", ":material/more_horiz:", ":material/close:"
RELATIONS = {"=": "=", "→": r"\to", "≥": r"\ge", ">": ">"}
MANY_LINES = 4
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def tex(value: float) -> str:
    """Three significant digits, no -0; powers of ten are typeset and not broken."""
    digits, _, power = f"{value + 0.0:.3g}".partition("e")
    return rf"{{{digits}\cdot 10^{{{int(power)}}}}}" if power else digits


def tex_row(values: Array) -> str:
    """A row of numbers in parentheses; lines may break after a comma."""
    return "(" + r",\allowbreak\;".join(tex(float(value)) for value in values) + ")"


def tex_matrix(rows: Array) -> str:
    """A matrix of numbers."""
    body = r"\\".join("&".join(tex(float(value)) for value in row) for row in rows)
    return rf"\begin{{bmatrix}}{body}\end{{bmatrix}}"


def tex_lines(lines: Lines) -> str:
    """Lines of formulas, inline: a line that is too long wraps where a display would be cut off.

    Many lines stand closer together than few.
    """
    shown = [" \u2003 ".join(rf"$\displaystyle {each}$" for each in line) for line in lines]
    return ("\n\n" if len(shown) < MANY_LINES else "  \n").join(shown)


def key_names(n: int) -> list[str]:
    """k₁ … kₙ, for charts."""
    return [f"k{i}".translate(SUBSCRIPTS) for i in range(1, n + 1)]


def check_table(checks: Sequence[Check]) -> str:
    """Claims as a Markdown table: claim, number here, and the verdict with its error."""
    rows = [
        f"| {_cell(check.claim)} | ${tex(check.value)}$ | {_verdict(check)} |" for check in checks
    ]
    return "\n".join(["| claim | here | check |", "|:--|--:|:--|", *rows])


def _verdict(check: Check) -> str:
    """The claim with its icon; a limit also with how far off it is, unless `here` says so."""
    claimed = f"${RELATIONS[check.relation]} {tex(check.claimed)}$"
    if check.verdict == "fails" and check.limit is not None:
        return rf"{FAILS} $\to {tex(check.limit)}$, not ${tex(check.claimed)}$"
    if check.verdict == "fails":
        return f"{FAILS} not {claimed}"
    if check.verdict == "holds":
        return f"{HOLDS} {claimed}"
    off = f", off by ${tex(check.error)}$" if check.claimed else ""
    return f"{HOLDS if check.holds else FAR} {claimed}{off}"


def _cell(text: str) -> str:
    """A bar would end the cell of the table; in mathematics there is another one."""
    return text.replace("|", r"\vert ")
