"""A file of every kind of part, and what it forbids."""

import base64
import hashlib
import re
from collections.abc import Callable

import pytest

from core.offline.document import html_of, parts_html
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

Make = Callable[..., Document]
TYPED = "<script>alert(1)</script>"
SAFE = "&lt;script&gt;alert(1)&lt;/script&gt;"


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        (Heading(markdown="A *b*", level=3), "<h3>A <em>b</em></h3>"),
        (Text(markdown="a"), "<p>a</p>"),
        (Text(markdown="a", tone="caption"), '<div class="caption"><p>a</p>'),
        (Text(markdown="a", tone="error"), '<div class="note error" role="note"><p>a</p>'),
        (Formula(tex="x"), '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">'),
        (Code(text="a <b>"), "<pre><code>a &lt;b&gt;</code></pre>"),
        (Picture(svg="<svg></svg>", alt="a"), "<figure><svg></svg></figure>"),
        (
            Raster(data=b"dots", kind="image/png", alt='an "a"', caption="**c**"),
            (
                '<img src="data:image/png;base64,ZG90cw==" alt="an &quot;a&quot;">'
                "<figcaption><strong>c</strong></figcaption>"
            ),
        ),
        (Missing(alt="a map"), '<p class="missing">Left out: a map</p>'),
        (Number(label="share", value="5 %", change="+1"), "<b>5 %</b>"),
        (Choice(label="Head", value="L1·H5"), "<dt>Head</dt> <dd>L1·H5</dd>"),
        (Group(title="More", parts=(Text(markdown="a"),)), "<h3>More</h3><p>a</p>"),
        (
            Group(title="More", parts=(Text(markdown="a"),), kind="folded"),
            "<details><summary>More</summary><p>a</p>",
        ),
        (
            Group(title="1. One", parts=(), kind="chapter"),
            '<section class="chapter"><h2>1. One</h2>',
        ),
        (
            Columns(columns=((Text(markdown="a"),), (Text(markdown="b"),)), shares=(4, 8)),
            '<div class="columns"><div class="s4"><p>a</p>',
        ),
    ],
)
def test_every_part_has_its_place(part: Part, shown: str):
    assert shown in parts_html([part])


def test_a_table_names_its_columns_and_says_what_it_is():
    table = Table(columns=("a", "b"), rows=(("1", TYPED),), alt="Numbers")

    shown = parts_html([table])

    assert '<caption>Numbers</caption><thead><tr><th scope="col">a</th>' in shown
    assert f"<td>1</td><td>{SAFE}</td>" in shown


@pytest.mark.parametrize(
    "part",
    [
        Heading(markdown=TYPED),
        Text(markdown=TYPED),
        Code(text=TYPED),
        Raster(data=b"", kind="image/png", alt=TYPED, caption=TYPED),
        Missing(alt=TYPED),
        Table(columns=(TYPED,), rows=((TYPED,),), alt=TYPED, markdown=True),
        Number(label=TYPED, value=TYPED, change=TYPED),
        Choice(label=TYPED, value=TYPED),
        Group(title=TYPED, parts=(Text(markdown=TYPED),)),
    ],
)
def test_html_in_a_text_stays_text(part: Part):
    shown = parts_html([part])

    assert "<script" not in shown
    assert SAFE in shown


def test_choices_that_follow_each_other_are_one_list():
    shown = parts_html([Choice(label=str(i), value="on") for i in range(3)])

    assert shown.count("<dl") == 1
    assert shown.count("<dt>") == 3


def test_a_file_allows_its_own_style_and_script_and_nothing_else(document: Make):
    html = html_of(document(Text(markdown="a")))

    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
    assert "://" not in html


def test_a_file_says_where_it_comes_from_as_text(document: Make):
    html = html_of(document())

    assert "<title>A page &lt;1&gt;</title>" in html
    assert "<dt>Address</dt> <dd>/a?b=&lt;c&gt;</dd>" in html
    assert '<html lang="en">' in html
