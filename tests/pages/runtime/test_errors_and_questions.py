"""Error panels and the exercise's questions: every control, and the numbers they say."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from core.bench import approximation
from core.checkpoints.store import save_checkpoint, write_card
from core.data.own_vocabulary import CharVocabulary
from core.models.gpt import GPT
from pages.runtime import errors, words
from pages.runtime.errors import FEATURES, LOGITS, ORDER, SHARP, TERMS

Open = Callable[..., AppTest]
Read = Callable[[AppTest], str]
Charts = Callable[[AppTest], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def few_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approximation, "N_SEEDS", 2)
    st.cache_data.clear()


def heading(app: AppTest) -> str:
    """The line above the picture."""
    (found,) = (m.value for m in app.main.markdown if m.value.startswith("##### "))
    return found.removeprefix("##### ").replace("\\", "")


@pytest.mark.parametrize(
    ("picture", "title", "text"),
    [
        (FEATURES, "closest with 512 features, at logits up to 1.0", "Grey: uniform attention"),
        (LOGITS, "Every map fails as the logits grow", "B = √32 = 5.66"),
        (
            TERMS,
            "More Taylor terms help as long as logits are small",
            "with an odd number of terms",
        ),
        (SHARP, "Linear maps cannot be sharp", "softmax puts 0.6"),
        (
            ORDER,
            "Based is nearer to softmax than not looking, at logits up to 1",
            "Further off than not looking: delta rule, gated delta, scalar gate, window",
        ),
    ],
)
def test_every_picture_says_what_is_seen_and_what_it_means(
    open_runtime: Open, read: Read, charts: Charts, picture: str, title: str, text: str
):
    app = open_runtime(**{"rt-view": words.ERRORS, "rt-errors": picture})
    assert len(charts(app)) == 1
    assert title in heading(app)
    assert text in read(app)


def test_the_size_of_logits_turns_the_order_around(open_runtime: Open, read: Read):
    app = open_runtime(**{"rt-view": words.ERRORS})
    assert heading(app).startswith("Trigonometric, orthogonal")
    app.select_slider(key="rt-logit").set_value("8.0").run()
    assert heading(app).startswith("Uniform attention is closest")
    assert re.search(r"here in up to [234]\d% of the rows", read(app))


def test_a_share_of_negative_weights_is_said(open_runtime: Open, read: Read):
    text = read(open_runtime(**{"rt-view": words.ERRORS, "rt-errors": TERMS}))
    assert "1 + s for s < −1, four terms for s < −1.596" in text
    assert "24% and 13% of the weights" in text


def test_what_is_computed_once_is_cached(monkeypatch: pytest.MonkeyPatch):
    first = errors.errors_by_terms()
    monkeypatch.setattr(approximation, "errors_by_terms", None)
    assert errors.errors_by_terms() == first


@pytest.fixture
def shelf(
    runs: Path,
    people_table: Path,
    make_gpt: Callable[..., GPT],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """One tiny character model on the shelf."""
    folder = runs.parent
    monkeypatch.setattr("pages.shared.loading.CHECKPOINTS", folder)
    monkeypatch.setattr("pages.shared.loading.PEOPLE", people_table)
    vocabulary = CharVocabulary.from_text("".join(map(chr, range(32, 127))) + "–")
    model = make_gpt(vocabulary_size=vocabulary.size, block_size=48)
    save_checkpoint(folder / "tiny", model, vocabulary, {}, dtype=torch.float32)
    write_card(folder / "tiny", {"name": "tiny"})
    st.cache_resource.clear()
    return folder


def test_questions_are_answered_with_numbers(
    shelf: Path, open_runtime: Open, read: Read, charts: Charts
):
    app = open_runtime(**{"rt-view": words.QUESTIONS})
    text = read(app)
    assert "One head at L = 2,048: 4·L²·D = 537 million operations, and 34 MB" in text
    assert "Twice as long: 2.15 billion operations and 134 MB" in text
    assert "| 3 | 1,057 | 561 | 1,024 |" in text
    assert "32 tokens with elu+1, 256 with FAVOR+ and 561 with Taylor" in text
    assert "= **0.00854** of the pairs at ℓ = 2,048" in text
    assert "everything is two steps from everything" in text
    assert "| delta rule | 4.1\u00a0kB | 6,144 | 16 tokens |" in text
    assert "| keys and values | 524\u00a0kB | 262,272 |  |" in text
    assert "**Causal only** are delta rule, gated delta, scalar gate, window, Based" in text
    (chart,) = charts(app)
    assert "of the sum takes" in chart["title"]["text"]
    assert "of 48 values" in chart["title"]["text"]


def test_other_sizes_give_other_numbers(shelf: Path, open_runtime: Open, read: Read):
    app = open_runtime(**{"rt-view": words.QUESTIONS, "rt-qd": "64", "rt-ql": "8192"})
    text = read(app)
    assert "| 3 | 4,161 | 2,145 | 4,096 |" in text
    assert "17.2 billion operations" in text
    assert "| keys and values | 4.19\u00a0MB | 2,097,408 |  |" in text
    app.number_input(key="rt-layers").set_value(2).run()
    app.number_input(key="rt-latents").set_value(128).run()
    assert "= **0.0156** of the pairs" in read(app)  # 2·ℓ·m / (2·ℓ²) = m / ℓ


def test_without_a_checkpoint_the_rest_is_still_answered(open_runtime: Open, read: Read):
    text = read(open_runtime(**{"rt-view": words.QUESTIONS}))
    assert "There is no checkpoint whose heads could be looked at." in text
    assert "Why does BigBird need its global tokens?" in text


def test_a_damaged_checkpoint_is_named(shelf: Path, open_runtime: Open, read: Read):
    (shelf / "tiny" / "model.safetensors").write_bytes(b"none")
    assert "checkpoint tiny" in read(open_runtime(**{"rt-view": words.QUESTIONS}))
