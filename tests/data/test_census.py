"""Names of the census: what the table holds, and what makes it."""

import importlib.util
import re
import subprocess
import sys
from types import ModuleType

import pytest

from core.data.census import TABLE, census_names
from core.paths import ROOT


def maker() -> ModuleType:
    """The script that makes the table; assets/ is no package."""
    spec = importlib.util.spec_from_file_location("make_census", TABLE.parent / "make_census.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_first_names_and_surnames_stand_with_the_most_common_first():
    firsts, surnames = census_names()
    assert firsts[:3] == ("James", "John", "Robert")
    assert surnames[:3] == ("Smith", "Johnson", "Williams")
    assert (len(firsts), len(surnames)) == (5163, 40_000)


def test_each_name_stands_once_and_is_letters_alone():
    for names in census_names():
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[A-Z][a-z]+", name) for name in names)


def test_the_package_makes_the_same_bytes(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("names", reason="only who makes the table needs names 0.3.0")
    before = TABLE.read_bytes()
    maker().main()
    assert TABLE.read_bytes() == before
    assert "5,163 and 40,000 names" in capsys.readouterr().out


def test_without_the_package_one_line_says_what_is_needed():
    code = (
        "import importlib.metadata as m, runpy\n"
        "def gone(name): raise m.PackageNotFoundError(name)\n"
        "m.files = gone\n"
        "runpy.run_path('assets/make_census.py', run_name='__main__')"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert found.stderr == "assets/make_census.py needs a package: pip install names==0.3.0\n"
