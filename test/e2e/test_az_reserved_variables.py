# SPDX-License-Identifier: MIT
"""Parts of nodes, dependencies, arrays and retries, asked for in the job.json that az submits."""

import json

import pytest
from support.daemon import Daemon
from support.waiting import wait_for
from support.world import Place

IN = "-g lab -w ws"


@pytest.fixture(scope="module")
def lab(az_of):
    """A place on a daemon whose local nodes seem to have GPUs, and the az that talks to it."""
    with Daemon(config={"local": {"fake_gpus": 4, "slots": 4}}) as d:
        az = az_of(d)
        az("group create -n lab -l eastus")
        az("batchai workspace create -g lab -n ws")
        az("batchai experiment create -g lab -w ws -n exp")
        az(f"batchai cluster create {IN} -n gpus -s Standard_NC24 -t 1 --generate-ssh-keys")
        place = Place(d, "lab", "ws")
        place.cluster_at("gpus").wait_steady(1)
        yield place, az


@pytest.fixture
def submit(lab, tmp_path):
    place, az = lab

    def make(name, command, **wishes):
        env = [{"name": f"BATCHAID_JOB_{k}", "value": str(v)} for k, v in wishes.items()]
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"properties": {
            "nodeCount": 1, "customToolkitSettings": {"commandLine": command}, "environmentVariables": env,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_TEMP"}}))
        return az.run(f"batchai job create {IN} -e exp -n {name} -c gpus -f {path}", check=False)

    return make


def show(az, name):
    return az(f"batchai job show {IN} -e exp -n {name}")


def ended(az, name):
    return wait_for(lambda: (j := show(az, name))["executionState"] in ("succeeded", "failed") and j, 30, name)


def test_two_jobs_share_a_node_and_a_third_waits_for_both(lab, submit):
    place, az = lab
    hold = "while :; do sleep 0.05; done"
    check = 'test "$CUDA_VISIBLE_DEVICES" = %s'
    assert submit("a", f"{check % '0,1'} && {hold}", GPUS=2).returncode == 0
    assert submit("b", f"{check % '2'} && {hold}", GPUS=1, MEMORY="1G").returncode == 0
    assert submit("c", "true", DEPENDS_ON="a,b").returncode == 0
    wait_for(lambda: [show(az, n)["executionState"] for n in "abc"] == ["running", "running", "queued"], 30, "two of them")
    nodes = place.daemon.tool("nodes").stdout
    assert "4 x fake GPU, 3 taken" in nodes, nodes
    job = show(az, "b")
    assert [v["name"] for v in job["environmentVariables"]] == ["BATCHAID_JOB_GPUS", "BATCHAID_JOB_MEMORY"]
    for name in "ab":
        az(f"batchai job terminate {IN} -e exp -n {name} -y")
    assert ended(az, "a")["executionState"] == ended(az, "b")["executionState"] == "failed"
    c = ended(az, "c")
    assert c["executionState"] == "failed"
    (error,) = c["executionInfo"]["errors"]
    assert error["code"] == "JobDependencyFailed" and "had to end with success, but it has failed" in error["message"]


def test_an_array_runs_and_is_tried_again(lab, submit):
    place, az = lab
    common = place.daemon.dir / "common"
    common.mkdir()
    common.chmod(0o777)
    command = f"test $BATCHAID_ARRAY_INDEX != 2 || test -e {common}/tried || {{ touch {common}/tried; exit 9; }}"
    assert submit("sweep", command, ARRAY="0-3", ARRAY_LIMIT=2, SLOTS=1, RETRIES="1:9").returncode == 0
    job = ended(az, "sweep")
    assert (job["executionState"], job["executionInfo"]["exitCode"]) == ("succeeded", 0)
    assert (common / "tried").exists()


@pytest.mark.parametrize("wishes, says", [
    ({"GPUS": 5}, "ask for 5 GPUs of each node"),
    ({"GPU": 1}, "must be one of BATCHAID_JOB_GPUS"),
    ({"DEPENDS_ON": "nobody"}, "there is no such job"),
    ({"ARRAY": "5-1"}, "in rising order"),
])
def test_az_says_why_a_job_is_refused(submit, wishes, says):
    done = submit("bad", "true", **wishes)
    assert done.returncode != 0 and says in done.stderr, done.stderr
