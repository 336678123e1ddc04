"""What a chat template makes of something that is said. See `core.data.chat_child` for how it runs.

Cost: 0.2 s for a process, once for each text.
"""

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

MOST_TEMPLATE = 2**17
MOST_TEXT = 1_000_000
SECONDS = 5  # of the processor, for a template
PATIENCE = 30  # seconds by the clock, where the system does not count those
CHILD = Path(__file__).with_name("chat_child.py")
REFUSED = 3


def in_chat(template: str, text: str, special: dict[str, str]) -> str:
    """The text that really goes in when somebody says `text`, up to where the model answers.

    special: names and texts of the tokenizer's special tokens. Raises ValueError in one sentence.
    """
    if len(template) > MOST_TEMPLATE:
        raise ValueError(
            f"its chat template has {len(template):,} characters; at most {MOST_TEMPLATE:,} are run"
        )
    values: dict[str, Any] = {
        **special,
        "messages": [{"role": "user", "content": text}],
        "tools": None,
        "documents": None,
        "add_generation_prompt": True,
    }
    return _rendered(json.dumps({"template": template, "values": values, "seconds": SECONDS}))


@lru_cache(maxsize=64)
def _rendered(asked: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - our own file
            [sys.executable, "-I", str(CHILD)],
            input=asked.encode(),
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        raise ValueError("its chat template does not end, or needs too much memory") from None
    if done.returncode == REFUSED:
        said = done.stderr.decode(errors="replace").strip()
        raise ValueError(f"its chat template cannot be used: {said:.200}")
    if done.returncode:
        raise ValueError("its chat template does not end, or needs too much memory")
    if len(done.stdout) > MOST_TEXT:
        raise ValueError(f"its chat template makes a text of {len(done.stdout):,} bytes")
    return done.stdout.decode()
