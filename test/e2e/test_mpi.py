# SPDX-License-Identifier: MIT
"""MPI over several nodes without SSH between them: Debian's Open MPI and MPICH, started by the jobs' own commands."""

from pathlib import Path

import pytest
from support.mpi import mpi, ranks, script
from support.waiting import wait_for


@pytest.fixture(params=["openmpi", "mpich"])
def kind(request):
    return mpi(request.param)


@pytest.fixture(scope="module")
def cluster(daemon, _place):
    return _place.cluster(nodes=8, name="eight")


def processes_of(job):
    """The pids of all that has the job's directory in its environment."""
    guid = Path(job.properties["jobOutputDirectoryPathSegment"]).name.encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and guid in (entry / "environ").read_bytes():
                found.append((int(entry.name), (entry / "cmdline").read_bytes()))
        except OSError:
            pass
    return found


@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_every_node_has_a_rank_and_all_compute_together(place, cluster, kind, nodes):
    program = script(kind, place.share(), f"sum-{kind.name}.py")
    job = place.job(cluster, f"{kind.launch} {program}", nodes=nodes).succeeded(limit=60)
    found = ranks(job.read("stdout.txt"))
    assert sorted(found) == list(range(nodes))
    assert {(size, total) for size, total, *_ in found.values()} == {(nodes, nodes * (nodes - 1) // 2)}
    assert sorted(index for *_, index, _ in found.values()) == list(range(nodes))
    wait_for(lambda: not processes_of(job), what="the end of all processes")


def test_a_rank_that_fails_ends_the_job_with_its_code_and_last_lines(place, cluster, kind):
    program = script(kind, place.share(), f"fails-{kind.name}.py")
    for how in kind.failing:
        job = place.job(cluster, f"{kind.launch} {program} {how}", nodes=3)
        info = job.fail(limit=60)["executionInfo"]
        assert info["exitCode"] == 17
        assert "the last rank is unwell" in str(info["errors"]) + job.read("stderr.txt")
        wait_for(lambda: not processes_of(job), what="the end of all processes")


def test_a_rank_that_dies_of_a_signal(place, cluster, kind):
    program = script(kind, place.share(), f"signal-{kind.name}.py")
    job = place.job(cluster, f"{kind.launch} {program} signal", nodes=3)
    assert job.fail(limit=60)["executionInfo"]["exitCode"] == kind.killed
    assert "the last rank is unwell" in job.read("stderr.txt")
    wait_for(lambda: not processes_of(job), what="the end of all processes")


def test_a_terminated_job_leaves_no_process(place, cluster, kind):
    program = script(kind, place.share(), f"sleep-{kind.name}.py")
    text = (place.share() / f"sleep-{kind.name}.py").read_text().replace("rank == size - 1", "False")
    (place.share() / f"sleep-{kind.name}.py").write_text(text)
    job = place.job(cluster, f"{kind.launch} {program} wait", nodes=4)
    sleeping = lambda: [p for p, argv in processes_of(job) if argv.startswith(b"/usr/bin/python3\0")]
    wait_for(lambda: job.state == "running" and len(sleeping()) == 4, what="four ranks")
    job.terminate()
    job.wait("failed")
    wait_for(lambda: not processes_of(job), what="the end of all processes")
