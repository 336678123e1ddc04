"""Where the project's own files lie. Nothing heavy is imported, so that home can open at once."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKPOINTS = ROOT / "checkpoints"
ASSETS = ROOT / "assets"
PEOPLE = ASSETS / "people.tsv"
JUDGED = ASSETS / "people_judged.tsv"
