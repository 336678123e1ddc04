"""Which question set is asked: shipped, the server's own, recorded beside the weights, or uploaded.

Files are read by a name from a list of what lies in their folders, never by a typed path. What is
uploaded stays in the session; its name is shown and used for nothing. Free of torch.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import streamlit as st

from core.data.people import Rule
from core.data.question_file import MOST_BYTES, list_sets, parse_set, read_set
from core.data.question_set import FIRST_TOKENS, RULES, QuestionSet
from core.data.task import Task
from core.paths import question_folders
from pages.shared import bound
from pages.shared.text import plain
from pages.shared.uploads import File, choose_file

OWN, UPLOAD = "its own questions", "upload a table"  # no set's name has a space
UPLOADED = "uploaded"  # the set's name, whatever the file's
FREE = "free text"
RULE_NAMES: dict[Rule, str] = {"first-tokens": "its first tokens", "exact": "its exact text"}
FILE_KEY = "set-file"
HELP = (
    "A question set is a table of prompts and answers. The server's own lie in the folder that "
    "EXPLORER\\_QUESTIONS names; yours can be uploaded."
)
FORM = (
    "Tab separated, in UTF-8, at most 1 MB: a header `prompt`, `answer` and, if you like, "
    "`subject`, then a question a line."
)


def choose_set(
    task: Task | None, *, prefix: str = "", recorded: Mapping[str, QuestionSet] | None = None
) -> QuestionSet | None:
    """The controls of the side bar; None for the task's own questions or free text, and while a
    set is missing or cannot be read. `recorded` sets are offered though their file may be gone.
    """
    kept, files = recorded or {}, list_sets(question_folders())
    names = sorted({*files, *kept} - {UPLOADED})
    own = FREE if task is None else OWN
    chosen = bound.selectbox(
        "Questions",
        [OWN, *names, UPLOAD],
        format_func=lambda option: own if option == OWN else option,
        key=f"{prefix}set",
        help=HELP,
    )
    if chosen == OWN:
        return None
    uploaded = _choose_file() if chosen == UPLOAD else None
    if chosen == UPLOAD and uploaded is None:
        return None
    rule = _choose_rule(prefix)
    try:
        found = _read(uploaded, rule) if uploaded else _named(files, kept, chosen, rule)
    except ValueError as error:
        st.error("This question set cannot be used.", icon=":material/block:")
        st.text(str(error))
        return None
    st.caption(f"{len(found.questions)} questions. An answer is {plain(found.right)}.")
    return found


def _choose_rule(prefix: str) -> Rule:
    return bound.segmented_control(
        "An answer is judged by",
        list(RULES),
        default=FIRST_TOKENS,
        required=True,
        format_func=RULE_NAMES.__getitem__,
        key=f"{prefix}right",
    )


def _choose_file() -> File | None:
    kept = choose_file("Your table", FILE_KEY, MOST_BYTES, said=FORM)
    if kept is None:
        st.caption(FORM)
    return kept


def _read(file: File, rule: Rule) -> QuestionSet:
    """Raises ValueError in one sentence for whatever is wrong."""
    if file.size > MOST_BYTES:
        raise ValueError(f"the table has {file.size:,} bytes; at most {MOST_BYTES:,} are read")
    return _parsed(file.digest, rule, file.data)


def _named(
    files: Mapping[str, Path], recorded: Mapping[str, QuestionSet], name: str, rule: Rule
) -> QuestionSet:
    """A set from its file or, without one, from what is recorded. Raises ValueError."""
    if name not in files:
        return _judged(recorded[name], rule)
    try:
        status = files[name].stat()
    except OSError as error:
        raise ValueError(f"{name}: cannot be read ({error.strerror})") from None
    return _from_file(str(files[name]), rule, status.st_mtime_ns, status.st_size)


def _judged(found: QuestionSet, rule: Rule) -> QuestionSet:
    """The same questions under another rule."""
    questions = tuple(replace(question, rule=rule) for question in found.questions)
    return replace(found, rule=rule, questions=questions)


@st.cache_resource(max_entries=16, show_spinner=False)
def _parsed(digest: str, rule: Rule, _data: bytes) -> QuestionSet:
    return parse_set(_data, UPLOADED, rule, where="the table")


@st.cache_resource(max_entries=32, show_spinner=False)
def _from_file(path: str, rule: Rule, modified: int, size: int) -> QuestionSet:
    try:
        return read_set(Path(path), rule)
    except ValueError as error:  # where the server keeps its files is nobody's business
        raise ValueError(str(error).replace(path, Path(path).name)) from None
