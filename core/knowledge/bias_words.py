"""What is a bias of the table and what of the model, in sentences. Free of torch."""

from collections.abc import Sequence
from dataclasses import replace

from core.evaluation.shares import wilson_interval
from core.knowledge.breakdowns import NONE_KNOWN
from core.knowledge.record import Continent, Knowledge, Share
from core.knowledge.words import percent

LEAST_N = 20  # people of a row that is spoken of
BREAKDOWNS = {
    "by_continent": "continent",
    "by_pronoun": "pronoun",
    "by_century": "century of birth",
    "by_frequency": "how often the place is an answer in training",
}


def shares_by(known: Knowledge, what: str) -> tuple[Share, ...]:
    """The rows of one of the BREAKDOWNS; numbers of times are written as such."""
    found: tuple[Share, ...] = getattr(known, what)
    if what != "by_frequency":
        return found
    return tuple(replace(row, name=f"{row.name}×") for row in found)


def breakdown_words(rows: Sequence[Share], of: str) -> str:
    """Where it is right most and least, and whether that is more than chance."""
    told = sorted((row for row in rows if row.n >= LEAST_N), key=lambda row: row.right / row.n)
    if len(told) < 2:
        return f"Too few people for a comparison: no two rows have {LEAST_N}."
    worst, best = told[0], told[-1]
    verdict = (
        "their intervals do not meet, so it is more than chance"
        if worst.high < best.low
        else "their intervals overlap, so it may be chance"
    )
    return (
        f"By {of} it is right most for {best.name} ({_counted(best)}) and least for {worst.name} "
        f"({_counted(worst)}): {verdict}."
    )


def table_words(known: Knowledge) -> str:
    """What is a bias of the table; "" where continents are not known."""
    n = sum(row.n for row in known.by_continent)
    if not n:
        return ""
    most = max(known.by_continent, key=lambda row: row.n)
    return (
        f"Of the table: {percent(most.n / n)} of the people asked about here were born in "
        f"{most.name}. That is whom somebody wrote about, and no choice of the model."
    )


def placed(rows: Sequence[Continent]) -> list[Continent]:
    """The same of those answers alone that lie on a continent: a made-up word lies nowhere."""
    known = [row for row in rows if row.name != NONE_KNOWN]
    n, trained = sum(row.n for row in known), sum(row.training_share for row in known)
    if not n or not trained:
        return []
    return [
        replace(
            row, share=row.n / n, low=low, high=high, training_share=row.training_share / trained
        )
        for row in known
        for low, high in (wilson_interval(row.n, n),)
    ]


def model_words(rows: Sequence[Continent]) -> str:
    """What is a bias of the model: where it puts people whom nobody knows; "" without them."""
    known = placed(rows)
    if not known:
        return ""
    row = max(known, key=lambda each: abs(each.share - each.training_share))
    numbers = (
        f"{row.name} gets {percent(row.share)} of them ({percent(row.low)} to "
        f"{percent(row.high)}), and had {percent(row.training_share)} of the people asked about in "
        "training"
    )
    if row.low <= row.training_share <= row.high:
        return (
            f"Of the model: {_placed_said(rows)} No continent gets more or less than in training "
            f"by more than chance: even where they differ most, {numbers}."
        )
    more = "more" if row.share > row.training_share else "less"
    return (
        f"Of the model: {_placed_said(rows)} {numbers}. It answers {more} with it than training "
        "did."
    )


def _placed_said(rows: Sequence[Continent]) -> str:
    n = sum(row.n for row in placed(rows))
    return f"{n} of {sum(row.n for row in rows)} invented names get a place on a known continent."


def _counted(row: Share) -> str:
    return f"{percent(row.right / row.n)} of {row.n}"
