"""Anyone's models on the pages: what is on the shelf, loaded once for all sessions, and how they
are asked. Free of torch until one is opened.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from core.checkpoints.anyones import most_memory, open_anyones
from core.checkpoints.found import digest_of, find_model
from core.checkpoints.kept import Kept
from core.checkpoints.models_shelf import MODELS, Listed, find_listed, list_models
from core.checkpoints.progress import Progress, silent
from core.checkpoints.shelf import CARD
from core.inspection.traced import AttentionTrace
from core.paths import CHECKPOINTS
from pages.shared import bound
from pages.shared.text import plain

if TYPE_CHECKING:
    from core.checkpoints.store import Checkpoint

MOST_TRACE_BYTES = 2_000_000_000  # of all traces that are kept, for all sessions
MOST_TOKENS, USUAL_TOKENS = 200, 8


@dataclass(frozen=True, slots=True)
class Writing:
    """How anyone's model is asked: how many tokens it writes at most, whether in a chat, and the
    target that it is given in their place, where it has a source.
    """

    n_tokens: int = USUAL_TOKENS
    in_chat: bool = False
    target: str = ""


USUAL = Writing()


def model_names() -> list[str]:
    """Anyone's models by their names; what is wrong with the server's folder is said."""
    try:
        return [model.name for model in list_models()]
    except ValueError as error:
        st.caption(plain(str(error)))
        return []


def listed(name: str) -> Listed | None:
    """Anyone's model by its name; None for a checkpoint of this project."""
    if (CHECKPOINTS / name / CARD).is_file():
        return None
    return find_listed(name, list_models())


def choose_writing(name: str, *, prefix: str = "") -> Writing:
    """How many tokens are written, and whether the text is said in a chat."""
    if listed(name) is None:
        return USUAL
    n_tokens = bound.number_input(
        "Tokens to write, at most",
        min_value=1,
        max_value=MOST_TOKENS,
        value=USUAL_TOKENS,
        key=f"{prefix}tokens",
        help="Greedy, with the model's key-value cache; it stops where the text ends. An encoder "
        "fills [MASK] instead.",
    )
    in_chat = bound.toggle(
        "Chat template",
        key=f"{prefix}chat",
        help="Put what the model's makers put around what somebody says. The tokens that really go "
        "in are those of the picture.",
    )
    return Writing(n_tokens or USUAL_TOKENS, bool(in_chat))


def model_digest(model: Listed) -> str:
    """The digest of its files, read anew when one has another time or size. Raises NotAModel."""
    model.refuse_wrong()
    return _files_digest(str(model.path), _states(model.path))


def opened(model: Listed, digest: str, writing: Writing) -> "Checkpoint":
    """The model, loaded unless it is kept. Raises NotAModel, and ValueError for a chat with a model
    that has no template.
    """
    from core.data.outside_vocabulary import OutsideVocabulary  # noqa: PLC0415 - loads tokenizers

    stored = _open(model, digest, silent)
    vocabulary = stored.vocabulary
    if writing.in_chat and isinstance(vocabulary, OutsideVocabulary):
        vocabulary = vocabulary.as_chat()
    return replace(stored, name=model.name, vocabulary=vocabulary, limit=writing.n_tokens)


def make_ready(model: Listed) -> None:
    """Load a model before it is asked, saying what is being done. Raises NotAModel."""
    digest, name = model_digest(model), plain(model.name)
    if (str(model.path), digest) in kept_models().keys:
        return
    place = st.empty()
    with place.status(f"Opening {name}") as status:
        _open(model, digest, lambda said: status.update(label=f"{name}: {plain(said)}"))
    place.empty()


def home_of(name: str) -> Path:
    """Where what is recorded of a checkpoint lies; of anyone's model not beside its files."""
    own = CHECKPOINTS / name
    return own if (own / CARD).is_file() else MODELS / name


@st.cache_resource(max_entries=1, show_spinner=False)
def kept_models() -> "Kept[Checkpoint]":
    """Anyone's models that are loaded, for all sessions."""
    return Kept("this model", most_memory)


@st.cache_resource(max_entries=1, show_spinner=False)
def kept_traces() -> Kept[AttentionTrace]:
    """Traces, for all sessions: one of 512 tokens may take as much as a hundred of ours."""
    return Kept("this trace", _most_trace_bytes)


def _most_trace_bytes() -> int:
    return MOST_TRACE_BYTES


def _open(model: Listed, digest: str, progress: Progress) -> "Checkpoint":
    def load(said: Progress) -> "tuple[Checkpoint, int]":
        stored = open_anyones(model.path, name=Path(model.name).name, progress=said)
        return stored, int(stored.card["opened"]["bytes"])

    n_bytes = int(model.facts.get("bytes", 0))
    return kept_models().get((str(model.path), digest), load, n_bytes=n_bytes, progress=progress)


def _states(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Names, times and sizes of what a model is made of."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    looked = [(file.name, file.stat()) for file in files if file.is_file()]
    return tuple((name, found.st_mtime_ns, found.st_size) for name, found in looked)


@st.cache_data(max_entries=64, show_spinner=False)
def _files_digest(path: str, states: tuple[tuple[str, int, int], ...]) -> str:
    return digest_of(find_model(Path(path)))
