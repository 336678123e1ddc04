"""Question sets from files: UTF-8, tab separated, read strictly. Free of torch.

A header `prompt<TAB>answer` or `prompt<TAB>answer<TAB>subject`, then a question a line. White space
around a cell does not matter. A subject is a text that stands in its prompt once, or where it
stands there as start:end, in characters from 0, the end not included; an empty one says nothing.
How large a file may be is asked before it is read.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from core.data.characters import compose, split_lines
from core.data.people import Rule
from core.data.question_set import (
    FIRST_TOKENS,
    NAME,
    RESERVED,
    QuestionSet,
    check_name,
    checked_span,
    make_question,
    make_set,
)
from core.reading import read_bytes

MOST_BYTES = 2**20
MOST_QUESTIONS = 2_000
MOST_SETS = 200  # of a folder
HEADERS = (("prompt", "answer"), ("prompt", "answer", "subject"))
_SPAN = re.compile(r"([0-9]{1,6}):([0-9]{1,6})")


def read_set(path: Path, rule: Rule = FIRST_TOKENS) -> QuestionSet:
    """A set from a file, under the file's name.

    Raises ValueError naming file, line, and what is allowed.
    """
    check_name(path.stem)
    return parse_set(read_bytes(path, MOST_BYTES), path.stem, rule, where=str(path))


def parse_set(raw: bytes, name: str, rule: Rule = FIRST_TOKENS, *, where: str = "") -> QuestionSet:
    """A set from the bytes of a file, which an error calls `where`.

    Raises ValueError naming line and what is allowed.
    """
    where = where or name
    if len(raw) > MOST_BYTES:
        raise ValueError(f"{where}: {len(raw):,} bytes; at most {MOST_BYTES:,} are read")
    lines = [compose(line) for line in split_lines(raw, name=where)]
    n_columns = _n_columns(lines, where)
    if len(lines) - 1 > MOST_QUESTIONS:
        raise ValueError(f"{where}: {len(lines) - 1:,} questions; {MOST_QUESTIONS:,} are allowed")
    rows = (
        (f"{where}, line {number}", _cells(line, n_columns, f"{where}, line {number}"))
        for number, line in enumerate(lines[1:], 2)
    )
    found = [
        (line, make_question(prompt, answer, _span(prompt, subject, line), line, rule))
        for line, (prompt, answer, subject) in rows
    ]
    return make_set(name, rule, found, where)


def list_sets(folders: Iterable[Path]) -> dict[str, Path]:
    """The files of question sets by name, sorted; of one name, that of the last folder.

    Only files that lie there as NAME.tsv: no name leads anywhere else. At most MOST_SETS a folder.
    """
    found: dict[str, Path] = {}
    for folder in folders:
        names = sorted(p for p in folder.glob("*.tsv") if NAME.fullmatch(p.stem) and p.is_file())
        kept = [path for path in names if path.stem not in RESERVED][:MOST_SETS]
        found |= {path.stem: path for path in kept}
    return dict(sorted(found.items()))


def _n_columns(lines: Sequence[str], where: str) -> int:
    if not lines:
        raise ValueError(f"{where}: empty; a header and at least one question are needed")
    header = tuple(cell.strip() for cell in lines[0].split("\t"))
    if header not in HEADERS:
        raise ValueError(
            f"{where}, line 1: the header must be prompt and answer, or prompt, answer and "
            "subject, with a tab between them"
        )
    return len(header)


def _cells(line: str, n_columns: int, where: str) -> tuple[str, str, str]:
    """Prompt, answer, and the subject or nothing."""
    if not line.strip():
        raise ValueError(f"{where}: an empty line; every line is a question")
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) != n_columns:
        raise ValueError(
            f"{where}: {len(cells)} columns, the header has {n_columns}, with a tab between them"
        )
    prompt, answer, *rest = cells
    return prompt, answer, rest[0] if rest else ""


def _span(prompt: str, subject: str, where: str) -> tuple[int, int] | None:
    """Where a subject stands."""
    if not subject:
        return None
    times = prompt.count(subject)
    if times == 1:
        start = prompt.index(subject)
        return start, start + len(subject)
    if times > 1:
        raise ValueError(
            f"{where}: the subject {subject!r:.80} stands {times} times in the prompt; say which "
            "as start:end, in characters from 0"
        )
    given = _SPAN.fullmatch(subject)
    if given is None:
        raise ValueError(
            f"{where}: the subject {subject!r:.80} does not stand in the prompt; a part of it, or "
            "start:end in characters from 0, is needed"
        )
    return checked_span(prompt, int(given[1]), int(given[2]), where)
