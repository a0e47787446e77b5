# SPDX-License-Identifier: MIT
"""Debian's az, run by one server for many tests, is as if it were run by itself."""
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from checks.az import az_server  # noqa: E402
from support.waiting import wait_for  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("az") != "/usr/bin/az", reason="az of Debian is not installed")


@pytest.fixture(scope="module")
def served():
    with az_server():
        yield


@pytest.fixture
def home(tmp_path):
    return {"AZURE_CONFIG_DIR": str(tmp_path), "AZURE_CORE_COLLECT_TELEMETRY": "no", "AZURE_CORE_NO_COLOR": "1"}


def az(command, home, **more):
    argv = ["az", *command.split()] if isinstance(command, str) else command
    return subprocess.run(argv, env={**os.environ, **home}, capture_output=True, text=True, timeout=120,
                          start_new_session=True, **more)  # fmt: skip


def runs_of(parent):
    with open(f"/proc/{parent}/task/{parent}/children", encoding="utf-8") as f:
        return f.read().split()


def server():
    """The process of the one that is asked now; az of a test is a child of that, and of nobody else's."""
    asked = os.environ["BATCHAID_TEST_AZ"].encode()
    return next(pid for pid in runs_of(os.getpid()) if asked in Path(f"/proc/{pid}/cmdline").read_bytes())


def test_it_prints_and_ends_as_by_itself(served, home):
    there = az("cloud list --query [].name", home)
    here = az("cloud list --query [].name", {**home, "BATCHAID_TEST_AZ": "/nowhere"})
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)
    assert "AzureCloud" in json.loads(there.stdout)
    wrong = az("batchai nonsense", home)
    assert wrong.returncode == 2 and "nonsense" in wrong.stderr and wrong.stdout == ""


def test_what_one_run_writes_down_another_with_that_home_reads(served, home, tmp_path):
    assert az("config set defaults.group=own --only-show-errors", home).returncode == 0
    other = {**home, "AZURE_CONFIG_DIR": str(tmp_path / "other")}
    assert az("cloud update -n AzureCloud --endpoint-gallery http://own --only-show-errors", home).returncode == 0
    assert "http://own" in az("cloud show -n AzureCloud", home).stdout
    assert "http://own" not in az("cloud show -n AzureCloud", other).stdout
    asked = "config get defaults.group --query value --only-show-errors"
    assert az(asked, home).stdout == '"own"\n'
    assert az(asked, other).returncode != 0


def test_it_reads_the_callers_input_and_other_descriptors(served, home):
    script = "az cloud list --query @/dev/stdin <<<'[0].name' ; az cloud list --query @<(printf '[0].name')"
    assert az(["bash", "-c", script], home).stdout == '"AzureCloud"\n' * 2


def test_an_az_whose_caller_is_killed_ends(served, home):
    reader, writer = os.pipe()
    try:
        caller = subprocess.Popen(["az", "cloud", "list", "--query", "@/dev/stdin"], env={**os.environ, **home}, stdin=reader,
                                  start_new_session=True)  # fmt: skip
        wait_for(lambda: runs_of(server()), what="the run")
        caller.send_signal(signal.SIGKILL)
        caller.wait()
        wait_for(lambda: not runs_of(server()), what="its end")
    finally:
        os.close(reader)
        os.close(writer)


def time_of_runs():
    """Of the processor, in the server's ended runs."""
    return Path(f"/proc/{server()}/stat").read_text().split()[15:17]


def test_a_caller_with_a_limit_of_its_own_runs_az_itself(served, home):
    before = time_of_runs()
    done = az(["bash", "-c", "ulimit -c 0; ulimit -n 300; az cloud list --query [0].name"], home)
    assert done.stdout == '"AzureCloud"\n'
    assert time_of_runs() == before  # no child of it was waited for


LANGUAGES = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE")


@pytest.mark.parametrize("of_server", [{}, {"LANG": "C.UTF-8"}], ids=str)
@pytest.mark.parametrize("of_caller", [{}, {"LANG": "C.UTF-8"}, {"LANG": "C", "LC_CTYPE": "C.UTF-8"}, {"LC_ALL": "en_US.UTF-8"}], ids=str)
def test_only_another_language_makes_a_caller_run_az_itself(home, monkeypatch, of_server, of_caller):
    for name in LANGUAGES:
        monkeypatch.delenv(name, raising=False)
    for name, value in of_server.items():
        monkeypatch.setenv(name, value)
    with az_server():
        wait_for(Path(os.environ["BATCHAID_TEST_AZ"]).exists, what="the server to listen")
        before = time_of_runs()
        env = {name: value for name, value in os.environ.items() if name not in LANGUAGES}
        done = subprocess.run(["az", "cloud", "list", "--query", "[0].name"], env={**env, **home, **of_caller}, capture_output=True,
                              text=True, timeout=120, start_new_session=True)  # fmt: skip
        assert done.stdout == '"AzureCloud"\n', done.stderr
        assert (time_of_runs() == before) == ("LC_ALL" in of_caller)
