"""A set's prompt in tokens: its answer's length and its subject's place, for tokenizers that differ
in what they do at the edge of a text."""

from collections.abc import Callable
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from core.checkpoints.store import Checkpoint, asking
from core.data.outside_vocabulary import OutsideVocabulary
from core.data.own_vocabulary import MASK, PAD, BpeVocabulary, CharVocabulary
from core.data.people import Rule
from core.data.question_file import parse_set
from core.data.question_set import QuestionSet
from core.data.task import NOTABLE
from core.data.vocabulary import Vocabulary
from core.generation.asked import most_tokens, subject_positions
from core.generation.greedy import answer
from core.models.gpt import GPT

PROMPT = "The capital of France is"
OTHER = "The capital of the United States is"
TEXTS = [f"{PROMPT} Paris", f"{OTHER} Washington, D.C.", "Paris France's the capital", "is of 12"]


def a_set(*rows: str, rule: Rule = "first-tokens") -> QuestionSet:
    lines = ("prompt\tanswer\tsubject", *rows)
    return parse_set("".join(f"{line}\n" for line in lines).encode(), "mine", rule)


CAPITALS = a_set(f"{PROMPT}\tParis\tFrance", f"{OTHER}\tWashington, D.C.\tUnited States")


@pytest.fixture(scope="module")
def gpt2_like() -> OutsideVocabulary:
    """Word pieces without a space before the first word: ` Paris` and `Paris` differ."""
    return OutsideVocabulary(PreTrainedTokenizerFast(tokenizer_object=trained()))


@pytest.fixture(scope="module")
def framed() -> OutsideVocabulary:
    """The same, every text between two marks."""
    tokenizer = trained()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{PAD} $A {MASK}", special_tokens=[(PAD, 0), (MASK, 1)]
    )
    marks = {"bos_token": PAD, "eos_token": MASK}
    return OutsideVocabulary(PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks))


def trained() -> Tokenizer:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[PAD, MASK],
        initial_alphabet=sorted(alphabet),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    return tokenizer


@pytest.fixture(scope="module")
def ours() -> BpeVocabulary:
    return BpeVocabulary.from_texts(TEXTS * 3, n_pieces=400)


@pytest.fixture
def asked_of(make_gpt: Callable[..., GPT]) -> Callable[..., Checkpoint]:
    def make(vocabulary: Vocabulary, asked: QuestionSet | None = CAPITALS, **how: Any):
        model = make_gpt(vocabulary_size=vocabulary.size, block_size=80)
        return asking(Checkpoint(model, vocabulary, **how), asked)

    return make


def test_an_answer_goes_on_from_its_prompt_with_a_space(
    asked_of: Callable[..., Checkpoint],
    gpt2_like: OutsideVocabulary,
    framed: OutsideVocabulary,
    ours: BpeVocabulary,
):
    characters = CharVocabulary.from_text("".join(TEXTS))
    for vocabulary, paris in ((gpt2_like, 1), (framed, 1), (ours, 1), (characters, 6)):
        stored = asked_of(vocabulary)
        assert most_tokens(stored, PROMPT, 40) == paris
        whole = vocabulary.encode(f"{OTHER} Washington, D.C.")
        assert most_tokens(stored, OTHER, 40) == len(whole) - len(vocabulary.encode(OTHER))
        assert most_tokens(stored, OTHER, 2) == 2
    assert gpt2_like.encode("Paris") != gpt2_like.encode(f"{PROMPT} Paris")[-1:]


def test_behind_the_mark_of_a_task_it_stands_alone(asked_of: Callable[..., Checkpoint]):
    characters = CharVocabulary.from_text("".join(TEXTS))
    assert most_tokens(asked_of(characters, task=NOTABLE), PROMPT, 40) == len("Paris")


