"""Calls about sounds that a recogniser writes down, and about networks that look at pictures.

Rows as in core.lessons.calls, which takes them in; functions in core.lessons.computed.speech and
core.lessons.computed.pictures.
"""

from collections.abc import Mapping

from core.lessons.call import Call

Texts = tuple[str, ...]
OF_SOUND = {"checkpoint": str, "sound": str}
OF_LISTENER = {**OF_SOUND, "head": str}
WRITING = {**OF_LISTENER, "character": int}
OFF = {"off": Texts}
MEASURED = {"checkpoint": str, "measure": str}
VOICES = {"voices": str}
OF_DIGIT = {"network": str, "picture": int, "digit": int}
MOVED = {"down": int, "right": int}

HEARD: Mapping[str, Call] = {
    "heard_probability": Call(
        gives="how likely the text is that is written of a shipped sound, which must be this one",
        needs={**OF_SOUND, "text": str},
        may=OFF,
    ),
    "heard_characters": Call(
        gives="how many characters are written of a sound", needs=OF_SOUND, may=OFF
    ),
    "heard_error": Call(
        gives="edits to what is written of a sound, for each character that was said",
        needs=OF_SOUND,
        may=OFF,
    ),
    "near_diagonal": Call(
        gives="share of a head's weight near the diagonal of sound and text", needs=OF_LISTENER
    ),
    "near_diagonal_uniform": Call(
        gives="the same of a head that looks at all of the sound alike", needs=OF_SOUND
    ),
    "listening_order": Call(
        gives="rank correlation of a character's place and of when a head listens for it",
        needs=OF_LISTENER,
    ),
    "listened_most": Call(
        gives="a head's largest weight on one column of sound while it writes a character",
        needs=WRITING,
    ),
    "listened_at": Call(gives="when that column begins", needs=WRITING),
    "dull_listeners": Call(
        gives="how many heads that listen have no diagonal to speak of", needs=OF_SOUND
    ),
    "listened_columns": Call(
        gives="exp(entropy), the mean of a head's rows: over how many columns of sound it spreads",
        needs=OF_LISTENER,
    ),
    "sound_columns": Call(gives="how many columns a sound has", needs=OF_SOUND),
    "weight_on_ends": Call(
        gives="share of a head's weight on the first and the last column of a sound",
        needs=OF_LISTENER,
    ),
    "weight_on_quiet": Call(
        gives="share of a head's weight on columns without sound", needs=OF_LISTENER
    ),
    "quiet_time": Call(gives="share of a sound's columns without sound", needs=OF_SOUND),
    "speech_figure": Call(
        gives="a measure of a recogniser, as recorded beside its weights",
        needs=MEASURED,
        may=VOICES,
    ),
    "speech_baseline": Call(
        gives="the same measure where nobody listens",
        needs={**MEASURED, "without": str},
        may=VOICES,
    ),
}

SEEN: Mapping[str, Call] = {
    # recorded trainings
    "look_right_share": Call(
        gives="share of test pictures that a network gets right, at its best rate if none is told: "
        "the mean over seeds, or of one; moved by so many points in four directions",
        needs={"network": str},
        may={"rate": float, "seed": int, "shift": int},
    ),
    "pooling_gain": Call(
        gives="by how much more is right with max-pooling than with strides: the mean over seeds, "
        "or of one, or an end of the interval",
        may={"rate": float, "seed": int, "end": str},
    ),
    "pooling_ahead": Call(
        gives="from how many seeds max-pooling gets more right than strides", may={"rate": float}
    ),
    "look_parameters": Call(gives="how many numbers a network learns", needs={"network": str}),
    "look_seeds": Call(gives="from how many seeds each network was trained"),
    "look_test_pictures": Call(gives="how many test pictures there are"),
    # the shipped networks
    "digit_probability": Call(
        gives="how likely a digit is to a network, of a shipped test picture that may be moved",
        needs=OF_DIGIT,
        may=MOVED,
    ),
    "digit_probability_covered": Call(
        gives="the same with that part in black whose loss costs the most", needs=OF_DIGIT
    ),
    "weight_on_patch": Call(
        gives="the largest weight that the class token gives to a patch",
        needs={"picture": int, "head": str},
    ),
    "weight_on_class_token": Call(
        gives="the weight that the class token gives to itself",
        needs={"picture": int, "head": str},
    ),
    "offset_score": Call(
        gives="how far a head of the patches looks at one fixed offset, from 0 to 1; of the "
        "highest head if none is told",
        may={"head": str},
    ),
    "weight_on_neighbours": Call(
        gives="share of a head's weight on the 3 x 3 patches at and around a patch",
        needs={"head": str},
    ),
    "weight_on_neighbours_uniform": Call(gives="the same of a head that looks at all alike"),
    "wrong_pictures": Call(
        gives="how many test pictures a network gets wrong; without one, all networks alike",
        may={"network": str},
    ),
}
