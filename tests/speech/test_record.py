import json

import pytest

from core.speech.record import (
    figures_dict,
    figures_from_dict,
    load_speech,
    measure_texts,
    save_speech,
    speech_file,
)
from core.speech.scores import baselines, character_error, exact, scores, split_error, word_error

PAIRS = [
    ("where was mihai born", "where was mihei born"),
    ("where was mihai born", "where was mihai born"),
    ("where was bo born", "where was bo born"),
    ("where was bo born", "where was joe borne"),
]
GROUPS = ["mihai", "mihai", "bo", "bo"]
SPANS = [(10, 15), (10, 15), (10, 12), (10, 12)]


@pytest.fixture(scope="module")
def figures():
    return measure_texts(
        PAIRS, GROUPS, SPANS, checkpoint="tiny", voices="trained", machine="a machine"
    )


@pytest.fixture(scope="module")
def real():
    return measure_texts(PAIRS, GROUPS, None, checkpoint="tiny", voices="real", machine="a machine")


def test_the_figures_are_those_of_the_scores(figures):
    assert figures.n == 4
    assert figures.n_groups == 2
    assert figures.rates["character_error"] == character_error(PAIRS, GROUPS)
    assert figures.rates["word_error"] == word_error(PAIRS, GROUPS)
    assert figures.rates["exact"] == exact(PAIRS, GROUPS)
    assert figures.jaccard == scores(PAIRS).jaccard
    assert (figures.name_error, figures.rest_error) == split_error(PAIRS, SPANS)
    assert figures.baselines == baselines([said for said, _ in PAIRS])


def test_where_no_names_are_said_none_are_wrong(real):
    assert real.name_error is None
    assert real.rest_error is None


def test_the_keys_begin_as_promised(figures):
    found = figures_dict(figures)
    promised = "n character_error word_error exact jaccard cosine damerau_levenshtein baselines"
    assert [*found][:8] == promised.split()
    assert [*found["baselines"]] == ["unrelated", "fixed", "shuffled", "sentence"]
    json.dumps(found, allow_nan=False)


def test_what_is_written_is_read_again(figures, real, tmp_path):
    save_speech(tmp_path, "abc", {"real": real, "trained": figures})
    found = load_speech(tmp_path, "abc")
    assert found == {"trained": figures, "real": real}
    assert list(found or ()) == ["trained", "real"]


def test_figures_of_other_weights_are_none_and_so_are_no_figures(figures, tmp_path):
    assert load_speech(tmp_path, "abc") is None
    save_speech(tmp_path, "abc", {"trained": figures})
    assert load_speech(tmp_path, "abd") is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"n": 0}, "2 groups of 0 sentences"),
        ({"n_groups": 1}, "1 groups of 4 sentences"),
        ({"n": True}, "n is True, int is needed"),
        ({"character_error": 0.9}, "character_error: 0.9 does not lie from"),
        ({"word_error_low": -0.1}, "word_error: "),
        ({"exact_high": 1.2}, "exact_high is 1.2"),
        ({"exact": "all"}, "exact is 'all', float is needed"),
        ({"cosine": 1.5}, "cosine is 1.5; it cannot be"),
        ({"name_error": None}, "one cannot be without the other"),
        ({"rest_error": -1.0}, "an error of -1.0"),
        ({"voices": "loud"}, "voices is 'loud', one of trained, new, real is needed"),
        ({"baselines": []}, r"baselines is \[\]"),
        ({"baselines": {"unrelated": {}}}, "missing keys: fixed, shuffled, sentence"),
        ({"more": 1}, "unknown keys: more"),
    ],
)
def test_figures_that_cannot_be_are_refused(figures, change, why):
    with pytest.raises(ValueError, match=why):
        figures_from_dict(figures_dict(figures) | change)


def test_a_baseline_that_cannot_be_is_refused(figures):
    data = figures_dict(figures)
    data["baselines"]["fixed"]["jaccard"] = -0.5
    with pytest.raises(ValueError, match=r"jaccard is -0\.5; it cannot be"):
        figures_from_dict(data)


@pytest.mark.parametrize("rows", [[], {}, {"loud": {}}, None])
def test_a_file_without_rows_is_not_whole(tmp_path, rows):
    speech_file(tmp_path).write_text(json.dumps({"weights_sha256": "abc", "rows": rows}))
    with pytest.raises(ValueError, match=r"speech\.json: rows: an object is needed"):
        load_speech(tmp_path, "abc")


def test_a_row_under_another_name_is_refused(figures, tmp_path):
    save_speech(tmp_path, "abc", {"new": figures})
    with pytest.raises(ValueError, match=r"speech\.json: rows: new holds the figures of trained"):
        load_speech(tmp_path, "abc")


def test_a_missing_row_of_figures_is_named(figures, tmp_path):
    save_speech(tmp_path, "abc", {"trained": figures})
    data = json.loads(speech_file(tmp_path).read_text())
    del data["rows"]["trained"]["word_error"]
    speech_file(tmp_path).write_text(json.dumps(data))
    with pytest.raises(ValueError, match=r"speech\.json: missing keys: word_error"):
        load_speech(tmp_path, "abc")


def test_another_seed_draws_other_intervals_and_baselines(figures):
    again = measure_texts(
        PAIRS, GROUPS, SPANS, checkpoint="tiny", voices="trained", machine="a machine", seed=3
    )
    assert again.baselines.shuffled != figures.baselines.shuffled
    assert again.character_error == figures.character_error
