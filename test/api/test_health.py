# SPDX-License-Identifier: MIT
"""Whether a daemon is ready, how it fares, and `batchaid wait`; replies are judged by docs/admin-api.json."""

import os
import pty
import resource
import subprocess
import threading
import time

import pytest
import requests
from support.daemon import BATCHAID
from support.small_disk import LOG_THROUGH_PIPE, fill, let_write
from support.testing import Testing
from support.world import Place


def asked(d, what, token=None):
    """Without a token, as probes ask."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    reply = requests.get(f"{d.endpoint}/batchaid/{what}", headers=headers, verify=d.env["SSL_CERT_FILE"], timeout=30)
    return reply.status_code, reply.json()


def test_ready_needs_no_token(daemon):
    assert asked(daemon, "ready") == (200, {"ready": True, "missing": []})
    assert daemon.get("/batchaid/ready") == {"ready": True, "missing": []}


def test_health_gives_numbers_to_those_who_log_in(own_daemon):
    daemon = own_daemon()  # other tests' nodes would count
    assert asked(daemon, "health") == (200, {"healthy": True, "wrong": []})
    place = Place(daemon).make()
    place.job(place.cluster(nodes=2), "true").succeed()
    health = daemon.get("/batchaid/health")
    assert health["healthy"] and health["nodes"] == {"healthy": True, "total": 2, "unusable": 0}
    assert 0 < health["disk"]["freeBytes"] <= health["disk"]["totalBytes"]
    assert health["loop"]["lagMicroseconds"] >= 0 and health["upSeconds"] >= 0


@pytest.mark.parametrize("what", ["ready", "health"])
def test_a_wrong_token_is_refused(daemon, what):
    status, body = asked(daemon, what, token="x.y.z")
    assert (status, body["error"]["code"]) == (401, "InvalidAuthenticationToken")


def test_faults_do_not_hit_them_and_the_log_does_not_tell_of_them(own_daemon):
    d = own_daemon(arguments=["--testing"])
    t = Testing(d)
    t.fault({}, times=0, reply={"status": 503})
    assert asked(d, "ready")[0] == asked(d, "health")[0] == 200
    assert t.requests() == []
    t.call("DELETE", "/faults", expect=204)


def test_on_a_full_disk_it_is_not_ready_and_not_well(small_disk, own_daemon):  # noqa: F811
    d = own_daemon(state_dir=small_disk, prefix=LOG_THROUGH_PIPE)
    d.expect_log(r"db\.|storage|request")
    assert asked(d, "ready")[0] == 200
    filler = d.state_dir / "filler"
    fill(filler)
    let_write(d, 0)
    assert asked(d, "ready") == (503, {"ready": False, "missing": ["database"]})
    status, health = asked(d, "health", d.token())
    assert status == 503 and health["wrong"] == ["database", "disk"] and health["database"]["error"]
    done = wait(d.state_dir, "--timeout", "0")
    assert done.returncode == 1 and "missing: database" in done.stderr
    filler.unlink()
    let_write(d, resource.RLIM_INFINITY)
    assert asked(d, "ready")[0] == 200  # the disk is a small one
    assert asked(d, "health")[1]["wrong"] == ["disk"]


# --- batchaid wait --------------------------------------------------------------------------------


def wait(state_dir, *arguments, **more):
    command = [str(BATCHAID), "wait", "--state-dir", str(state_dir), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)


def test_a_ready_daemon_is_not_waited_for(daemon):
    done = wait(daemon.state_dir, "--timeout", "0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_gives_up_in_time_and_says_why(tmp_path):
    began = time.monotonic()
    done = wait(tmp_path / "none", "--timeout", "1")
    assert (done.returncode, done.stdout) == (1, "") and 0.9 <= time.monotonic() - began < 30
    assert done.stderr.startswith("batchaid: ") and "no batchaid daemon is serving" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_daemon_that_starts_later_is_waited_for(own_daemon):
    d = own_daemon(start=False)
    done = []
    thread = threading.Thread(target=lambda: done.append(wait(d.state_dir, "--timeout", "50")))
    thread.start()
    d.start()
    thread.join()
    assert done[0].returncode == 0, done[0].stderr
    assert asked(d, "ready")[0] == 200


def test_a_terminal_sees_what_it_waits_for(tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen([str(BATCHAID), "wait", "--state-dir", str(tmp_path), "--timeout", "3"], stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    assert process.wait(timeout=30) == 1
    assert b"waiting for 1 s: no batchaid daemon" in shown


# --- batchaid subscription ------------------------------------------------------------------------


def test_subscriptions_by_the_command_line(daemon):
    guid = daemon.tool("subscription", "add", "team c").stdout.strip()
    listed = daemon.tool("subscription").stdout.splitlines()
    assert listed[0].split() == ["SUBSCRIPTION", "NAME", "MADE"]
    assert any(line.startswith(f"{guid}  team c") for line in listed)
    assert '"displayName": "team c"' in daemon.tool("subscription", "--json", "list").stdout
    assert daemon.tool("subscription", "delete", guid).stdout == f"{guid} is deleted\n"
    again = subprocess.run(
        [str(BATCHAID), "subscription", "delete", guid, "--state-dir", str(daemon.state_dir)],
        capture_output=True, text=True, timeout=60, check=False,
    )
    assert again.returncode == 1 and f"There is no subscription '{guid}'" in again.stderr
