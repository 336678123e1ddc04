"""Typed text survives Markdown."""

import pytest

from pages.shared.text import MOST_SHOWN, percent, plain, sentence, shortened, typeset


@pytest.mark.parametrize("character", "\\`*_{}[]()<>#+-.!|$~:&^=\"'")
def test_every_character_that_markdown_could_read_is_escaped(character: str):
    assert plain(f"a{character}b") == f"a\\{character}b"


@pytest.mark.parametrize("text", ["Ada Lovelace", "Ngũgĩ wa Thiong’o", "李白", "·London", "50%"])
def test_harmless_text_stays_as_it_is(text: str):
    assert plain(text) == text


@pytest.mark.parametrize("text", ["->", "<-", "<->", "--", ">=", "<=", "~=", ":material/home:"])
def test_what_streamlit_replaces_is_kept_apart_by_an_invisible_joiner(text: str):
    escaped = plain(f"a {text} b")
    assert "\u2060" in escaped
    assert escaped.replace("\u2060", "").replace("\\", "") == f"a {text} b"


@pytest.mark.parametrize("code", [0x202E, 0x2066, 0x200B, 0xFEFF, 0x2060, 0xFE0F, 0xAD])
def test_what_is_invisible_is_shown_as_its_code_point(code: int):
    assert plain(f"a{chr(code)}b") == f"a‹U\\+{code:04X}›b"


def test_an_emoji_of_several_characters_stays_one():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f"
    assert plain(family) == family


def test_line_breaks_and_runs_of_white_space_become_one_space():
    assert plain(" one\n\n# two\t three  ") == "one \\# two three"


def test_a_backslash_cannot_undo_an_escape():
    assert plain(r"\*x\*") == r"\\\*x\\\*"


def test_an_empty_text_stays_empty():
    assert plain("") == plain(" \n ") == ""


@pytest.mark.parametrize(
    ("share", "text"), [(1.0, "100 %"), (0.9958, "99.6 %"), (0.0034, "0.34 %"), (2e-5, "0.0020 %")]
)
def test_a_share_is_a_percentage_with_few_digits(share: float, text: str):
    assert percent(share) == text


def test_our_symbols_are_typeset_and_everything_else_is_escaped():
    assert typeset("v_a and ½(μ_b), v_c") == "$v_a$ and ½\\($\\mu_b$\\), v\\_c"
    assert typeset("$x$") == "\\$x\\$"


def test_a_long_text_is_shown_by_its_beginning_and_its_end():
    text = " ".join(f"word{number}" for number in range(100))
    shown = shortened(text)
    assert shown.startswith("word0 word1 ")
    assert shown.endswith(" word98 word99")
    assert " … " in shown
    assert len(shown) <= MOST_SHOWN + len(" … ")


def test_a_text_that_fits_is_shown_whole():
    text = "x" * MOST_SHOWN
    assert shortened(text) == text


def test_a_reason_becomes_a_sentence():
    assert sentence("no [MASK] here") == "No \\[MASK\\] here."
