"""The reader of the course's files: the real ones, forgiven oddities, and named errors."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from core.data.corpus import course_corpus, make_vocabulary
from core.data.course import CourseData, load_course, name_in_question, read_lines
from core.data.own_vocabulary import MASK, PAD, CharVocabulary
from core.data.people import Question

FILES = {
    "wiki.txt": b"Ada was born in Rome.\nB. C. Bo, of Lima.\nCy came from Oslo.\nDi: Reno.\n",
    "birth_places_train.tsv": b"Where was Ada born?\tRome\nWhere was B. C. Bo born?\tLima\n",
    "birth_dev.tsv": b"Where was Cy born?\tOslo\n",
    "birth_test_inputs.tsv": b"Where was Di born?\n",
}


def write_course(folder: Path, **changes: bytes | None) -> Path:
    for name, content in FILES.items():
        new = changes.get(name.partition(".")[0], content)
        if new is not None:
            (folder / name).write_bytes(new)
    return folder


def test_a_small_folder_is_read_with_names_and_answers(tmp_path: Path) -> None:
    data = load_course(write_course(tmp_path))
    assert data.train == [
        Question("Where was Ada born?", "Rome", "Ada"),
        Question("Where was B. C. Bo born?", "Lima", "B. C. Bo"),
    ]
    assert data.dev == [Question("Where was Cy born?", "Oslo", "Cy")]
    assert data.test == [Question("Where was Di born?", None, "Di")]
    assert data.documents() == [
        ("Ada", "Ada was born in Rome."),
        ("B. C. Bo", "B. C. Bo, of Lima."),
        ("Cy", "Cy came from Oslo."),
        ("Di", "Di: Reno."),
    ]


def test_the_real_files_have_the_known_counts(real_course: Path) -> None:
    data = load_course(real_course)
    assert len(data.sentences) == 2937
    assert (len(data.train), len(data.dev), len(data.test)) == (2000, 500, 437)
    assert all(q.answer for q in data.train + data.dev)
    assert {q.answer for q in data.test} == {None}


def test_in_the_real_files_each_sentence_is_about_the_person_of_its_question(
    real_course: Path,
) -> None:
    documents = load_course(real_course).documents()
    assert len(documents) == 2937
    assert [name for name, sentence in documents if name not in sentence] == []
    assert not any(name.startswith("Where was") or "?" in name for name, _ in documents)


def test_the_character_vocabulary_of_the_real_wiki_has_256_entries(real_course: Path) -> None:
    text = (real_course / "wiki.txt").read_text(encoding="utf-8")
    vocabulary = CharVocabulary.from_text(text)
    assert vocabulary.size == 256
    assert vocabulary.characters == PAD + MASK + "".join(sorted(set(text)))
    assert vocabulary.decode(vocabulary.encode(text)) == text
    ours = make_vocabulary(course_corpus(load_course(real_course)), "char", n_pieces=0)
    assert ours.to_dict() == vocabulary.to_dict()


def windows(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


def marked(content: bytes) -> bytes:
    return b"\xef\xbb\xbf" + content


def unended(content: bytes) -> bytes:
    return content.removesuffix(b"\n")


def all_at_once(content: bytes) -> bytes:
    return marked(unended(windows(content)).removesuffix(b"\r"))


@pytest.mark.parametrize("change", [windows, marked, unended, all_at_once])
def test_other_line_ends_a_byte_order_mark_and_a_missing_last_newline_change_nothing(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    plain, odd = tmp_path / "plain", tmp_path / "odd"
    plain.mkdir()
    odd.mkdir()
    changed = {name.partition(".")[0]: change(content) for name, content in FILES.items()}
    assert changed["wiki"] != FILES["wiki.txt"]
    assert load_course(write_course(odd, **changed)) == load_course(write_course(plain))


def test_files_in_decomposed_letters_are_read_in_composed_ones(tmp_path: Path) -> None:
    apart = "Where was Cu\u0308 born?\tO\u0308slo\n".encode()
    wiki = FILES["wiki.txt"] + "E\u0301.\n".encode()
    tests = FILES["birth_test_inputs.tsv"] + "Where was E\u0301 born?\n".encode()
    data = load_course(write_course(tmp_path, birth_dev=apart, wiki=wiki, birth_test_inputs=tests))
    (asked,) = data.dev
    assert (asked.text, asked.answer) == ("Where was C\u00fc born?", "\u00d6slo")
    assert asked.name == "C\u00fc"
    assert data.sentences[-1] == "\u00c9."
    assert data.test[-1].text == "Where was \u00c9 born?"


def test_blank_around_an_answer_is_no_part_of_it(tmp_path: Path) -> None:
    folder = write_course(tmp_path, birth_dev=b"Where was Cy born?\t Oslo \n")
    assert load_course(folder).dev[0].answer == "Oslo"


def test_blank_lines_of_the_wiki_are_no_sentences(tmp_path: Path) -> None:
    wiki = FILES["wiki.txt"].replace(b"\n", b"\n\n")
    assert len(load_course(write_course(tmp_path, wiki=wiki)).sentences) == 4


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("birth_places_train", b"Where was Ada born?\tRome\nno tab\n", "line 2: no tab between"),
        ("birth_dev", b"Where was Cy born?\n", "line 1: no tab between question and answer"),
        ("birth_dev", b"Where was Cy born?\t\n", "line 1: the answer is empty"),
        ("birth_dev", b"Where was Cy born?\t \r\n", "line 1: the answer is empty"),
        ("birth_dev", b"\tOslo\n", "line 1: the question is empty"),
        ("birth_test_inputs", b"Where was Di born?\n\n", "line 2: the question is empty"),
        ("birth_dev", b"Where was Cy born?\tOslo\n\xff\n", "line 2: bytes that are not UTF-8"),
        ("wiki", b"Ada.\r\nBo.\r\nS\xe3o Paulo.\r\n", "line 3: bytes that are not UTF-8"),
        ("wiki", marked(b"\xe3\n"), "line 1: bytes that are not UTF-8"),
        ("birth_places_train", b"a\tb\n\n", "line 2: no tab between question and answer"),
    ],
)
def test_a_broken_row_is_refused_with_file_and_line(
    tmp_path: Path, file: str, content: bytes, message: str
) -> None:
    folder = write_course(tmp_path, **{file: content})
    name = next(name for name in FILES if name.startswith(file))
    with pytest.raises(ValueError, match=rf"{re.escape(str(folder / name))}, {message}"):
        load_course(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write_course(tmp_path)
    (folder / name).unlink()
    with pytest.raises(ValueError, match=rf"{re.escape(name)}: cannot be read \(No such file"):
        load_course(folder)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere: there is no such folder"):
        load_course(tmp_path / "nowhere")


def test_a_sentence_without_a_question_is_refused_with_both_counts(tmp_path: Path) -> None:
    folder = write_course(tmp_path, wiki=FILES["wiki.txt"] + b"One more.\n")
    with pytest.raises(ValueError, match=r"wiki\.txt: 5 sentences, .* hold 4 questions"):
        load_course(folder)


def test_lines_are_split_at_line_ends_only(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("a\u2028b\x0bc\nd", encoding="utf-8")
    assert read_lines(path) == ["a\u2028b\x0bc", "d"]
    path.write_bytes(b"")
    assert read_lines(path) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Where was C. V. Raman born?", "C. V. Raman"),
        ("  Where was Max Born born ? ", "Max Born"),
        ("Where was Someone born born?", "Someone born"),
        ("Who was Ada?", "Who was Ada?"),
        ("Where was  born?", "Where was  born?"),
    ],
)
def test_the_name_is_what_the_question_says(text: str, name: str) -> None:
    assert name_in_question(text) == name


def test_documents_need_one_sentence_a_question() -> None:
    data = CourseData(sentences=["Ada."], train=[], dev=[], test=[])
    with pytest.raises(ValueError, match="zip"):
        data.documents()
