"""What has no room gives way, largest first, and is told."""

import os
from collections.abc import Callable

import pytest

from core.offline.fitting import file_of
from core.offline.parts import Columns, Document, Group, Picture, Raster, Table, Text

Make = Callable[..., Document]


def drawing(n: int, alt: str = "A drawing") -> Picture:
    """An SVG of n marks, about 60 bytes each."""
    marks = "".join(
        f'<rect x="{i % 90}" y="{i % 80}" width="3" height="3" data-t="mark"/>' for i in range(n)
    )
    opened = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">'
    return Picture(svg=f"{opened}{marks}</svg>", alt=alt)


def test_what_has_room_stays_as_it_is(document: Make):
    html = file_of(document(drawing(10))).decode()

    assert 'data-t="mark"' in html
    assert "Not everything" not in html


def test_the_largest_drawing_becomes_dots_and_the_file_says_so(document: Make):
    inside = (Group(title="a", parts=(drawing(3000, "The large one"),)),)
    parts = document(Columns(columns=(inside, (drawing(10),)), shares=(6, 6)))

    data = file_of(parts, most=60_000)

    html = data.decode()
    assert len(data) <= 60_000
    assert 'alt="The large one"' in html
    assert html.count("<rect") == 10
    assert (
        "Not everything has room in 0.06 MB: 1 drawing became dots, which do not answer to the "
        "pointer." in html
    )


def test_then_tables_end_early_and_pictures_are_left_out(document: Make):
    table = Table(columns=("n",), rows=tuple((f"row {i} " + "x" * 100,) for i in range(900)))
    raster = Raster(data=os.urandom(60_000), kind="image/png", alt="A photograph")

    html = file_of(document(table, raster), most=50_000).decode()

    assert "row 99 " in html
    assert "row 100 " not in html
    assert "Left out: A photograph" in html
    assert "1 table cut after 100 rows; 1 picture left out." in html


def test_texts_that_have_no_room_alone_are_refused(document: Make):
    with pytest.raises(ValueError, match="the texts alone take [0-9]+ bytes, a file has at most"):
        file_of(document(Text(markdown="word " * 9000)), most=20_000)
