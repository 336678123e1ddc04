"""What a question set says of one prompt, in tokens: how long its answer is, where its subject
stands.

Tokenizers differ in what they do at the edge of a text: one puts a space before it, one makes a
space and a word one token, one frames a text in marks. So an answer is counted behind its prompt.
"""

from core.checkpoints.store import Checkpoint


def most_tokens(checkpoint: Checkpoint, text: str, most: int) -> int:
    """As many tokens as the answer to a set's prompt has, at most `most`; else `most`.

    Of a model with a task the answer stands alone behind ⁇; otherwise it goes on from the prompt
    with a space. An answer that the vocabulary cannot spell is never written: one token will do.
    """
    asked = checkpoint.asked
    question = None if asked is None or asked.rule == "exact" else asked.find(text)
    if question is None or question.answer is None:
        return most
    encode = checkpoint.vocabulary.encode
    before = encode(text)
    try:
        if checkpoint.task is not None:
            return min(most, max(1, len(encode(question.answer))))
        whole = encode(f"{text.rstrip()} {question.answer}")
    except ValueError:
        return 1
    return min(most, max(1, len(whole) - len(before)))


def subject_positions(checkpoint: Checkpoint, text: str) -> tuple[int, ...] | None:
    """Token positions of the subject in a set's prompt, none for a prompt that names no subject;
    None where no set is asked or the text is not of it.
    """
    question = None if checkpoint.asked is None else checkpoint.asked.find(text)
    if question is None:
        return None
    if question.span is None:
        return ()
    start, end = (place + len(text) - len(text.lstrip()) for place in question.span)
    vocabulary = checkpoint.vocabulary
    n_tokens = len(vocabulary.encode(text))
    return tuple(p for p in vocabulary.positions(text, (start, end)) if 0 <= p < n_tokens)
