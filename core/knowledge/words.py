"""What a record of knowledge says in sentences; true for whatever model it is of. Free of torch."""

from collections.abc import Mapping, Sequence
from math import ceil

from core.intervals import wilson_interval
from core.knowledge.file import TASK
from core.knowledge.outcomes import NOTHING_READ
from core.knowledge.record import (
    ATTENTION,
    SIGNALS,
    Auroc,
    Group,
    Knowledge,
    Outcome,
)

N_STEPS = 10  # of a probability, from 0 to 1
ABOUT = {
    "asked": "people it was asked about in training",
    "read": "people it read about",
    "left_out": "people whom another corpus leaves out",
    "unread": "real people it never read about",
    "invented": "invented people",
    "one_letter": "names with one letter changed",
    "surname": "surnames alone",
    "crossed": "crossed names",
    "no_name": "words that are no names",
    "set": "the set's own subjects",
}
STRANGERS = "people it was never asked about"  # to a model that read nothing
OUTCOME_WORDS: dict[Outcome, str] = {
    "right": "right",
    "nearest": "place of the nearest name",
    "most_frequent": "the most frequent place",
    "known_place": "another known place",
    "made_up": "made-up word",
}
OF_A_SET: dict[Outcome, str] = {
    "right": "right",
    "nearest": "answer to the nearest name",
    "most_frequent": "the most frequent answer",
    "known_place": "another answer of the set",
    "made_up": "anything else",
}
Kinds = Mapping[Outcome, str]  # of answers, in words
CALIBRATION_MEANS = (
    "Points are answers alike in how probable they are, larger where there are more; each shape is "
    "a group. On the dashed line as many are right as it says; below it the model is too sure. "
    "ECE: by how much, on average over the answers, in 15 steps."
)


def percent(share: float) -> str:
    """A share in whole per cent; in tenths where it would read as none or all, and is not."""
    whole, tenths = f"{100 * share:.0f}", f"{100 * share:.1f}"
    exact = whole not in ("0", "100") or tenths == f"{whole}.0"
    return f"{whole if exact else tenths}\u00a0%"


def number(value: float) -> str:
    """Two decimals, which is what an interval of hundreds of names is worth."""
    return f"{value:.2f}"


def steps(probabilities: Sequence[float]) -> list[float]:
    """Shares of answers whose probability lies in each of N_STEPS equal steps, its end included."""
    counts = [0] * N_STEPS
    for probability in probabilities:
        counts[max(ceil(probability * N_STEPS) - 1, 0)] += 1
    return [count / max(len(probabilities), 1) for count in counts]


def right(group: Group) -> int | None:
    """How many are right; None where nothing can be."""
    return group.counts["right"] if group.has_truth else None


def about(group: Group) -> str:
    """Whom a group's questions are about."""
    if group.label == NOTHING_READ["read"]:
        return STRANGERS
    return ABOUT.get(group.name, group.label)


def sureness_title(known: Knowledge) -> str:
    """How often it is sure where it cannot know, beside where it can."""
    never, read = known.groups[known.never], known.groups[known.read]
    return (
        f"Of its answers about {about(never)} {percent(never.n_sure / never.n)} are over 90 % "
        f"likely, about {about(read)} {percent(read.n_sure / read.n)}"
    )


def sureness_meaning(known: Knowledge) -> str:
    """What the picture means, and what it does not."""
    never, read = known.groups[known.never], known.groups[known.read]
    low, high = (
        wilson_interval(group.n_sure, group.n)[end] for group, end in ((read, 0), (never, 1))
    )
    if not known.reads:
        less = "It read no text, so that all these people are strangers to it"
    elif high < low:
        less = "It is sure less often of what it never read"
    else:
        less = "It is sure of what it never read about as often as of what it read"
    return (
        f"{less}: half of its answers about {about(never)} are at least "
        f"{percent(never.probability_median)} likely, half of those about {about(read)} at least "
        f"{percent(read.probability_median)}. A probability says how firmly a text goes on, not "
        "whether it is true."
    )


def outcome_words(known: Knowledge) -> Kinds:
    """The kinds of answers; of a question set they need be no places."""
    kinds = OUTCOME_WORDS if known.split == TASK else OF_A_SET
    if not known.most_frequent:
        return kinds
    return {**kinds, "most_frequent": f"{kinds['most_frequent']} ({known.most_frequent})"}


def outcomes_title(known: Knowledge) -> str:
    """Known places and made-up words of the names that it never read."""
    never = known.groups[known.never]
    made_up = never.counts["made_up"] / never.n
    return (
        f"About {about(never)} it names {_known_answer(known)} in {percent(1 - made_up)} of its "
        f"answers, {_made_up(known)} in {percent(made_up)}"
    )


