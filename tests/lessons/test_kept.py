"""A lesson's file, written by a process of its own."""

from pathlib import Path

import pytest

from core.checkpoints.shelf import list_checkpoints
from core.cli.main import main
from core.lessons import kept
from core.lessons.reading import list_lessons
from core.offline.fitting import MOST_BYTES
from core.paths import CHECKPOINTS


@pytest.mark.skipif(
    "notable-pretrained" not in list_checkpoints(CHECKPOINTS), reason="its checkpoint is not there"
)
def test_a_shipped_lesson_is_one_file_with_all_its_steps(tmp_path: Path):
    lesson = min(list_lessons(), key=lambda lesson: len(lesson.steps))
    path = tmp_path / "lesson.html"

    assert main(["lesson", lesson.name, "--out", str(path)]) == 0

    html = path.read_text(encoding="utf-8")
    assert len(html.encode()) <= MOST_BYTES
    assert html.count('<section class="chapter">') == len(lesson.steps)
    assert html.count("<details>") == sum(step.predict is not None for step in lesson.steps)
    assert html.count("data-t=") > 0
    assert [one.name for one in tmp_path.iterdir()] == ["lesson.html"]


def test_what_its_process_refuses_is_told_in_its_sentence(tmp_path: Path):
    with pytest.raises(ValueError, match="^no lesson is called 'nothing'; lessons: "):
        kept.keep_lesson("nothing", tmp_path / "lesson.html")
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_dies_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kept, "WRITER", "pages.shared.not_there")
    with pytest.raises(ValueError, match="lesson a: its pages cannot be drawn .*No module named"):
        kept.keep_lesson("a", tmp_path / "lesson.html")
