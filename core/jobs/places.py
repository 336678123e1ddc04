"""Where jobs can run: on this machine, or on the cluster whose settings are here."""

from collections.abc import Mapping
from typing import get_args

from core.jobs.cluster import VARIABLE, Cluster, cluster_here
from core.jobs.launcher import Launcher, LocalLauncher
from core.jobs.slurm import SlurmLauncher
from core.jobs.state import Job, On

PLACES: tuple[On, ...] = get_args(On)


def launcher_on(
    on: On,
    environment: Mapping[str, str],
    *,
    partition: str | None = None,
    time: str | None = None,
    gpus: int | None = None,
) -> Launcher:
    """What starts workers there; the cluster's settings with what is asked for beside them.

    Raises ValueError where there is no cluster, for settings that cannot be, and for what is asked
    of this machine and means nothing here.
    """
    asked = {"partition": partition, "time": time, "gpus": gpus}
    if on == "local":
        if given := [name for name, value in asked.items() if value is not None]:
            raise ValueError(f"--{given[0]} is a cluster's matter: it goes with --on slurm")
        return LocalLauncher()
    cluster = needed_cluster(environment)
    return SlurmLauncher(cluster.asked(partition=partition, time=time, gpus=gpus))


def launcher_of(job: Job, environment: Mapping[str, str]) -> Launcher:
    """What lets a job go on where it was. Raises ValueError where that cannot be reached."""
    return launcher_on(job.on, environment)


def needed_cluster(environment: Mapping[str, str]) -> Cluster:
    """The cluster's settings. Raises ValueError if there is none here."""
    cluster = cluster_here(environment)
    if cluster is None:
        raise ValueError(
            f"there is no cluster here: sbatch is needed, and {VARIABLE} with the name of a file"
        )
    return cluster