def own_said(group: Group) -> str:
    """What came of one's own names."""
    said = (
        f"Of {group.n} answers {group.n_sure} are over 90 % likely, "
        f"{group.counts['made_up']} are made up"
    )
    return f"{said}." if not group.has_truth else f"{said}, {group.counts['right']} are right."


def lacking_groups(known: Knowledge) -> list[str]:
    """Why a group is missing, a sentence each."""
    return [f"Without {ABOUT[name]}: {why}" for name, why in known.lacking.items() if name in ABOUT]


def calibration_title(known: Knowledge) -> str:
    """What it claims and what it keeps, with the error."""
    n = sum(found.n for found in known.calibration) or 1
    claims = sum(found.n * found.confidence for found in known.calibration) / n
    keeps = sum(found.right for found in known.calibration) / n
    gap = "as sure as it should be" if percent(claims) == percent(keeps) else "too modest"
    gap = "too sure" if claims > keeps and gap == "too modest" else gap
    return (
        f"Of its answers about {about(known.groups[known.read])} it expects {percent(claims)} to "
        f"be right, and {percent(keeps)} are; it is {gap} (ECE {known.ece:.3f})"
    )


def ranked(known: Knowledge) -> list[tuple[str, Auroc]]:
    """The signals by how well they tell read from never read."""
    return sorted(known.auroc.items(), key=lambda pair: -pair[1].value)


def signals_title(known: Knowledge) -> str:
    """Which signal gives it away, if any does."""
    if not known.auroc:
        return "No signal was measured"
    name, best = ranked(known)[0]
    if best.low <= 0.5:
        return f"None gives it away: even the best, {SIGNALS[name]}, may be a coin ({_said(best)})"
    return f"What gives it away best is the {SIGNALS[name]}: {_said(best)}"


def signals_meaning(known: Knowledge) -> str:
    """What is told apart, and what the measure is."""
    read, never = known.groups[known.read], known.groups[known.never]
    return (
        f"Of two names, one of {about(read)} and one of {about(never)}, AUROC is how often the "
        "signal points to the first. A signal that tells them apart need not be what "
        "the model itself uses."
    )


def attention_verdict(known: Knowledge) -> str:
    """Whether any attention score beats the plain probability; "" where one of both is lacking."""
    scores = [(name, found) for name, found in ranked(known) if name in ATTENTION]
    plain = known.auroc.get("probability")
    if not scores or plain is None:
        return ""
    name, best = scores[0]
    what, against = f"{SIGNALS[name]}, {_said(best)}", f"the plain probability, {_said(plain)}"
    if best.low > plain.high:
        return f"An attention score beats the probability: {what}, against {against}."
    if best.high < plain.low:
        return f"No attention score beats the probability: the best is {what}, against {against}."
    return (
        f"Whether an attention score beats the probability nobody can tell from these names, for "
        f"the intervals overlap: {what}, against {against}."
    )


def reader_sentences(known: Knowledge) -> tuple[str, str, str]:
    """What a reader of such a system should know, each with a number of this very model."""
    never = known.groups[known.never]
    named = never.n - never.counts["made_up"]
    return (
        (
            f"An answer is no sign of knowledge: asked about {never.n} {about(never)}, it named "
            f"{_known_answer(known)} for {named} of them, in the same words as for those it knows."
        ),
        _confident(never),
        _no_way_out(known),
    )


def _confident(never: Group) -> str:
    n_sure, truth = never.n_sure, right(never)
    fate = "none of them can be right"
    if truth is not None:
        fate = f"only {truth} of all {never.n} are right" if truth else "not one of all is right"
    if not n_sure:
        return (
            f"Doubt is not said aloud: half of these answers are less than "
            f"{percent(never.probability_median)} likely to the model, yet each is written as "
            f"firmly as a true one; {fate}."
        )
    return (
        f"A confident answer may be wrong: {n_sure} of these {never.n} answers are over 90 % "
        f"likely to the model, and {fate}. Whoever trusts only what it is sure of trusts those too."
    )


def _no_way_out(known: Knowledge) -> str:
    if not known.auroc:
        return (
            "Its probabilities are no measure of truth: they miss the share of right answers by "
            f"{percent(known.ece)} on average."
        )
    name, best = ranked(known)[0]
    return (
        f"Looking inside helps only so far: of two names, one of {about(known.groups[known.read])} "
        f"and one of {about(known.groups[known.never])}, the best signal, {SIGNALS[name]}, picks "
        f"the wrong one in {percent(1 - best.value)} of all pairs. So ask for the source, not for "
        "the model's word."
    )


def _known_answer(known: Knowledge) -> str:
    return "a place that it knows" if known.split == TASK else "an answer of the set"


def _made_up(known: Knowledge) -> str:
    return "a made-up word" if known.split == TASK else "something else"


def _said(found: Auroc) -> str:
    return f"{number(found.value)} ({number(found.low)} to {number(found.high)})"
