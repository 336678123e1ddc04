"""What is held of a run while it trains."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.data.vocabulary import Vocabulary
from core.runs.folder import Anchor, Settings
from core.runs.kinds import Kind, Probe
from core.training.loop import Trainer
from core.training.recipe import Recipe


@dataclass(slots=True)
class Run:
    """A training under way: where it writes, what it trains, how long it took so far.

    At multiples of `probe_every`, if any, somebody looks at the model: a device is then waited for.
    `memory` is saved with the state for whoever steps the run: plain values only. `anchor` tells
    whether the folder is still there, `saved_step` is the step of the state on the disk.
    """

    folder: Path
    settings: Settings
    kind: Kind
    recipe: Recipe
    data: Any
    vocabulary: Vocabulary
    trainer: Trainer
    anchor: Anchor
    saved_step: int = 0
    seconds: float = 0.0
    memory: dict[str, Any] = field(default_factory=dict[str, Any])
    probe_every: int = 0

    @property
    def step(self) -> int:
        """How many are done; on a device it may be ahead of the last record."""
        return self.trainer.cursor.step

    @property
    def n_steps(self) -> int:
        return self.trainer.n_steps

    @property
    def writes(self) -> bool:
        """Whether this process is the one that writes, of those that train together."""
        return self.trainer.team.is_first

    @property
    def n_parameters(self) -> int:
        return self.trainer.model.n_parameters

    def probe(self) -> Probe:
        """What it answers right by now."""
        return self.kind.probe(self.trainer, self.vocabulary, self.data, self.settings.seed)
