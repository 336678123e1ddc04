"""A link carries a short hash of the weights; opened on others, the page says so."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from core.checkpoints.shelf import content_hash

OTHER = "0123abcd"


def told(app: AppTest) -> bool:
    return "The link was made with other weights" in "\n".join(w.value for w in app.warning)


def test_a_link_made_on_the_same_weights_says_nothing(store: Callable, open_page: Callable):
    folder = store()
    app = open_page(weights=content_hash(folder)[:8])
    assert not app.warning
    assert open_page(weights=content_hash(folder).upper()[:8]).query_params["weights"]


def test_opened_on_other_weights_each_page_says_so_in_its_first_line(
    store: Callable, open_page: Callable, open_heads: Callable, open_compare: Callable
):
    here = content_hash(store())[:8]
    for open_ in (open_page, open_heads, open_compare):
        app = open_(weights=OTHER)
        assert app.warning[0].value.startswith("The link was made with other weights (0123abcd; ")
        assert here in app.warning[0].value


def test_with_another_choice_the_hash_leaves_the_address(store: Callable, open_page: Callable):
    store("one")
    store("two", seed=5)
    app = open_page(checkpoint="one", weights=OTHER)
    assert told(app)
    app.toggle(key="own-scale").set_value(True).run()
    assert told(app)
    app.selectbox(key="checkpoint").set_value("two").run()
    assert "weights" not in app.query_params
    assert not told(app.run())


def test_two_checkpoints_that_are_compared_are_both_known(
    store: Callable, open_compare: Callable, shelf: Path
):
    store("one")
    store("two", seed=5)
    query = {"compare-what": "two checkpoints", "compare-second-checkpoint": "two"}
    both = [content_hash(shelf / name)[:8] for name in ("one", "two")]
    assert not told(open_compare(**query, weights=both))
    assert told(open_compare(**query, weights=[both[0], OTHER]))


def test_a_page_without_a_checkpoint_has_nothing_to_compare(open_by_link: Callable):
    assert not open_by_link("attention_by_hand", weights=OTHER).warning
