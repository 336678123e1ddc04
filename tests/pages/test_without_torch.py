"""What is only shown needs no torch, which takes seconds to load: one process opens page after
page, so that the first that loads it is named.
"""

from collections.abc import Callable

from core.inspection.head_record import heads_file
from core.knowledge.file import knowledge_file
from core.paths import CHECKPOINTS

# Page after page as a visitor goes, and what each shows: its charts, a button, a table.
OPEN = """
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
app = AppTest.from_file(Path("app.py").resolve(), default_timeout=60).run()
def tell(name):
    assert not app.exception, app.exception[0].value
    shown = len(app.get("vega_lite_chart"))
    if name == "training":
        shown = app.button(key="training-start").label
    if name == "report_card":
        shown = any("dev accuracy" in text.value for text in app.main.markdown)
    print(name, shown, "torch" in sys.modules)
tell("home")
for name in {pages!r}:
    app.switch_page(f"pages/{{name}}/page.py").run()
    tell(name)
"""
PARTS = """
import sys
import pages.heads.repeated, pages.heads.repeated_data, pages.heads.repeated_words
import pages.memory.capacity, pages.memory.overwriting, pages.memory.generation
import pages.memory.trained
import pages.look.answers, pages.look.convolution, pages.look.offsets, pages.look.pooling
import pages.look.shift, pages.look.where, pages.look.wrong
print("parts", "torch" in sys.modules)
"""


def test_pages_of_records_and_parts_that_show_them_open_without_torch(
    alone: Callable[[str], list[str]],
):
    shown = {"attention_by_hand": 1, "training": "Start", "report_card": True}
    if heads_file(CHECKPOINTS / "notable-pretrained", "dev").exists():
        shown["heads"] = 1
    if knowledge_file(CHECKPOINTS / "notable-pretrained").exists():
        shown["knowledge"] = 6
    told = " ".join(f"{name} {what} False" for name, what in shown.items())
    words = alone(OPEN.format(pages=list(shown)) + PARTS)
    assert " ".join(words) == f"home 2 False {told} parts False"
