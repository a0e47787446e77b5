# SPDX-License-Identifier: MIT
"""The Python package waits for no program without end."""

import os
import signal
import sys
from pathlib import Path

import pytest
from support.daemon import BATCHAID, ROOT

sys.path.insert(0, str(ROOT / "etc/wheel"))
from batchaid import cloud  # noqa: E402


@pytest.fixture
def hanging(tmp_path, monkeypatch):
    """A program that prints a line, then does nothing and does not end."""
    program = tmp_path / "batchaid"
    program.write_text("#!/bin/sh\necho nothing yet >&2\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setenv("BATCHAID", str(program))
    monkeypatch.setattr(cloud, "START_SECONDS", 0.5)


def test_a_daemon_that_does_not_get_ready_is_killed(hanging):
    late = cloud.Cloud()
    with pytest.raises(RuntimeError, match=r"^batchaid was not ready within 0.5 s: nothing yet"):
        late.start()
    assert late.process is None and not Path(late._above).exists()


def test_a_command_that_does_not_end_is_an_error_of_one_line(hanging):
    with pytest.raises(RuntimeError, match=r"/batchaid help did not end within 0.5 s$"):
        cloud.Cloud(fake_nodes=True)
    with pytest.raises(RuntimeError, match=r"/batchaid env did not end within 0.5 s$"):
        cloud.local_environment()


def test_a_daemon_that_does_not_end_is_killed(monkeypatch):
    monkeypatch.setenv("BATCHAID", str(BATCHAID))
    monkeypatch.setattr(cloud, "STOP_SECONDS", 0.5)
    stuck = cloud.Cloud(fake_nodes=True).start()
    process = stuck.process
    os.kill(process.pid, signal.SIGSTOP)
    stuck.stop()
    assert process.returncode == -signal.SIGKILL and not Path(stuck._above).exists()
