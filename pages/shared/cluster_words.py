"""What pages say of a job on a cluster. No Streamlit here."""

from datetime import datetime, tzinfo

from core.jobs.state import Job


def waits(job: Job, zone: tzinfo | None) -> str:
    """How a job waits on the cluster, in a few words."""
    if job.there is None:
        return ""
    why = f": {job.there.reason}" if job.there.reason else ""
    starts_at = job.there.starts_at
    begins = ""
    if starts_at is not None:
        begins = f", expected to begin about {datetime.fromtimestamp(starts_at, zone):%d %b %H:%M}"
    return f"waits on the cluster{why}{begins}"


def told(job: Job) -> str:
    """Where a job is on the cluster, and what is uncertain; "" for one of this machine."""
    there = job.there
    if there is None:
        return ""
    parts = [
        f"On the cluster as job {there.number}" if there.number else "Sent to the cluster",
        "" if job.host is None else f"on node {job.host}",
        there.reason if job.state in ("running", "stopping") else "",
    ]
    return f"{', '.join(filter(None, parts))}."
