# SPDX-License-Identifier: MIT
"""What `make demo` runs once everything is built."""

import os
import subprocess

from support.daemon import BUILD, ROOT, processes_of


def test_the_demo_ends_well_and_leaves_nothing_running():
    done = subprocess.run(
        [str(ROOT / "test/demo/run.sh")],
        env={**os.environ, "BUILD": os.path.relpath(BUILD, ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert lines[-1] == "demo: job succeeded, exit code 0"
    assert [line for line in lines if line.startswith("$ az batchai job file stream")]
    losses = [float(line.split()[3]) for line in lines if line.startswith("epoch")]
    assert len(losses) >= 5 and losses[-1] < losses[0] / 5, "it learns"
    assert any("unseen digits correctly" in line for line in lines)
    assert processes_of(BUILD / "demo") == {}
