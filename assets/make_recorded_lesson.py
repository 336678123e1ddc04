"""Makes recorded_lesson.json of two finished jobs: python assets/make_recorded_lesson.py RUN RUN

RUN is the folder of a job: first that of questions only, then that of sentences first. Each run in
the file holds the command that trains it again.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from core.files import write_text
from core.jobs.recorded_lesson import RECORDED, recorded_of


def main(folders: list[str]) -> None:
    """Write the file beside this script, one line of metrics a line."""
    try:
        recorded = recorded_of([Path(folder) for folder in folders])
    except ValueError as error:
        sys.exit(str(error))
    text = json.dumps(recorded, ensure_ascii=False, separators=(",", ":"))
    write_text(RECORDED, text.replace('{"step"', '\n{"step"') + "\n")
    print(f"{RECORDED}: {RECORDED.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
