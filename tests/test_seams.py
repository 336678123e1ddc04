"""Outside of the rooms that make, store and train models nobody knows which model it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAKERS = ("core/models", "core/checkpoints", "core/training")
CONSTANTS = {"MASK_ID", "PAD_ID"}


def files() -> Iterator[tuple[str, str]]:
    """Every module of core and of the pages: its path from the root, and its text."""
    for folder in ("core", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def names(code: str) -> set[str]:
    """Every name that a module uses as code: neither in a string nor in a comment."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found |= {node.name.rsplit(".", 1)[-1], node.asname or ""}
    return found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from core.models.gpt import GPT", True),
        ("from core.models.gpt import GPT as Model", True),
        ("def ask(model: gpt.GPT): ...", True),
        ("isinstance(model, GPT)", True),
        ('"""A GPT is asked."""  # GPT\nname = "GPT"', False),
        ("GPT2 = 1", False),
    ],
)
def test_a_name_is_found_in_code_and_not_in_prose(code: str, found: bool):
    assert ("GPT" in names(code)) is found


def test_who_looks_at_a_model_knows_the_seam_alone():
    outside = [(name, code) for name, code in files() if not name.startswith(MAKERS)]
    assert len(outside) > 100
    assert [name for name, code in outside if "GPT" in names(code)] == []


def test_the_ids_of_mark_and_padding_are_asked_of_the_vocabulary():
    using = [name for name, code in files() if CONSTANTS & names(code)]
    assert using == ["core/data/own_vocabulary.py"]
