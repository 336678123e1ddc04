"""Where the project's own files lie. Nothing heavy is imported, so that home can open at once."""

from core.data.paths import ASSETS, JUDGED, PEOPLE, ROOT

CHECKPOINTS = ROOT / "checkpoints"
RUNS = CHECKPOINTS / "runs"
BENCHMARKS = ASSETS / "benchmarks"

__all__ = ["ASSETS", "BENCHMARKS", "CHECKPOINTS", "JUDGED", "PEOPLE", "ROOT", "RUNS"]
