# SPDX-License-Identifier: MIT
"""Stands for the supervisor of a task that an older build started: old_task.py START_RECORD FLAG.

The supervisor is that build's code; what later builds meet of it is what it left on disk and how it
answers: the lock on ID.claim, held as long as it lives; ID.start, which names it and its command; the
signal by which it is told to end its task; ID.exit, written before the lock is let go. The records are
the stored ones, with the process ids, the start time and the boot of now. The command waits for FLAG."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TOLD = signal.SIGRTMIN + 1  # SUPERVISOR_SIGNAL
MARKER = "BATCHAI_NODE_TASK"


def start_time(pid):
    """In clock ticks since boot: the 22nd field of stat(5)."""
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])


def replace(path, record):
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(record, separators=(",", ":")))
    temporary.chmod(0o600)
    temporary.rename(path)


def main(start, flag):
    claim = os.open(start.with_suffix(".claim"), os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    signal.pthread_sigmask(signal.SIG_BLOCK, [TOLD, signal.SIGCHLD])
    record, _ = json.JSONDecoder().raw_decode(start.read_text())  # behind it is what was there before
    incarnation = (start.parent.parent / "incarnation").read_text().strip()
    err = open(record["stderr_path"], "ab")
    command = subprocess.Popen(
        ["/bin/sh", "-c", f'while [ ! -e "{flag}" ]; do sleep 0.05; done; echo went on >&2'],
        stdout=subprocess.DEVNULL,
        stderr=err,
        env={"PATH": os.environ["PATH"], MARKER: f"{incarnation}/{start.stem}"},
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, [TOLD, signal.SIGCHLD]),
        start_new_session=True,
    )
    record.update(supervisor=os.getpid(), command=command.pid, command_start=start_time(command.pid))
    replace(start, record)
    print("ready", flush=True)
    while command.poll() is None:
        info = signal.sigtimedwait([TOLD, signal.SIGCHLD], 1)
        if info and info.si_signo == TOLD:
            os.killpg(command.pid, signal.SIGKILL)
    status = {
        "id": start.stem,
        "state": "exited",
        "started_us": record["started_us"],
        "ended_us": time.time_ns() // 1000,
        "exit_code": command.returncode if command.returncode >= 0 else -1,
        "signal": max(-command.returncode, 0),
        "stderr_tail": "",
    }
    replace(start.with_suffix(".exit"), status)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
