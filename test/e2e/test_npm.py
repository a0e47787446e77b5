# SPDX-License-Identifier: MIT
"""The package of npm with which tests start a daemon, installed from its tarball without a network."""

import os
import shutil
import signal
import subprocess
import tarfile
from pathlib import Path

import pytest
from support.clients import needs
from support.daemon import BATCHAID, ROOT
from support.packages import caller_environment
from support.waiting import wait_for

TESTS = ROOT / "test" / "fixtures" / "npm" / "helper.test.mjs"
HANGS = """
const cloud = await (await import("batchaid")).start();
console.log(cloud.caFile);
setInterval(() => {}, 1000);
"""
ENDS = """
const cloud = await (await import("batchaid")).start();
console.log(cloud.caFile);
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder in which the package is installed, as npm unpacks it; the program is that of the build."""
    needs("node", "npm")
    home = tmp_path_factory.mktemp("npm")
    env = {**caller_environment(), "SOURCE_DATE_EPOCH": "1700000000"}
    for out in ("packages", "again"):
        subprocess.run([ROOT / "etc" / "npm" / "packages.py", "1.0.0", home / out], env=env, check=True, stdout=subprocess.DEVNULL)
    (made,) = (home / "packages").iterdir()
    assert made.read_bytes() == (home / "again" / made.name).read_bytes()
    install = ["npm", "install", "--offline", "--omit=optional", "--no-audit", "--no-fund", made]
    done = subprocess.run(install, cwd=home, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return home


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BATCHAID_", "NODE_"))}
    return {**env, "BATCHAID_PROGRAM": str(BATCHAID), **more}


def node(home, program, **env):
    words = [shutil.which("node"), "--input-type=module", "--eval", program]
    return subprocess.Popen(words, cwd=home, env=environment(**env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_what_it_has(home):
    with tarfile.open(next((home / "packages").iterdir())) as archive:
        names = {n.removeprefix("package/") for n in archive.getnames()}
    assert names == {"LICENSE", "README.md", "index.d.ts", "index.js", "node-test.d.mts", "node-test.mjs", "package.json",
                     "vitest.d.mts", "vitest.mjs"}  # fmt: skip


def test_tests_with_it(home):
    (home / TESTS.name).write_bytes(TESTS.read_bytes())
    run = ["node", "--test", "--test-reporter=tap", TESTS.name]
    done = subprocess.run(run, cwd=home, env=environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and "# fail 0" in done.stdout and "# pass 7" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("program", [HANGS, ENDS], ids=["killed", "ended without stop()"])
def test_the_daemon_ends_with_the_process(home, program):
    with node(home, program) as run:
        ca = Path(run.stdout.readline().strip())
        assert ca.name == "ca.pem"
        if program is HANGS:
            run.send_signal(signal.SIGKILL)
    wait_for(lambda: not ca.parent.parent.exists())


def test_a_package_that_was_left_out_is_named(home):
    with node(home, ENDS, BATCHAID_PROGRAM="", PATH=str(home)) as run:
        said = run.stderr.read()
    assert "is not installed, and batchaid is not in the PATH: install the package (npm leaves it out with --omit=optional)" in said
