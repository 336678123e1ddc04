"""Every preset, control and bad input of the page, through AppTest."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.montecarlo.sample import sample
from core.montecarlo.spec import PerturbationSpec
from pages.monte_carlo import words
from pages.monte_carlo.pictures import BANDS, BETA, CLOUD, EPSILON
from pages.monte_carlo.presets import OWN, PRESETS

PAGE = Path(__file__).parents[2] / "pages" / "monte_carlo" / "page.py"
SHAPES = {
    "One head, small noise": words.MIDDLE,
    "One head, long keys": words.ENDS,
    "Two heads": words.MOSTLY,
    "Two equal heads": words.ENDS,
    "Many heads": words.ASIDE,
}


@pytest.fixture
def opened() -> Callable[..., AppTest]:
    """The page with values in its controls, as a URL would set them; uncovered unless asked."""

    def run(**fields: Any) -> AppTest:
        page = AppTest.from_file(str(PAGE), default_timeout=120)
        for name, value in {"predict": False, "draws": 20_000, **fields}.items():
            page.session_state[f"mc-{name}"] = value
        page.run()
        assert not page.exception, page.exception[0].value
        return page

    return run


def text_of(page: AppTest) -> str:
    text = "\n".join(element.value for element in page.main.markdown)
    return text.replace("\\", "").replace("\u00a0", " ")


def charts_of(page: AppTest) -> list[Any]:
    return [*page.get("vega_lite_chart"), *page.get("arrow_vega_lite_chart")]


def choose(page: AppTest, preset: str) -> AppTest:
    page.selectbox(key="mc-preset").set_value(preset).run()
    assert not page.exception, page.exception[0].value
    return page


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_preset_shows_its_pictures_and_its_theory_agrees(
    opened: Callable[..., AppTest], preset: str
):
    page = choose(opened(), preset)
    assert page.selectbox(key="mc-preset").value == preset
    assert not page.error
    text = text_of(page)
    assert words.DISAGREES not in text
    assert text.count(words.AGREES) >= 4
    assert words.QUANTITIES["variance_share_a"] in text
    assert len(charts_of(page)) == (2 if "small noise" in preset else 3)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_preset_has_a_look(preset: str):
    spec = PRESETS[preset]
    small = {name: getattr(spec, name) for name in ("heads", "radial_variance", "noise_variance")}
    drawn = sample(PerturbationSpec(**small, n_draws=20_000))
    assert words.shape_of(drawn) == SHAPES[preset]
    assert "±" in words.headline(drawn)


@pytest.mark.parametrize("picture", [EPSILON, BETA, BANDS, CLOUD])
def test_every_lower_picture_is_drawn(opened: Callable[..., AppTest], picture: str):
    page = opened(picture=picture)
    assert len(charts_of(page)) == 3
    assert not page.main.info


@pytest.mark.parametrize("picture", [BETA, BANDS])
def test_curves_against_beta_are_drawn_with_noise(opened: Callable[..., AppTest], picture: str):
    page = opened(picture=picture, alpha=0.01, draws=2000)
    assert len(charts_of(page)) == 3


def test_without_one_long_key_the_picture_over_epsilon_says_why(opened: Callable[..., AppTest]):
    page = opened(alpha=0.01)
    assert "only where a single key's length varies" in page.main.info[0].value
    assert "density: sample only" in charts_of(page)[1].proto.alt


def test_the_law_with_two_peaks_is_called_so(opened: Callable[..., AppTest]):
    assert "Two peaks (bimodal)" in text_of(opened()).replace("*", "")
    assert "One peak" in text_of(opened(rho=0.0, alpha=1e-4))


@pytest.mark.parametrize("preset", list(PRESETS))
@pytest.mark.parametrize("picture", [BETA, BANDS])
def test_one_draw_is_shown_without_a_verdict(
    opened: Callable[..., AppTest], preset: str, picture: str
):
    page = choose(opened(draws=1, picture=picture), preset)
    text = text_of(page)
    assert words.DISAGREES not in text
    assert words.AGREES not in text
    assert text.count(words.TOO_FEW) >= 4
    assert "1 draw cannot tell what c looks like" in text
    assert "Steadier" not in text
    assert "The diamond is the one draw" in text
    assert "One draw has no variance" in text
    assert "nan" not in text


def test_a_few_draws_tell_neither_shape_nor_peaks(opened: Callable[..., AppTest]):
    page = opened(draws=10, predict=True, answer=words.MIDDLE)
    text = text_of(page)
    assert "10 draws cannot tell." in text
    assert "Too few draws to count peaks" in text
    assert words.TOO_FEW in text
    assert "some row fails in at most 1% of all samples" in text
    assert words.TOO_FEW not in text_of(opened())


def test_two_heads_are_steadier_but_not_certain(opened: Callable[..., AppTest]):
    assert "Steadier, not certain" in text_of(opened(heads="two"))
    assert "Steadier" not in text_of(opened(heads="two-equal"))


def test_the_limit_of_large_beta_stands_under_the_spread(opened: Callable[..., AppTest]):
    text = text_of(opened(picture=BETA))
    assert "tends to 0.25 with one head and to 0.0181 with two" in text
    assert "5 of the 8 heads are on a, and they fail together" in text


def test_the_slip_is_told_apart_by_its_direction(opened: Callable[..., AppTest]):
    page = opened()
    assert r"\lVert v_a - v_b\rVert^2" in page.latex[0].value
    assert "The slip writes" in text_of(page)
    assert "only the direction tells them apart" in text_of(page)
    assert "c stays on the segment" in text_of(page)
    assert "does not hold here" in text_of(opened(heads="two"))
    unequal = opened(values="typed", rows="1 0; 1 1")
    assert "only the direction" not in text_of(unequal)


def test_the_picture_stays_covered_until_something_was_said(opened: Callable[..., AppTest]):
    page = opened(predict=True)
    assert "Covered." in text_of(page)
    assert [chart.proto.alt for chart in charts_of(page)] == [
        "Cloud of key a in the plane of the means μ_a and μ_b"
    ]
    assert words.QUANTITIES["variance_share_a"] not in text_of(page)
    page.selectbox(key="mc-answer").set_value(words.ENDS).run()
    assert "As you said." in text_of(page)
    assert len(charts_of(page)) == 3
    page.selectbox(key="mc-answer").set_value(words.MIDDLE).run()
    assert f"It is {words.ENDS}" in text_of(page)


def test_another_preset_is_covered_again(opened: Callable[..., AppTest]):
    page = opened(predict=True, answer=words.ENDS)
    assert "As you said." in text_of(page)
    assert "Covered." in text_of(choose(page, "Two heads"))
    assert page.selectbox(key="mc-heads").value == "two"


def test_other_heads_are_covered_again(opened: Callable[..., AppTest]):
    page = opened(predict=True, answer=words.ENDS)
    page.selectbox(key="mc-heads").set_value("two-equal").run()
    assert "Covered." in text_of(page)


def test_the_preset_follows_from_the_settings(opened: Callable[..., AppTest]):
    page = opened(seed=3)
    assert page.selectbox(key="mc-preset").value == "One head, long keys"
    assert "seed 3" in text_of(page)
    page.number_input(key="mc-beta").set_value(5.0).run()
    assert page.selectbox(key="mc-preset").value == OWN
    assert choose(page, "Many heads").number_input(key="mc-beta").value == 10.0
    assert page.number_input(key="mc-many").value == 8


def test_choosing_own_settings_changes_nothing(opened: Callable[..., AppTest]):
    page = choose(opened(), OWN)
    assert page.selectbox(key="mc-preset").value == "One head, long keys"


@pytest.mark.parametrize(
    "fields",
    [
        {"heads": "free", "queries": "1 1 0; 2 0 1"},
        {"heads": "one-balanced", "norms": "2 0.5"},
        {"further": "0.5"},
        {"values": "random", "dimension": 6},
        {"ignore": True},
        {"beta": 1e6},
        {"heads": "many", "many": 1},
        {"keys": 2, "dimension": 2},
    ],
)
def test_every_control_gives_a_picture(opened: Callable[..., AppTest], fields: dict[str, Any]):
    page = opened(**fields, draws=5000)
    assert not page.error
    assert len(charts_of(page)) >= 2
    assert words.DISAGREES not in text_of(page)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"beta": 0.0}, "scale β is 0: all weights would be 1/n"),
        ({"beta": 1e300}, "scale β: 1e+300; use a number from 0 to 1e+06"),
        ({"beta": -1.0}, "scale β: -1.0"),
        ({"keys": 1}, "keys: 1; use a whole number from 2"),
        ({"dimension": 4}, "4 dimensions for 6 keys: orthonormal means need"),
        ({"rho": -0.5}, "radial variance ρ: -0.5"),
        ({"alpha": -0.1}, "noise variance α: -0.1"),
        ({"draws": 10**12}, "draws: 1000000000000; use a whole number"),
        ({"draws": 10**8}, "this page draws up to 10,000,000"),
        ({"draws": 0}, "draws: 0"),
        ({"seed": -1}, "seed: -1"),
        ({"heads": "many", "many": 0}, "heads: 0"),
        ({"heads": "free", "queries": "0 0"}, "all coefficients 0 looks at nothing"),
        ({"heads": "free", "queries": "1 x"}, "'x' is no number"),
        ({"heads": "free", "queries": "1 1 1 1 1 1 1"}, "7 coefficients of a query for 6 keys"),
        ({"further": "-1"}, "radial variance ρ: -1.0"),
        ({"norms": "0"}, "key norm: 0.0"),
        ({"values": "typed", "rows": "1 0; 1"}, "vectors of 1 and 2 numbers"),
    ],
)
def test_bad_input_is_named_beside_its_control(
    opened: Callable[..., AppTest], fields: dict[str, Any], reason: str
):
    page = opened(**fields)
    (error,) = page.sidebar.error
    assert reason in error.value.replace("\\", "")
    assert "cannot be used" in page.main.info[0].value
    assert reason in text_of(page)
    assert not charts_of(page)
    assert page.selectbox(key="mc-preset").value == OWN


def test_several_bad_inputs_are_all_named_and_can_be_mended(opened: Callable[..., AppTest]):
    page = opened(beta=0.0, alpha=-1.0)
    assert len(page.sidebar.error) == 2
    page = choose(page, "Two heads")
    assert not page.error
    assert len(charts_of(page)) == 3


def test_every_control_is_in_the_url_under_a_name_of_this_page(opened: Callable[..., AppTest]):
    page = opened(heads="many", values="typed")
    controls = [*page.selectbox, *page.number_input, *page.text_input, *page.toggle]
    assert len(controls) >= 14
    assert all((control.key or "").startswith("mc-") for control in controls)


def test_what_is_sent_stays_small(opened: Callable[..., AppTest]):
    page = opened(alpha=0.05, picture=CLOUD)
    sent = sum(
        len(chart.proto.spec) + sum(len(d.data.data) for d in chart.proto.datasets)
        for chart in charts_of(page)
    )
    assert 5_000 < sent < 500_000
