# SPDX-License-Identifier: MIT
"""--watch, and the filters of `batchaid nodes`."""
import json
import os
import pty
import signal
import subprocess

import pytest
from support.daemon import BATCHAID

from conftest import environment

CLEAR = b"\x1b[H\x1b[J"
INVENTORY = """
inventory:
- {hosts: ["127.0.0.1:1", "127.0.0.2:1"], user: nobody, agent_socket: /nowhere}
"""


@pytest.fixture
def daemon(serve, tmp_path):
    (tmp_path / "c.yaml").write_text(INVENTORY)
    return serve("--config", tmp_path / "c.yaml")


def nodes(run, *options):
    done = run("nodes", "--state-dir", "state", "--json", *options)
    return [n["name"] for n in json.loads(done.stdout)["value"]], done


def test_nodes_by_state(run, daemon):
    assert run("nodes", "drain", "127.0.0.2:1", "--state-dir", "state").returncode == 0
    assert nodes(run, "--state", "unknown")[0] == ["127.0.0.1:1", "127.0.0.2:1"]
    assert nodes(run, "--state", "drained")[0] == ["127.0.0.2:1"]
    found, done = nodes(run, "--state", "idle", "--cluster", "rack")
    assert found == [] and done.returncode == 0
    assert done.stderr == "batchaid: no node fits --state idle --cluster rack; `batchaid nodes` lists all\n"


def test_nodes_by_the_beginning_of_the_name_and_in_an_order(run, daemon):
    found, done = nodes(run, "--sort", "-name")
    assert found == ["127.0.0.2:1", "127.0.0.1:1"]
    members = [[set(n) for n in json.loads(one.stdout)["value"]] for one in (done, nodes(run)[1])]
    assert members[0] == members[1]
    assert nodes(run, "--begins", "127.0.0.2")[0] == ["127.0.0.2:1"]
    found, done = nodes(run, "--begins", "gpu")
    assert found == [] and done.stderr == "batchaid: no node fits --begins gpu; `batchaid nodes` lists all\n"
    wrong = run("nodes", "--state-dir", "state", "--sort", "size")
    assert wrong.returncode == 1 and "'size' is not a valid order of machines; use name, state or cluster" in wrong.stderr


def test_a_state_that_is_none(run, daemon):
    done = run("nodes", "--state", "iddle")
    assert done.returncode == 2 and "'iddle' is not a state of a machine; the states are unknown, free," in done.stderr


def test_filters_are_of_the_list_only(run):
    done = run("nodes", "drain", "--state", "idle", "m1")
    assert done.returncode == 2 and "nodes drain: it does not take --state" in done.stderr


@pytest.mark.parametrize("command", ["nodes", "queue", "jobs"])
def test_watch_shows_it_again_in_the_same_place(daemon, tmp_path, command):
    ours, theirs = pty.openpty()
    shown = b""
    p = subprocess.Popen([str(BATCHAID), command, "--watch", "--state-dir", "state"], cwd=tmp_path, stdin=subprocess.DEVNULL,
                         stdout=theirs, stderr=subprocess.DEVNULL, env=environment(tmp_path))
    os.close(theirs)
    try:
        while shown.count(CLEAR) < 3:
            shown += os.read(ours, 65536)
    finally:
        p.send_signal(signal.SIGINT)
        assert p.wait(20) in (-signal.SIGINT, 0)
        os.close(ours)
    assert shown.startswith(CLEAR)


def test_watch_waits_for_the_daemon(daemon, serve, tmp_path):
    p = subprocess.Popen([str(BATCHAID), "nodes", "--watch", "--state-dir", "state"], cwd=tmp_path, text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path))
    assert p.stdout.readline().startswith("NAME")
    daemon.stop()
    assert "batchaid: " in p.stderr.readline()
    serve("--config", tmp_path / "c.yaml")
    line = "-"
    while line and not line.startswith("NAME"):
        line = p.stdout.readline()
    p.terminate()
    out, _ = p.communicate(timeout=60)
    assert line and "\x1b" not in out


def test_watch_of_no_daemon_ends(run):
    done = run("nodes", "--watch", "--state-dir", "state")
    assert done.returncode == 1 and "batchaid: " in done.stderr
