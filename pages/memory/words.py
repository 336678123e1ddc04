"""What the page says of what was measured."""

from collections.abc import Sequence

from core.memory.capacity import Capacity
from core.memory.generation import MODELS, Kept, bytes_text, head_bytes
from core.memory.names import FORMS, label
from core.memory.overwrite import Overwriting
from core.memory.spec import LINEAR
from core.memory.states import Write
from pages.shared.text import percent

WHO_FORGETS = "Prediction: more and more pairs are stored. Who loses half of them first?"
WHO_REWRITES = "Prediction: half of the keys get a second value. Who gives back the new ones?"
BYTES = "Caches are counted with 2 bytes a number (bfloat16), sums with 4, as models keep them."


def half_text(found: Capacity, method: str) -> str:
    """The number of pairs at which a half is lost, or on which side of all it lies."""
    return _half_text(found, found.half(method), found.recalled[method][0].value)


def capacity_title(found: Capacity, methods: Sequence[str]) -> str:
    """Who loses half first and who last."""
    first = found.forgets_first(methods)
    rest = [method for method in methods if method != first]
    last = max(rest, key=lambda method: (_half(found, method), found.recalled[method][-1].value))
    return f"Half is lost first by {_at(found, first)}, last by {_at(found, last)}"


def forgets_first(found: Capacity, first: str) -> str:
    """Whoever expected another."""
    return f"It is {label(first)}: half is lost at {half_text(found, first)} pairs."


def halves(found: Capacity, methods: Sequence[str]) -> list[dict[str, str]]:
    """A row a mechanism: where half is lost, by the sample and by theory, and what it keeps."""
    most = found.pairs[-1]
    return [
        {
            "mechanism": label(method),
            "half lost at": half_text(found, method),
            "theory": _theory(found, method),
            "kept": bytes_text(head_bytes(method, found.spec, most)),
        }
        for method in methods
    ]


def capacity_meaning(found: Capacity, methods: Sequence[str]) -> str:
    """What it means, of what is drawn."""
    said: list[str] = []
    if "softmax" in methods:
        said.append(
            "Softmax keeps every pair in a cache that grows, so it has not to forget; the others "
            "have so many numbers and no more."
        )
    if LINEAR in methods:
        said.append(
            "A sum answers a key with its value and noise of all others, of variance about N/d² in "
            "each direction: so the pairs that it holds grow nearly with d²."
        )
    if "delta" in methods:
        said.append(
            "The delta rule makes room for each pair at the cost of older ones, so of pairs that "
            "never change it holds fewer than the sum, a number that grows nearly with d."
        )
    if {"gate", "gated-delta"} & set(methods):
        said.append("A gate lets all that is old fade, whether it is still wanted or not.")
    if "window" in methods:
        said.append("A window knows its last pairs without error, and nothing else.")
    return " ".join(said) or "Point at a line to read its values."


def capacity_how(found: Capacity) -> str:
    """What was drawn, and how it is asked."""
    spec = found.spec
    return (
        f"N random pairs of directions with {spec.dim} numbers are stored in one head, then every "
        "key is asked; right is what is nearest to its own value of all N. Bands: 95 % over "
        f"{spec.n_draws} draws (seed {spec.seed}). Dashes: theory. Kept: bytes behind "
        f"{found.pairs[-1]:,} pairs. A trained model may choose keys that overlap less."
    )


def overwriting_title(found: Overwriting, methods: Sequence[str]) -> str:
    """Who gives back the new values."""
    able = [label(method) for method in methods if rewrites(found, method)]
    return f"New values are given back, and the others kept, by {', '.join(able) or 'none of them'}"


def rewrites(found: Overwriting, method: str) -> bool:
    """Nine in ten of the new values, and of the others."""
    return min(found.rewritten[method].value, found.kept[method].value) >= 0.9


def overwriting_verdict(found: Overwriting, methods: Sequence[str], said: str) -> str:
    """Whoever expected one that cannot."""
    new, old = (percent(share[said].value) for share in (found.rewritten, found.stale))
    able = ", ".join(label(method) for method in methods if rewrites(found, method))
    return f"It gives the new value of {new} and the old one of {old}. Able are: {able or 'none'}."


