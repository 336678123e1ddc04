"""One HTML file of parts: style, script and pictures inside, and no way out.

Its Content-Security-Policy allows this very style and script, pictures that are inside, and nothing
else: no address can be fetched, whatever a text says.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from core.offline.markdown import block, formula, line
from core.offline.parts import (
    Choice,
    Code,
    Columns,
    Document,
    Formula,
    Group,
    Heading,
    Missing,
    Number,
    Part,
    Picture,
    Raster,
    Table,
    Text,
)

HERE = Path(__file__).parent
NOTES = ("info", "success", "warning", "error")


def html_of(document: Document, *, said: str = "") -> str:
    """The whole file; `said` stands below its title."""
    style, script = _own("kept.css"), _own("kept.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    note = f'<p class="note warning">{escape(said)}</p>' if said else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(document.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<main>\n<h1>{escape(document.title)}</h1>\n{note}{parts_html(document.parts)}</main>\n"
        f'<footer class="origin">{_pairs(document.origin)}</footer>\n'
        f'<div id="tip" role="status" hidden></div>\n<script>{script}</script>\n'
        "</body>\n</html>\n"
    )


def parts_html(parts: Sequence[Part]) -> str:
    """Parts one after the other; choices that follow each other stand in one list."""
    written: list[str] = []
    for together, found in groupby(parts, _is_choice):
        if together:
            chosen = [
                (line(one.label), escape(one.value)) for one in found if isinstance(one, Choice)
            ]
            written.append(_list("choices", chosen))
        else:
            written += [_part(part) for part in found]
    return "\n".join(written) + "\n"


def _is_choice(part: Part) -> bool:
    return isinstance(part, Choice)


def _part(part: Part) -> str:
    for kind, write in _WRITERS.items():
        if isinstance(part, kind):
            return write(part)
    raise TypeError(f"no part of a file: {part!r}")


def _heading(part: Heading) -> str:
    return f"<h{part.level}>{line(part.markdown)}</h{part.level}>"


def _text(part: Text) -> str:
    inside = block(part.markdown)
    if part.tone in NOTES:
        return f'<div class="note {part.tone}" role="note">{inside}</div>'
    return f'<div class="caption">{inside}</div>' if part.tone == "caption" else inside


def _number(part: Number) -> str:
    change = f' <span class="caption">{line(part.change)}</span>' if part.change else ""
    return (
        f'<div class="number"><span class="caption">{line(part.label)}</span>'
        f"<b>{line(part.value)}</b>{change}</div>"
    )


def _raster(part: Raster) -> str:
    data = base64.b64encode(part.data).decode()
    below = f"<figcaption>{line(part.caption)}</figcaption>" if part.caption else ""
    return (
        f'<figure><img src="data:{escape(part.kind)};base64,{data}" alt="{escape(part.alt)}">'
        f"{below}</figure>"
    )


def _table(part: Table) -> str:
    show = line if part.markdown else escape
    heads = "".join(f'<th scope="col">{show(name)}</th>' for name in part.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{show(cell)}</td>' for cell in row)}</tr>\n" for row in part.rows
    )
    said = f"<caption>{escape(part.alt)}</caption>" if part.alt else ""
    top = f"<thead><tr>{heads}</tr></thead>" if any(part.columns) else ""
    return f'<div class="table"><table>{said}{top}<tbody>{rows}</tbody></table></div>'


def _group(part: Group) -> str:
    inside, title = parts_html(part.parts), line(part.title)
    if part.kind == "folded":
        return f"<details><summary>{title}</summary>{inside}</details>"
    if part.kind == "chapter":
        return f'<section class="chapter"><h2>{title}</h2>{inside}</section>'
    return f'<div class="group">{f"<h3>{title}</h3>" if title else ""}{inside}</div>'


def _columns(part: Columns) -> str:
    inside = "".join(
        f'<div class="s{share}">{parts_html(one)}</div>'
        for one, share in zip(part.columns, part.shares, strict=True)
    )
    return f'<div class="columns">{inside}</div>'


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    return _list("", [(escape(name), escape(value)) for name, value in pairs])


def _list(kind: str, pairs: Sequence[tuple[str, str]]) -> str:
    inside = "".join(f"<div><dt>{name}</dt> <dd>{value}</dd></div>" for name, value in pairs)
    return f'<dl class="{kind}">{inside}</dl>' if kind else f"<dl>{inside}</dl>"


@cache
def _own(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


_WRITERS: dict[type[Part], Callable[[Any], str]] = {
    Heading: _heading,
    Text: _text,
    Formula: lambda part: formula(part.tex),
    Code: lambda part: f"<pre><code>{escape(part.text)}</code></pre>",
    Picture: lambda part: f"<figure>{part.svg}</figure>",
    Raster: _raster,
    Missing: lambda part: f'<p class="missing">Left out: {escape(part.alt)}</p>',
    Table: _table,
    Number: _number,
    Choice: lambda part: _list("choices", [(line(part.label), escape(part.value))]),
    Group: _group,
    Columns: _columns,
}
