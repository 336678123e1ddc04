"""A small lesson as a file, whole or with one thing wrong in it."""

from collections.abc import Callable
from pathlib import Path

import pytest

STEP = """
[[steps]]
title = "One question"
text = "L1·H0 puts {share} on the name; β is 8."
page = "attention"
state = { checkpoint = "notable-pretrained", hand-beta = "8" }

[steps.predict]
ask = "How much?"
choices = ["nearly all", "none"]
right = "nearly all"

[[steps.claims]]
name = "share"
text = "of the questions are answered right"
stated = 95.5
tolerance = 0.1
unit = "%"
call = "right_share"
with = { checkpoint = "notable-pretrained" }
"""
HEAD = """
title = "A lesson"
minutes = 10
order = 1
learns = "How it is told."
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write the lesson, with one text in it replaced by another."""

    def write_(old: str = "", new: str = "", *, name: str = "a-lesson", more: str = "") -> Path:
        text = f"{HEAD}{STEP}{more}"
        assert old in text
        path = tmp_path / f"{name}.toml"
        path.write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")
        return path

    return write_
