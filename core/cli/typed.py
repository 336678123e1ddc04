"""Text that is typed behind a verb, as the models have read theirs."""

import sys

from core.data.characters import compose, legible


def typed(text: str) -> str:
    """The argument in composed letters; where that is another text, standard error says so."""
    asked = compose(text)
    if asked != text:
        print(
            "typed with letters and accents apart; asked in composed letters (Unicode NFC): "
            f"{legible(asked)}",
            file=sys.stderr,
        )
    return asked
