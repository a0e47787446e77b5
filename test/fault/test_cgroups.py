# SPDX-License-Identifier: MIT
"""Limits and use of tasks where a kernel has cgroups of version 2 with all controllers: the unit tests of accounts
and limits, run once more in a User Mode Linux of their own (Debian's user-mode-linux, or BATCHAID_UML), whose
files are this machine's, for reading, and whose /tmp is a disk. Skipped without one."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.daemon import sanitized
from support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
# Its memory has no room for a sanitizer's.
BUILD = ROOT / ("build" if sanitized() else os.environ.get("BUILD_DIR", "build"))

INIT = """#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
mount --bind {root} /mnt
mount -t ext4 /dev/ubda /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
cd /mnt
export PATH=/usr/sbin:/usr/bin:/sbin:/bin BATCHAI_NODE={build}/batchai-node
for own in / /session.scope; do
    mkdir -p /sys/fs/cgroup$own
    echo $$ > /sys/fs/cgroup$own/cgroup.procs
    for test in limits account; do
        {build}/unit/nodeagent-proto/link/test_task_$test 2>&1 && echo "passed: $test in $own"
    done
done
echo "left behind: $(find /sys/fs/cgroup -name batchai | wc -l)"
echo o > /proc/sysrq-trigger
sleep 10
"""


def test_limits_and_accounts_with_all_controllers(tmp_path):
    uml = os.environ.get("BATCHAID_UML") or shutil.which("linux.uml")
    if not uml:
        pytest.skip("no User Mode Linux here (Debian: user-mode-linux)")
    if not (BUILD / "unit" / "nodeagent-proto" / "link" / "test_task_limits").exists():
        pytest.skip(f"{BUILD} has no unit tests: a sanitizer's cannot run there")
    init = tmp_path / "init"
    init.write_text(INIT.format(root=ROOT, build=os.path.relpath(BUILD, ROOT)))
    init.chmod(0o755)
    disk = tmp_path / "disk"
    subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal", disk, "256M"], check=True)
    done = subprocess.run(
        [uml, f"ubd0={disk}", "mem=512M", "rootfstype=hostfs", "rootflags=/", "ro", f"init={init}", "quiet", "loglevel=1",
         "con=null", "con0=fd:0,fd:1"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300 * PATIENCE,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}, check=False)
    text = done.stdout.decode(errors="replace")
    for own in "/", "/session.scope":
        for test in "limits", "account":
            assert f"passed: {test} in {own}" in text, text
    assert "OK ] test_memory_limit_of_a_cgroup_kills_and_says_so" in text, text
    assert "OK ] test_limits_of_a_cgroup" in text, text
    assert "OK ] test_memory_of_a_group_is_used_up_together" in text, text
    for counted in ("the_peak_of_a_task_is_not_missed_by_samples", "transfers_of_a_task_are_counted",
                    "no_task_is_told_the_peak_of_an_earlier_task",
                    "a_task_stays_in_the_agents_cgroup_if_that_is_limited"):
        assert f"OK ] test_{counted}" in text, text
    assert "left behind: 0" in text, text
