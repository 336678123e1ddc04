"""Lines whose letters stand under one another: drawn as typed, and read back for a kept page."""

from typing import Any, cast

from pages.shared.letters import letters_in, show_lines


class Place:
    """Keeps what is drawn in it."""

    drawn = ""

    def html(self, body: str) -> None:
        self.drawn = body


def test_lines_come_back_as_they_were_and_nothing_in_them_is_read():
    place, lines = Place(), ("said  <b>ada</b> & co", "heard </pre><i>  ada", "      x")
    show_lines(cast(Any, place), lines, name='what "was" said')
    assert letters_in(place.drawn) == "\n".join(lines)
    assert "<b>" not in place.drawn
    assert "<i>" not in place.drawn
    assert 'aria-label="what &quot;was&quot; said"' in place.drawn


def test_other_html_has_no_lines():
    assert letters_in("<style>p {}</style>") is None
    assert letters_in('<p>a</p><pre class="letters">b</pre>') is None
