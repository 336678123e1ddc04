"""How the jobs of a sweep stand together, in words. No Streamlit here."""

from collections import Counter
from collections.abc import Sequence

from core.jobs.state import Job

STATES = {  # of the jobs of a sweep, in this order
    "finished": "finished",
    "running": "running",
    "stopping": "stopping",
    "queued": "waiting",
    "stopped": "stopped",
    "lost": "lost",
    "failed": "failed",
}


def state(jobs: Sequence[Job]) -> str:
    """How many of a sweep's jobs stand how."""
    counts = Counter(job.state for job in jobs)
    parts = [f"{counts[state]} {said}" for state, said in STATES.items() if counts[state]]
    return f"all {parts[0]}" if len(parts) == 1 else ", ".join(parts)


def progress(jobs: Sequence[Job]) -> tuple[float, str]:
    """The share of all steps that are done, and what is being done."""
    share = sum(job.progress for job in jobs) / len(jobs)
    now = next((job for job in jobs if job.state == "running"), None)
    return share, f"{share:.0%}" if now is None else f"{share:.0%} · {now.name}"
