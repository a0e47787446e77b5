# SPDX-License-Identifier: MIT
"""A disk that is soon full."""

import os
import resource
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

SIZE = "12m"
# The limit for files that let_write() sets is none for a pipe.
LOG_THROUGH_PIPE = ["bash", "-c", "trap '' XFSZ; exec \"$@\" 2> >(exec cat >&2)", "bash"]


@contextmanager
def small_disk():
    where = Path(tempfile.mkdtemp(prefix="batchaid-test-"))
    state = where / "state"
    state.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0711", "none", state], capture_output=True, text=True
    )
    if done.returncode != 0:
        shutil.rmtree(where)
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield where
    finally:
        subprocess.run(["umount", "--lazy", state], check=True)
        shutil.rmtree(where, ignore_errors=True)


def fill(path):
    """Takes all the room that is left on a small disk; refuses any other, or everybody on the machine would have none."""
    disk = os.statvfs(Path(path).parent)
    assert disk.f_blocks * disk.f_frsize < 1 << 30, f"{path} is on no small disk"
    with open(path, "ab", buffering=0) as f:
        for size in (1 << 16, 1):
            try:
                while True:
                    os.write(f.fileno(), b"x" * size)
            except OSError:
                pass


def let_write(d, limit):
    """Whether the daemon itself may write to files: room that comes free is also to be had by others."""
    _, hard = resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE, (limit, hard))
