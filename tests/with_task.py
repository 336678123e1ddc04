"""Models as the tools take them: with a vocabulary, and asked where people were born."""

from core.checkpoints.store import Checkpoint
from core.data.task import NOTABLE
from core.data.vocabulary import Vocabulary
from core.models.gpt import GPT
from core.models.seam import Model


def with_task(model: Model, vocabulary: Vocabulary) -> Checkpoint:
    """A model that is asked the questions of the exercise."""
    return Checkpoint(model, vocabulary, NOTABLE)


def gpt_of(stored: Checkpoint) -> GPT:
    """The model of a checkpoint that holds a GPT."""
    assert isinstance(stored.model, GPT)
    return stored.model
