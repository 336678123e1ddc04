"""The files of a tokenizer, looked at before a library sees them. Free of torch and transformers.

What is taken is written into a folder of its own, so that nothing but what was looked at is read:
no other file that a setting names, no code, no text that the pieces or a rule would blow up. A rule
that could search for ever is refused: a group that is repeated while its inside may be cut in more
than one way, as in (a+)+ and (a|a)*.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from core.checkpoints.not_a_model import NotAModel
from core.data.chat_template import MOST_TEMPLATE
from core.reading import parse_json, read_bytes

TOKENIZER, SETTINGS = "tokenizer.json", "tokenizer_config.json"
TEMPLATE = "chat_template.jinja"
JSON_FILES = (TOKENIZER, SETTINGS, "special_tokens_map.json", "added_tokens.json", "vocab.json")
OTHER_FILES = (
    *("vocab.txt", "merges.txt", TEMPLATE),
    *("spiece.model", "tokenizer.model", "sentencepiece.bpe.model", "spm.model"),
    *("source.spm", "target.spm"),
)
MOST_BYTES = 128_000_000
MOST_RULE, MOST_PREFIX, MOST_STEPS, MOST_ADDED = 2_000, 8, 64, 2**17
_LARGE = 2**53  # where settings say "no bound" by a number of 31 digits
_PATHS = ("_file", "_files", "init_inputs", "name_or_path", "tokenizer_object", "backend")
_ESCAPED, _CLASS = re.compile(r"\\."), re.compile(r"\[\^?\]?[^\]]*\]")
_UNBOUNDED = re.compile(r"[*+]|\{\d*,\}|\{\d{3,}|\{\d*,\d{3,}")
_MANY_WAYS = re.compile(r"[*+|]|\{\d*,\d*\}")


def copy_tokenizer(folder: Path, target: Path, find: Callable[[str], Path]) -> None:
    """Write what is believed of a folder's tokenizer into `target`; `find` gives the path of a file
    of the folder, or refuses it. Raises NotAModel in one sentence.
    """
    there = [name for name in (*JSON_FILES, *OTHER_FILES) if _lies_at(folder / name)]
    if not there:
        raise NotAModel(
            f"{folder}: there is no tokenizer in this folder ({TOKENIZER}, vocab.txt …)"
        )
    for name in there:
        path = find(name)
        try:
            data = read_bytes(path, MOST_TEMPLATE if name == TEMPLATE else MOST_BYTES)
            taken = _taken(name, data, str(path)) if name in JSON_FILES else data
        except NotAModel:
            raise
        except ValueError as error:
            raise NotAModel(str(error)) from None
        (target / name).write_bytes(taken)


def runs_away(rule: str) -> bool:
    """Whether a rule repeats a group of which more than one length or choice may fit."""
    plain = _CLASS.sub("x", _ESCAPED.sub("x", rule))
    open_at: list[int] = []
    for at, letter in enumerate(plain):
        if letter == "(":
            open_at.append(at)
        elif letter == ")" and open_at:
            inside = plain[open_at.pop() + 1 : at]
            ambiguous = _MANY_WAYS.search(inside)
            if ambiguous and _UNBOUNDED.match(plain, at + 1):
                return True
    return False


def _lies_at(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _taken(name: str, data: bytes, path: str) -> bytes:
    try:
        content = json.loads(data, parse_int=_believed)
        spelt = json.dumps(content)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else f"not JSON ({error})"
        raise NotAModel(f"{path}: {why:.200}") from None
    parse_json(spelt, path)
    if not isinstance(content, dict):
        raise NotAModel(f"{path}: a JSON object is needed")
    whole = cast(dict[str, Any], content)
    if name == SETTINGS:
        return json.dumps(_settings(whole, path)).encode()
    if name == TOKENIZER:
        return json.dumps(_tokenizer(whole, path)).encode()
    return spelt.encode()


def _believed(digits: str) -> int:
    """Whole numbers of any length stand there for "as many as there are"."""
    return int(digits) if len(digits) <= 16 else _LARGE


def _settings(content: dict[str, Any], path: str) -> dict[str, Any]:
    if content.get("auto_map"):
        raise NotAModel(f"{path}: asks for code of its own (auto_map); none is run from a folder")
    kind = content.get("tokenizer_class")
    if kind is not None and not (isinstance(kind, str) and kind.isidentifier()):
        raise NotAModel(f"{path}: tokenizer_class is {kind!r:.60}; a name is needed")
    if len(json.dumps(content.get("chat_template"))) > 2 * MOST_TEMPLATE:
        raise NotAModel(f"{path}: a chat template of more than {MOST_TEMPLATE:,} characters")
    _refuse_many(content.get("added_tokens_decoder"), path)
    return {key: value for key, value in content.items() if not key.endswith(_PATHS)}


def _tokenizer(content: dict[str, Any], path: str) -> dict[str, Any]:
    """Without what draws lots, cuts off and fills up: those are for training and batches."""
    model = content.get("model")
    if not isinstance(model, dict):
        raise NotAModel(f"{path}: the tokenizer's model is no object")
    _refuse_many(content.get("added_tokens"), path)
    for name in ("normalizer", "pre_tokenizer", "decoder", "post_processor"):
        steps = list(_objects(content.get(name)))
        if len(steps) > MOST_STEPS * MOST_STEPS:
            raise NotAModel(f"{path}: its {name} has {len(steps):,} parts")
        for step in steps:
            _refuse_step(step, f"{path}: its {name}")
    if len(list(_objects(content.get("normalizer")))) > MOST_STEPS:
        raise NotAModel(f"{path}: its normalizer has more than {MOST_STEPS} parts")
    plain = {key: value for key, value in cast(dict[str, Any], model).items() if key != "dropout"}
    return {**content, "model": plain, "truncation": None, "padding": None}


def _refuse_many(added: object, path: str) -> None:
    n = len(cast(list[object], added)) if isinstance(added, list | dict) else 0
    if n > MOST_ADDED:
        raise NotAModel(f"{path}: adds {n:,} tokens; at most {MOST_ADDED:,} are read")


def _refuse_step(step: dict[str, Any], name: str) -> None:
    for rule in (step.get("Regex"), step.get("pattern")):
        if isinstance(rule, str) and (len(rule) > MOST_RULE or runs_away(rule)):
            raise NotAModel(
                f"{name} has a rule of more than {MOST_RULE:,} characters or one that could search "
                f"for ever: {rule!r:.60}"
            )
    if step.get("type") == "Prepend" and len(str(step.get("prepend", ""))) > MOST_PREFIX:
        raise NotAModel(f"{name} prepends more than {MOST_PREFIX} characters")
    if step.get("type") == "Replace" and _grows(step):
        raise NotAModel(f"{name} replaces a text by a longer one: {step.get('content')!r:.60}")


def _grows(step: dict[str, Any]) -> bool:
    pattern, content = step.get("pattern"), str(step.get("content", ""))
    text = cast(dict[str, Any], pattern).get("String") if isinstance(pattern, dict) else None
    return len(content) > max(1, len(text) if isinstance(text, str) else 0)


def _objects(value: object) -> Iterator[dict[str, Any]]:
    """A part and the parts of it; files are no deeper than core.reading lets through."""
    if isinstance(value, dict):
        part = cast(dict[str, Any], value)
        yield part
        for inner in part.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in cast(list[object], value):
            yield from _objects(inner)
