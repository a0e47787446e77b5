# SPDX-License-Identifier: MIT
"""Batch AI on fake nodes: what a cluster or a job has besides its command lines."""

from pathlib import Path

from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.waiting import wait_for
from support.world import MOUNT, file_share

ARGUMENTS = ["--ephemeral", "--fake-nodes"]
EXPECTS = (".",)


def prepared(**more):
    return {"commandLine": "prepare", **more}


def test_a_preparation_says_something_on_each_node(place, t):
    t.rules({"match": {"role": "preparation", "command": "prepare"}, "stdout": ["prepared"]}, {"stdout": ["worked"]})
    job = place.job(place.cluster(2), "work", nodes=2, jobPreparation=prepared()).succeeded()
    names = sorted(f["name"] for f in job.files())
    assert job.read("stdout.txt") == "worked\n"
    said = [job.read(n) for n in names if n.startswith("stdout") and "prep" in n]
    assert said == ["prepared\n"] * 2, names
    assert [r["hits"] for r in t.get("/rules")["value"]] == [2, 1]


def test_a_preparation_that_is_held_holds_its_job(place, t):
    (rule, _) = t.rules({"match": {"role": "preparation"}, "hold": True}, {"stdout": ["worked"]})
    job = place.job(place.cluster(1), "work", jobPreparation=prepared())
    wait_for(lambda: t.get("/rules")["value"][0]["held"] == 1, what="held")
    assert "stdout.txt" not in [f["name"] for f in job.files()] or job.read("stdout.txt") == ""
    t.call("POST", f"/rules/{rule['id']}/release", expect=200)
    job.succeed()


def mpi(processes):
    return {"customMpiSettings": {"commandLine": "train", "processCount": processes}, "customToolkitSettings": None}


def test_a_job_of_many_nodes_writes_to_its_share(place, t):
    """Each of its processes does what the rules say of it, and what it writes lies on the share of the cluster."""
    t.rules(
        {"match": {"command": "*worker*"}, "files": [{"path": "$AZ_BATCHAI_OUTPUT_MODEL/worker", "text": "w"}], "duration": "PT0.1S"},
        {"match": {"command": "*ps*"}, "files": [{"path": "$AZ_BATCHAI_OUTPUT_MODEL/ps", "text": "p"}]},
        {"match": {"command": "*master*"}, "files": [{"path": "$AZ_BATCHAI_OUTPUT_MODEL/model", "text": "weights"}]},
    )
    settings = {
        "pythonScriptFilePath": "t.py",
        "masterCommandLineArgs": "master",
        "workerCommandLineArgs": "worker",
        "parameterServerCommandLineArgs": "ps",
        "workerCount": 4,
        "parameterServerCount": 4,
    }
    outputs = [{"id": "MODEL", "pathPrefix": MOUNT, "pathSuffix": "m"}]
    cluster = place.cluster(4)
    job = place.job(cluster, nodes=4, outputDirectories=outputs, customToolkitSettings=None, tensorFlowSettings=settings)
    job.succeed()
    assert job.read("model", "MODEL") == "weights"
    assert job.read("worker", "MODEL") == "www"
    assert [r["hits"] for r in t.get("/rules")["value"]][::2] == [3, 1]


def test_one_process_of_many_fails_and_so_does_its_job(place, t):
    t.rules({"match": {"command": "*worker*"}, "skip": 1, "times": 1, "exitCode": 5}, {"match": {"command": "*master*"}, "hold": True})
    settings = {"pythonScriptFilePath": "t.py", "masterCommandLineArgs": "master", "workerCommandLineArgs": "worker", "workerCount": 3}
    job = place.job(place.cluster(3), nodes=3, customToolkitSettings=None, tensorFlowSettings=settings)
    job.fail()
    assert t.get("/rules")["value"][1]["held"] == 0


def container(**more):
    return {"imageSourceRegistry": {"image": "tensorflow/tensorflow:1.8.0"}, **more}


