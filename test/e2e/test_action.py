# SPDX-License-Identifier: MIT
"""The action for GitHub, and the workflow of docs/ten-lines.md: their steps in an environment with nothing but Debian's programs."""

import contextlib
import os
import shutil
import signal
import subprocess
import tarfile
from pathlib import Path

import pytest
from support.action import Runner
from support.daemon import BATCHAID, ROOT
from support.packaged import section
from support.waiting import PATIENCE, wait_for

ACTION = ROOT / "etc" / "action"


@pytest.fixture
def workspace(tmp_path):
    """With the action, and a package of the program of the build, as the commands of the page put them there."""
    files, commands = section("GitHub Actions")
    place = tmp_path / "workspace"
    dist = tmp_path / "tree" / "build" / "dist"
    dist.mkdir(parents=True)
    shutil.copytree(ACTION, tmp_path / "tree" / "etc" / "action")
    with tarfile.open(dist / f"batchaid-1.0.0-linux-{os.uname().machine}.tar.gz", "w:gz", compresslevel=1) as archive:
        for name in ("batchaid", "batchai-node", "batchai-cmd"):
            archive.add(BATCHAID.parent / name, f"batchaid-1.0.0/bin/{name}")
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True)
        (place / path).write_text(text)
    subprocess.run(["bash", "-euc", commands], cwd=place, env={"PATH": "/usr/bin:/bin", "DIST": str(dist)}, check=True)
    return place


@pytest.fixture
def package(workspace):
    return str(next((workspace / ".github").rglob("*.tar.gz")))


@pytest.fixture
def runner(workspace, tmp_path):
    temp = tmp_path / "temp"
    temp.mkdir()
    keep = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
    yield Runner(workspace, {**keep, "PATH": "/usr/bin:/bin", "HOME": str(temp)}, temp)
    if (temp / "batchaid.pid").exists():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int((temp / "batchaid.pid").read_text()), signal.SIGTERM)
    wait_for(lambda: not (temp / "batchaid-state").exists())


def test_the_workflow_of_the_page(runner, workspace):
    (workflow,) = (workspace / ".github" / "workflows").iterdir()
    runner.workflow(workflow)
    assert '"audiences"' in runner.said
    assert runner.env["BATCHAID_TESTING_KEY"] and runner.env["AZURE_CLIENT_SECRET"]
    assert runner.env["NODE_EXTRA_CA_CERTS"] == f"{runner.temp}/batchaid-state/ca.pem"


def test_later_steps_trust_the_authorities_of_the_system_too(runner, package):
    runner.action(ACTION, {"package": package})
    trusted = Path(runner.env["SSL_CERT_FILE"]).read_text()
    assert runner.env["REQUESTS_CA_BUNDLE"] == runner.env["SSL_CERT_FILE"]
    assert trusted == (runner.temp / "batchaid-state/ca.pem").read_text() + Path("/etc/ssl/certs/ca-certificates.crt").read_text()


def test_options_may_be_on_several_lines(runner, package):
    runner.action(ACTION, {"package": package, "options": "--fake-nodes\n--strict --log-level debug\n"})
    words = Path("/proc", (runner.temp / "batchaid.pid").read_text().strip(), "cmdline").read_text().split("\0")
    assert words[-5:-1] == ["--fake-nodes", "--strict", "--log-level", "debug"]


@pytest.mark.parametrize("given, said", [
    ({"package": "nothing.tar.gz"}, "::error::the package nothing.tar.gz is not there"),
    ({}, "::error::batchaid is not in the PATH"),
], ids=["package", "path"])  # fmt: skip
def test_a_mistake_is_an_annotation(runner, given, said):
    with pytest.raises(AssertionError, match=said):
        runner.action(ACTION, given)


def test_a_daemon_that_does_not_start_says_why(runner, package):
    runner.limit = 40 * PATIENCE  # a daemon that has ended is not waited for as a slow start is
    with pytest.raises(AssertionError, match="::error::batchaid did not start: .*--fake-nods"):
        runner.action(ACTION, {"package": package, "options": "--fake-nods"})
