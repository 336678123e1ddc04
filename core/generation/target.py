"""A target that is given, and not written, to a decoder beside an encoder (teacher forcing).

The decoder reads its beginning and the target's tokens but the last; each row's logits say how
likely the next of them is.
"""

from core.checkpoints.store import Checkpoint
from core.data.outside_vocabulary import OutsideVocabulary
from core.models.seam import refuse_lacking

NO_TARGET = (
    "this model has no target: it reads one text and goes on with it; only an encoder-decoder is "
    "given a source and a target"
)


def target_ids(checkpoint: Checkpoint, target: str) -> tuple[int, ...]:
    """The tokens of a target, with the marks that the tokenizer puts around one.

    Raises ValueError for a model without a source, and for an empty, too long or unknown text.
    """
    model, vocabulary = checkpoint.model, checkpoint.vocabulary
    if not model.shape.has_source:
        raise ValueError(NO_TARGET)
    refuse_lacking(model, "logits")
    if not target.strip():
        raise ValueError("the target is empty: type one, or give none and the model writes it")
    of_target = isinstance(vocabulary, OutsideVocabulary)
    ids = vocabulary.encode_target(target) if of_target else vocabulary.encode(target)
    if not ids:
        raise ValueError("the tokenizer makes no token of this target: type another one")
    begins = 0 if ids[-1] in vocabulary.end_ids else 1  # an end mark is never read
    if len(ids) + begins > model.shape.longest_input:
        raise ValueError(
            f"the target has {len(ids)} tokens; at most {model.shape.longest_input - begins} fit "
            f"into this model's block of {model.shape.longest_input}"
        )
    return tuple(ids)
