"""The choices of the form: text, kind of training, preset, length, model. Core checks them."""

from contextlib import suppress
from datetime import datetime, tzinfo
from typing import get_args
from zoneinfo import ZoneInfo

import streamlit as st

from core import paths
from core.catalogue import TRAINED, settable_sizes
from core.checkpoints.shelf import list_checkpoints
from core.jobs.spec import corpus_folder
from core.models.config import Positions
from core.paths import COURSE_VARIABLE
from core.runs.fine_tuning import can_start_from
from core.training.presets import FINE_TUNING, PRESETS, Kind, presets_of
from core.training.recipe import Corpus, Overrides, Recipe
from pages.shared import bound
from pages.shared.jobs import JobPage
from pages.shared.text import plain
from pages.training import words

PAGE = JobPage(refusals="training-said", chosen="training-run", view="training-view", query="job")


def choose_preset() -> str:
    """The name of a preset, by its text and its kind."""
    corpus = _choose_corpus()
    kinds: dict[str, Kind] = {
        name: kind for kind, name in words.KINDS.items() if presets_of(corpus, kind)
    }
    kind = kinds[bound.selectbox("Training", list(kinds), key="training-kind", follows=True)]
    names = presets_of(corpus, kind)
    if len(names) == 1:
        return names[0]
    return bound.selectbox("Preset", names, key=f"training-preset-{corpus}-{kind}")


def _choose_corpus() -> Corpus:
    lacking = {corpus: said for corpus in words.CORPORA if (said := _why_lacking(corpus))}
    corpora: list[Corpus] = [corpus for corpus in words.CORPORA if corpus not in lacking]
    chosen: Corpus = bound.segmented_control(
        "Text to learn from",
        corpora,
        default=corpora[0],
        required=True,
        format_func=words.CORPORA.__getitem__,
        key="training-corpus",
        help=f"The course's files lie in the folder that {COURSE_VARIABLE} names.",
    )
    for said in lacking.values():
        st.caption(plain(f"Not to choose from: {said}."))
    return chosen


def _why_lacking(corpus: Corpus) -> str:
    """Why nothing can be learned from it here; empty where it can."""
    try:
        corpus_folder(next(recipe for recipe in PRESETS.values() if recipe.corpus == corpus))
    except ValueError as error:
        return str(error)
    return ""


def choose_checkpoint(recipe: Recipe) -> str | None:
    """The checkpoint that a fine-tuning begins with; other trainings have none."""
    if recipe.name not in FINE_TUNING:
        return None
    names = [
        name
        for name in list_checkpoints(paths.CHECKPOINTS, hears=recipe.corpus == "spoken")
        if can_start_from(paths.CHECKPOINTS / name, recipe.corpus)
    ]
    if not names:
        st.caption("No checkpoint was trained on this text yet: pretrain one and keep it.")
        return None
    return bound.selectbox("Checkpoint", names, key="training-origin", follows=True)


def choose_length(recipe: Recipe) -> tuple[float | None, int]:
    """Minutes (None: as in the preset) and seed."""
    usual = f"{recipe.minutes:g}" if recipe.n_steps is None else f"{recipe.n_steps} steps"
    left, right = st.columns(2)
    with left:
        minutes = bound.number_input(
            "Minutes",
            value=None,
            placeholder=usual,
            step=1.0,
            format="%g",
            key="training-minutes",
            help=f"Left empty: {usual}, as in the preset. Turned into steps by a measurement.",
        )
    with right:
        seed = bound.number_input("Seed", value=0, step=1, key="training-seed")
    return minutes, int(seed)


def choose_sweep() -> tuple[str, str]:
    """Seeds and learning rates of a sweep, as they are typed; both empty for one training."""
    with st.expander("Several at once: a sweep", expanded=False):
        seeds = bound.text_input(
            "Seeds",
            placeholder="0 1 2",
            key="training-seeds",
            help="In the place of the seed above: a training from each of them.",
        )
        rates = bound.text_input(
            "Learning rates",
            placeholder="0.03 0.01 0.003",
            key="training-rates",
            help="A training at each of them, from every seed.",
        )
    return seeds, rates


def choose_model(recipe: Recipe, *, fixed: bool) -> Overrides:
    """What differs from the preset; a checkpoint's sizes are `fixed`."""
    with st.expander("Model and learning rate", expanded=False):
        if fixed:
            st.caption("Sizes, positions and attention are those of the checkpoint.")
        left, right = st.columns(2)
        with left:
            width = _size("Width", recipe.width, "width", fixed=fixed)
            heads = _size("Heads", recipe.n_heads, "heads", fixed=fixed)
        with right:
            layers = _size("Layers", recipe.n_layers, "layers", fixed=fixed)
            rate = _rate(recipe)
        if recipe.corpus == "spoken":  # a recogniser has one kind of each
            return Overrides(width=width, n_layers=layers, n_heads=heads, learning_rate=rate)
        positions = _kind("Positions", get_args(Positions), "positions", fixed=fixed)
        attention = _kind("Attention", TRAINED, "attention", fixed=fixed)
        sizes = {} if fixed else _own_sizes(recipe, attention)
    return Overrides(
        width=width,
        n_layers=layers,
        n_heads=heads,
        positions=positions,
        attention=attention,
        sizes=sizes,
        learning_rate=rate,
    )


def _own_sizes(recipe: Recipe, attention: str | None) -> dict[str, int]:
    """Sizes that belong to the mechanism that is trained, as far as they are set."""
    mechanisms = {attention or recipe.attention, *(["perceiver"] if recipe.n_latents else [])}
    own = [size for size in settable_sizes().values() if mechanisms & set(size.owners)]
    chosen: dict[str, int] = {}
    for size in own:
        value = bound.number_input(
            size.label,
            value=None,
            placeholder=str(getattr(recipe, size.name)),
            step=1,
            key=f"training-{size.option.removeprefix('--')}",
            help=f"{size.help[0].upper()}{size.help[1:]}.",
        )
        if value is not None:
            chosen[size.name] = value
    return chosen


def _size(name: str, usual: int, key: str, *, fixed: bool) -> int | None:
    if fixed:
        st.number_input(name, value=None, disabled=True, key=f"training-{key}-fixed")
        return None
    return bound.number_input(
        name,
        value=None,
        placeholder=str(usual),
        step=1,
        key=f"training-{key}",
    )


def _rate(recipe: Recipe) -> float | None:
    usual = recipe.matrix_rate if recipe.optimizer == "muon" else recipe.adamw_rate
    return bound.number_input(
        "Learning rate",
        value=None,
        placeholder=f"{usual:g}",
        step=0.001,
        format="%g",
        key="training-rate",
        help="Of the matrices, at its peak; the rate of the rest keeps its ratio to it.",
    )


def _kind(name: str, values: tuple[str, ...], key: str, *, fixed: bool) -> str | None:
    if fixed:
        st.selectbox(name, [words.AS_PRESET], disabled=True, key=f"training-{key}-fixed")
        return None
    chosen = bound.selectbox(name, [words.AS_PRESET, *values], key=f"training-{key}")
    return None if chosen == words.AS_PRESET else chosen


def zone() -> tzinfo | None:
    """The viewer's time zone; the server's if that is not known."""
    with suppress(OSError, ValueError):  # an unknown name
        if st.context.timezone:
            return ZoneInfo(st.context.timezone)
    return datetime.now().astimezone().tzinfo
