"""The way on from home: a card a page, each with a small real picture of it."""

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from core.bench.curves import small_curves
from core.bench.record import read_bench
from core.checkpoints.shelf import dev_accuracy, dev_curve, list_checkpoints, weights_path
from core.evaluation.report_card import load_rows
from core.figures.listening import sound_picture
from core.figures.pixels import sheet_of_pictures
from core.figures.thumbnails import bar_picture, contact_sheet, curve_picture, spaced_bar_picture
from core.files import read_json
from core.inspection.head_record import load_record
from core.inspection.traced import AttentionTrace
from core.knowledge.file import load_knowledge
from core.knowledge.words import about, steps
from core.memory.capacity import measure_capacity
from core.memory.spec import LINEAR, PAIRS, MemorySpec
from core.montecarlo.result import Sample
from core.montecarlo.sample import sample
from core.montecarlo.spec import PerturbationSpec
from core.paths import BENCHMARKS, CHECKPOINTS, OWN_MODEL
from core.pictures.pictures import SIDE
from core.pictures.sample import SAMPLE, read_sample
from core.speech.examples import load_examples, load_sound
from core.speech.features import log_mel
from core.theory.by_hand.weights import weight_curves
from pages.shared.choosing import DEFAULT_CHECKPOINT
from pages.shared.records import digest
from pages.shared.text import percent, plain

A_ROW = 7  # digits
COPIED, MOST_BETA = np.array([1.0, 0.6, 0.0]), 10.0  # k_iᵀk₁ of the copied key and two others


@st.cache_resource(max_entries=1, show_spinner=False)
def small_sample() -> Sample:
    """A few draws of the exercise's one head."""
    return sample(PerturbationSpec(n_draws=20_000))


@st.cache_resource(max_entries=1, show_spinner=False)
def small_memory() -> NDArray[np.float64]:
    """Shares recalled by three memories of few numbers."""
    methods = ("softmax", LINEAR, "delta")
    found = measure_capacity(MemorySpec(dim=16, n_draws=8), pairs=PAIRS[:-2], methods=methods)
    return np.array([[rate.value for rate in found.recalled[method]] for method in methods])


def show_cards(trace: AttentionTrace) -> None:
    """The way on: a real picture from each page, under its link."""
    attention, heads, knowledge, compare = st.columns(4)
    listen, look, monte_carlo, by_hand = st.columns(4)
    memory, runtime, training, report_card = st.columns(4)
    with _card(attention, "attention", "Attention", ":material/grid_on:"):
        _draw(contact_sheet(trace.weights), "Every head, this question")
    with _card(heads, "heads", "Heads", ":material/filter_center_focus:"):
        _show_head_losses()
    with _card(knowledge, "knowledge", "Knowledge", ":material/psychology_alt:"):
        _show_sureness()
    with _card(compare, "compare", "Compare", ":material/compare:"):
        _show_moments()
    with _card(monte_carlo, "monte_carlo", "Monte Carlo", ":material/scatter_plot:"):
        _draw(
            bar_picture(small_sample().coarse_counts(50)),
            "One head, told to average two values, takes one or the other",
        )
    with _card(listen, "listen", "Listen", ":material/hearing:"):
        _show_sound()
    with _card(look, "look", "Look", ":material/image_search:"):
        _show_digits()
    with _card(by_hand, "attention_by_hand", "By hand", ":material/calculate:"):
        _draw(
            curve_picture(weight_curves(COPIED, MOST_BETA)[1].T),
            "Three weights as the query grows: one key wins",
        )
    with _card(memory, "memory", "Memory", ":material/memory:"):
        _draw(
            curve_picture(small_memory()),
            "What softmax, a sum and the delta rule give back, the more pairs they store",
        )
    with _card(runtime, "runtime", "Runtime", ":material/timer:"):
        _show_times()
    with _card(training, "training", "Training", ":material/model_training:"):
        _show_pretraining_gain()
    with _card(report_card, "report_card", "Report card", ":material/school:"):
        rows = load_rows(CHECKPOINTS, digest=digest)
        reached = [row.measured.accuracy for row in rows if row.measured is not None]
        if reached:
            _draw(
                spaced_bar_picture(np.array(reached)),
                "Right answers of each variant on the course's own task",
            )
        else:
            st.caption("No variant of the course's task is recorded yet.")
    _show_own_model()


def _draw(picture: bytes, caption: str) -> None:
    """A small picture, named for those who do not see it, too."""
    st.image(picture, width="stretch", caption=caption, alt=caption)


