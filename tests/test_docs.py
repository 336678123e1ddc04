"""README and docs: what they link to is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAPERS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """Of headings, as GitHub makes them."""
    kept = (re.sub(r"[^\w\- ]", "", text.lower()) for text in HEADING.findall(path.read_text()))
    return {text.replace(" ", "-") for text in kept}


@pytest.mark.parametrize(
    "path", [*PAPERS, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(path: Path):
    links = [link for link in LINK.findall(path.read_text()) if "://" not in link]
    for link in links:
        name, _, heading = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.is_file(), link
        assert not heading or heading in anchors(target), link


def test_every_paper_is_named_in_the_readme():
    named = set(LINK.findall((ROOT / "README.md").read_text()))
    assert {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} <= named
