# SPDX-License-Identifier: MIT
"""The daemon's own folders stop answering, as a home on a file server that is gone: what needs them waits and
says so, everything else goes on, and the daemon stops when it is told to."""

import os
import time

import pytest
from support.hanging import hanging_folder
from support.sshd import Sshd
from support.waiting import PATIENCE, wait_for
from support.world import Place

# Seconds that nothing healthy takes on a busy machine; what waits for the folder would take for ever.
SOON = 30
STOPS = 18


@pytest.fixture
def hanging():
    """hanging(folder) -> a HangingFolder, which goes on in the end."""
    made = []

    def make(folder):
        folder.mkdir(parents=True, exist_ok=True)
        made.append(hanging_folder(folder))
        return made[-1]

    try:
        yield make
    finally:
        for share in made:
            share.close()


def reason_of(daemon, machine):
    return daemon.get(f"/batchaid/nodes/{machine.name}", api_version=None).get("reason", "")


def goes_on(daemon, place):
    """It takes what it is asked."""
    begun = time.monotonic()
    for _ in range(10):
        place.experiment()
    assert time.monotonic() - begun < SOON * PATIENCE


def stops(daemon):
    begun = time.monotonic()
    assert daemon.stop() == 0
    assert time.monotonic() - begun < STOPS * PATIENCE


def test_host_keys_are_on_a_file_system_that_hangs(own_daemon, hanging, tmp_path):
    with Sshd(tmp_path / "machine") as machine:
        folder = hanging(tmp_path / "home")
        known = tmp_path / "home" / "known_hosts"
        d = own_daemon(
            start=False,
            config={
                "inventory": [machine.group(vm_sizes=["STANDARD_NC6"])],
                "ssh": {"known_hosts": str(known), "connect_timeout_s": 1},
                "local": {"nodes": 1},
            },
        )
        d.expect_log(r"node|link|share\.")
        folder.stop()
        d.start()
        place = Place(d).make()
        # The machine is this one: an account that it has not.
        user = {"adminUserName": f"hung{os.getpid()}", "adminUserPassword": "pw-never-shown"}
        far = place.cluster(
            nodes=1, steady=False, vmSize="STANDARD_NC6", nodeSetup=None, userAccountSettings=user
        )
        wait_for(lambda: str(known) in reason_of(d, machine), SOON * 2, lambda: d.log_tail())
        assert "has not answered in 2 s" in reason_of(d, machine)
        goes_on(d, place)
        place.job(place.cluster(nodes=1), "echo beside").succeed(SOON * 2)
        stops(d)
        assert [line for line in d.log() if "share.workers_abandoned" in line and str(tmp_path / "home") in line]
        folder.go_on()
        d.start()
        far.wait_steady(1, SOON * 3)
        assert machine.name.split(":")[1] in known.read_text()
        place.remove()


def test_nodes_are_on_a_file_system_that_hangs(own_daemon, hanging):
    d = own_daemon(start=False, config={"local": {"nodes": 2}})
    d.expect_log(r"node|link|task|share\.")
    d.state_dir.mkdir(mode=0o700)
    (d.state_dir / "nodes").mkdir(mode=0o755)
    folder = hanging(d.state_dir / "nodes")
    d.start()
    place = Place(d).make()
    cluster = place.cluster(nodes=2)
    folder.stop()
    cluster.call("DELETE", expect=202)
    goes_on(d, place)
    stops(d)
    hung = [line for line in d.log() if "share.workers_abandoned" in line or "node.agent_abandoned" in line]
    assert hung and all(str(d.state_dir / "nodes") in line for line in hung), d.log_tail()
    folder.go_on()
    d.start()
    wait_for(lambda: cluster.call("GET", validate=False).status == 404, SOON * 2, lambda: d.log_tail())
