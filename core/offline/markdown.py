"""Markdown as the pages write it, as HTML without a single address that could be fetched.

Beside CommonMark and tables: formulas between dollars, and Streamlit's `:colour[text]`,
`:colour-badge[text]` and `:material/name:`. HTML in a text stays text.
"""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from latex2mathml import exceptions
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

SIGNS = {"check": "✓", "close": "✗", "warning": "⚠"}  # icons that say something alone
_ICON = re.compile(r":material/([a-z0-9_]+):")
_TINT = re.compile(
    r":(red|orange|yellow|green|blue|violet|gray|grey|primary|rainbow|small)"
    r"(-badge|-background)?\["
)
# A dollar that opens a formula is followed by no space, and one that closes it by no digit.
_DOLLARS = re.compile(r"\$\$(.+?)\$\$|\$(?![\s$])((?:\\.|[^$\\])+?)(?<!\s)\$(?!\d)", re.DOTALL)
# What the converter raises; no name is common to them.
_FAILS = tuple(
    kind
    for kind in vars(exceptions).values()
    if isinstance(kind, type) and issubclass(kind, Exception)
)


def block(markdown: str) -> str:
    """Paragraphs, lists and tables."""
    return _parser().render(markdown)


def line(markdown: str) -> str:
    """What stands inside a line: a label, a title, a cell."""
    return _parser().renderInline(markdown)


def formula(tex: str, *, alone: bool = True) -> str:
    """MathML of a formula; its source where that cannot be read."""
    try:
        return convert(tex.replace(r"\allowbreak", ""), display="block" if alone else "inline")
    except (*_FAILS, IndexError, KeyError, ValueError):
        return f"<code>{escape(tex)}</code>"


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable(["image", "html_block", "html_inline"])
    parser.inline.ruler.before("escape", "formula", _read_formula)
    parser.inline.ruler.before("link", "directive", _read_directive)
    parser.core.ruler.push("own", _as_in_a_file)
    parser.add_render_rule("formula", _show_formula)
    parser.add_render_rule("link_open", _show_nothing)
    parser.add_render_rule("link_close", _show_address)
    return parser


def _as_in_a_file(state: StateCore) -> None:
    """Columns of numbers by a class, for the file allows no style but its own; two levels of
    titles, for a page chooses among six by their size.
    """
    for token in state.tokens:
        style = str(token.attrs.pop("style", ""))
        if style:
            token.attrs["class"] = style.removeprefix("text-align:")
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h2" if token.tag in ("h1", "h2") else "h3"


def _read_formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - their signature
    found = _DOLLARS.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.meta = found[1] or found[2], {"alone": found[1] is not None}
    state.pos = found.end()
    return True


def _read_directive(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - their signature
    icon = _ICON.match(state.src, state.pos)
    if icon is not None:
        if not silent:
            state.push("text", "", 0).content = SIGNS.get(icon[1], "")
        state.pos = icon.end()
        return True
    tint = _TINT.match(state.src, state.pos)
    end = -1 if tint is None else state.md.helpers.parseLinkLabel(state, tint.end() - 1)
    if tint is None or end < 0:
        return False
    if not silent:
        _push_tinted(state, tint, end)
    state.pos = end + 1
    return True


def _push_tinted(state: StateInline, tint: re.Match[str], end: int) -> None:
    """A span around what stands in the brackets, read as Markdown, too."""
    token = state.push("tint_open", "span", 1)
    token.attrs = {"class": f"{tint[1]}{tint[2] or ''}"}
    last, state.pos, state.posMax = state.posMax, tint.end(), end
    state.md.inline.tokenize(state)
    state.posMax = last
    state.push("tint_close", "span", -1)


def _show_formula(_: RendererHTML, tokens: Sequence[Token], index: int, *_more: Any) -> str:
    token = tokens[index]
    return formula(token.content, alone=bool(token.meta["alone"]))


def _show_nothing(*_: Any) -> str:
    return ""


def _show_address(_: RendererHTML, tokens: Sequence[Token], index: int, *_more: Any) -> str:
    """Where a link to another place leads, as text; a page of the app is not beside the file."""
    start = max(place for place in range(index) if tokens[place].type == "link_open")
    address = str(tokens[start].attrs.get("href", ""))
    said = "".join(token.content for token in tokens[start:index])
    away = address.startswith(("https://", "http://")) and address != said
    return f" ({escape(address)})" if away else ""
