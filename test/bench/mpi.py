# SPDX-License-Identifier: MIT
"""MPI: how long a launcher takes to start one rank on each of 8 machines, by the `ssh` of jobs and by OpenSSH."""

import os
import subprocess
import time
from contextlib import ExitStack
from statistics import median

from support.world import SHARE

from . import stage
from .figures import Figure, percentile
from .fleet import Fleet, Master
from .size import size

RANKS, ROUNDS = size(8, 2), size(30, 3)
MPIRUN = "/usr/bin/mpirun.mpich"
# What the launcher's own work costs: ranks that end at once.
RANK = "/bin/true"


def by_masters(fleet, rounds):
    """Milliseconds of each start over connections that are open already."""
    with ExitStack() as stack:
        lines = ["#!/bin/sh", 'while [ "${1#-}" != "$1" ]; do shift; done', "host=$1; shift"]
        for number, host in enumerate(fleet.hosts):
            master = Master(fleet, host)
            master.socket = fleet.dir / f"master-{number}"
            master.argv[-1] = str(master.socket)
            stack.enter_context(master)
            lines.append(f'[ "$host" != {host} ] || exec {" ".join(master.argv)} {host} "$@"')
        agent = fleet.dir / "ssh-by-master"
        agent.write_text("\n".join(lines) + "\n")
        agent.chmod(0o755)
        argv = [MPIRUN, "-launcher", "ssh", "-launcher-exec", str(agent), "-genvnone"]
        argv += ["-hosts", ",".join(fleet.hosts), "-n", str(RANKS), RANK]
        return [timed(argv) for _ in range(rounds)]


def timed(argv):
    start = time.monotonic()
    subprocess.run(argv, stdin=subprocess.DEVNULL, check=True, env={"PATH": os.environ["PATH"], "HOME": "/"})
    return (time.monotonic() - start) * 1000


def by_job(fleet, scene, rounds):
    """The same inside of a job that has these machines."""
    command = (
        f"for i in $(seq {rounds}); do a=$EPOCHREALTIME; "
        f"{MPIRUN} -genvnone -hosts $AZ_BATCH_HOST_LIST -n {RANKS} {RANK} </dev/null || exit 1; "
        "echo $a $EPOCHREALTIME >> $AZ_BATCHAI_MOUNT_ROOT/out/starts; done"
    )
    scene.place.job(scene.cluster, command, nodes=RANKS).succeed(limit=120)
    file = fleet.share / SHARE / "starts"
    times = [list(map(float, line.split())) for line in file.read_text().splitlines()]
    file.unlink()
    return [(end - start) * 1000 for start, end in times]


def measure():
    """Both by turns, as the machine's own speed changes."""
    ours, theirs = [], []
    with Fleet(RANKS) as fleet, stage.running_daemon(fleet.config()) as daemon:
        scene = stage.Stage(daemon, nodes=RANKS)
        for _ in range(3):
            ours += by_job(fleet, scene, ROUNDS // 3)
            theirs += by_masters(fleet, ROUNDS // 3)
    note = f"p95 {percentile(ours, 95):.0f} (ssh {percentile(theirs, 95):.0f})"
    against = {"mpirun over ssh ControlMaster": theirs}
    return [Figure(f"MPI: start of {RANKS} ranks", "ms", ours, median(theirs), against=against, note=note)]
