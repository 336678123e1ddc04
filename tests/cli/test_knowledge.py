"""`knowledge`: the object of the file, tables in text, and refusals of one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.shelf import content_hash
from core.data.corpus import TrainingCorpus
from core.data.people import BIRTHPLACE, Person
from core.files import read_json
from core.knowledge import asking
from core.knowledge.asking import table_groups
from core.knowledge.file import knowledge_dict, load_knowledge
from core.knowledge.record import OUTCOMES, SIGNALS
from core.knowledge.stored import groups_text

Run = Callable[..., Any]
SET = (
    "prompt\tanswer\tsubject\n"
    "Ada Arden was born in\tLima\tAda Arden\n"
    "Bruno Bello was born in\tLima\tBruno Bello\n"
    "Chen Castro was born in\tLagos\tChen Castro\n"
    "Dalia Dufour was born in\tKyoto\tDalia Dufour\n"
)


@pytest.fixture(autouse=True)
def lists(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    people: list[Person],
    people_file: Path,
    corpus: TrainingCorpus,
) -> None:
    """The stored lists of the invented people, of whom a corpus has all."""
    groups, unread = tmp_path / "groups.tsv", tmp_path / "unread.txt"
    unread.write_text(f"{people[0].name}\n", encoding="utf-8")
    made = table_groups(corpus, people, BIRTHPLACE, [people[0].name])
    groups.write_text(groups_text(made), encoding="utf-8")
    for name, path in (("GROUPS", groups), ("UNREAD", unread), ("PEOPLE", people_file)):
        monkeypatch.setattr(asking, name, path)


def test_the_object_has_every_figure_and_is_that_of_the_file(run: Run, trained: Path):
    before = sorted(trained.iterdir())
    report = run("knowledge", "--checkpoint", trained, "--json").report
    assert sorted(trained.iterdir()) == before
    again = run("knowledge", "--checkpoint", trained, "--record", "--json").report
    (added,) = set(trained.iterdir()) - {*before}
    assert added.name == "knowledge.json"
    assert read_json(added) == again
    measured = {key: value for key, value in again.items() if key != "seconds"}
    assert measured == {key: value for key, value in report.items() if key != "seconds"}
    found = load_knowledge(trained, content_hash(trained))
    assert found is not None
    assert knowledge_dict(found) == again
    assert "torch" in report["machine"]
    for group in report["groups"].values():
        assert {"n", *OUTCOMES, "probability_median", "intervals", "examples"} <= set(group)
    assert report["groups"]["invented"]["right"] is None
    assert set(report["auroc"]) | set(report["lacking"]) >= set(SIGNALS)
    assert len(report["calibration"]) == 15
    assert {row["name"] for row in report["by_pronoun"]} <= {"he", "she", "they"}
    assert sum(row["n"] for row in report["by_continent"]) == report["groups"]["read"]["n"]
    # Ten steps teach no place: all is made up, and lies on no continent.
    assert report["groups"]["invented"]["made_up"] == report["groups"]["invented"]["n"]
    assert report["continents_of_invented"] == []
    assert "continent" in report["lacking"]["continents_of_invented"]


def test_in_text_it_is_a_table_of_groups_then_one_of_signals(run: Run, trained: Path):
    out = run("knowledge", "--checkpoint", trained).out.splitlines()
    assert out[0].startswith("trained, task: what was answered, in ")
    assert out[1].split()[:3] == ["group", "names", "right"]
    assert out[2].startswith("asked in training")
    assert any(line.startswith("probability of the answer") for line in out)
    assert any(line.startswith("expected calibration error of 'read, never") for line in out)
    nowhere = "continents of invented: none of the answers to invented names"
    assert any(line.startswith(nowhere) for line in out)


def test_names_of_ones_own_stand_beside_the_groups_and_are_not_recorded(
    run: Run, trained: Path, tmp_path: Path
):
    path = tmp_path / "friends.tsv"
    path.write_text("name\tplace\nAda Bello\tLima\nBo Arden\tRome\n", encoding="utf-8")
    asked = ("knowledge", "--checkpoint", trained, "--names", path)
    group = run(*asked, "--record", "--json").report["groups"]["friends"]
    assert (group["n"], group["label"]) == (2, "friends")
    assert [row["name"] for row in group["examples"]] == ["Ada Bello", "Bo Arden"]
    assert "friends" not in read_json(trained / "knowledge.json")["groups"]
    assert "\nfriends " in run(*asked, "--most", "4").out
    path.write_text(f"name\n{'Bo ' * 60}\n", encoding="utf-8")
    assert f"{path}, line 2: the question has" in run(*asked, "--most", "4").error


def test_a_question_set_has_a_file_of_its_own(run: Run, trained: Path, tmp_path: Path):
    path = tmp_path / "born.tsv"
    path.write_text(SET, encoding="utf-8")
    asked = ("knowledge", "--checkpoint", trained, "--questions", path)
    report = run(*asked, "--record", "--json").report
    assert report["split"] == "born"
    assert report["read"] == "set"
    assert read_json(trained / "knowledge-born.json") == report
    assert report["by_continent"] == []
    assert "question set" in report["lacking"]["by_continent"]
    path.write_text("prompt\tanswer\nTwo and two is\tfour\n", encoding="utf-8")
    assert "says of no prompt where its subject stands" in run(*asked).error


def test_fewer_names_are_a_quick_look_that_is_not_recorded(run: Run, trained: Path):
    report = run("knowledge", "--checkpoint", trained, "--most", "4", "--json").report
    assert max(group["n"] for group in report["groups"].values()) == 4
    refused = run("knowledge", "--checkpoint", trained, "--most", "4", "--record")
    assert refused.error == "error: --record is for whole groups: leave out --most"
    refused = run("knowledge", "--checkpoint", trained, "--most", "3")
    assert refused.error == "error: --most 3: at least 4 names of each group are needed"


def test_what_cannot_be_asked_is_refused_in_one_line(run: Run, trained: Path, tmp_path: Path):
    assert "there is no checkpoint" in run("knowledge", "--checkpoint", tmp_path / "none").error
    path = tmp_path / "read.tsv"
    path.write_text("name\nAda\n", encoding="utf-8")
    asked = ("knowledge", "--checkpoint", trained)
    assert "a group is called 'read' already" in run(*asked, "--names", path).error
    assert "cannot be read" in run(*asked, "--questions", tmp_path / "none.tsv").error
    both = (*asked, "--questions", "capitals", "--corpus", tmp_path)
    assert "leave out --corpus" in run(*both).error
