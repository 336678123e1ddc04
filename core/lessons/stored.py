"""Calls about pairs that a state holds, overwrites and costs.

Rows as in core.lessons.calls, which takes them in; functions in core.lessons.computed.memory.
"""

from collections.abc import Mapping

from core.lessons.call import Call

OF_STATE = {"method": str, "dim": int}

STORED: Mapping[str, Call] = {
    "recalled_share": Call(
        gives="share of so many random pairs that a mechanism gives back, at the usual sizes",
        needs={**OF_STATE, "pairs": int},
    ),
    "pairs_at_half": Call(
        gives="the number of pairs at which a half is lost, of the sample", needs=OF_STATE
    ),
    "pairs_at_half_by_theory": Call(gives="the same by theory", needs=OF_STATE),
    "overwritten_share": Call(
        gives="of keys with a second value the share that give the new one (rewritten) or the "
        "old one (stale), or of the others their own (kept)",
        needs={**OF_STATE, "of": str},
    ),
    "taken_by_write": Call(
        gives="the length of what a write takes away at its key, in the small state that is drawn",
        needs={"method": str, "write": int},
    ),
    "read_after_write": Call(
        gives="the cosine with its value that the key just written then reads, in the same state",
        needs={"method": str, "write": int},
    ),
    "trained_share": Call(
        gives="share of asked keys that recorded trainings answer, the mean over seeds",
        needs={"model": str, "pairs": int},
    ),
    "kept_bytes": Call(
        gives="bytes that a named model keeps of a text", needs={"model": str, "tokens": int}
    ),
}