def overwriting_note(found: Overwriting, method: str) -> tuple[str, str]:
    """At the end of its row: with words, and without."""
    new, own = percent(found.rewritten[method].value), percent(found.kept[method].value)
    return f"new {new}, others {own}", f"{new}, {own}"


def overwriting_meaning(found: Overwriting) -> str:
    """Why some can and some cannot."""
    return (
        f"{found.n_keys} keys were written, then {found.n_rewritten} of them again with a second "
        "value. A sum and softmax answer with both values at once, a coin's throw. The delta rule "
        "first takes away what stands at the key. A gate and a window prefer what is recent, "
        f"whether anything new was said or not. Bars: 95 % over {found.spec.n_draws} draws."
    )


def write_title(write: Write, number: int, total: int) -> str:
    """Which pair arrives."""
    again = write.key != write.value
    what = "a second value" if again else "its first value"
    return f"Write {number} of {total}: key {write.key + 1} gets {what}"


def write_said(method: str, write: Write) -> str:
    """What this write adds and what it takes away."""
    added = "Added: k vᵀ, of length 1."
    if method in ("delta", "gated-delta"):
        taken = (
            f"Taken away: k times what the state gave for this key, of length {write.taken:.2f}"
            f"{'' if write.key == write.value else ', which was mostly its first value'}."
        )
        reads = f"Now the key reads its new value with a cosine of {write.read:.2f}."
    else:
        taken = "Nothing is taken away at this key: what stood there stays beside the new value."
        reads = f"The key reads what it was just given with a cosine of {write.read:.2f}."
    faded = " Before that, all that stood there faded a little." if method in FADING else ""
    return f"{added} {taken}{faded} {reads}"


FADING = ("gate", "gated-delta")
READS_MEAN = (
    "A bar says how far what a key reads points to the value that it was given last: 1 is the "
    "value itself, 0 nothing of it. It is right as long as no other value is nearer."
)


def state_title(method: str) -> str:
    """Which state is drawn, and what a pair does to it."""
    return f"{label(method)}: {FORMS[method].formula}"


def generation_title(kept: Kept, length: int) -> str:
    """The least and the most of the named models at this length."""
    at = kept.lengths.index(length)
    sizes = {name: row[at] for name, row in kept.n_bytes.items()}
    least, most = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    return (
        f"Behind {length:,} tokens {most} keeps {bytes_text(sizes[most])}, {least} "
        f"{bytes_text(sizes[least])}"
    )


def head_rows(kept: Kept, methods: Sequence[str], length: int) -> list[dict[str, str]]:
    """Each mechanism: how many numbers it keeps, as a formula, and the bytes of one head."""
    at = kept.lengths.index(length)
    return [
        {
            "one head of": label(method),
            "numbers kept": FORMS[method].keeps,
            f"bytes, {length:,} tokens": bytes_text(kept.n_bytes[method][at]),
        }
        for method in methods
    ]


def model_rows(kept: Kept, length: int) -> list[dict[str, str]]:
    """Each named model: its layers, and the bytes of one text."""
    at = kept.lengths.index(length)
    return [
        {
            "model": model.name,
            f"bytes, {length:,} tokens": bytes_text(kept.n_bytes[model.name][at]),
            "layers": model.note,
        }
        for model in MODELS
    ]


GENERATION_MEANS = (
    "While a model writes, it looks back at what it kept. Keys and values of every token grow with "
    "the text; a state does not. So a model with a state in most of its layers and softmax in a "
    "few grows with those few alone, and still finds what the state forgot. A window stays small, "
    "too, and loses what is older."
)


def _half(found: Capacity, method: str) -> float:
    half = found.half(method)
    if half is not None:
        return half
    return 0.0 if found.recalled[method][0].value < 0.5 else float("inf")


def _at(found: Capacity, method: str) -> str:
    return f"{label(method)} ({half_text(found, method)} pairs)"


def _theory(found: Capacity, method: str) -> str:
    shares = found.theory[method]
    if shares is None:
        return "–"
    return _half_text(found, found.half_by_theory(method), shares[0])


def _half_text(found: Capacity, half: float | None, first: float) -> str:
    if half is not None:
        return f"{half:,.0f}"
    return f"under {found.pairs[0]}" if first < 0.5 else f"over {found.pairs[-1]:,}"
