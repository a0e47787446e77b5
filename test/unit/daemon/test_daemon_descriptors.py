# SPDX-License-Identifier: MIT
"""Started with its standard descriptors closed, or full."""
import os
import subprocess

import pytest
from support.daemon import BATCHAID, NODE_AGENT


def shell(tmp_path, line):
    return subprocess.run(["bash", "-c", line], cwd=tmp_path, text=True, capture_output=True, timeout=60,
                          env={**os.environ, "HOME": str(tmp_path), "B": str(BATCHAID),
                               "BATCHAI_NODE": str(NODE_AGENT)})


@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_descriptors_are_not_taken_for_files_of_the_state(tmp_path, closed):
    shell(tmp_path, f"""
        $B serve --state-dir s --listen localhost:0 {closed} &
        until $B env --state-dir s >/dev/null 2>&1; do kill -0 $! || exit 1; sleep 0.05; done
        cat s/lock >lock; kill $!; wait $!""")
    assert (tmp_path / "lock").read_text().strip().isdigit()
    for path in (tmp_path / "s").iterdir():
        if path.is_file():
            text = path.read_bytes()
            assert b"ready https://" not in text and b"daemon.ready" not in text, path


@pytest.mark.parametrize("command", ["version", "help", "help serve", "help config yaml"])
def test_output_that_cannot_be_written_is_a_failure(tmp_path, command):
    done = shell(tmp_path, f"$B {command} >/dev/full")
    assert done.returncode == 1 and "standard output" in done.stderr
