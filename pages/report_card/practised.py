"""What pretraining practised: each objective in a line, with a made-up person."""

from collections.abc import Sequence

from core.evaluation.report_card import Row, named_objectives
from core.evaluation.tables import Ablation
from core.training.presets import PRESETS

SENTENCE = "Orla Vantimmel was born in Ghent and painted glass in Bruges."
FORM = (
    "The model learns to continue texts; ⁇ marks a gap or the end of an answer. A made-up person, "
    f"“{SENTENCE}”, gives beside the question *Where was Orla Vantimmel born? ⁇ Ghent ⁇*:"
)
# By their words in core.evaluation.report_card.
MEANINGS = {
    "facts in order": (
        "after the name some of the sentence's names, in its order",
        "Orla Vantimmel ⁇ Ghent ⁇ Bruges ⁇",
    ),
    "shuffled facts": (
        "the same in random order",
        "Orla Vantimmel ⁇ Bruges ⁇ Ghent ⁇",
    ),
    "facts after a cue": (
        "one of them, after the few words before it",
        "Orla Vantimmel was born in ⁇ Ghent ⁇",
    ),
    "salient spans": (
        "a name is cut out of the sentence and comes last",
        "Orla Vantimmel was born in ⁇ and painted glass in Bruges. ⁇ Ghent ⁇",
    ),
    "span corruption": (
        "any stretch is cut out and comes last, as in the course's exercise",
        "Orla Vantimmel was born in Gh ⁇ inted glass in Bruges. ⁇ ent and pa",
    ),
}


def practised(rows: Sequence[Row], found: Ablation | None) -> str:
    """A list in Markdown of the objectives that occur on the page; empty where none does."""
    names = {name for row in rows for name in row.objectives or ()}
    for run in found.runs if found else ():
        if run.preset in PRESETS:
            phases = PRESETS[run.preset].phases
            names.update(named_objectives(phase.mixture for phase in phases))
    lines = [
        f"- **{name}**: {meaning}: *{example}*"
        for name, (meaning, example) in MEANINGS.items()
        if name in names
    ]
    return "\n".join([FORM, "", *lines]) if lines else ""
