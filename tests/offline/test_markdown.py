"""Markdown of the pages as HTML that fetches nothing."""

import html
import re

import pytest

from core.offline.markdown import block, formula, line
from pages.shared.text import plain

TRICKS = (
    "<script>alert(1)</script>",
    '<img src="http://far.example/a.png" onerror="alert(1)">',
    "**bold** _soft_ `code` # title",
    "[here](javascript:alert(1))",
    "![a](http://far.example/a.png)",
    "$x^2$ and :red[red] and :material/check:",
    "&lt;b&gt; &amp;",
)


@pytest.mark.parametrize("typed", TRICKS)
def test_typed_text_is_read_as_it_was_typed(typed: str):
    shown = line(plain(typed))

    assert not re.search(r"<[a-zA-Z/]", shown)
    assert html.unescape(shown).replace("\u2060", "") == typed


@pytest.mark.parametrize("typed", TRICKS[:2])
def test_html_stays_text_even_where_nothing_escaped_it(typed: str):
    assert "&lt;" in block(typed)
    assert "<script" not in block(typed)
    assert "<img" not in block(typed)


def test_titles_lists_and_tables_are_what_they_are_on_a_page():
    shown = block("##### Title\n\n- one\n\n|a|b|\n|-|-:|\n|1|2|\n")

    assert "<h3>Title</h3>" in shown
    assert "<li>one</li>" in shown
    assert '<td class="right">2</td>' in shown
    assert "style=" not in shown


def test_a_link_becomes_its_text_and_where_it_leads():
    assert line("[a paper](https://arxiv.org/abs/1)") == "a paper (https://arxiv.org/abs/1)"
    assert line("[Heads](/heads)") == "Heads"


def test_a_picture_from_elsewhere_is_not_fetched():
    assert "<img" not in line("![seen](https://far.example/a.png)")


def test_formulas_are_mathml_and_prices_are_not():
    assert line("$v_a$").startswith("<math")
    assert 'display="block"' in block("$$x=1$$")
    assert "<math" not in line("It costs $5 and $6.")


def test_a_formula_that_cannot_be_read_is_shown_as_it_is_written():
    assert formula(r"\frac{") == r"<code>\frac{</code>"


def test_colours_are_spans_and_icons_signs_or_nothing():
    assert (
        line(":green-badge[:material/check: right]") == '<span class="green-badge">✓ right</span>'
    )
    assert line(":material/timer: soon") == " soon"
    assert line(":red[**far**] off") == '<span class="red"><strong>far</strong></span> off'
    assert line(":nocolour[far]") == ":nocolour[far]"
