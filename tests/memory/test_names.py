"""What mechanisms are called, and what is said of them in words."""

from core import catalogue
from core.intervals import Rate
from core.memory.capacity import Capacity
from core.memory.generation import bytes_text, head_bytes
from core.memory.names import FORMS, KINDS, LABELS, label
from core.memory.spec import MATRICES, METHODS, MemorySpec
from core.memory.states import DRAWN_AGAIN, DRAWN_DIM, DRAWN_KEYS, drawn_state

SPEC = MemorySpec(dim=16, window=4)


def made_up(**shares: tuple[float, ...]) -> Capacity:
    recalled = {
        name.replace("_", "-"): tuple(Rate(value=v, low=v, high=v) for v in values)
        for name, values in shares.items()
    }
    theory = dict.fromkeys(recalled)
    return Capacity(spec=SPEC, pairs=(8, 32), recalled=recalled, theory=theory, seconds=0.0)


def test_every_mechanism_has_a_label_of_its_own_and_a_form():
    assert len({label(method) for method in METHODS}) == len(METHODS)
    assert set(FORMS) == set(METHODS)
    assert {form.kind for form in FORMS.values()} == set(KINDS)
    assert set(METHODS) <= {*LABELS, *catalogue.MECHANISMS}


def test_a_row_of_the_catalogue_is_taken_first_and_an_unknown_name_stays():
    assert label("elu") == catalogue.label("elu")
    assert (
        label("delta") == catalogue.MECHANISMS["delta"].label
        if "delta" in (catalogue.MECHANISMS)
        else LABELS["delta"]
    )
    assert label("hopfield") == "hopfield"


def test_who_forgets_first_has_lost_half_before_all_others():
    found = made_up(softmax=(1.0, 1.0), linear=(0.9, 0.6), delta=(0.8, 0.3), elu=(0.2, 0.1))
    assert found.forgets_first(("softmax", "linear", "delta", "elu")) == "elu"
    assert found.forgets_first(("softmax", "linear", "delta")) == "delta"
    assert found.forgets_first(("softmax", "linear")) == "linear"


def test_bytes_are_told_in_three_digits():
    said = [bytes_text(n) for n in (12, 16384, 2.5e6, 4.03e10)]
    assert said == ["12 B", "16.4 kB", "2.5 MB", "40.3 GB"]


def test_a_window_grows_until_it_is_full():
    assert [head_bytes("window", SPEC, n) for n in (2, 4, 400)] == [128, 256, 256]


def test_the_state_that_is_drawn_is_small_and_the_delta_rule_takes_away_where_a_key_returns():
    for method in MATRICES:
        pairs, writes = drawn_state(method, MemorySpec())
        assert pairs.keys.shape == (DRAWN_KEYS, DRAWN_DIM)
        assert len(writes) == DRAWN_KEYS + DRAWN_AGAIN
    _, writes = drawn_state("delta", MemorySpec())
    assert writes[0].taken == 0
    assert writes[DRAWN_KEYS].taken > 0.5
    assert writes[DRAWN_KEYS].read > 0.999
