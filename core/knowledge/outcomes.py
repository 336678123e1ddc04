"""What an answer is: the true place, that of the nearest name, the most frequent, known, made up.

The first that holds counts. The nearest name is one whose place is known from questions, and never
the person's own; similarity is that of the report card's baseline, and so is what counts as a known
place (core.evaluation.mistakes). Of a question set whose answers are cut to some tokens, a place is
said, too, by its first letters, three at least. Free of torch.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from core.data.people import Question, Rule, is_right
from core.evaluation.mistakes import countries_in, countries_of, known_places
from core.evaluation.shares import nearest_names
from core.intervals import wilson_interval
from core.knowledge.asking import Asking
from core.knowledge.groups import Named
from core.knowledge.record import OUTCOMES, Example, Group, Outcome

N_EXAMPLES = 30  # of a group
LEAST_LETTERS = 3
LABELS = {
    "asked": "asked in training",
    "read": "read, never asked",
    "left_out": "read here, left out elsewhere",
    "unread": "real people, never read",
    "invented": "invented names",
    "one_letter": "one letter changed",
    "surname": "surname alone",
    "crossed": "first name and surname of two",
    "no_name": "words that are no names",
    "set": "questions of the set",
}
# Of a model that was trained on questions alone.
NOTHING_READ = {"read": "never asked", "left_out": "never asked, left out elsewhere"}
# Of one that practised what readers wrote about people it was never given an answer about.
SELF_TAUGHT = {"read": "read, taught itself"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What answers are held against. `nearest` is looked up name by name in `known`."""

    known: tuple[Question, ...]
    said: frozenset[str]
    most_frequent: str
    rule: Rule


def places_of(asking: Asking, given: Sequence[str]) -> Places:
    """The places that are known beside what was written.

    In the table those of its people, else those of answers that GeoNames has.
    """
    written = {form for text in given for form in (text.strip(), _bare(text))}
    countries: Mapping[str, str] = (
        countries_in(asking.people) if asking.people else countries_of(written)
    )
    return Places(
        known=asking.known,
        said=frozenset(known_places(asking.known, countries)),
        most_frequent=most_frequent(asking.trained),
        rule=asking.rule,
    )


def most_frequent(answers: Sequence[str]) -> str:
    """The first of the most frequent; empty where each stands there once."""
    ((place, n),) = Counter(answers).most_common(1)
    return place if n > 1 else ""


def outcomes(places: Places, names: Sequence[Named], given: Sequence[str]) -> list[Outcome]:
    """Of each answer. Cost: that of the nearest names, and a look at every place a cut answer."""
    nearest = nearest_names(
        [question.name for question in places.known],
        [named.name for named in names],
        [named.person or named.name for named in names],
    )
    return [
        _outcome(places, named, text.strip(), None if index is None else places.known[index].answer)
        for named, text, index in zip(names, given, nearest, strict=True)
    ]


def says(given: str, place: str | None, rule: Rule) -> bool:
    """Whether an answer names a place, as the rule has it."""
    if not place or not given:
        return False
    if is_right(given, place, rule):
        return True
    cut = _bare(given)
    return rule == "first-tokens" and len(cut) >= LEAST_LETTERS and place.startswith(cut)


def group_of(
    name: str,
    names: Sequence[Named],
    found: Sequence[Outcome],
    given: Sequence[tuple[str, float]],
    *,
    label: str = "",
    n_examples: int = N_EXAMPLES,
) -> Group:
    """A group with the shares of its outcomes; `given` are answers with their probabilities.

    The examples are spread evenly over the group.
    """
    has_truth = any(named.place is not None for named in names)
    counted, n = Counter(found), len(names)
    can_be: tuple[Outcome, ...] = OUTCOMES if has_truth else OUTCOMES[1:]
    counts: dict[Outcome, int] = {outcome: counted[outcome] for outcome in can_be}
    intervals: dict[Outcome, tuple[float, float]] = {
        outcome: wilson_interval(count, n) for outcome, count in counts.items()
    }
    probabilities = [probability for _, probability in given]
    rows = [
        Example(name=x.name, given=text.strip(), place=x.place, outcome=o, probability=probability)
        for x, o, (text, probability) in zip(names, found, given, strict=True)
    ]
    step = max(1, n // n_examples) if n_examples else n
    return Group(
        name=name,
        label=label or LABELS[name],
        n=n,
        has_truth=has_truth,
        counts=counts,
        intervals=intervals,
        probabilities=tuple(sorted(probabilities)),
        probability_median=median(probabilities),
        probability_mean=fmean(probabilities),
        examples=tuple(rows[::step][:n_examples]),
    )


def _outcome(places: Places, named: Named, given: str, nearest: str | None) -> Outcome:
    rule = places.rule
    if says(given, named.place, rule):
        return "right"
    if says(given, nearest, rule):
        return "nearest"
    if says(given, places.most_frequent, rule):
        return "most_frequent"
    known = given in places.said
    if rule == "first-tokens":
        known = known or any(says(given, place, rule) for place in places.said)
    return "known_place" if known else "made_up"


def _bare(text: str) -> str:
    """Without the punctuation that a free text goes on with."""
    return text.strip().strip(".,;:!?\"'").strip()
