"""The page Listen: sounds of every kind, heads, a second recogniser, and what is asked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.checkpoints.store import Checkpoint, save_checkpoint
from core.inspection.heads import HeadsOff
from core.models.recogniser import Recogniser
from core.speech.examples import load_examples
from core.speech.sound import MOST_WAV_BYTES, RATE, write_wav
from core.speech.voices import why_silent
from pages.listen.sounds import RECORDED, TYPED, UPLOADED
from pages.shared.letters import letters_in
from pages.shared.uploads import File
from tests.fake_heard import fake_heard
from tests.speech.hostile_wavs import HOSTILE
from tests.tiny_speech import tiny_recogniser, tones

Open = Callable[..., AppTest]
SPEAKS = not why_silent()
QUESTION = "where was ada arden born"


@pytest.fixture
def put(shelf: Path) -> Callable[..., Checkpoint]:
    """Put a tiny recogniser on the shelf, with parameters that no training made."""

    def put_(name: str = "speech-attention", decoder: Any = "attention") -> Checkpoint:
        found = tiny_recogniser(decoder)
        model = cast("Recogniser", found.model)
        save_checkpoint(shelf / name, model, found.vocabulary, {"name": name})
        return found

    return put_


@pytest.fixture
def calls(put: Callable, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, HeadsOff]]:
    """Two recognisers that hear what is in `said`, by name; each listening is told."""
    put()
    put("speech-lstm", "lstm")
    made: list[tuple[str, HeadsOff]] = []

    def listen(stored: Checkpoint, frames: np.ndarray, *, off: HeadsOff) -> Any:
        made.append((stored.name, off))
        text = QUESTION if stored.name == "speech-attention" else "where was ida born"
        return fake_heard("nothing at all" if off.heads else text, frames=frames)

    monkeypatch.setattr("core.inspection.listening.listen", listen)
    return made


@pytest.fixture
def open_listen(open_by_link: Open) -> Open:
    """Open the page as a link does."""

    def open_(**query: Any) -> AppTest:
        return open_by_link("listen", **{f"listen-{key}": value for key, value in query.items()})

    return open_


def alts(app: AppTest) -> list[str]:
    return [chart.proto.alt.replace("\u00a0", " ") for chart in app.get("vega_lite_chart")]


def letters(app: AppTest) -> str:
    """Lines whose letters stand under one another."""
    (found,) = filter(None, (letters_in(one.proto.body) for one in app.get("html")))
    return found


def refusal(app: AppTest) -> str:
    assert [error.icon for error in app.error] == [":material/block:"]
    return app.text[0].value


def upload(app: AppTest, data: bytes, name: str = "../../evil.wav") -> AppTest:
    app.file_uploader(key="listen-file").set_value((name, data, "audio/wav")).run()
    assert not app.exception
    return app


def test_without_a_recogniser_the_sound_is_shown_and_how_one_is_trained(
    shelf: Path, open_listen: Open
):
    app = open_listen()
    assert "core train --preset speech-attention" in app.info[0].value
    (alt,) = alts(app)
    assert alt.startswith("Spectrogram: Alfred Hitchcock: en-gb")
    assert len(app.get("audio")) == 1


def test_a_recogniser_of_no_training_is_listened_to_as_it_is(
    put: Callable, open_listen: Open, said: Callable
):
    put()
    app = open_listen(sound="silence")
    text = said(app)
    assert "Right is to write nothing" in text
    assert "There is nothing to hear. A row of" in text
    assert len(app.get("vega_lite_chart")) == 5


def test_what_was_written_is_said_with_its_probability_and_errors(
    calls: list, open_listen: Open, said: Callable
):
    app = open_listen(sound="kofi-annan-en-gb-x-rp")
    text = said(app)
    assert f"#### “{QUESTION}”" in text
    assert "1 of 25 characters is below 50 %: “e” at place 3 (40.0 %)." in text
    assert "a character error of" in text
    lines = letters(app).split("\n")
    assert lines[0] == "said  where was kofi annan born"
    assert len({*map(len, lines)}) == 1
    assert "The encoder alone (CTC) says: “wer was”" in text
    captions = [one.value.replace("\\", "") for one in app.caption]
    assert any("logits differ by 2.0e-06 at most" in one for one in captions)
    assert len(app.get("audio")) == 1


def test_the_most_diagonal_head_is_shown_first_with_all_others(calls: list, open_listen: Open):
    app = open_listen()
    assert app.selectbox(key="listen-head").value == "L4·H1"
    assert app.selectbox(key="listen-head").options == ["L3·H0", "L3·H1", "L4·H0", "L4·H1"]
    found = alts(app)
    assert found[0].startswith("L4·H1 gives")
    assert found[0].endswith("(13 of 25)")
    assert found[1] == "All heads that listen; L4·H1 is chosen"


def test_another_head_and_character_are_chosen(calls: list, open_listen: Open):
    app = open_listen()
    app.selectbox(key="listen-head").set_value("L3·H0").run()
    app.select_slider(key="listen-character").set_value("0").run()
    assert alts(app)[0].startswith("L3·H0 gives")
    assert alts(app)[0].endswith("“w” (1 of 25)")
    assert app.query_params["listen-head"] == "L3·H0"
    assert app.query_params["listen-character"] == "1: w"
    assert len(calls) == 2  # neither listens again


def test_a_link_chooses_sound_head_and_character(calls: list, open_listen: Open):
    app = open_listen(sound="Silence", head="L3·H1", character="2: h")
    assert app.selectbox(key="listen-sound").value == "silence"
    assert alts(app)[0].startswith("L3·H1 gives")
    assert alts(app)[0].endswith("“h” (2 of 25)")


def test_own_scale_fills_the_largest_weight(calls: list, open_listen: Open):
    app = open_listen()
    before = app.get("vega_lite_chart")[0].proto.datasets[0].data.data
    app.toggle(key="listen-own").set_value(True).run()
    assert app.get("vega_lite_chart")[0].proto.datasets[0].data.data != before


def test_a_click_chooses_a_character_and_a_head(calls: list, open_listen: Open, click: Callable):
    app = open_listen()
    click(app, "listen-chart-12", "heard", row=3)
    assert app.select_slider(key="listen-character").value == "3"
    click(app, "listen-grid-L4·H1", "head", layer=3, head=1)
    assert app.selectbox(key="listen-head").value == "L3·H1"
    click(app, "listen-grid-L3·H1", "head", layer=9, head=1)
    click(app, "listen-chart-3", "heard", row=900)
    assert app.selectbox(key="listen-head").value == "L3·H1"
    assert app.select_slider(key="listen-character").value == "3"


def test_heads_off_change_what_is_heard_and_the_text_before_is_told(
    calls: list, open_listen: Open, said: Callable
):
    app = open_listen()
    app.multiselect(key="listen-off").set_value(["L0·H0", "L4·H1"]).run()
    text = said(app)
    assert "#### “nothing at all”" in text
    assert f"With every head on: “{QUESTION}”" in text
    assert ("speech-attention", HeadsOff(heads=((0, 0), (4, 1)))) in calls
    assert "there is no name to ask about" in text
    assert "L4·H1 is off: its weights are shown, and what it gives is zero." in text


def test_how_diagonal_each_head_is_stands_beside_uniform(
    calls: list, open_listen: Open, said: Callable
):
    text = said(open_listen())
    assert "L3·H0, L3·H1, L4·H0 have no diagonal to speak of: no clear pattern." in text


def test_a_head_of_the_encoder_is_drawn(calls: list, open_listen: Open):
    app = open_listen()
    app.selectbox(key="listen-encoder").set_value("L1·H1").run()
    assert any(alt.startswith("L1·H1: where each moment of the sound looks") for alt in alts(app))


def test_a_second_recogniser_hears_the_same(calls: list, open_listen: Open, said: Callable):
    app = open_listen()
    assert app.selectbox(key="listen-other").value == "speech-lstm"
    assert "speech-lstm: “where was ida born”" in said(app).replace("**", "")
    app.selectbox(key="listen-other").set_value("none").run()
    assert "two decoders" not in said(app)
    app.selectbox(key="listen-checkpoint").set_value("speech-lstm").run()
    assert "#### “where was ida born”" in said(app)


def test_the_nearest_known_name_is_asked_or_the_name_as_heard(
    calls: list, store: Callable, open_listen: Open, said: Callable
):
    store("notable-pretrained")
    app = open_listen()
    assert "“ada arden” is Ada Arden, letter for letter." in said(app)
    assert "Where was Ada Arden born? →" in said(app)
    assert "Where it listened: L4·H1, the name" in said(app)
    assert "Where it looked:" in said(app)
    app.selectbox(key="listen-checkpoint").set_value("speech-lstm").run()
    assert "“ida” is" in said(app)
    app.segmented_control(key="listen-ask").set_value("heard").run()
    assert "Where was Ida born? →" in said(app)


def test_without_the_model_that_answers_nothing_is_asked(calls: list, open_listen: Open):
    app = open_listen()
    assert any("which answers, is not here" in one.value for one in app.caption)


def test_a_wav_of_anybody_is_heard_and_its_name_is_no_path(
    calls: list, open_listen: Open, said: Callable
):
    app = open_listen(source=UPLOADED)
    assert "Give it a sound" in app.info[0].value
    samples = (np.sin(np.arange(RATE) / 3) / 2).astype(np.float32)
    upload(app, write_wav(samples))
    assert f"#### “{QUESTION}”" in said(app)
    assert app.get("audio")[0].proto.alt == "Sound: ../../evil.wav"
    assert "character error" not in said(app).partition("#### Does")[0]


@pytest.mark.parametrize(("name", "data", "message"), HOSTILE[::9])
def test_a_hostile_file_is_refused_in_one_sentence(
    name: str, data: bytes, message: str, calls: list, open_listen: Open
):
    found = refusal(upload(open_listen(source=UPLOADED), data, "x.wav"))
    assert message in found
    assert "\n" not in found
    assert calls == []


def test_a_wav_of_twenty_seconds_is_refused(calls: list, open_listen: Open):
    app = upload(open_listen(source=UPLOADED), write_wav(np.zeros(20 * RATE, np.float32)), "x.wav")
    assert refusal(app) == "x.wav: 20 s; 0.1 to 15 s of sound are read"


def test_what_a_microphone_heard_is_listened_to(calls: list, open_listen: Open, said: Callable):
    app = open_listen(source=RECORDED)
    assert "Give it a sound" in app.info[0].value
    wav = write_wav((np.sin(np.arange(RATE) / 3)).astype(np.float32))
    app.session_state["kept-listen-microphone"] = File("audio.wav", len(wav), wav, "digest")
    app.run()
    assert f"#### “{QUESTION}”" in said(app)
    app.session_state["kept-listen-microphone"] = File("audio.wav", 2**25, b"", "other")
    app.run()
    assert refusal(app) == f"{2**25:,} bytes; at most {MOST_WAV_BYTES:,} are read"


def test_a_typed_sentence_is_spoken_by_the_voice_that_is_chosen(
    calls: list, open_listen: Open, said: Callable, monkeypatch: pytest.MonkeyPatch
):
    spoken: list[Any] = []

    def speak(text: str, voice: Any) -> np.ndarray:
        spoken.append((text, voice.name, voice.speed, voice.pitch))
        return tones(text, voice)

    monkeypatch.setattr("pages.listen.sounds.speak", speak)
    monkeypatch.setattr("pages.listen.sounds.why_silent", lambda: "")
    app = open_listen(source=TYPED, text="Who?", voice="en-029", speed="200", pitch="9")
    assert spoken == [("Who?", "en-029", 200, 9)]
    app.text_input(key="listen-text").set_value("Ada Arden").run()
    app.slider(key="listen-speed").set_value(150).run()
    app.slider(key="listen-pitch").set_value(60).run()
    app.selectbox(key="listen-voice").set_value("en-us").run()
    assert spoken[-1] == ("Ada Arden", "en-us", 150, 60)
    assert letters(app).startswith("said  ")
    app.text_input(key="listen-text").set_value("a" * 99).run()
    assert app.get("audio")


@pytest.mark.skipif(not SPEAKS, reason="needs espeak-ng")
def test_a_sentence_that_is_none_is_refused(calls: list, open_listen: Open):
    app = open_listen(source=TYPED, text="  ")
    assert refusal(app) == "2 characters to speak: 1 to 200 are needed"


def test_where_nothing_speaks_the_controls_say_why(
    calls: list, open_listen: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("core.speech.voices.shutil.which", lambda _: None)
    app = open_listen(source=TYPED)
    assert app.text_input(key="listen-text").disabled
    assert any("espeak-ng is not installed" in one.value.replace("\\", "") for one in app.caption)
    assert calls == []


def test_a_server_that_only_shows_speaks_nothing(
    calls: list, open_listen: Open, serve_as: Callable
):
    serve_as("show")
    app = open_listen(source=TYPED)
    assert app.text_input(key="listen-text").disabled
    assert any("this server only shows" in one.value for one in app.caption)
    assert calls == []


def test_a_recogniser_that_looks_at_no_sound_says_so(
    put: Callable, open_listen: Open, monkeypatch: pytest.MonkeyPatch
):
    put("speech-blind", "lstm-blind")
    app = open_listen()
    assert any("looks at no part of the sound" in one.value for one in app.info)


def test_ready_sounds_are_named_by_who_is_asked_about_and_who_speaks(open_listen: Open, calls):
    options = open_listen().selectbox(key="listen-sound").options
    assert options[2] == "Neil Young: en-029 (new voice)"
    assert options[-2:] == ["Silence", "White noise"]
    assert len(options) == len(load_examples().sounds)


def test_present_shows_the_picture_and_steps_by_keys(calls: list, open_by_link: Open):
    app = open_by_link("listen", present="true")
    app.button(key="present-Character-next").click().run()
    assert app.select_slider(key="listen-character").value == "13"
    app.button(key="present-Head-next").click().run()
    assert app.selectbox(key="listen-head").value == "L3·H0"


def test_a_damaged_recogniser_is_refused(put: Callable, shelf: Path, open_listen: Open):
    put()
    (shelf / "speech-attention" / "model.safetensors").write_bytes(b"nothing")
    assert "speech-attention" in refusal(open_listen())
