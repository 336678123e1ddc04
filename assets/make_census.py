"""Makes census.txt.gz, names of people by how common they are: python assets/make_census.py

Needs `pip install names==0.3.0` (MIT; its lists are the US Census Bureau's of 1990, in the public
domain); the project itself reads only the table. The form stands in core/data/census.py.
"""

import gzip
import sys
from importlib.metadata import PackageNotFoundError, files, version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from core.data.census import TABLE

HEAD = (
    "# First names and surnames, the most common first. Source: US Census Bureau, names of 1990,",
    "# in the public domain; changed: men and women in one list, the surnames cut off.",
)
N_SURNAMES = 40_000  # what is rarer is mostly another spelling of what is there


def main() -> None:
    """Write the table beside this script, or say what it needs."""
    try:
        lists = {
            path.name: Path(path.locate()) for path in files("names") or () if "dist." in path.name
        }
    except PackageNotFoundError:
        sys.exit("assets/make_census.py needs a package: pip install names==0.3.0")
    shares = _shares(lists["dist.female.first"])
    for name, share in _shares(lists["dist.male.first"]).items():
        shares[name] = shares.get(name, 0.0) + share
    firsts = sorted(shares, key=lambda name: (-shares[name], name))
    surnames = list(_shares(lists["dist.all.last"]))[:N_SURNAMES]
    source = f"# Made by assets/make_census.py from names {version('names')}."
    text = "\n".join([*HEAD, source, "", *firsts, "", *surnames])
    TABLE.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    print(
        f"{TABLE.name}: {len(firsts):,} and {len(surnames):,} names, {TABLE.stat().st_size:,} bytes"
    )


def _shares(path: Path) -> dict[str, float]:
    """Share of all people in percent by name, as the lists have it: NAME SHARE SUM RANK."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {row[0].capitalize(): float(row[1]) for row in rows}


if __name__ == "__main__":
    main()
