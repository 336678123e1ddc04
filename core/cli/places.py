"""What verbs are told of where jobs shall run: this machine or the cluster, and on which device."""

import argparse
import os

from core import paths
from core.devices import AUTO, kind_of
from core.jobs.at_hand import at_hand, chosen
from core.jobs.launcher import Launcher
from core.jobs.places import PLACES, launcher_on, needed_cluster
from core.jobs.state import On, list_all


def add_place(parser: argparse.ArgumentParser, *, on: On | None = "local") -> None:
    """--on, `on` unless told, and what can be asked of a cluster beside its settings."""
    here = "" if on else "; trained by this verb itself unless told"
    parser.add_argument(
        "--on", choices=PLACES, default=on, help=f"this machine, or the SLURM cluster{here}"
    )
    add_asked(parser)


def add_asked(parser: argparse.ArgumentParser) -> None:
    """What can be asked of a cluster alone."""
    parser.add_argument("--partition", help="on a cluster: where; as in its settings unless told")
    parser.add_argument("--time", help="on a cluster: the longest that it may take, as 4:00:00")
    parser.add_argument("--gpus", type=int, help="on a cluster: how many of a node")


def launcher_asked(options: argparse.Namespace, on: On) -> Launcher:
    """What starts workers there. Raises ValueError where there is none, or for what cannot be."""
    asked = {name: getattr(options, name) for name in ("partition", "time", "gpus")}
    return launcher_on(on, os.environ, **asked)


def device_asked(device: str, on: On, *, gpus: int | None = None, processes: int = 1) -> str:
    """The device of jobs: one that is at hand, and there is always a processor; on a cluster its
    node will see, and has a GPU if the job gets one. Raises ValueError.
    """
    if on != "local":
        has_gpu = device == AUTO and needed_cluster(os.environ).asked(gpus=gpus).gpus > 0
        return "cuda" if has_gpu else "cpu" if device == AUTO else device
    if device == "cpu":
        return device
    found = chosen(device, at_hand(), list_all(paths.RUNS))
    return kind_of(found) if processes > 1 and device == AUTO else found


def queue_of(on: On) -> str:
    """Whose queue it is, behind that word."""
    return " of the cluster" if on == "slurm" else ""