def _show_own_model() -> None:
    """What a model from elsewhere knows, as it was measured; nothing where it was not."""
    try:
        found = read_json(OWN_MODEL)
        theirs, ours = found["birthplaces"], found["birthplaces_ours"]
        said = (
            f"**A model of your own** can be opened too: of {theirs['total']} birthplaces "
            f"{plain(found['model'])} names {theirs['right']}, {plain(found['ours'])} "
            f"{ours['right']}, and {percent(found['first_token_share']['128'])} of all its "
            "weight lies on the first token of 128."
        )
    except (KeyError, TypeError, ValueError):  # not measured here
        return
    st.markdown(f":material/folder_open: {said}")


def _show_times() -> None:
    """Times of fused softmax and of linear attention on the first stored machine."""
    stored = sorted(BENCHMARKS.glob("*.json"))
    try:
        curves = small_curves(read_bench(stored[0]), ("sdpa", "elu")) if stored else np.zeros(0)
    except ValueError:  # the page of times says what is wrong
        curves = np.zeros(0)
    if not curves.size:
        st.caption("No machine's times are stored yet.")
        return
    _draw(
        curve_picture(curves),
        "Softmax grows with the square of the length, linear attention with the length",
    )


def _show_head_losses() -> None:
    """What every head of the first checkpoint is worth."""
    folder = CHECKPOINTS / DEFAULT_CHECKPOINT
    try:
        record = load_record(folder, "dev", digest(weights_path(folder)))
    except ValueError:  # the page of heads says what is wrong
        record = None
    if record is None:
        st.caption("No table of heads is recorded yet.")
        return
    lost = record.tables["zero"].values("log_probability_lost")
    _draw(
        spaced_bar_picture(np.maximum(np.array(lost), 0)),
        "What the answers lose without each head",
    )


def _show_sureness() -> None:
    """How probable the first checkpoint holds its answers about names that it never read."""
    folder = CHECKPOINTS / DEFAULT_CHECKPOINT
    try:
        known = load_knowledge(folder, digest(weights_path(folder)))
    except ValueError:  # the page of knowledge says what is wrong
        known = None
    if known is None:
        st.caption("Nothing is recorded yet of what a model knows.")
        return
    never = known.groups[known.never]
    _draw(
        spaced_bar_picture(np.array(steps(never.probabilities))),
        f"How sure a model is of its answers about {about(never)}, from 0 to 100 %",
    )


def _show_sound() -> None:
    """The first question that is shipped, as a recogniser hears it."""
    try:
        first = load_examples().sounds[0]
        frames = log_mel(load_sound(first))
    except ValueError:  # the page that listens says what is wrong
        st.caption("No sounds are shipped yet.")
        return
    _draw(sound_picture(frames), f"“{first.title}” as a recogniser of speech hears it")


def _show_digits() -> None:
    """Handwriting that networks get wrong."""
    try:
        sample = read_sample(SAMPLE) if SAMPLE.is_file() else None
    except ValueError:  # the page that looks at pictures says what is wrong
        sample = None
    if sample is None:
        st.caption("No digits are shipped yet.")
        return
    chosen = [sample.pictures[at] for at in sample.wrong[: 2 * A_ROW]]
    rows = [chosen[start : start + A_ROW] for start in range(0, len(chosen), A_ROW)]
    _draw(sheet_of_pictures(rows, side=SIDE), "Handwriting that networks read wrong")


def _show_moments() -> None:
    """Right answers over the moments that one of the trainings kept."""
    curves = [dev_curve(CHECKPOINTS / name) for name in list_checkpoints(CHECKPOINTS)]
    curve = max(curves, key=len, default=[])
    if not curve:
        st.caption("No training with snapshots is here yet.")
        return
    _draw(
        curve_picture(np.array([[share for _, share in curve]])),
        "Right answers while a small model was trained: scrub a head through it",
    )


def _show_pretraining_gain() -> None:
    """What reading first has bought: a model that saw questions only, and one that read before."""
    reached = [dev_accuracy(CHECKPOINTS / name) for name in ("notable-scratch", "notable-small")]
    shares = [share for share in reached if share is not None]
    if len(shares) < len(reached):
        st.caption("Start, watch and compare short trainings.")
        return
    in_percent = " and ".join(map(percent, shares))
    _draw(
        spaced_bar_picture(np.array(shares)),
        f"Right answers without pretraining, and with: {in_percent}",
    )


@contextmanager
def _card(place: DeltaGenerator, page: str, label: str, icon: str) -> Generator[None]:
    with place, st.container(border=True):
        st.page_link(f"pages/{page}/page.py", label=f"**{label}**", icon=icon)
        yield
