# SPDX-License-Identifier: MIT
"""The Go module with which tests start a daemon: its own tests, a test process that is killed, and an empty module that takes
it and the program from the folder that `make go-module` makes."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from support.clients import needs
from support.daemon import BATCHAID, ROOT
from support.packaged import first_test, made
from support.packages import caller_environment
from support.waiting import wait_for

SOURCES = ROOT / "etc" / "go" / "batchaidtest"


def environment(**more):
    """Whose caches are the user's: most of a first `go test` is the compilation of Go's own packages."""
    needs("go")
    env = {k: v for k, v in caller_environment().items() if not k.startswith(("BATCHAID_", "AZURE_"))}
    return {**env, "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw", **more}


@pytest.fixture(scope="module")
def test_program(tmp_path_factory):
    path = tmp_path_factory.mktemp("go") / "batchaidtest.test"
    for command in (["go", "vet", "."], ["go", "test", "-c", "-o", path, "."]):
        done = subprocess.run(command, cwd=SOURCES, env=environment(), capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
    return path


def test_its_own_tests(test_program, tmp_path):
    env = environment(BATCHAID_PROGRAM=str(BATCHAID))
    done = subprocess.run([test_program, "-test.v"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stdout.count("--- PASS: ") == 4, done.stdout + done.stderr


def test_the_daemon_of_a_killed_test_ends(test_program):
    env = environment(BATCHAID_PROGRAM=str(BATCHAID), HANG="1")
    with subprocess.Popen([test_program, "-test.run=Hangs"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        folder = Path(next(line for line in run.stdout if line.startswith("folder ")).split()[1])
        assert (folder / "state").is_dir()
        run.send_signal(signal.SIGKILL)
    wait_for(lambda: not folder.exists())


def test_the_first_test_of_an_empty_module(tmp_path):
    needs("go")
    dist = made("go-module")
    home = tmp_path / "home"
    home.mkdir()
    cache = subprocess.run(["go", "env", "GOCACHE"], env=environment(), capture_output=True, text=True, check=True).stdout.strip()
    env = {"HOME": str(home), "DIST": str(dist), "GOCACHE": cache, "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local"}
    said = first_test("Go", tmp_path / "mine", {**env, "PATH": os.environ["PATH"]})
    assert "--- PASS: TestFirst" in said
    assert list(home.glob(".cache/batchaid/*/bin/batchaid"))
