# SPDX-License-Identifier: MIT
"""Arrays: one job whose command runs once for each index."""

import pytest
from support.refusals import INVALID, refused
from support.waiting import wait_for
from support.world import fresh, job_body, wait_flag

LIST = "properties.environmentVariables"


def env(**values):
    return [{"name": f"BATCHAID_JOB_{name}", "value": str(value)} for name, value in values.items()]


def names(job):
    return {f["name"] for f in job.files()}


def test_each_index_runs_once_and_has_files_of_its_own(place, shared_cluster):
    command = "echo $BATCHAID_ARRAY_INDEX of $BATCHAID_ARRAY_COUNT, $BATCHAID_ARRAY_MIN to $BATCHAID_ARRAY_MAX"
    variables = env(ARRAY="1-3,7", SLOTS=1) + [{"name": "A", "value": "b"}]
    job = place.job(shared_cluster, f"{command} >> $AZ_BATCHAI_OUTPUT_O/all; {command}",
                    environmentVariables=variables,
                    outputDirectories=[{"id": "O", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}])
    assert job.succeed()["executionInfo"]["exitCode"] == 0
    for index in 1, 2, 3, 7:
        assert job.read(f"stdout-{index}.txt") == f"{index} of 4, 1 to 7\n"
        assert f"{job.name}[{index}]" in job.read(f"execution-{index}.log")
    assert "stdout.txt" not in names(job) and "execution.log" not in names(job)
    assert sorted(job.read("all", "O").splitlines()) == [f"{i} of 4, 1 to 7" for i in (1, 2, 3, 7)]
    assert job.properties["environmentVariables"] == variables


def test_an_array_of_one_index_has_its_index(place, shared_cluster):
    job = place.job(shared_cluster, "echo $BATCHAID_ARRAY_INDEX of $BATCHAID_ARRAY_COUNT", environmentVariables=env(ARRAY="7", SLOTS=1))
    assert job.succeeded().read("stdout-7.txt") == "7 of 1\n"


def test_whole_nodes_are_taken_one_index_each(place, shared_cluster):
    job = place.job(shared_cluster, "echo $AZ_BATCHAI_NODE_ID", environmentVariables=env(ARRAY="0-3"))
    job.succeed()
    assert len({job.read(f"stdout-{i}.txt") for i in range(4)}) <= 2


def test_the_first_failure_is_the_jobs_and_the_others_run(place, shared_cluster):
    command = "test $BATCHAID_ARRAY_INDEX != 1 || exit 7; echo done"
    job = place.job(shared_cluster, command, environmentVariables=env(ARRAY="0-2", ARRAY_LIMIT=1, SLOTS=1))
    info = job.fail()["executionInfo"]
    assert info["exitCode"] == 7
    (error,) = info["errors"]
    assert error["code"] == "JobFailed" and error["message"].startswith("Index 1: ")
    assert job.read("stdout-2.txt") == "done\n"
    reply = place.daemon.call("GET", "/batchaid/events", api_version=None, params={"max": 1000})
    told = [e.get("reason") or "" for e in reply.json["value"] if e["kind"] == "job" and e["name"] == job.name]
    assert any(t == "index 1 has failed (JobFailed); 1 of 3 are left" for t in told), told
    story = place.daemon.tool("explain", f"exp/{job.name}").stdout
    assert "index 1 has failed (JobFailed); 1 of 3 are left" in story and "nodes that are gone" not in story, story


def test_terminating_an_array_ends_all_that_run_and_all_that_wait(place, shared_cluster):
    flag, path = place.flag(fresh("never"))
    variables = env(ARRAY="0-99", ARRAY_LIMIT=2, SLOTS=1)
    job = place.job(shared_cluster, f"echo up; {wait_flag(path)}", environmentVariables=variables)
    wait_for(lambda: {"stdout-0.txt", "stdout-1.txt"} <= names(job), 30, "two of them to run")
    assert "stdout-2.txt" not in names(job)
    queue = place.daemon.tool("queue", "--cluster", shared_cluster.name).stdout
    assert f"{job.name}[2-99]" in queue and f"{job.name}[3" not in queue, queue
    story = place.daemon.tool("explain", f"exp/{job.name}").stdout
    assert "98 indexes wait, 2 to 99" in story, story
    assert "index 2 waits for earlier indexes of its array to end" in story, story
    job.terminate()
    assert job.fail()["executionInfo"]["errors"][0]["code"] == "JobTerminated"
    assert not flag.exists()
    place.job(shared_cluster, environmentVariables=env(DEPENDS_ON=f"{job.name}:failure")).succeed()


def test_each_index_is_tried_again_by_itself(place, shared_cluster):
    mark = f"$AZ_BATCHAI_MOUNT_ROOT/out/{fresh('mark')}-$BATCHAID_ARRAY_INDEX"
    job = place.job(shared_cluster, f"test -e {mark} || {{ touch {mark}; exit 1; }}",
                    environmentVariables=env(ARRAY="0-2", RETRIES=1, SLOTS=1)).succeeded()


@pytest.mark.parametrize("variables, at, says", [
    (env(ARRAY=""), "[0].value", "must be indexes from 0 to 1000000 in rising order"),
    (env(ARRAY="0-1000"), "[0].value", "at most 1000"),
    (env(ARRAY="3-1"), "[0].value", "such as 0-99, 1-10:3 or 1,5,7"),
    (env(ARRAY="1,1"), "[0].value", "rising order"),
    (env(ARRAY="1-10:0"), "[0].value", "rising order"),
    (env(ARRAY="0-9", ARRAY_LIMIT=0), "[1].value", "must be a whole number from 1 to 1000"),
    (env(ARRAY_LIMIT=2), "[0].name", "without BATCHAID_JOB_ARRAY"),
])
def test_what_is_no_array_is_refused(place, shared_cluster, variables, at, says):
    place.experiment()
    body = job_body(shared_cluster.path, environmentVariables=variables)
    refused(place.job_at(fresh("bad")).call("PUT", body=body), 400, INVALID, LIST + at, [says])
