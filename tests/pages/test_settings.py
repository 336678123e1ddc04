"""What the server is told before anybody comes, and what it keeps while they do."""

import ast
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AS_THE_SERVER = """
import os, runpy, sys
os.environ.pop("OMP_NUM_THREADS", None)
runpy.run_path("app.py", run_name="app")
print(os.environ["OMP_NUM_THREADS"], "torch" in sys.modules)
"""


def test_only_this_machine_is_listened_to_and_nothing_is_done_anew_for_each_session():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["server"]["address"] == "localhost"
    assert settings["server"]["fileWatcherType"] == "none"
    assert settings["runner"]["postScriptGC"] is False
    assert settings["browser"]["gatherUsageStats"] is False


def test_a_view_has_one_thread_which_is_settled_before_torch_is_loaded(
    alone: Callable[[str], list[str]],
):
    assert alone(AS_THE_SERVER) == ["1", "False"]


def decorators(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield from node.decorator_list


def test_every_cache_of_the_pages_has_a_bound():
    found = 0
    for path in (ROOT / "pages").rglob("*.py"):
        for decorator in decorators(ast.parse(path.read_text(encoding="utf-8"))):
            if "cache" not in ast.unparse(decorator):
                continue
            found += 1
            assert isinstance(decorator, ast.Call), f"{path.name}: {ast.unparse(decorator)}"
            assert any(k.arg in ("max_entries", "maxsize") for k in decorator.keywords), path.name
    assert found > 10
