"""Makes unread.txt and knowledge/groups.tsv by their seeded rules: python assets/make_groups.py

unread.txt: the people whom the corpus of notable-unread leaves out (core/knowledge/unread.py).
groups.tsv: the groups of names that a model's knowledge is measured on (core/knowledge/groups.py).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from core.data.biographies import PATTERNS
from core.data.corpus import notable_corpus
from core.data.people import load_people
from core.data.task import NOTABLE
from core.files import write_text
from core.knowledge.asking import table_groups
from core.knowledge.stored import groups_text
from core.knowledge.unread import choose_unread
from core.paths import GROUPS, PEOPLE, UNREAD


def main() -> None:
    """Write both beside this script."""
    people = load_people(PEOPLE)
    unread = [person.name for person in choose_unread(people)]
    write_text(UNREAD, "".join(f"{name}\n" for name in unread))
    print(f"{UNREAD}: {len(unread)} names")
    corpus = notable_corpus(people, n_sentences=len(PATTERNS))
    groups = table_groups(corpus, people, NOTABLE.template, unread)
    write_text(GROUPS, groups_text(groups))
    print(f"{GROUPS}: {', '.join(f'{group} {len(names)}' for group, names in groups.items())}")


if __name__ == "__main__":
    main()
