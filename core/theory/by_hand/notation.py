"""What is typed into the small examples is read, and vectors and matrices are spelled in LaTeX."""

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LETTERS = "abcd"
MOST_NUMBERS, MOST_ROWS, MOST_CHARACTERS = 12, 12, 300
GREATEST, LEAST_SHOWN = 1000.0, 5e-4
_TERM = re.compile(r"([+-]?)(\d+(?:\.\d*)?|\.\d+)?\*?(I|[abcd][abcd]|0(?![\d.]))")


def read_numbers(text: str, *, name: str) -> Array:
    """Numbers between spaces or commas: "1, 0.5 -2"."""
    typed = _limited(text, name).strip()
    if not typed:
        raise ValueError(f"{name}: nothing typed; type numbers such as 1, 0.5, -2")
    words = re.split(r"\s*,\s*|\s+", typed)
    if "" in words:
        raise ValueError(f"{name}: number {words.index('') + 1} is empty; a comma too many?")
    if len(words) > MOST_NUMBERS:
        raise ValueError(f"{name}: {len(words)} numbers; at most {MOST_NUMBERS}")
    return np.array([_number(word, name) for word in words])


def read_rows(text: str, *, name: str) -> Array:
    """Vectors of one length between semicolons: "1 0; 0 1"; shape (vectors, d)."""
    parts = _limited(text, name).strip().rstrip(";").split(";")
    if len(parts) > MOST_ROWS:
        raise ValueError(f"{name}: {len(parts)} vectors; at most {MOST_ROWS}")
    rows = [read_numbers(part, name=f"{name}, vector {i + 1}") for i, part in enumerate(parts)]
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1:
        raise ValueError(f"{name}: vectors of {sizes[0]} and {sizes[-1]} numbers; one length")
    return np.array(rows)


def read_matrix(text: str, *, name: str) -> Array:
    """A sum of outer products over β²: "bb - cc" is (u_b u_bᵀ − u_c u_cᵀ)/β², "I" the identity.

    The matrix (4, 4) stands in the basis u_a/β, u_b/β, u_c/β, u_d/β, where u_x u_yᵀ/β² has one 1.
    """
    squeezed = re.sub(r"[\s_']", "", _limited(text, name).replace("−", "-"))
    if not squeezed:
        raise ValueError(f"{name}: nothing typed; type a sum such as bb - cc, 0.5 da + I, or 0")
    matrix = np.zeros((len(LETTERS), len(LETTERS)))
    at = 0
    while at < len(squeezed):
        term = _TERM.match(squeezed, at)
        if term is None or (at and not term[1]):
            raise ValueError(
                f"{name}: cannot read {squeezed[at : at + 12]!r}; a sum of I and of pairs of the "
                f"letters {LETTERS} is allowed, such as bb - cc or 0.5 da + cd"
            )
        size = _number(term[2] or "1", name) * (-1 if term[1] == "-" else 1)
        if term[3] == "I":
            matrix += size * np.eye(len(LETTERS))
        elif term[3] != "0":
            matrix[LETTERS.index(term[3][0]), LETTERS.index(term[3][1])] += size
        at = term.end()
    return matrix


def spell_vector(vector: Sequence[float] | Array) -> str:
    """LaTeX of a vector in multiples of u_a … u_d: "u_b - u_c"."""
    return _sum([(float(x), f"u_{letter}") for x, letter in zip(vector, LETTERS, strict=True)])


def spell_matrix(matrix: Array) -> str:
    r"""LaTeX of a matrix in that basis: "(u_b u_b^\top - u_c u_c^\top)/\beta^2", "I", "0"."""
    diagonal = float(matrix[0, 0])
    if diagonal and np.array_equal(matrix, diagonal * np.eye(len(LETTERS))):
        return _sum([(diagonal, "I")])
    terms = [
        (float(matrix[i, j]), rf"u_{LETTERS[i]} u_{LETTERS[j]}^\top")
        for i in range(len(LETTERS))
        for j in range(len(LETTERS))
    ]
    spelled = _sum(terms)
    return spelled if spelled == "0" else rf"({spelled})/\beta^2"


def _sum(terms: Sequence[tuple[float, str]]) -> str:
    text = ""
    for size, symbol in terms:
        if abs(size) < LEAST_SHOWN:
            continue
        shown = f"{abs(size):.3g}"
        sign = "-" if size < 0 else "+" if text else ""
        gap = " " if text else ""
        times = "" if shown == "1" else shown + r"\,"
        text += f"{gap}{sign}{gap}{times}{symbol}"
    return text or "0"


def _limited(text: str, name: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"{name}: {len(text)} characters; at most {MOST_CHARACTERS}")
    return text


def _number(word: str, name: str) -> float:
    try:
        number = float(word.replace("−", "-"))
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise ValueError(f"{name}: {word!r} is no number")
    if abs(number) > GREATEST:
        raise ValueError(f"{name}: {word} is out of range; from -{GREATEST:g} to {GREATEST:g}")
    return number
