"""Names of one's own: what is read, and what is refused with its line."""

from pathlib import Path

import pytest

from core.knowledge.own_names import MOST_BYTES, parse_names, read_names


def test_names_come_alone_or_with_places(tmp_path: Path):
    path = tmp_path / "friends.tsv"
    path.write_text("name\tplace\nAda Lovelace\t London \nZoë\tBrno\n", encoding="utf-8")
    rows = read_names(path)
    assert [(row.name, row.place) for row in rows] == [("Ada Lovelace", "London"), ("Zoë", "Brno")]
    assert rows[1].where == f"{path}, line 3"
    assert [row.place for row in parse_names(b"name\nAda\n", where="x")] == [None]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "x, line 1: the header must be name, or name and place with a tab between them"),
        (b"person\nAda\n", "x, line 1: the header must be name"),
        (b"name\n", "x: 0 names; 1 to 2,000 are allowed"),
        (b"name\n" + b"".join(b"%d\n" % i for i in range(2001)), "x: 2,001 names; 1 to 2,000"),
        (b"name\nAda\n\nBruno\n", "x, line 3: the name is empty"),
        (b"name\tplace\nAda\n", "x, line 2: 1 columns, the header has 2"),
        (b"name\tplace\nAda\t\n", "x, line 2: the place is empty"),
        (b"name\nAda\nAda\n", "x, line 3: Ada stands already on line 2"),
        (b"name\n" + b"a" * 201 + b"\n", "x, line 2: 201 characters in the name; 200 are allowed"),
        (b"name\nA\x07da\n", "x, line 2, name, position 1: .* is a control character"),
        (b"name\n\xff\n", "x.*UTF-8"),
        (b"name\n" + b"a" * MOST_BYTES, "x: 1,048,581 bytes; at most 1,048,576 are read"),
    ],
)
def test_anything_else_is_refused_with_its_line(raw: bytes, message: str):
    with pytest.raises(ValueError, match=message):
        parse_names(raw, where="x")


def test_a_file_cannot_take_the_place_of_a_group(tmp_path: Path):
    path = tmp_path / "invented.tsv"
    path.write_text("name\nAda\n", encoding="utf-8")
    with pytest.raises(ValueError, match="a group is called 'invented' already; rename the file"):
        read_names(path)
    with pytest.raises(ValueError, match="cannot be read"):
        read_names(tmp_path / "nobody.tsv")
