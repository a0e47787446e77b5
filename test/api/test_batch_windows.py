# SPDX-License-Identifier: MIT
"""Pools of Azure Batch with an image of Windows, on Linux nodes."""

import os
import re
import shutil
import subprocess
import tempfile

import pytest
from support.batch import BatchGround
from support.daemon import BUILD, NODE_AGENT, ROOT, Daemon
from support.waiting import wait_for
from support.world import fresh

WINDOWS = {
    "imageReference": {"publisher": "MicrosoftWindowsServer", "offer": "WindowsServer", "sku": "2016-Datacenter"},
    "nodeAgentSKUId": "batch.node.windows amd64",
}


class Site:
    """A daemon and the plane of one account."""

    def __init__(self, environment=None, **batch):
        self.daemon = Daemon(config={"batch": batch} if batch else {}, environment=environment)
        self.daemon.expect_log(r"warn node\.unusable")

    def __enter__(self):
        self.daemon.__enter__()
        self.plane = BatchGround(self.daemon).plane
        return self

    def __exit__(self, *what):
        return self.daemon.__exit__(*what)

    def start_task(self, line):
        """What became of a start task on the one node of a new pool; and the pool."""
        name = fresh("pool")
        body = {
            "id": name,
            "vmSize": "STANDARD_D1",
            "virtualMachineConfiguration": WINDOWS,
            "targetDedicatedNodes": 1,
            "startTask": {"commandLine": line, "waitForSuccess": True},
        }
        self.plane.call("POST", "/pools", body, expect=201)

        def ended():
            nodes = self.plane.all(f"/pools/{name}/nodes")
            info = nodes[0].get("startTaskInfo", {}) if nodes else {}
            return info if info.get("state") == "completed" else None

        return wait_for(ended)


@pytest.fixture(scope="module")
def site():
    s = Site(windows_commands=True)
    own = s.daemon.dir / "programs" / "installer"  # where the accounts of tasks may look
    own.parent.mkdir(mode=0o755)
    own.write_text("#!/bin/sh\nexit 17\n")
    own.chmod(0o755)
    s.daemon.config["batch"]["windows_programs"] = str(own.parent)
    with s:
        yield s


@pytest.mark.parametrize(
    "line, code",
    [
        ("cmd /c echo %AZ_BATCH_POOL_ID%> D:\\batch\\tasks\\shared\\pool.txt && type %AZ_BATCH_NODE_SHARED_DIR%\\pool.txt", 0),
        ("cmd /c MSMpiSetup.exe -unattend -force", 0),
        ("cmd /c msiexec /i nosuch.msi /quiet", 1619 & 0xFF),
        ("cmd /c if defined AZ_BATCH_TASK_WORKING_DIR (exit 3) else (exit 4)", 3),
        ("Installer.exe /quiet", 17),
        ("cmd /c \"mkdir out && cd out && installer || exit 5\"", 5),
    ],
)
def test_command_lines_of_windows(site, line, code):
    info = site.start_task(line)
    assert info["exitCode"] == code
    assert info["result"] == ("success" if code == 0 else "failure")


def test_a_site_that_does_not_run_them_says_so():
    with Site() as site:
        info = site.start_task("cmd /c echo hello")
    assert info["result"] == "failure" and "exitCode" not in info
    assert "batch.windows_commands" in str(info["failureInfo"])


def test_a_node_without_the_interpreter_fails_them_by_name():
    """The agent is alone in its folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        agent = shutil.copy(NODE_AGENT, folder)
        with Site(windows_commands=True, environment={"BATCHAI_NODE": agent}) as site:
            site.daemon.expect_log(r"warn local_nodes\.windows_interpreter_missing")
            info = site.start_task("cmd /c echo hello")
    assert info["result"] == "failure" and "exitCode" not in info
    assert f"this node has no batchai-cmd, which runs command lines of Windows: cannot open {folder}/batchai-cmd" in str(info["failureInfo"])


def test_the_line_of_the_page(tmp_path):
    """docs/windows-commands.md, with a program where it says."""
    page = (ROOT / "docs" / "windows-commands.md").read_text()
    (line,) = re.findall(r"`(cmd /c [^`]+)`", page)
    assert "batchai-cmd LINE" in page
    program = tmp_path / "app" / "myapp.exe"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho made >a\n")
    env = {**os.environ, "APP": str(program.parent)}
    done = subprocess.run([BUILD / "batchai-cmd", line], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert (tmp_path / "b").read_text() == "made\n"
