# SPDX-License-Identifier: MIT
"""The resource commands of the workshop and of the CLI guide, in their 2018-05-01 form."""

import json

import pytest
from support.world import Place

GROUP, WS = "demoGroup", "demoWorkspace"
IN = f"-g {GROUP} -w {WS}"
USER = "-u demoUser -p demoPassword1"
STORAGE = "--storage-account-name demobatchaicli --storage-account-key a2V5"


@pytest.fixture(scope="module")
def place(daemon, az, temporary_in_file):
    az(f"group create -l eastus -n {GROUP} --tags team=demo")
    # Without a location it is the group's.
    assert az(f"batchai workspace create -g {GROUP} -n {WS}")["location"] == "eastus"
    return temporary_in_file(Place(daemon, GROUP, WS))


@pytest.fixture(scope="module")
def cluster(place, az):
    share = place.daemon.share("demobatchaicli", "demoafs")
    created = az.timed(
        f"batchai cluster create {IN} -n demoCluster -s Standard_NC6 -i UbuntuLTS -t 2 {USER} {STORAGE}"
        " --afs-name demoafs --afs-mount-path external --bfs-name democontainer --bfs-mount-path data"
    )
    assert az.polls <= 1
    share_url = created["nodeSetup"]["mountVolumes"]["azureFileShares"][0]["azureFileUrl"]
    assert share_url.endswith("/demoafs") and "demobatchaicli.file." in share_url
    blob = created["nodeSetup"]["mountVolumes"]["azureBlobFileSystems"][0]
    assert (blob["containerName"], blob["relativeMountPath"]) == ("democontainer", "data")
    place.cluster_at("demoCluster").wait_steady(2)
    return share


