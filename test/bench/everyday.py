# SPDX-License-Identifier: MIT
"""What a person waits for at a terminal: a job that does nothing, from the command to its end; the last lines of a
large log."""

import os
import subprocess
import sys
import tempfile
import time

from . import slurm, stage
from .figures import Figure
from .size import size

ROUNDS, LOG_MB = size(15, 2), size(1000, 2)
AIM_DONE_MS, AIM_TAIL_MS = 300, 300
TAIL = 1000


def timed(argv, **more):
    start = time.monotonic()
    subprocess.run(list(map(str, argv)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, **more)
    return (time.monotonic() - start) * 1000


def command(daemon, verb, *arguments):
    return [daemon.program, verb, "--state-dir", daemon.state_dir, *arguments]


def by_slurm():
    """`srun true` on an idle node; nothing where Slurm is not here."""
    if reason := slurm.missing():
        print(f"bench: no peer: {reason}", file=sys.stderr)
        return {}
    with slurm.Slurm(1) as peer:
        samples = [timed(["srun", "--quiet", "true"], env=peer.environment, cwd=peer.dir) for _ in range(ROUNDS)]
        return {"srun true": samples}


def long_log(daemon):
    """The log of an ended job, made as large as such logs get."""
    (log,) = (daemon.state_dir / "storage").rglob("talks*/**/stdout.txt")
    line = b"epoch 12 step 3456 loss 0.12345 lr 0.0001 images/s 2345.6 of 1281167, 12:34:56 left, all well\n"
    with open(log, "wb") as f:
        for _ in range(LOG_MB):
            f.write(line * (1_000_000 // len(line) + 1))
    os.sync()
    return log


def measure():
    with stage.running_daemon() as daemon, tempfile.TemporaryDirectory(prefix="folder-") as folder:
        run = command(daemon, "run", "--", "true")
        timed(run, cwd=folder)  # which makes group, workspace and cluster
        done = [timed(run, cwd=folder) for _ in range(ROUNDS)]
        timed(command(daemon, "run", "--name", "talks", "--", "echo", "hello"), cwd=folder)
        log = long_log(daemon)
        tails = [timed(command(daemon, "logs", "--tail", TAIL, "talks")) for _ in range(ROUNDS)]
        peer = {f"tail -n {TAIL}": [timed(["tail", "-n", TAIL, log]) for _ in range(ROUNDS)]}
    return [
        Figure("run -- true, from the command to its end", "ms", done, AIM_DONE_MS, against=by_slurm()),
        Figure(f"logs --tail {TAIL} of {LOG_MB / 1000:g} GB", "ms", tails, AIM_TAIL_MS, against=peer),
    ]
