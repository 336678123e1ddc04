"""What the page says of what was heard: measured, and no story."""

from collections.abc import Sequence

from core.inspection.heads import Head, head_name
from core.inspection.heard import Diagonal, Listened
from core.inspection.listened import Spread, is_dull, unsure
from core.speech.asking import Nearest
from core.speech.marks import Marked
from pages.listen.sounds import Given
from pages.shared.text import percent

MOST_NAMED = 4
NO_SOUND = "Give it a sound: type a sentence, upload a WAV or speak."
NO_RECOGNISER = (
    "No recogniser is here yet. `python -m core speech make` speaks what it learns from, "
    "`python -m core train --preset speech-attention --out checkpoints/speech-attention` trains it."
)


def heading(heard: Listened) -> str:
    """What was written, in quotes."""
    return f"“{heard.text}”" if heard.text else "Nothing was written"


def sureness(heard: Listened) -> str:
    """How probable the text is, and which characters are unsure."""
    said = f"Probability of exactly this text: {percent(heard.probability)}."
    doubted = unsure(heard)
    if not doubted:
        return f"{said} No character is below 50 %."
    worst = sorted(doubted, key=lambda i: heard.characters[i].probability)[:MOST_NAMED]
    named = ", ".join(_doubted(heard, i) for i in sorted(worst))
    are = "is" if len(doubted) == 1 else "are"
    least = "the least sure are " if len(doubted) > len(worst) else ""
    n = len(heard.characters)
    return f"{said} {len(doubted)} of {n} characters {are} below 50 %: {least}{named}."


def _doubted(heard: Listened, i: int) -> str:
    one = heard.characters[i]
    return f"“{one.label}” at place {i + 1} ({percent(one.probability)})"


def errors(given: Given, marked: Marked) -> str:
    """What is wrong with it, where it is known what is right."""
    if not given.said:
        n = len(marked.heard)
        return (
            "Right is to write nothing, and nothing was."
            if not n
            else (f"Right is to write nothing: all {n} characters are made up.")
        )
    if marked.error is None or not marked.edits:
        return "Every character is right."
    edits = "edit" if marked.edits == 1 else "edits"
    return (
        f"{marked.edits} {edits} to {marked.n_said} characters: a character error of "
        f"{percent(marked.error)} (x another letter, + one too many, - one missing)."
    )


def picture_title(heard: Listened, at: Head, chosen: int, weights: Sequence[float]) -> str:
    """What one head does while one character is written."""
    most = max(range(len(weights)), key=weights.__getitem__)
    step = heard.seconds_a_column
    return (
        f"{head_name(*at)} gives {percent(weights[most])} of its weight to {most * step:.2f}–"
        f"{(most + 1) * step:.2f} s while it writes “{heard.characters[chosen].label}” "
        f"({chosen + 1} of {len(heard.characters)})"
    )


def spread_said(given: Given, at: Head, found: Spread) -> str:
    """Where the weight of a head goes, against one that looks at all alike."""
    said = (
        f"A row of {head_name(*at)} is spread over {found.columns:.1f} of {found.n_columns} columns"
    )
    if given.kind == "nothing":
        return (
            f"There is nothing to hear. {said}; {percent(found.ends)} of its weight lies on the "
            f"first and the last (uniform: {percent(found.ends_uniform)})."
        )
    if 0.02 < found.quiet_time < 1:
        return (
            f"{said}; {percent(found.quiet)} of its weight lies where it is quiet, which is "
            f"{percent(found.quiet_time)} of the time."
        )
    return f"{said}."


def diagonal_said(found: dict[Head, Diagonal]) -> str:
    """Which heads go along with the sound, and which do not."""
    best = max(found, key=lambda at: found[at].share)
    dull = [head_name(*at) for at, one in found.items() if is_dull(one)]
    uniform = found[best].uniform
    said = (
        f"{head_name(*best)} has {percent(found[best].share)} of its weight within a tenth of the "
        f"sound beside the diagonal (uniform, the grey tick: {percent(uniform)})."
    )
    if not dull:
        return f"{said} Every head has at least one and a half times as much as uniform."
    what = "has" if len(dull) == 1 else "have"
    return f"{said} {', '.join(dull)} {what} no diagonal to speak of: no clear pattern."


def proof(heard: Listened) -> str:
    """That the weights shown are those that were used."""
    found = heard.proof
    return (
        "Proof: the same text by these very weights and by torch's own attention: logits differ by "
        f"{found.replay_max_difference:.1e} at most; rows of weights sum to 1 within "
        f"{found.row_sum_max_error:.1e}."
    )


def nearest_said(name: str, found: Nearest) -> str:
    """Whom we know that is nearest to what was heard."""
    first = found.names[0]
    if not found.edits:
        return f"“{name}” is {first}, letter for letter."
    edits = "edit" if found.edits == 1 else "edits"
    said = f"“{name}” is {found.edits} {edits} from {first}"
    if len(found.names) == 1:
        return f"{said}, the nearest name that is known."
    others = found.names[1 : 1 + MOST_NAMED]
    more = len(found.names) - 1 - len(others)
    rest = f" and {more} more" if more else ""
    return f"{said}, and as near to {', '.join(others)}{rest}."
