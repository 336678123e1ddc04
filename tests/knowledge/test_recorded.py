"""What is recorded beside shipped weights is of these weights, and of the lists as they are."""

from functools import cache

from core.checkpoints.shelf import CARD, content_hash
from core.data.task import TASKS, task_of
from core.files import read_json
from core.knowledge.asking import asking_of
from core.knowledge.file import load_knowledge
from core.paths import CHECKPOINTS


@cache
def digest_of(name: str) -> str:
    task = TASKS[name]
    return asking_of(task, task.corpus(n_sentences=1, folder=None)).digest


def test_every_record_is_of_its_weights_and_of_the_lists_as_they_are():
    for path in sorted(CHECKPOINTS.glob("*/knowledge.json")):
        found = load_knowledge(path.parent, content_hash(path.parent))
        assert found is not None, f"{path}: of other weights, record it anew"
        task = task_of(read_json(path.parent / CARD))
        assert task is not None
        if task.is_shipped:  # the course's files need not be there
            assert found.data == digest_of(task.name), f"{path}: of other lists, record it anew"
        else:
            assert not any(group.examples for group in found.groups.values())
