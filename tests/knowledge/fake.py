"""A complete, plausible `Knowledge` for tests: nothing was measured, but all figures fit."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, median
from typing import Any

from core.intervals import wilson_interval
from core.knowledge.record import (
    OUTCOMES,
    Auroc,
    Bin,
    Continent,
    Example,
    Group,
    Knowledge,
    Outcome,
    Share,
)

# n, whether there is a truth, how many of each outcome, where most probabilities lie
GROUPS: dict[str, tuple[int, bool, tuple[int, ...], float]] = {
    "asked": (300, True, (285, 3, 2, 8, 2), 0.95),
    "read": (1100, True, (704, 90, 36, 200, 70), 0.7),
    "unread": (300, True, (12, 40, 28, 160, 60), 0.35),
    "invented": (300, False, (0, 50, 30, 150, 70), 0.3),
    "one_letter": (300, True, (180, 0, 20, 70, 30), 0.6),
    "surname": (300, True, (60, 45, 30, 115, 50), 0.4),
    "crossed": (300, False, (0, 90, 30, 130, 50), 0.45),
    "no_name": (300, False, (0, 10, 80, 130, 80), 0.2),
}
LABELS = {
    "asked": "asked in training",
    "read": "read, never asked",
    "unread": "real people, never read",
    "invented": "invented names",
    "one_letter": "one letter changed",
    "surname": "surname alone",
    "crossed": "first name and surname of two",
    "no_name": "words that are no names",
    "set": "questions of the set",
}
AUROC = {
    "probability": 0.86,
    "margin": 0.83,
    "entropy": 0.84,
    "weight_on_name": 0.55,
    "best_head": 0.71,
    "contribution": 0.78,
    "agreement": 0.66,
}


def fake_knowledge(
    *,
    groups: Sequence[str] = tuple(name for name in GROUPS if name != "unread"),
    lacking: dict[str, str] | None = None,
    **changed: Any,
) -> Knowledge:
    """One of a notable checkpoint. What `lacking` names (signals, breakdowns) is not there;
    `changed` are fields with other values. With the group "unread" that is the one never read.
    """
    lacking = lacking or {}
    never = "unread" if "unread" in groups else "invented"
    values: dict[str, Any] = {
        "checkpoint": "notable-pretrained",
        "split": "task",
        "groups": {name: fake_group(name) for name in groups},
        "read": "read",
        "never": never,
        "auroc": {
            signal: Auroc(
                value=value,
                low=round(value - 0.03, 3),
                high=round(value + 0.03, 3),
                note="L1·H3" if signal == "best_head" else "",
            )
            for signal, value in AUROC.items()
        },
        "calibration": _calibration(),
        "ece": 0.062,
        "by_continent": _shares({"Europe": (360, 250), "Asia": (300, 180), "Oceania": (40, 22)}),
        "by_pronoun": _shares({"he": (650, 420), "she": (430, 275), "they": (2, 1)}),
        "by_century": _shares({"before 1500": (50, 22), "1900–1999": (800, 540)}),
        "by_frequency": _shares({"0": (150, 30), "1": (120, 70), "20+": (200, 160)}),
        "continents_of_invented": (
            Continent(name="Europe", n=150, share=0.652, low=0.589, high=0.71, training_share=0.53),
            Continent(name="Asia", n=80, share=0.348, low=0.289, high=0.411, training_share=0.47),
        ),
        "lacking": lacking,
        "most_frequent": "London",
        "seconds": 12.5,
        "machine": "a machine",
        "weights": "digest of weights",
        "data": "digest of data",
    }
    for part in lacking:
        if part in values:
            values[part] = ()
        else:
            values["auroc"].pop(part, None)
    return replace(Knowledge(**values), **changed)


def fake_set(name: str = "capitals", **changed: Any) -> Knowledge:
    """One of a question set, of which nobody was asked about in training."""
    why = "a question set says nothing of people"
    breakdowns = ("by_continent", "by_pronoun", "by_century", "by_frequency")
    lacking: dict[str, str] = dict.fromkeys((*breakdowns, "continents_of_invented"), why)
    made = fake_knowledge(
        groups=("invented", "one_letter", "surname", "crossed", "no_name"), lacking=lacking
    )
    asked = fake_group("read", name="set", label=LABELS["set"])
    return replace(made, split=name, read="set", groups={"set": asked, **made.groups}, **changed)


def fake_group(kind: str, **changed: Any) -> Group:
    """One group of that kind: probabilities pile up below the place that GROUPS names."""
    n, has_truth, of_each, around = GROUPS[kind]
    counts: dict[Outcome, int] = dict(zip(OUTCOMES, of_each, strict=True))
    if not has_truth:
        del counts["right"]
    shares = [around * (index + 0.5) / n for index in range(n)]
    probabilities = tuple(sorted(round(min(1.0, share * 1.05), 5) for share in shares))
    group = Group(
        name=kind,
        label=LABELS[kind],
        n=n,
        has_truth=has_truth,
        counts=counts,
        intervals={
            outcome: tuple(round(edge, 4) for edge in wilson_interval(count, n))
            for outcome, count in counts.items()
        },  # pyright: ignore[reportArgumentType] - two edges each
        probabilities=probabilities,
        probability_median=round(median(probabilities), 4),
        probability_mean=round(mean(probabilities), 4),
        examples=_examples(has_truth=has_truth),
    )
    return replace(group, **changed)


def _examples(*, has_truth: bool) -> tuple[Example, ...]:
    wrong = Example(
        name="Adana Bellova",
        given="Ksarville",
        place="Lima" if has_truth else None,
        outcome="made_up",
        probability=0.21,
    )
    right = Example(
        name="Ada Lovelace", given="London", place="London", outcome="right", probability=0.97
    )
    return (right, wrong) if has_truth else (wrong,)


def _calibration() -> tuple[Bin, ...]:
    """Fifteen bins of which the first holds nothing."""
    return tuple(
        Bin(
            low=round(index / 15, 5),
            high=round((index + 1) / 15, 5),
            n=10 * index,
            confidence=round((index + 0.5) / 15, 5) if index else 0.0,
            right=6 * index,
        )
        for index in range(15)
    )


def _shares(rows: dict[str, tuple[int, int]]) -> tuple[Share, ...]:
    found: list[Share] = []
    for name, (n, right) in rows.items():
        low, high = (round(edge, 4) for edge in wilson_interval(right, n))
        found.append(
            Share(name=name, n=n, right=right, low=low, high=high, made_up=(n - right) // 3)
        )
    return tuple(found)