def job_file(tmp_path, command, **more):
    properties = {
        "nodeCount": 1,
        "customToolkitSettings": {"commandLine": command},
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/external",
        "inputDirectories": [{"id": "DATASET", "path": "$AZ_BATCHAI_MOUNT_ROOT/external/data"}],
        "outputDirectories": [
            {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/external", "pathSuffix": "Models"}
        ],
        **more,
    }
    path = tmp_path / "job.json"
    path.write_text(json.dumps({"properties": properties}))
    return path


def test_logging_in_twice_does_no_harm(az, daemon):
    for _ in range(2):
        daemon.tool("az-login", env=az.env)
    (account,) = az("account list")
    assert account["id"] == daemon.subscription and account["isDefault"]
    assert az("account show")["id"] == daemon.subscription


def test_account_and_provider_commands(az, daemon):
    az(f"account set -s {daemon.subscription}")
    assert daemon.subscription in az.table("account list")[1]
    for name in ("Microsoft.Batch", "Microsoft.BatchAI"):
        az.run(f"provider register -n {name}")
    assert az("provider show -n Microsoft.BatchAI")["registrationState"] == "Registered"


def test_groups(az, place):
    assert az(f"group show -n {GROUP}")["tags"] == {"team": "demo"}
    assert GROUP in [g["name"] for g in az("group list")]
    assert az(f"group exists -n {GROUP}") is True
    assert az("group exists -n nosuchgroup") is False
    assert "nosuchgroup" in az.fails("group show -n nosuchgroup")


def test_workspaces_and_usages(az, place):
    assert [WS, GROUP.lower(), "eastus", "succeeded"] in [
        [c if i != 1 else c.lower() for i, c in enumerate(row)]
        for row in az.table(f"batchai workspace list -g {GROUP}")
    ]
    assert WS in [w["name"] for w in az("batchai workspace list")]
    assert az(f"batchai workspace show -g {GROUP} -n {WS}")["provisioningState"] == "succeeded"
    usages = az("batchai list-usages -l eastus")
    assert usages[0]["name"]["value"] == "Clusters" and usages[0]["currentValue"] >= 0


def test_clusters_are_shown_and_resized(az, place, cluster):
    (header, row) = az.table(f"batchai cluster list {IN}")
    assert header[:5] == ["Name", "Resource Group", "Workspace", "VM Size", "State"]
    assert row[0] == "demoCluster" and row[3:6] == ["STANDARD_NC6", "steady", "2"]
    assert len({n["port"] for n in az(f"batchai cluster node list {IN} -c demoCluster")}) == 2
    resized = az(f"batchai cluster resize {IN} -n demoCluster -t 1")
    assert resized["scaleSettings"]["manual"]["targetNodeCount"] == 1
    place.cluster_at("demoCluster").wait_steady(1)
    az(f"batchai cluster resize {IN} -n demoCluster -t 2")
    place.cluster_at("demoCluster").wait_steady(2)
    assert "already exists" in az.fails(
        f"batchai cluster create {IN} -n demoCluster -s Standard_NC6 -t 1 {USER}"
    )
    assert "nosuch" in az.fails(f"batchai cluster show {IN} -n nosuch")


def test_a_cluster_with_every_option(az, place, tmp_path):
    (tmp_path / "cluster.json").write_text(
        json.dumps(
            {
                "properties": {
                    "nodeSetup": {
                        "mountVolumes": {
                            "azureFileShares": [
                                {
                                    "accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
                                    "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/dataset1",
                                    "credentials": {"accountKey": "<AZURE_BATCHAI_STORAGE_KEY>"},
                                    "relativeMountPath": "afs1",
                                }
                            ]
                        }
                    }
                }
            }
        )
    )
    network = f"/subscriptions/{place.daemon.subscription}/resourceGroups/g/providers/Microsoft.Network"
    subnet = f"{network}/virtualNetworks/n/subnets/s"
    created = az(
        f"batchai cluster create {IN} -n every -f {tmp_path}/cluster.json -s Standard_D1 -i UbuntuDSVM"
        f" --vm-priority lowpriority --min 0 --max 2 {USER} {STORAGE} --subnet {subnet}"
        " --afs-name demoafs --afs-mount-path afs --setup-task 'echo Hello'"
        " --setup-task-output '$AZ_BATCHAI_MOUNT_ROOT/afs'"
    )
    assert created["scaleSettings"]["autoScale"] == {
        "minimumNodeCount": 0,
        "maximumNodeCount": 2,
        "initialNodeCount": 0,
    }
    assert created["vmPriority"] == "lowpriority" and created["subnet"]["id"] == subnet
    assert created["virtualMachineConfiguration"]["imageReference"]["offer"] == "linux-data-science-vm-ubuntu"
    shares = created["nodeSetup"]["mountVolumes"]["azureFileShares"]
    assert [s["relativeMountPath"] for s in shares] == ["afs1", "afs"]
    assert shares[0]["azureFileUrl"] == "https://demobatchaicli.file.core.windows.net/dataset1"
    task = created["nodeSetup"]["setupTask"]
    assert task["commandLine"] == "echo Hello" and "/clusters/every/" in task["stdOutErrPathSuffix"]
    az.run(f"batchai cluster delete {IN} -n every -y")
    assert [c["name"] for c in az(f"batchai cluster list {IN}")] == ["demoCluster"]


def test_a_job_from_creation_to_deletion(az, place, cluster, tmp_path):
    (cluster / "data").mkdir()
    (cluster / "data" / "numbers").write_text("1\n2\n3\n")
    az(f"batchai experiment create {IN} -n demoExp")
    assert az(f"batchai experiment show {IN} -n demoExp")["name"] == "demoExp"
    assert [e["name"] for e in az(f"batchai experiment list {IN}")] == ["demoExp"]
    command = (
        "echo line 1; while [ ! -e $AZ_BATCHAI_INPUT_DATASET/seen ]; do sleep 0.05; done; echo line 2; "
        "cp $AZ_BATCHAI_INPUT_DATASET/numbers $AZ_BATCHAI_OUTPUT_MODEL/copy; echo done"
    )
    path = job_file(tmp_path, command, jobPreparation={"commandLine": "echo prepared"})
    job_in = f"{IN} -e demoExp"
    created = az.timed(f"batchai job create {job_in} -n job1 -c demoCluster -f {path}")
    assert az.polls <= 1 and created["executionState"] in ("queued", "running")
    streamed = []
    for line in az.stream(f"batchai job file stream {job_in} -j job1 -f stdout.txt"):
        if not streamed:  # it arrives while the job runs: the job waits for this
            assert place.job_at("job1", "demoExp").state == "running"
            (cluster / "data" / "seen").touch()
        streamed.append(line)
    assert streamed[0] == "line 1\n" and streamed.count("line 1\n") == 1
    place.job_at("job1", "demoExp").succeed()
    az.run(f"batchai job wait {job_in} -n job1")
    shown = az(f"batchai job show {job_in} -n job1")
    assert (shown["executionState"], shown["executionInfo"]["exitCode"]) == ("succeeded", 0)
    rows = az.table(f"batchai job list {job_in}")
    assert rows[1][0] == "job1" and "succeeded" in rows[1]
    names = [f["name"] for f in az(f"batchai job file list {job_in} -j job1 -d stdouterr")]
    assert names == [
        "execution.log", "stderr-job_prep.txt", "stderr.txt", "stdout-job_prep.txt", "stdout.txt",
    ]  # fmt: skip
    (model,) = az(f"batchai job file list {job_in} -j job1 -d MODEL --expiry 15")
    assert model["name"] == "copy" and model["contentLength"] == 6
    link = place.daemon.fetch(model["downloadUrl"], expect=200)
    assert link.text == "1\n2\n3\n"
    assert "already exists" in az.fails(f"batchai job create {job_in} -n job1 -c demoCluster -f {path}")
    az.run(f"batchai job delete {job_in} -n job1 -y")
    assert az(f"batchai job list {job_in}") == []


def test_a_job_that_is_terminated_and_one_that_fails(az, place, cluster, tmp_path):
    job_in = f"{IN} -e endings"
    az(f"batchai experiment create {IN} -n endings")
    az(f"batchai job create {job_in} -n long -c demoCluster -f {job_file(tmp_path, 'sleep 1000')}")
    place.job_at("long", "endings").wait("running")
    nodes = az(f"batchai job node list {job_in} -j long")
    assert len(nodes) == 1 and nodes[0]["nodeId"].startswith("tvm-")
    az.run(f"batchai job terminate {job_in} -n long -y")
    errors = az(f"batchai job show {job_in} -n long --query executionInfo.errors")
    assert errors[0]["code"] == "JobTerminated"
    assert az.run(f"batchai job wait {job_in} -n long", check=False).returncode == 143, "no success"
    path = job_file(tmp_path, "sleep 1000", **{"constraints": {"maxWallClockTime": "PT1S"}})
    az(f"batchai job create {job_in} -n late -c demoCluster -f {path}")
    assert az.run(f"batchai job wait {job_in} -n late", check=False).returncode == 124
    az(
        f"batchai job create {job_in} -n bad -c demoCluster -f {job_file(tmp_path, 'echo no good >&2; exit 3')}"
    )
    place.job_at("bad", "endings").fail()
    done = az.run(f"batchai job wait {job_in} -n bad", check=False)
    assert done.returncode == 3 and "no good" in done.stderr, "az shows the details of the failure"
    az.run(f"batchai experiment delete {IN} -n endings -y")


def test_a_refusal_reaches_the_user_in_full(az, place):
    stderr = az.fails(f"batchai cluster create {IN} -n toobig -s Standard_NC6 -t 100000 {USER}")
    assert "targetNodeCount" in stderr and "100000" in stderr


def test_file_servers_are_listed(az, place):
    server = place.file_server("demoNFS")
    (listed,) = az(f"batchai file-server list {IN}")
    assert listed["name"] == "demoNFS" and listed["dataDisks"]["diskCount"] == 2
    server.delete()


def test_deleting_it_all(az, place, cluster):
    az.run(f"batchai cluster delete {IN} -n demoCluster -y")
    az.run(f"batchai workspace delete -g {GROUP} -n {WS} -y")
    assert az(f"batchai workspace list -g {GROUP}") == []
    az.run(f"group delete -n {GROUP} -y")
    assert az(f"group exists -n {GROUP}") is False
