"""What the page shows, read from files at every run: they are small."""

from core.evaluation.report_card import Row, load_rows
from core.evaluation.tables import (
    Ablation,
    PublishedTable,
    SeedSpread,
    load_ablation,
    load_published,
    load_seeds,
)
from core.paths import ASSETS, CHECKPOINTS
from pages.shared.records import digest

TABLES = ASSETS / "report_card"


def rows() -> list[Row]:
    """Every checkpoint that was trained on the course's files."""
    return load_rows(CHECKPOINTS, digest=digest)


def published() -> PublishedTable:
    """Figures from elsewhere, and what they are."""
    return load_published(TABLES / "published.json")


def ablation() -> Ablation | None:
    """The ablation, once it was run."""
    return load_ablation(TABLES / "ablation.json")


def seeds() -> SeedSpread | None:
    """Several seeds of one preset, once they were trained."""
    return load_seeds(TABLES / "seeds.json")
