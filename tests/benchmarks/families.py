"""Families of transformers behind the seam: what holds for tiny random models of each, as a table.

    python tests/benchmarks/families.py

Each figure is the largest relative difference from the untouched model under the attention that the
family has by default. What a family cannot give has a number, and its reason stands below.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main() -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported
    from tests.models.table import table

    print(table())


if __name__ == "__main__":
    main()