def test_other_texts_and_exact_answers_are_written_as_long_as_told(
    asked_of: Callable[..., Checkpoint], ours: BpeVocabulary
):
    assert most_tokens(asked_of(ours), "The capital of Spain is", 40) == 40
    assert most_tokens(asked_of(ours, None), PROMPT, 40) == 40
    exact = a_set(f"{PROMPT}\tParis\tFrance", rule="exact")
    assert most_tokens(asked_of(ours, exact), PROMPT, 40) == 40


def test_an_answer_that_cannot_be_spelt_is_not_waited_for(asked_of: Callable[..., Checkpoint]):
    characters = CharVocabulary.from_text("".join(TEXTS))
    stored = asked_of(characters, a_set(f"{PROMPT}\tПариж\tFrance"))
    assert most_tokens(stored, PROMPT, 40) == 1


def test_answers_are_cut_to_their_own_lengths_in_one_batch(
    asked_of: Callable[..., Checkpoint], ours: BpeVocabulary
):
    rows = (f"{PROMPT}\tParis\t", "The capital of Paris is\tWashington, D.C.\t")
    stored = asked_of(ours, a_set(*rows))
    prompts = [row.split("\t")[0] for row in rows]
    assert len({len(ours.encode(prompt)) for prompt in prompts}) == 1
    given = answer(stored, prompts)
    assert [len(entry.ids) for entry in given] == [most_tokens(stored, p, 40) for p in prompts]
    long = answer(asking(stored, None), prompts)
    for cut, whole in zip(given, long, strict=True):
        assert whole.ids[: len(cut.ids)] == cut.ids


@pytest.mark.parametrize("kind", ["gpt2-like", "ours", "characters", "framed"])
@pytest.mark.parametrize(("prompt", "subject"), [(PROMPT, "France"), (OTHER, "United States")])
def test_the_subject_is_found_in_the_tokens_of_every_tokenizer(
    asked_of: Callable[..., Checkpoint],
    gpt2_like: OutsideVocabulary,
    framed: OutsideVocabulary,
    ours: BpeVocabulary,
    kind: str,
    prompt: str,
    subject: str,
):
    text = "".join(TEXTS)
    vocabulary = {
        "gpt2-like": gpt2_like,
        "ours": ours,
        "characters": CharVocabulary.from_text(text),
        "framed": framed,
    }[kind]
    positions = subject_positions(asked_of(vocabulary), prompt)
    assert positions is not None
    ids = vocabulary.encode(prompt)
    assert vocabulary.decode([ids[p] for p in positions]).strip() == subject
    assert positions == tuple(range(positions[0], positions[-1] + 1))


@pytest.mark.parametrize(
    ("prompt", "subject", "found"),
    [
        ("France's capital is", "France", "France"),
        ("The capital of France", "France", "France"),
        ("Paris is of France", "0:5", "Paris"),
        ("The capital of France is", "Fran", "France"),
    ],
)
def test_a_subject_at_an_edge_or_inside_a_token_has_whole_tokens(
    asked_of: Callable[..., Checkpoint],
    gpt2_like: OutsideVocabulary,
    prompt: str,
    subject: str,
    found: str,
):
    stored = asked_of(gpt2_like, a_set(f"{prompt}\tx\t{subject}"))
    positions = subject_positions(stored, prompt)
    assert positions is not None
    ids = gpt2_like.encode(prompt)
    assert gpt2_like.decode([ids[p] for p in positions]).strip() == found


def test_spaces_typed_before_a_prompt_move_its_subject(
    asked_of: Callable[..., Checkpoint],
):
    characters = CharVocabulary.from_text("".join(TEXTS))
    assert subject_positions(asked_of(characters), f"  {PROMPT}") == tuple(range(17, 23))


def test_without_a_subject_there_is_no_place_and_another_text_is_not_the_sets(
    asked_of: Callable[..., Checkpoint], ours: BpeVocabulary
):
    stored = asked_of(ours, a_set(f"{PROMPT}\tParis\t"))
    assert subject_positions(stored, PROMPT) == ()
    assert subject_positions(stored, OTHER) is None
    assert subject_positions(asked_of(ours, None), PROMPT) is None
