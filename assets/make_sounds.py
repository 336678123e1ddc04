"""Makes sounds/, the sounds that page Listen offers at once: python assets/make_sounds.py

Needs espeak-ng (Debian: apt-get install espeak-ng). The same version makes the same bytes. Whom the
questions are about nobody heard of in training: they are of the dev split of
core/speech/sentences.py.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from core.paths import SOUNDS
from core.speech.examples import Example, Kind, save_examples
from core.speech.sentences import QUESTION, plain, unaccented
from core.speech.sound import RATE, Sound
from core.speech.voices import Voice, speak, version

SEED = 0
ASKED = (
    ("Alfred Hitchcock", "en-gb", 165, 50),
    ("Neil Young", "en-us", 160, 45),
    ("Neil Young", "en-029", 160, 45),
    ("Lewis Hamilton", "en-gb+f3", 170, 55),
    ("Kofi Annan", "en-gb-x-rp", 165, 50),
    ("Mary Pickford", "en-us+f2", 175, 60),
    ("Peter Weir", "en-gb-x-gbcwmd+f4", 165, 50),
    ("Carl Lewis", "en-us+m3", 175, 40),
    ("Noam Chomsky", "en-gb-scotland", 160, 50),
    ("Claudia Jones", "en-gb-x-gbcwmd+f4", 175, 55),
    ("Henry David Thoreau", "en-gb+m5", 165, 45),
    ("Emmanuel Macron", "en-us+f5", 165, 50),
    ("Betty Friedan", "en-029", 170, 50),
)
PAUSE_SECONDS, NOTHING_SECONDS = 1.2, 2.0
NOISE = 0.1  # standard deviation


def main() -> None:
    """Write them all, or say what it needs."""
    try:
        sounds = [*_questions(), *_hard(), *_nothing()]
        SOUNDS.mkdir(exist_ok=True)
        save_examples(SOUNDS, version(), sounds)
    except ValueError as error:
        sys.exit(str(error))
    n_bytes = sum(path.stat().st_size for path in SOUNDS.iterdir())
    print(f"{SOUNDS}: {len(sounds)} sounds, {n_bytes:,} bytes")


def _questions() -> list[tuple[Example, Sound]]:
    found: list[tuple[Example, Sound]] = []
    for person, speaker, speed, pitch in ASKED:
        voice = Voice(name=speaker, speed=speed, pitch=pitch)
        said = "-".join(plain(person).split())
        name = f"{said}-{speaker.replace('+', '-')}"
        found.append(
            (_example(name, f"Where was {person} born?", person, voice), _spoken(person, voice))
        )
    return found


def _hard() -> list[tuple[Example, Sound]]:
    """Where attention has more, less or something else to do than in a question."""
    voice = Voice(name="en-gb", speed=165, pitch=50)
    fast, slow = Voice(name="en-us", speed=300), Voice(name="en-us", speed=90)
    person = "Kofi Annan"
    pause = np.zeros(int(PAUSE_SECONDS * RATE), np.float32)
    parts = [speak("where was", voice), pause, speak(f"{person} born?", voice)]
    first = _spoken("Neil Young", voice)
    second = _spoken("Mary Pickford", Voice(name="en-us+f2", speed=175, pitch=60))
    both = np.zeros(max(len(first), len(second)), np.float32)
    both[: len(first)] += first / 2
    both[: len(second)] += second / 2
    racer = "Carl Lewis"
    return [
        (_example("pause", "A pause of 1.2 s", person, voice, "hard"), np.concatenate(parts)),
        (_example("two-at-once", "Two sentences at once", "", None, "hard", said=False), both),
        (_example("backwards", "Played backwards", "", voice, "hard", said=False), first[::-1]),
        (_example("fast", "Very fast", racer, fast, "hard"), _spoken(racer, fast)),
        (_example("slow", "Very slow", racer, slow, "hard"), _spoken(racer, slow)),
    ]


def _nothing() -> list[tuple[Example, Sound]]:
    n_samples = int(NOTHING_SECONDS * RATE)
    noise = np.random.default_rng(SEED).normal(0, NOISE, n_samples).astype(np.float32)
    return [
        (_example("silence", "Silence", "", None, "nothing"), np.zeros(n_samples, np.float32)),
        (_example("noise", "White noise", "", None, "nothing"), noise),
    ]


def _spoken(person: str, voice: Voice) -> Sound:
    return speak(_asked(person), voice)


def _asked(person: str) -> str:
    return unaccented(QUESTION.format(name=person))


def _example(
    name: str,
    title: str,
    person: str,
    voice: Voice | None,
    kind: Kind = "question",
    *,
    said: bool = True,
) -> Example:
    """`said`: what is right to write of it is known, and nothing where nobody is asked about."""
    asked = plain(_asked(person)) if person else ""
    text = asked if said else None
    return Example(name=name, title=title, kind=kind, text=text, person=person, voice=voice)


if __name__ == "__main__":
    main()
