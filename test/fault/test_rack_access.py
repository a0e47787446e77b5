# SPDX-License-Identifier: MIT
"""Machines that cannot be used: people are told which one, why, and what to do, others take their
place, and once mended they are used without further ado."""

import json
import re
import subprocess

import pytest
from support.rack import NODE_DISK, USER
from support.rack.commands import make_key
from support.racked import group
from support.waiting import wait_for

KEY_ALSO_NOBODYS = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA nobody"


class Fault:
    def __init__(self, make, mend, reason):
        self.make, self.mend, self.reason = make, mend, re.compile(reason, re.I | re.S)


def mend_key(machine):
    machine.authorize(machine.rack.identity.with_suffix(".pub").read_text())


FAULTS = {
    "no power": Fault(lambda m: m.power_off(), lambda m: m.start(), "answer|timed out|no route"),
    "link down": Fault(lambda m: m.cut_link(), lambda m: m.restore_link(), "answer|timed out"),
    "no sshd": Fault(lambda m: m.kill_sshd(), lambda m: m.start_sshd(), "refused.*sshd"),
    "accepts TCP and never answers": Fault(
        lambda m: m.mute_sshd(), lambda m: m.unmute_sshd(), "handshake|answer"
    ),
    "wrong key": Fault(lambda m: m.authorize(KEY_ALSO_NOBODYS), mend_key, f"{USER}.*key"),
    "no sudo": Fault(lambda m: m.allow_sudo(False), lambda m: m.allow_sudo(True), "sudo"),
    "disk of the node root full": Fault(
        lambda m: m.fill_disk(), lambda m: m.free_disk(), "agent did not start.*no space left"
    ),
}


@pytest.fixture(params=FAULTS.values(), ids=FAULTS)
def fault(request):
    return request.param


def test_a_machine_with_this_fault_is_told_of_and_used_once_it_is_mended(racked, rack, fault):
    machine = rack[0]
    fault.make(machine)
    site = racked([group(rack, [machine])])
    cluster = site.cluster(nodes=1, steady=False)
    told = site.wait_node(machine, reason=fault.reason)
    assert machine.address in told["reason"] or told["name"] == machine.address
    wait_for(lambda: cluster.properties.get("errors"), 20, lambda: json.dumps(cluster.properties))
    assert machine.address in json.dumps(cluster.properties["errors"])
    fault.mend(machine)
    site.daemon.tool("nodes", "undrain", machine.address)
    cluster.wait_steady(1)
    site.job(cluster, "true").succeed()


def test_a_machine_that_could_not_be_reached_is_claimed_last(racked, rack):
    mute, good = rack[0], rack[1]
    mute.mute_sshd()
    site = racked([group(rack, [mute, good])])
    cluster = site.cluster(nodes=2, steady=False)
    site.wait_node(mute, state="unusable")
    site.wait_node(good, state="idle")
    cluster.resized(0)
    cluster.resized(1)
    assert site.machines_of(cluster) == [good]


def test_a_machine_that_never_answered_gives_its_place_to_one_that_works(racked, rack):
    dead, good = rack[0], rack[1]
    dead.kill_sshd()
    site = racked([group(rack, [dead, good])])
    cluster = site.cluster(nodes=1, steady=False)
    site.wait_node(dead, state="unreachable", reason=FAULTS["no sshd"].reason)
    cluster.wait_steady(1)
    assert site.machines_of(cluster) == [good] and not cluster.properties.get("errors")


@pytest.mark.parametrize("wrong", [{"user": "nobody"}, {"user": "no-such-user"}], ids=["no shell", "unknown"])
def test_a_wrong_user_is_told_with_what_was_tried(racked, rack, wrong):
    machine = rack[0]
    site = racked([group(rack, [machine], **wrong)])
    site.cluster(nodes=1, steady=False)
    site.wait_node(machine, reason=re.compile(wrong["user"]))


def test_a_wrong_identity_is_told_with_what_was_tried(racked, rack, tmp_path):
    make_key(tmp_path / "other", keep=True)
    machine = rack[0]
    site = racked([group(rack, [machine], identity=str(tmp_path / "other"))])
    site.cluster(nodes=1, steady=False)
    site.wait_node(machine, reason=re.compile(re.escape(str(tmp_path / "other"))))


@pytest.mark.parametrize("in_use", [False, True], ids=["before it is used", "while a node is there"])
def test_a_changed_host_key_makes_a_machine_unusable_until_somebody_says_it_is_right(racked, rack, in_use):
    machine = rack[0]
    site = racked([group(rack, [machine])])
    cluster = site.cluster(nodes=1)
    if not in_use:
        cluster.resized(0)
    known = machine.fingerprint()
    machine.change_host_key()
    if not in_use:
        cluster.resize(1)
    told = site.wait_node(machine, reason=re.compile("host key", re.I))["reason"]
    assert known in told and machine.fingerprint() in told, told
    (known_hosts,) = set(re.findall(r"[^\s'\"]+/known_hosts", told))
    remove = ["ssh-keygen", "-R", machine.address, "-f", known_hosts]
    subprocess.run(remove, check=True, capture_output=True)
    site.daemon.tool("nodes", "undrain", machine.address)
    cluster.wait_steady(1)


def test_with_strict_host_keys_an_unknown_machine_is_refused(racked, rack):
    machine = rack[0]
    site = racked([group(rack, [machine])], ssh={"strict_host_keys": True})
    site.cluster(nodes=1, steady=False)
    site.wait_node(machine, reason=re.compile(re.escape(machine.fingerprint())))
    assert machine.run(f"ls {NODE_DISK}").stdout == ""
