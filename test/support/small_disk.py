# SPDX-License-Identifier: MIT
"""A disk that is soon full."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

SIZE = "12m"


@pytest.fixture
def small_disk():
    """A directory whose folder `state` is a disk of its own."""
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
