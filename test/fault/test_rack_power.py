# SPDX-License-Identifier: MIT
"""Machines that restart, or that are gone for too long: jobs end or start again by their cluster's
rule, and never run twice at once."""

import json
import re

import pytest
from support.racked import group
from support.waiting import wait_for
from support.world import MOUNT, wait_flag


def cluster_with(site, nodes, option="requeue"):
    return site.cluster(nodes=nodes, scaleSettings={"manual": {"nodeDeallocationOption": option}})


def start_job(site, cluster, name="long", **properties):
    """A job that writes down where it runs, each time that it does, and ends when the flag is there."""
    flag, path = site.flag(f"{name}.flag")
    job = site.job(cluster, f"hostname >>{MOUNT}/{name}.runs; {wait_flag(path)}", name=name, **properties)
    runs = site.share() / f"{name}.runs"
    job.wait("running")
    wait_for(lambda: runs.exists() and runs.read_text(), what="the job's first word")
    return job, flag, lambda: runs.read_text().split()


def mark(name="long"):
    """What its processes on a machine are known by."""
    return re.escape(f"{name}.flag")


def test_an_idle_node_that_was_rebooted_is_prepared_anew(site, rack):
    machine = rack[0]
    cluster = site.cluster(nodes=4)
    assert machine.mounts()
    machine.reboot()
    wait_for(machine.mounts, 20, "its share to be mounted again")
    cluster.wait_steady(4)
    told = f"touch {MOUNT}/$(hostname)"
    for name in {m.name for m in rack}:
        site.job(cluster, f"{told}; {wait_flag(MOUNT + '/go')}", name=name)
    wait_for(lambda: {m.name for m in rack} <= {f.name for f in site.share().iterdir()}, what="a job on each")
    (site.share() / "go").touch()
    for m in rack:
        site.job_at(m.name).succeed()


@pytest.mark.parametrize("ordered", [False, True], ids=["power lost", "it restarts itself"])
def test_a_job_on_a_node_that_was_rebooted_runs_again_if_its_cluster_says_requeue(site, ordered):
    cluster = cluster_with(site, 1)
    job, flag, runs = start_job(site, cluster)
    (machine,) = site.machines_of(cluster)
    if ordered:
        before = machine.boot_id
        machine.restart_itself()
        machine.wait_reboot(before)
    else:
        machine.reboot()
    wait_for(lambda: len(runs()) == 2, 30, lambda: json.dumps(job.get()))
    flag.touch()
    job.succeed()
    assert runs() == [machine.name] * 2


def test_a_job_on_a_node_that_was_rebooted_fails_if_its_cluster_says_terminate(site):
    cluster = cluster_with(site, 1, "terminate")
    job, _, runs = start_job(site, cluster)
    (machine,) = site.machines_of(cluster)
    machine.reboot()
    (error,) = job.fail()["executionInfo"]["errors"]
    assert "tvm-" in json.dumps(error), "it names the node"
    assert len(runs()) == 1
    cluster.wait_steady(1)


def test_a_machine_can_be_rebooted_by_command_but_not_while_a_job_runs_there(site):
    cluster = site.cluster(nodes=1)
    job, flag, _ = start_job(site, cluster)
    (machine,) = site.machines_of(cluster)
    refused = site.daemon.tool("nodes", "reboot", machine.address, check=False)
    assert refused.returncode != 0 and "job runs" in refused.stderr, refused
    flag.touch()
    job.succeed()
    cluster.wait_steady(1)
    before = machine.boot_id
    site.daemon.tool("nodes", "reboot", machine.address)
    machine.wait_reboot(before)
    cluster.wait_steady(1, limit=90)  # it is given half a minute to go down
    site.job(cluster, "true").succeed()


def test_a_job_whose_machine_is_gone_for_too_long_runs_elsewhere_and_never_twice_at_once(site, rack):
    cluster = cluster_with(site, 2)
    job, flag, runs = start_job(site, cluster)
    lost = rack.at(runs()[0])
    lost.cut_link()
    wait_for(lambda: len(runs()) == 2, 30, lambda: json.dumps(job.get()))
    other = rack.at(runs()[1])
    assert other is not lost and lost.processes(mark()), "cut off, the old one goes on for now"
    assert re.search("unusable|unreachable", site.node_of(lost)["state"])
    assert cluster.counts()["unusableNodeCount"] == 1
    # What is started there next looks whether anything of the old job is still there.
    look = f"pgrep -f '[l]ong.flag' >>{MOUNT}/twice; true"
    lost.restore_link()
    site.wait_node(lost, state="idle")
    assert not lost.processes(mark()), "the old one is stopped before the node counts as idle"
    site.job(cluster, look).succeed()
    assert (site.share() / "twice").read_text() == ""
    assert other.processes(mark()), "the new one is not touched"
    flag.touch()
    job.succeed()
    assert len(runs()) == 2


def test_a_job_whose_machine_is_gone_for_too_long_fails_if_its_cluster_says_terminate(site):
    cluster = cluster_with(site, 1, "terminate")
    job, _, runs = start_job(site, cluster)
    (machine,) = site.machines_of(cluster)
    machine.cut_link()
    (error,) = job.fail()["executionInfo"]["errors"]
    assert "tvm-" in json.dumps(error), "it names the node"
    machine.restore_link()
    cluster.wait_steady(1)
    assert not machine.processes(mark()), "what was given up is stopped"
    assert len(runs()) == 1


def test_what_ran_on_a_machine_that_left_its_cluster_unreachable_is_stopped_before_it_is_used_again(
    racked, rack
):
    machine = rack[0]
    site = racked([group(rack, [machine])])
    cluster = cluster_with(site, 1, "terminate")
    job, _, _ = start_job(site, cluster)
    machine.cut_link()
    job.fail()
    site.daemon.crash()
    machine.restore_link()
    cluster.wait_steady(1)
    assert not machine.processes(mark())


def test_a_machine_without_power_is_replaced_for_its_cluster_when_it_comes_back(site, rack):
    machine = rack[0]
    cluster = site.cluster(nodes=4)
    machine.power_off()
    site.wait_node(machine, state=re.compile("unusable|unreachable"))
    assert cluster.counts()["unusableNodeCount"] == 1
    machine.start()
    cluster.wait_steady(4)


def test_a_job_on_several_nodes_ends_when_one_of_them_is_gone_for_too_long(site, rack):
    cluster = cluster_with(site, 3, "terminate")
    job, _, _ = start_job(site, cluster, nodes=2)
    on = site.machines_of(job)
    assert len(on) == 2
    on[1].cut_link()
    job.fail()
    on[1].restore_link()
    cluster.wait_steady(3)
    assert not any(machine.processes(mark()) for machine in rack)
