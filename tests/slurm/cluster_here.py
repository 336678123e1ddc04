"""A real SLURM of one machine in a temporary folder: munged, slurmctld and slurmd from Debian's
packages, with keys, ports and sockets of their own. It ends only what it has started.
"""

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
SBIN = ("/usr/sbin", "/usr/local/sbin")
PARTITION, ASIDE, CLOSED, NODE = "here", "aside", "closed", "one"
SECONDS = 60  # until a daemon answers; the machine may be busy

CONFIGURATION = """\
ClusterName=explorer
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
MinJobAge=86400
ReturnToService=2
KillWait={kill_wait}
NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 CPUs={n_cpus}
EnforcePartLimits=ALL
PartitionName={partition} Nodes={name} Default=YES MaxTime=60 MaxCPUsPerNode={slots}
PartitionName={aside} Nodes={name} MaxTime=60 MaxCPUsPerNode={slots}
PartitionName={closed} Nodes={name} MaxTime=60 AllowAccounts=good
"""


def lacking() -> str:
    """Why there can be no SLURM here; "" if there can."""
    if missing := [name for name in PROGRAMS if _path(name) is None]:
        return f"{', '.join(missing)}: Debian's packages slurm-wlm and munge are not installed"
    if os.geteuid() != 0:
        return "SLURM's daemons are started by root alone"
    return ""


class Cluster:
    """The daemons and their folder; `environment` is what sbatch and its like need.

    Each of the partitions `here` and `aside` runs `slots` jobs of one processor at a time;
    `closed` takes none, for it is of an account that nobody has.
    """

    def __init__(self, folder: Path, *, slots: int = 2, kill_wait: int = 2) -> None:
        self.folder, self._daemons = folder, dict[str, subprocess.Popen[bytes]]()
        for name in ("state", "spool"):
            (folder / name).mkdir()
        folder.chmod(0o755)
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        controller, node = _free_ports(2)
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text(
            CONFIGURATION.format(
                folder=folder,
                host=socket.gethostname(),
                controller=controller,
                node=node,
                kill_wait=kill_wait,
                slots=slots,
                n_cpus=2 * slots,
                name=NODE,
                partition=PARTITION,
                aside=ASIDE,
                closed=CLOSED,
            )
        )
        self.environment = {"SLURM_CONF": str(self.configuration)}

    def start(self) -> None:
        """All three daemons; returns when the node takes jobs."""
        folder = self.folder
        self._daemon(
            "munged",
            *("--foreground", "--force", f"--socket={folder}/munge.socket"),
            *(f"--key-file={folder}/munge.key", f"--pid-file={folder}/munged.pid"),
            *(f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"),
        )
        wait_until((folder / "munge.socket").exists, "munged has no socket")
        self.start_controller()
        self._daemon("slurmd", "-D", "-N", NODE, "-f", str(self.configuration))
        wait_until(lambda: self.said("sinfo", "-h", "-o", "%T") in ("idle", "mixed"), "no node")

    def start_controller(self) -> None:
        """It goes on with the state that it saved."""
        self._daemon("slurmctld", "-D", "-f", str(self.configuration))
        wait_until(lambda: "UP" in self.said("scontrol", "ping"), "slurmctld does not answer")

    def end(self, name: str) -> None:
        """One of the daemons, and what it has started."""
        daemon = self._daemons.pop(name)
        children = psutil.Process(daemon.pid).children(recursive=True)
        daemon.terminate()
        try:
            daemon.wait(timeout=20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()
        for child in children if name == "slurmd" else ():
            if child.is_running():
                child.kill()

    def close(self) -> None:
        """Jobs first, then the daemons in turn."""
        for partition in (PARTITION, ASIDE):
            self.said("scancel", f"--partition={partition}")
        wait_until(lambda: not self.said("squeue", "-h"), "jobs do not end")
        for name in tuple(reversed(self._daemons)):
            self.end(name)

    def said(self, *command: str) -> str:
        """What a command of SLURM prints."""
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout.strip()

    def _daemon(self, name: str, *options: str) -> None:
        program = _path(name)
        assert program is not None
        with (self.folder / f"{name}.out").open("ab") as out:
            self._daemons[name] = subprocess.Popen(
                [program, *options],
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


@contextmanager
def running(folder: Path, *, slots: int = 2) -> Iterator[Cluster]:
    """A SLURM for a block."""
    cluster = Cluster(folder, slots=slots)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()


def wait_until(condition: Callable[[], bool], otherwise: str, seconds: float = SECONDS) -> None:
    """Fails after a generous time."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, otherwise
        time.sleep(0.1)


def _path(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), *SBIN)))


def _free_ports(n: int) -> list[int]:
    sockets = [socket.socket() for _ in range(n)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
