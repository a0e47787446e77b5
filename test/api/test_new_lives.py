# SPDX-License-Identifier: MIT
"""The ends of jobs and clusters, and new ones under their names: a new life has nothing of the old one."""

import os

from support.waiting import wait_for
from support.world import fresh, instant


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_deleted_cluster_ends_its_jobs_and_one_of_its_name_has_none_of_them(own_place):
    cluster = own_place.cluster(nodes=1, name="again")
    seen, written = own_place.flag("pid")
    running = own_place.job(cluster, f"echo $$ > {written}; sleep 1000")
    queued = own_place.job(cluster, "echo queued")
    pid = int(wait_for(lambda: seen.exists() and seen.read_text(), what="the job to run"))
    cluster.delete()
    for job in (running, queued):
        errors = job.fail()["executionInfo"]["errors"]
        assert "deleted" in errors[0]["message"], errors
    wait_for(lambda: not is_alive(pid), what="the process of the running job to be gone")
    again = own_place.cluster(nodes=1, name="again")
    assert own_place.job(again, "echo later").succeeded().read("stdout.txt") == "later\n"
    assert running.state == queued.state == "failed"
    wait_for(lambda: again.counts()["idleNodeCount"] == 1, what="its node to be idle")


def test_a_jobs_name_used_again_is_a_new_job_in_a_new_directory(own_place):
    cluster = own_place.cluster(nodes=1)
    first = own_place.job(cluster, "echo first; touch $AZ_BATCHAI_JOB_TEMP/left", name="again")
    first.succeed()
    before = first.properties
    first.delete()
    second = own_place.job(cluster, "echo second; ls $AZ_BATCHAI_JOB_TEMP", name="again")
    after = second.succeed()
    assert before["jobOutputDirectoryPathSegment"] != after["jobOutputDirectoryPathSegment"]
    assert instant(after["creationTime"]) > instant(before["creationTime"])
    assert "left" not in second.read("stdout.txt") and second.read("stdout.txt").startswith("second\n")


def test_the_next_job_of_a_node_finds_nothing_in_its_temporary_directory(own_place):
    """As the service's guide says of the variable with which output goes to the node's own disk."""
    temp = "$AZ_BATCHAI_JOB_TEMP_DIR"
    cluster = own_place.cluster(nodes=1)
    own_place.job(cluster, f"touch {temp}/left", stdOutErrPathPrefix=temp).succeed()
    own_place.job(cluster, f"touch {temp}/mine; test ! -e {temp}/left").succeed()


def grace(seconds):
    return [{"name": "BATCHAID_JOB_GRACE", "value": str(seconds)}]


def ends_in_its_own_time(own_place, **properties):
    """A job that needs a second for its end after SIGTERM, and says so if it had it."""
    seen, written = own_place.flag(fresh("ready"))
    job = own_place.job(
        own_place.cluster(nodes=1),
        f"trap 'sleep 1; echo saved; exit 0' TERM; touch {written}; while :; do sleep 0.05; done",
        **properties,
    )
    wait_for(seen.exists, what="the job to be ready")
    return job


def test_a_terminated_job_has_the_grace_that_it_asks_for(own_place):
    job = ends_in_its_own_time(own_place, environmentVariables=grace(30))
    job.terminate()
    assert job.fail()["executionInfo"]["errors"][0]["code"] == "JobTerminated"
    assert job.read("stdout.txt") == "saved\n"


def test_without_grace_it_is_killed_at_once(own_place):
    job = ends_in_its_own_time(own_place, environmentVariables=grace(0))
    job.terminate()
    assert job.fail()["executionInfo"]["errors"][0]["code"] == "JobTerminated"
    assert job.read("stdout.txt") == ""


def test_a_job_whose_time_is_up_has_its_grace_too(own_place):
    job = ends_in_its_own_time(
        own_place, constraints={"maxWallClockTime": "PT2S"}, environmentVariables=grace(30)
    )
    job.fail()
    assert job.read("stdout.txt") == "saved\n"
