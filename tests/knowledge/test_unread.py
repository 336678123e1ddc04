"""Who is left out of a corpus: as many of every continent, by a rule that can be repeated."""

from collections import Counter

import pytest

from core.data.corpus import notable_corpus
from core.data.people import CONTINENTS, SPLITS, Person, split_of
from core.knowledge.unread import choose_unread
from core.paths import UNREAD


@pytest.fixture(scope="module")
def unread(table: list[Person]) -> list[Person]:
    return choose_unread(table)


def test_the_stored_list_is_what_the_rule_makes(unread: list[Person]):
    assert UNREAD.read_text(encoding="utf-8") == "".join(f"{p.name}\n" for p in unread)


def test_every_continent_has_as_many_and_every_split_its_share(
    table: list[Person], unread: list[Person]
):
    assert len({p.name for p in unread}) == 300
    assert Counter(p.continent for p in unread) == dict.fromkeys(CONTINENTS, 50)
    for split in SPLITS:
        share, of_unread = (
            sum(split_of(person.name) == split for person in group) / len(group)
            for group in (table, unread)
        )
        assert of_unread == pytest.approx(share, abs=0.03)


def test_a_corpus_without_them_never_names_one_of_them(table: list[Person], unread: list[Person]):
    left_out = {p.name for p in unread}
    corpus = notable_corpus([p for p in table if p.name not in left_out], n_sentences=18)
    text = "\n".join(line for _, lines in corpus.documents for line in lines)
    assert [name for name in left_out if name in text] == []


def test_numbers_that_cannot_be_balanced_are_refused(table: list[Person]):
    with pytest.raises(ValueError, match="100 people cannot be the same number of 6 continents"):
        choose_unread(table, n=100)
    with pytest.raises(ValueError, match="131 people of a continent; 200 are to be left out"):
        choose_unread(table, n=1200)
