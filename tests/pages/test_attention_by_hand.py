"""Every example of the page, edited and with bad input, through AppTest."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.theory.by_hand.check import Check
from pages.attention_by_hand.parts import check_table, tex, tex_lines, tex_matrix

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "pages" / "attention_by_hand" / "page.py"
EXAMPLES = ["Weights", "Copy", "Average", "Take out", "Identity", "Design"]
FAILS, FAR = ":material/close:", ":material/more_horiz:"


@pytest.fixture
def opened() -> Callable[..., AppTest]:
    """The page with an example and values typed into its fields, as a URL would set them."""

    def run(example: str, **fields: Any) -> AppTest:
        page = AppTest.from_file(str(PAGE), default_timeout=60)
        page.session_state["hand-example"] = example
        for name, value in fields.items():
            page.session_state[f"hand-{name.replace('_', '-')}"] = value
        page.run()
        assert not page.exception
        return page

    return run


def text_of(page: AppTest) -> str:
    return "\n".join(element.value for element in page.main.markdown)


def row_of(page: AppTest, part: str) -> str:
    (row,) = [line for line in text_of(page).splitlines() if line.startswith("|") and part in line]
    return row


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_shows_mathematics_a_chart_and_checks(
    opened: Callable[..., AppTest], example: str
):
    page = opened(example)
    assert not page.error
    assert r"$\displaystyle" in text_of(page)
    assert len(page.get("vega_lite_chart")) == 1
    assert "| claim | here | check |" in text_of(page)


def test_every_control_is_in_the_url_under_a_name_of_this_page(opened: Callable[..., AppTest]):
    for example in EXAMPLES:
        page = opened(example)
        controls = [*page.slider, *page.text_input, *page.number_input]
        assert controls
        assert all((control.key or "").startswith("hand-") for control in controls)


def test_weights_are_uniform_at_beta_0_and_peaked_at_12(opened: Callable[..., AppTest]):
    assert "as spread out as 5 equal keys of 5" in text_of(opened("Weights", weights_beta=0.0))
    peaked = opened("Weights", weights_beta=12.0)
    assert r"$\ge 0$" in row_of(peaked, "the least")
    assert FAR not in text_of(peaked)
    assert FAR in row_of(opened("Weights", weights_beta=1.0), "peaked")


def test_alike_keys_are_not_copied(opened: Callable[..., AppTest]):
    page = opened("Copy", copy_pull=1.0, copy_beta=12.0)
    assert "No length of the query copies $v_{1}$" in text_of(page)
    assert rf"| $0.5$ | {FAILS} $\to 0.5$, not $1$ |" in row_of(page, "copied")
    assert FAILS not in row_of(page, "instead")


def test_another_key_can_be_copied(opened: Callable[..., AppTest]):
    assert "The query along key 3 copies" in text_of(opened("Copy", copy_key=3))


def test_the_balanced_query_averages_keys_of_unequal_length(opened: Callable[..., AppTest]):
    page = opened("Average", norm_a=0.5, norm_b=2.0)
    assert "it is $0.5$ and $0.5$" in text_of(page)
    assert FAILS not in text_of(page)
    leaning = opened("Average", norm_a=0.5, norm_b=2.0, cosine=0.5)
    assert FAILS in row_of(leaning, "- k_b")


def test_a_stretched_basis_needs_the_denominators(opened: Callable[..., AppTest]):
    page = opened("Take out", stretch=2.0)
    assert "Broken: each $a_i$ has length 1" in text_of(page)
    assert FAILS in row_of(page, r"\lVert AA^")
    assert FAILS not in row_of(page, r"\lVert \sum_i")


def test_the_transposed_basis_has_the_wrong_shape(opened: Callable[..., AppTest]):
    page = opened("Take out")
    assert f"| $2$ | {FAILS} not $= 4$ |" in row_of(page, "has $d$ numbers")
    assert r"\in \mathbb{R}^{2} \ne \mathbb{R}^{4}" in text_of(page)
    assert "is 2×4: it returns 2 numbers, no vector" in text_of(page)


def test_nothing_added_reaches_u_b(opened: Callable[..., AppTest]):
    page = opened("Identity", add_c=-2.0, add_d=1.5)
    assert "stays at least 1.36 β from $u_b$" in text_of(page)
    assert FAILS in row_of(page, "your $s, t$")
    assert FAILS in row_of(page, "best $s, t$")
    assert FAILS not in row_of(page, "never below")


@pytest.mark.parametrize(
    ("matrix", "typed", "said"),
    [
        ("v", "I", "$V$ breaks $v_1 = u_b$"),
        ("k", "-I", "$K$ breaks it: $q_1"),
        ("q", "da", "$Q$ breaks it: $q_1 = 0$"),
    ],
)
def test_an_edited_matrix_is_named_with_its_condition(
    opened: Callable[..., AppTest], matrix: str, typed: str, said: str
):
    assert "Every condition holds" in text_of(opened("Design"))
    page = opened("Design", **{matrix: typed})
    assert f"Broken. {said}" in text_of(page)
    assert FAILS in text_of(page)


def test_another_way_to_both_outputs_is_said_to_be_one(opened: Callable[..., AppTest]):
    page = opened("Design", v="bb - cc + ba", q="cd + aa")
    assert "Broken. $Q$ breaks it" in text_of(page)
    assert "another design" in text_of(page)


@pytest.mark.parametrize(
    ("example", "fields", "reason"),
    [
        ("Weights", {"scores": "1, x"}, "'x' is no number"),
        ("Weights", {"scores": ""}, "scores: nothing typed"),
        ("Weights", {"scores": "1,,2"}, "scores: number 2 is empty"),
        ("Weights", {"scores": "1, nan"}, "'nan' is no number"),
        ("Weights", {"scores": "1, inf"}, "inf is out of range"),
        ("Weights", {"scores": "1, 1e9"}, "1e9 is out of range; from -1000 to 1000"),
        ("Copy", {"copy_keys": "1 0; 1"}, "vectors of 1 and 2 numbers"),
        ("Copy", {"copy_key": 9}, "key 9: there are keys 1 to 4"),
        ("Copy", {"copy_keys": "0 0; 1 1"}, "key 1 is 0"),
        ("Take out", {"basis_a": "1 0 0 0; 2 0 0 0"}, "depend on each other"),
        ("Take out", {"basis_a": "1 0; 0 1; 1 1"}, "the a_i have 2 numbers, the b_j 4"),
        ("Take out", {"basis_a": "1;2", "basis_b": "1"}, "2 vectors a_i in ℝ^1"),
        ("Take out", {"along_a": "1"}, "v_a has 1 coordinates"),
        ("Design", {"q": "da + <b>"}, "matrix Q: cannot read"),
    ],
)
def test_bad_input_is_named_beside_the_control(
    opened: Callable[..., AppTest], example: str, fields: dict[str, Any], reason: str
):
    page = opened(example, **fields)
    (error,) = page.sidebar.error
    assert reason in error.value.replace("\\", "")
    assert "cannot be used" in page.main.info[0].value
    assert not text_of(page)


def test_a_bad_input_can_be_mended(opened: Callable[..., AppTest]):
    page = opened("Design", v="nonsense")
    page.text_input(key="hand-v").set_value("bb - cc").run()
    assert not page.error
    assert "Every condition holds" in text_of(page)


def test_a_bar_in_a_claim_does_not_end_its_cell():
    table = check_table([Check("$|x|$", 1.0, 1.0)])
    assert table.splitlines()[-1].count("|") == 4


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (Check("c", 0.25, 0.25), ":material/check: $= 0.25$"),
        (Check("c", 0.25, 1.0), f"{FAILS} not $= 1$"),
        (Check("c", 0.999, 1.0, relation="→"), r":material/check: $\to 1$, off by $0.001$"),
        (Check("c", 0.001, 0.0, relation="→"), r":material/check: $\to 0$"),
        (Check("c", 0.6, 1.0, relation="→"), rf"{FAR} $\to 1$, off by $0.4$"),
        (Check("c", 0.6, 1.0, relation="→", limit=0.5), rf"{FAILS} $\to 0.5$, not $1$"),
    ],
)
def test_the_verdict_is_a_claim_with_its_icon(check: Check, said: str):
    assert check_table([check]).splitlines()[-1].endswith(f"$ | {said} |")


def test_powers_of_ten_are_typeset_and_zero_has_no_sign():
    assert tex(1.5e-7) == r"{1.5\cdot 10^{-7}}"
    assert tex(0.25) == "0.25"
    assert tex_matrix(np.array([[-0.0, 1000.0]])) == (
        r"\begin{bmatrix}0&{1\cdot 10^{3}}\end{bmatrix}"
    )


def test_few_lines_are_paragraphs_and_many_stand_close():
    assert tex_lines([["a", "b"], ["c"]]).count("\n\n") == 1
    assert "\n\n" not in tex_lines([["a"]] * 5)
