# SPDX-License-Identifier: MIT
"""The fixture itself: it must complain about what a healthy daemon does not do."""

import os
import signal
import subprocess

import pytest
from support.daemon import Daemon
from support.waiting import wait_for


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-20T13:00:00.123Z warn node.lost node=tvm-1",
        "2026-11-20T13:00:00.123Z error db.transaction_lost why=disk",
        '{"time": "2026-11-20T13:00:00.123Z", "level": "error", "event": "x"}',
        "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1",
        "api/server.c:12:3: runtime error: signed integer overflow",
        "==1==ERROR: LeakSanitizer: detected memory leaks",
    ],
)
def test_warnings_and_sanitizer_reports_are_complaints(line):
    d = Daemon()
    d.stderr_path.write_text("2026-11-20T13:00:00.123Z info daemon.ready why=warn\n" + line + "\n")
    assert [c for c in d.close() if line in c]


def test_an_announced_warning_is_none_but_a_sanitizer_report_always_is():
    d = Daemon()
    d.expect_log(r"node\.lost|Sanitizer")
    report = "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1"
    d.stderr_path.write_text("2026-11-20T13:00:00.123Z warn node.lost node=tvm-1\n" + report + "\n")
    complaints = d.log_complaints()
    d.close()
    assert len(complaints) == 1 and report in complaints[0]


def test_a_process_left_behind_is_named_and_ended():
    d = Daemon()
    left = subprocess.Popen(["sleep", "600"], cwd=d.dir)
    complaints = d.close()
    assert left.wait() == -9
    assert any(f"left behind: process {left.pid}" in c for c in complaints)


def test_a_daemon_that_ended_by_itself_or_badly_is_a_complaint():
    d = Daemon().start()
    os.kill(d.process.pid, signal.SIGKILL)
    wait_for(lambda: not d.running, what="its end")
    assert any("ended by itself with -9" in c for c in d.close())
    d = Daemon().start()
    d.exit_codes.append(1)
    assert any("exit code 1 after SIGTERM" in c for c in d.close())
