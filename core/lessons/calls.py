"""The calls that a claim may name: what each gives, and what it is told. Free of torch.

The functions stand in core.lessons.computed, under the same names and with the same keywords; a
test holds that the two agree. To add one: its row here (of sounds and pictures in senses, of pairs
in a state in stored), its function there.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from core.data.people import Split
from core.lessons.call import Call
from core.lessons.senses import HEARD, SEEN
from core.lessons.stored import STORED

Texts, Numbers = tuple[str, ...], tuple[float, ...]
ASKED = {"checkpoint": str, "question": str}
OF_HEAD = {**ASKED, "head": str}
OF_PIECE = {"piece": int}
OF_GROUP = {"checkpoint": str, "group": str}
OF_ROW = {"checkpoint": str, "by": str, "row": str}
DRAWN = {
    "heads": str,
    "beta": float,
    "keys": int,
    "radial_variance": float,
    "noise_variance": float,
}
SAMPLED = {**DRAWN, "draws": int, "seed": int}
KEPT = {"ignore_negative": bool}
AVERAGED = {"norm_a": float, "norm_b": float, "keys": int, "cosine": float}
MEASURED = {"machine": str, "method": str}
SETTING = {"causal": bool, "pass_name": str, "head_dim": int}

CALLS: Mapping[str, Call] = {
    # one answered question
    "weight_on_name": Call(
        gives="share of a head's weight on the name, in the row that writes a piece",
        needs=OF_HEAD,
        may=OF_PIECE,
    ),
    "weight_on_word": Call(
        gives="share of a head's weight on a word, in the row that writes a piece",
        needs={**OF_HEAD, "word": str},
        may=OF_PIECE,
    ),
    "largest_weight": Call(
        gives="the largest weight on one token, in the row that writes a piece",
        needs=OF_HEAD,
        may=OF_PIECE,
    ),
    "effective_tokens": Call(
        gives="exp(entropy) of the row that writes a piece: over how many tokens it spreads",
        needs=OF_HEAD,
        may=OF_PIECE,
    ),
    "visible_tokens": Call(
        gives="how many tokens the row that writes a piece may look at",
        needs=ASKED,
        may=OF_PIECE,
    ),
    "contribution_of_name": Call(
        gives="what a head brings of the name to the row that writes a piece: summed norms",
        needs=OF_HEAD,
        may=OF_PIECE,
    ),
    "score_of_head": Call(
        gives="a head score of the whole map, by its name in core.inspection.scores",
        needs={**OF_HEAD, "score": str},
    ),
    "answer_probability": Call(
        gives="how likely the model holds this answer, which must be its own",
        needs={**ASKED, "answer": str},
    ),
    "piece_probability": Call(gives="how likely one written piece was", needs=ASKED, may=OF_PIECE),
    "probability_without": Call(
        gives="how likely the same answer is with these heads off",
        needs={**ASKED, "off": Texts},
    ),
    "written_pieces": Call(gives="how many pieces the answer has, its end too", needs=ASKED),
    "wrong_but_sure": Call(
        gives="how many questions of a split are answered wrong with a probability above this",
        needs={"checkpoint": str, "above": float},
        may={"split": Split},
    ),
    # recorded with a checkpoint
    "right_share": Call(
        gives="share of a split's questions that are answered right, of the card",
        needs={"checkpoint": str},
        may={"split": str},
    ),
    "right_share_at": Call(
        gives="share of dev questions answered right at a step of the training, of the card",
        needs={"checkpoint": str, "step": int},
    ),
    "asked_questions": Call(
        gives="how many questions a split has, of the card",
        needs={"checkpoint": str},
        may={"split": str},
    ),
    "wrong_questions": Call(
        gives="how many questions of a split are answered wrong, of the card",
        needs={"checkpoint": str},
        may={"split": str},
    ),
    "training_seconds": Call(gives="how long it was trained", needs={"checkpoint": str}),
    "training_steps": Call(gives="in how many steps it was trained", needs={"checkpoint": str}),
    "parameters": Call(gives="how many numbers were learned", needs={"checkpoint": str}),
    "recorded_of_head": Call(
        gives="a column of the recorded table of heads, over all dev questions",
        needs={"checkpoint": str, "head": str, "measure": str},
    ),
    "right_share_without": Call(
        gives="share of dev questions answered right with one head off, of the recorded table",
        needs={"checkpoint": str, "head": str},
        may={"mode": str},
    ),
    # what a model knows and makes up, recorded
    "names_of_group": Call(gives="how many names of a group were asked", needs=OF_GROUP),
    "answers_of_group": Call(
        gives="share of a group's answers that are one of these outcomes",
        needs={**OF_GROUP, "outcomes": Texts},
    ),
    "sure_share": Call(
        gives="share of a group's answers that are more probable than this",
        needs={**OF_GROUP, "above": float},
    ),
    "group_probability": Call(
        gives="median or mean probability of a group's answers", needs=OF_GROUP, may={"of": str}
    ),
    "auroc": Call(
        gives="how often the best of these signals tells read from never read",
        needs={"checkpoint": str, "signals": Texts},
    ),
    "calibration_error": Call(gives="ECE of those it read about", needs={"checkpoint": str}),
    "right_share_by": Call(gives="share right in a row of a breakdown", needs=OF_ROW),
    "people_share_by": Call(gives="share of a breakdown's people in a row", needs=OF_ROW),
    # attention by hand
    "softmax_weight": Call(
        gives="weight of one key (from 1 on) under softmax(β · scores)",
        needs={"scores": Numbers, "beta": float, "key": int},
    ),
    "softmax_effective_keys": Call(
        gives="exp(entropy) of softmax(β · scores)",
        needs={"scores": Numbers, "beta": float},
    ),
    "copying_beta": Call(
        gives="the least β with which a query along one of n orthonormal keys copies its value "
        "(weight 0.99)",
        needs={"keys": int},
    ),
    "averaging_weight": Call(
        gives="weight on key a or b of the query that is the sum of both, plain or balanced",
        needs={"query": str, "key": str, "beta": float},
        may=AVERAGED,
    ),
    "identity_reach": Call(
        gives="K = Q = V = I: the least distance of c₂ from u_b, in β", needs={"beta": float}
    ),
    "design_error": Call(
        gives="matrices made for the task: distance of output 1 or 2 from what is wanted, in β",
        needs={"beta": float, "output": int},
    ),
    # perturbed keys
    "share_theory": Call(
        gives="a row of theory beside sample (core.montecarlo.compare), by theory",
        needs={"quantity": str, **DRAWN},
        may=KEPT,
    ),
    "share_sample": Call(
        gives="a row of theory beside sample (core.montecarlo.compare), by the sample",
        needs={"quantity": str, **SAMPLED},
        may=KEPT,
    ),
    "near_midpoint": Call(
        gives="share of draws in which key a's weight is within 0.1 of a half",
        needs=SAMPLED,
        may=KEPT,
    ),
    "near_an_end": Call(
        gives="share of draws in which key a's weight is within 0.1 of 0 or 1",
        needs=SAMPLED,
        may=KEPT,
    ),
    "weight_on_others": Call(
        gives="mean weight on the keys that nobody asks for, by theory", needs=DRAWN, may=KEPT
    ),
    # measured times, and what feature maps lose
    "seconds": Call(gives="median time of one pass", needs={**MEASURED, **SETTING, "tokens": int}),
    "peak_bytes": Call(
        gives="memory of one pass beside its inputs", needs={**MEASURED, **SETTING, "tokens": int}
    ),
    "times_as_fast": Call(
        gives="time of a baseline over that of a method",
        needs={**MEASURED, **SETTING, "tokens": int, "baseline": str},
    ),
    "crossing_length": Call(
        gives="from how many tokens on a method is faster than a baseline",
        needs={**MEASURED, **SETTING, "baseline": str},
    ),
    "growth": Call(
        gives="by which power of the length the time grows", needs={**MEASURED, **SETTING}
    ),
    "memory_growth": Call(
        gives="by which power of the length the memory grows", needs={**MEASURED, **SETTING}
    ),
    "crossing_by_operations": Call(
        gives="from how many tokens on a feature map needs fewer operations than softmax",
        needs={"method": str, "head_dim": int},
    ),
    "map_error": Call(
        gives="relative error of a feature map's output at a largest logit",
        needs={"name": str, "logit": float},
    ),
    "map_sharpness": Call(
        gives="weight that a feature map puts on the one key along the query",
        needs={"name": str, "logit": float},
    ),
    # sounds that are heard, pictures that are looked at
    **HEARD,
    **SEEN,
    # pairs in a state
    **STORED,
}


def arguments_of(call: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a call, each of its type. Raises ValueError for others."""
    row = CALLS[call]
    kinds = {**row.needs, **row.may}
    if extra := sorted(set(told) - set(kinds)):
        raise ValueError(f"{call} is told {', '.join(extra)}; it takes {', '.join(kinds)}")
    if missing := [name for name in row.needs if name not in told]:
        raise ValueError(f"{call} is not told {', '.join(missing)}")
    found: dict[str, Any] = {}
    for name, value in told.items():
        try:
            found[name] = msgspec.convert(value, kinds[name])
        except msgspec.ValidationError as error:
            raise ValueError(f"{call}: {name} is {value!r:.80} ({error})") from None
    return found
