# SPDX-License-Identifier: MIT
"""`ssh` inside jobs and MPI over machines that the daemon reaches by SSH and that do not trust each other."""

import pytest
from support.mpi import mpi, ranks, script
from support.racked import NODE_ROOT
from support.waiting import wait_for
from support.world import wait_flag


@pytest.fixture(params=["openmpi", "mpich"])
def kind(request):
    return mpi(request.param)


def running(machines, what):
    """On which of the machines a process has this in its command line."""
    return [m for m in machines if m.run(f"pgrep -f '{what}'", check=False).stdout.strip()]


def test_by_name_and_address_to_no_other_machine(site, rack):
    cluster = site.cluster(nodes=2)
    first, second = site.machines_of(cluster)
    (third, *_) = [m for m in rack if m not in (first, second)]
    command = (
        f"ssh {second.address} hostname; ssh {second.name} 'id -u; pwd'; id -u; hostname\n"
        f"ssh {third.address} hostname; echo $?; ssh {third.name} hostname; echo $?; ssh nowhere.example; echo $?\n"
        f"head -c 3000000 /dev/urandom > data; ssh {second.name} cat < data | cmp - data && echo same"
    )
    job = site.job(cluster, f"cd $AZ_BATCHAI_JOB_TEMP; {command}", nodes=2).succeeded(limit=60)
    there, uid, folder, own, here, *codes, same = job.read("stdout.txt").splitlines()
    assert (there, here) == (second.name, first.name) and uid == own != "0" and folder.startswith(NODE_ROOT)
    assert codes == ["255"] * 3 and same == "same"
    assert third.address in job.read("stderr.txt")


def test_mpi_over_all_machines(site, rack, kind):
    cluster = site.cluster(nodes=4)
    program = script(kind, site.share(), f"sum-{kind.name}.py")
    job = site.job(cluster, f"{kind.launch} {program}", nodes=4).succeeded(limit=60)
    found = ranks(job.read("stdout.txt"))
    assert {(size, total) for size, total, *_ in found.values()} == {(4, 6)}
    assert sorted(index for *_, index, _ in found.values()) == [0, 1, 2, 3]
    assert not running(rack, f"sum-{kind.name}.py")


def test_a_rank_that_fails_on_another_machine(site, rack, kind):
    cluster = site.cluster(nodes=2)
    program = script(kind, site.share(), f"fails-{kind.name}.py")
    job = site.job(cluster, f"{kind.launch} {program} abort", nodes=2)
    assert job.fail(limit=60)["executionInfo"]["exitCode"] == 17
    assert "the last rank is unwell" in job.read("stderr.txt")
    wait_for(lambda: not running(rack, f"fails-{kind.name}.py"), what="the end of all")


def test_a_session_outlives_a_cut_link(site):
    """Nothing is lost, nothing comes twice."""
    cluster = site.cluster(nodes=2)
    first, second = site.machines_of(cluster)
    flag, path = site.flag("enough")
    command = (
        f"ssh {second.name} 'i=0; while [ ! -e {path} ]; do echo $i; i=$((i+1)); sleep 0.02; done; exit 5' > out\n"
        "echo $?; wc -l < out; sort -n -u out | wc -l; tail -1 out"
    )
    job = site.job(cluster, f"cd $AZ_BATCHAI_JOB_TEMP; {command}", nodes=2)
    lines = lambda: int(first.run(f"cat {NODE_ROOT}/jobs/*/out | wc -l", check=False).stdout or 0)
    wait_for(lambda: lines() > 20, what="output")
    for machine in (first, second):
        machine.cut_link()
        wait_for(lambda: site.daemon.log_tail().count("node.link_lost"), 20, "the link to be lost")
        machine.restore_link()
        before = lines()
        wait_for(lambda: lines() > before + 20, 40, "more output")
    flag.touch()
    job.succeed(limit=60)
    code, n, different, last = job.read("stdout.txt").splitlines()
    assert code == "5" and n == different and int(last) == int(n) - 1


def test_a_terminated_job_leaves_nothing_on_other_machines(site, rack):
    cluster = site.cluster(nodes=2)
    first, second = site.machines_of(cluster)
    flag, path = site.flag("never")
    job = site.job(cluster, f"ssh {second.name} 'sleep 9876543 & {wait_flag(path)}'", nodes=2)
    wait_for(lambda: running(rack, "^sleep 9876543") == [second], what="the command")
    job.terminate()
    job.wait("failed")
    wait_for(lambda: not running(rack, "^sleep 9876543"), what="its end")