def test_a_job_in_a_container_is_known_by_its_command_and_environment(place, t):
    t.rules(
        {"match": {"command": "python train.py*", "environment": {"MODE": "bad"}}, "exitCode": 3, "stdout": ["inside"]},
        {"match": {"command": "python train.py*"}, "files": [{"path": "$AZ_BATCHAI_STDOUTERR_DIR/made", "text": "it"}]},
    )
    cluster = place.cluster(1)
    bad = [{"name": "MODE", "value": "bad"}]
    first = place.job(cluster, "python train.py --x", containerSettings=container(), environmentVariables=bad)
    assert first.fail()["executionInfo"]["exitCode"] == 3
    assert first.read("stdout.txt") == "inside\n"
    second = place.job(cluster, "python train.py", containerSettings=container(shmSize="1g"))
    second.succeed()
    assert second.read("made") == "it"


def test_job_volumes_are_mounted(place, t):
    t.rules({"files": [{"path": "$AZ_BATCHAI_JOB_MOUNT_ROOT/mine/deep/model", "text": "weights"}]})
    job = place.job(place.cluster(1), mountVolumes={"azureFileShares": [file_share("jobshare", "mine")]})
    job.succeed()
    assert (place.share("jobshare") / "deep" / "model").read_text() == "weights"


def test_inputs_are_in_the_environment(place, t):
    t.rules({"match": {"environment": {"AZ_BATCHAI_INPUT_DATA": "*/out/data"}}, "exitCode": 3})
    (place.share() / "data").mkdir(exist_ok=True)
    job = place.job(place.cluster(1), inputDirectories=[{"id": "DATA", "path": f"{MOUNT}/data"}])
    assert job.fail()["executionInfo"]["exitCode"] == 3


def test_a_cluster_of_low_priority_gets_its_preempted_node_back_and_the_job_runs_again(place, t, clock):
    clock.change(rate=0)
    cluster = place.cluster(2, vmPriority="lowpriority", steady=False)
    clock.advance("PT10S")
    cluster.wait_steady(2)
    t.rules({"duration": "PT1H"})
    t.fault({"pool": cluster.name}, node={"effect": "preempted", "after": "PT10M", "duration": "PT5M"})
    job = place.job(cluster, nodes=2).running()
    clock.advance("PT11M")
    assert job.state == "queued"
    clock.advance("PT10M")
    assert job.state == "running"
    clock.advance("PT2H")
    job.succeed()


def test_a_cluster_scales_itself_by_the_clock(place, t, clock):
    clock.change(rate=0)
    t.rules({"duration": "PT1H"})
    settings = {"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 3, "initialNodeCount": 0}}
    cluster = place.cluster(0, scaleSettings={"manual": None, **settings}, steady=False)
    jobs = [place.job(cluster) for _ in range(4)]
    clock.advance("PT1M")
    assert cluster.properties["currentNodeCount"] == 3
    assert sorted(j.state for j in jobs) == ["queued"] + ["running"] * 3
    clock.advance("PT3H")
    for j in jobs:
        j.succeed()
    assert cluster.properties["currentNodeCount"] == 0


def test_the_setup_of_nodes_that_fails_makes_them_unusable(place, t):
    t.rules({"match": {"role": "setup"}, "times": 1, "exitCode": 4, "stderr": ["no disk"]})
    setup = {"setupTask": {"commandLine": "set-up", "stdOutErrPathPrefix": MOUNT}}
    cluster = place.cluster(2, nodeSetup=setup, steady=False)
    wait_for(lambda: (cluster.counts()["idleNodeCount"], cluster.counts()["unusableNodeCount"]) == (1, 1), 30, "one of each")
    (error,) = cluster.properties["errors"]
    assert error["code"] == "NodeSetupFailed" and "exit code 4" in error["message"]


def test_jobs_write_to_a_file_server(place, t):
    t.rules({"files": [{"path": "$AZ_BATCHAI_MOUNT_ROOT/nfs/model", "text": "weights"}]})
    server = place.file_server()
    mount = {"fileServer": {"id": server.path}, "relativeMountPath": "nfs", "mountOptions": "rw"}
    place.job(place.cluster(1, nodeSetup={"mountVolumes": {"fileServers": [mount]}})).succeed()
    folder = Path(server.properties["mountSettings"]["mountPoint"])
    assert [p.read_text() for p in folder.rglob("model")] == ["weights"]


def test_a_terminated_job_of_many_nodes_ends_everywhere(place, t):
    t.rules({"hold": True})
    job = place.job(place.cluster(3), nodes=3, **mpi(3)).running()
    job.terminate()
    job.fail()
    assert t.get("/rules")["value"][0]["held"] == 0
