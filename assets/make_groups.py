"""Makes unread.txt and knowledge/groups.tsv by their seeded rules: python assets/make_groups.py

unread.txt: the people whom the corpus of notable-unread leaves out (core/knowledge/unread.py).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from core.data.people import load_people
from core.files import write_text
from core.knowledge.unread import choose_unread
from core.paths import PEOPLE, UNREAD


def main() -> None:
    """Write both beside this script."""
    unread = [person.name for person in choose_unread(load_people(PEOPLE))]
    write_text(UNREAD, "".join(f"{name}\n" for name in unread))
    print(f"{UNREAD}: {len(unread)} names")


if __name__ == "__main__":
    main()
