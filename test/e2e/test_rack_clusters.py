# SPDX-License-Identifier: MIT
"""Clusters and the machines they are made of: claimed exclusively, given back clean, short ones made
good as soon as others let go."""

import json
import re

from support.rack import USER
from support.racked import group, leavings, logins
from support.waiting import wait_for
from support.world import wait_flag


def short_of(cluster, missing):
    """Until it says that so many machines are missing."""

    def told():
        p = cluster.properties
        text = json.dumps(p.get("errors"))
        return p if p["allocationState"] == "resizing" and re.search(rf"\b{missing}\b", text) else None

    return wait_for(told, 20, lambda: json.dumps(cluster.properties))


def test_two_clusters_share_the_machines_and_the_short_one_goes_on_by_itself(site):
    first = site.cluster(nodes=3, name="first")
    second = site.cluster(nodes=3, name="second", steady=False)
    short_of(second, 2)
    wait_for(lambda: second.counts()["idleNodeCount"] == 1, what="the one that is left")
    first_has, second_has = site.machines_of(first), site.machines_of(second)
    assert len(first_has) == 3 and len(second_has) == 1 and not set(first_has) & set(second_has)
    first.resize(1)
    second.wait_steady(3)
    assert not second.properties.get("errors")
    assert not set(site.machines_of(first)) & set(site.machines_of(second))
    told = site.nodes()
    assert sorted(m["cluster"].rsplit("/", 1)[-1] for m in told.values()) == ["first"] + ["second"] * 3


def test_a_machine_serves_only_its_sizes_and_priority(racked, rack):
    site = racked(
        [
            group(rack, rack[:2], vm_sizes=["STANDARD_NC6"]),
            group(rack, rack[2:3], vm_sizes=["STANDARD_NC12"]),
            group(rack, rack[3:], vm_sizes=["STANDARD_NC6"], priority="lowpriority"),
        ]
    )
    small = site.cluster(nodes=2)
    large = site.cluster(nodes=1, vmSize="STANDARD_NC12")
    low = site.cluster(nodes=1, vmPriority="lowpriority")
    assert set(site.machines_of(small)) == {rack[0], rack[1]}
    assert site.machines_of(large) == [rack[2]] and site.machines_of(low) == [rack[3]]
    small.resize(3)
    short_of(small, 1)


def test_machines_are_named_by_range_by_address_and_by_port(racked, rack):
    rack[3].run("/usr/sbin/sshd -p 2222")
    first_two = rack[0].address[: -len("11")] + "[11-12]"
    site = racked([group(rack, hosts=f"{first_two}, [{rack[2].address6}], {rack[3].address}:2222")])
    reached = {(login["ipAddress"], login["port"]) for login in logins(site.cluster(nodes=4))}
    assert reached == {
        (rack[0].address, 22),
        (rack[1].address, 22),
        (rack[2].address6, 22),
        (rack[3].address, 2222),
    }


def test_machines_are_named_by_name(racked, rack):
    site = racked([group(rack, hosts="m[1-4]")], names=True)
    assert set(site.machines_of(site.cluster(nodes=4))) == set(rack)
    assert set(site.nodes()) == {m.name for m in rack}


def test_machines_are_given_back_clean(site, rack):
    before = rack[0].accounts()
    cluster = site.cluster(nodes=4)
    job = site.job(
        cluster,
        "(setsid sleep 54321 &) ; echo x >$AZ_BATCHAI_JOB_TEMP/x; echo $AZ_BATCHAI_JOB_TEMP",
        nodes=4,
    ).succeeded()
    assert all("demo" in machine.accounts() and machine.mounts() for machine in rack)
    cluster.resized(2)
    kept = site.machines_of(cluster)
    for machine in set(rack) - set(kept):
        assert leavings(machine, before) == [] and not machine.processes("sleep 54321")
    assert all("demo" in machine.accounts() for machine in kept)
    cluster.delete()
    for machine in rack:
        assert leavings(machine, before) == []


def test_an_account_that_was_there_before_is_left_as_it_is_and_told_of(racked, rack):
    machine = rack[0]
    machine.run("useradd -m demo && echo demo:old | chpasswd")
    entry = "getent shadow demo; ls -la ~demo"
    before = machine.run(entry).stdout
    site = racked([group(rack, [machine])])
    cluster = site.cluster(nodes=1, steady=False)
    told = site.wait_node(machine, reason=re.compile("demo"))
    assert told["state"] == "unusable", told
    assert "demo" in json.dumps(cluster.properties["errors"])
    cluster.delete()
    assert machine.run(entry).stdout == before


def test_jobs_run_as_the_configured_account_and_not_as_root(racked, rack):
    for machine in rack:
        machine.run("useradd -m worker")
    site = racked([group(rack, rack, job_user="worker")])
    job = site.job(site.cluster(nodes=1), "id -un; touch $AZ_BATCHAI_JOB_TEMP/mine").succeeded()
    assert job.read("stdout.txt") == "worker\n"


def test_without_root_a_cluster_that_wants_an_account_is_told_what_is_missing(racked, rack):
    machine = rack[0]
    site = racked([group(rack, [machine], become=None, node_root=f"/home/{USER}/node")])
    cluster = site.cluster(nodes=1, steady=False)
    site.wait_node(machine, state="unusable", reason=re.compile("root|become", re.I))
    assert "become" in json.dumps(cluster.properties["errors"])


def test_a_job_is_killed_with_everything_it_started(site):
    cluster = site.cluster(nodes=2)
    flag, path = site.flag("never")
    job = site.job(cluster, f"setsid sleep 54321 & {wait_flag(path)}", nodes=1).running()
    (machine,) = site.machines_of(job)
    wait_for(lambda: machine.processes("sleep 54321"), what="the job's child")
    job.terminate()
    job.fail()
    assert not machine.processes("sleep 54321|never")


def test_output_on_the_disk_of_a_node_is_listed_and_downloaded(site):
    cluster = site.cluster(nodes=2)
    job = site.job(
        cluster,
        "mkdir -p $AZ_BATCHAI_OUTPUT_RESULT; seq 100000 >$AZ_BATCHAI_OUTPUT_RESULT/numbers",
        outputDirectories=[{"id": "RESULT", "pathPrefix": "$AZ_BATCHAI_JOB_TEMP"}],
    ).succeeded()
    assert job.read("numbers", "RESULT") == "".join(f"{n}\n" for n in range(1, 100001))
    link = job.link("numbers", "RESULT")
    part = site.daemon.fetch(link, Range="bytes=0-3")
    assert part.status == 206 and part.text == "1\n2\n"
