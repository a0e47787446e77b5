# SPDX-License-Identifier: MIT
"""Azure Batch on fake nodes: what is asked of a pool, a job or a task besides its command, and what becomes of it."""

from datetime import datetime, timedelta, timezone

import pytest
from support.batch import V
from support.batch_jobs import Jobs, add_pool
from support.batch_packages import package, package_of
from support.batch_store import Store
from support.waiting import wait_for
from support.world import fresh

ARGUMENTS = ["--ephemeral", "--fake-nodes"]
EXPECTS = (".",)


@pytest.fixture
def store(tested, hurried):
    made = Store(tested)
    made.batch.name = made.name
    hurried(made.batch)
    return made


@pytest.fixture
def plane(store):
    return store.plane.at(V["20.0"])


@pytest.fixture
def pools(plane):
    """Makes pools of idle nodes; their names."""

    def make(nodes=1, state="idle", **more):
        name = fresh("pool")
        add_pool(plane, name, vmSize="fake", targetDedicatedNodes=nodes, **more)
        wait_for(lambda: [n["state"] for n in listed(plane, name)] == [state] * nodes, 30, lambda: f"{listed(plane, name)}")
        return name

    return make


@pytest.fixture
def job(plane, pools):
    """Of one node."""
    return Jobs(plane, pools())()


def listed(plane, pool):
    return plane.all(f"/pools/{pool}/nodes")


def the_node(plane, pool):
    return f"/pools/{pool}/nodes/{listed(plane, pool)[0]['id']}"


def text(plane, path):
    return plane.call("GET", path, expect=200).content.decode()


def refs(*packages):
    return [{"applicationId": a, "version": v} for a, v in packages]


# --- files that tasks get and leave ---------------------------------------------------------------


def output(pattern, url, path, when):
    container = {"containerUrl": url, "path": path}
    return {"filePattern": pattern, "destination": {"container": container}, "uploadOptions": {"uploadCondition": when}}


@pytest.mark.parametrize("code, ends", [(0, {"ok", "all"}), (3, {"bad", "all"})])
def test_output_files_are_uploaded_as_their_conditions_say(store, job, t, code, ends):
    t.rules({"exitCode": code, "stdout": ["said"], "files": [{"path": "model/w.bin", "text": "weights"}]})
    path = fresh("out")
    conditions = {"ok": "taskSuccess", "bad": "taskFailure", "all": "taskCompletion"}
    files = [output("**/*.bin", store.url(), f"{path}/{name}", when) for name, when in conditions.items()]
    files.append(output("../std*.txt", store.url(), f"{path}/std", "taskCompletion"))
    task, done = job.ran("train", outputFiles=files)
    assert done["executionInfo"]["exitCode"] == code, done
    found = store.blobs(path)
    assert {n: text for n, text in found.items() if n.endswith(".bin")} == {f"{e}/model/w.bin": "weights" for e in ends}
    assert found["std/stdout.txt"] == "said\n" and found["std/stderr.txt"] == ""
    assert "model/w.bin" in job.text(task, "fileuploadout.txt")


def test_an_output_file_that_cannot_be_uploaded_fails_its_task(store, job, t):
    t.rules({"files": [{"path": "w.bin", "text": "weights"}]})
    task = job.add("train", outputFiles=[output("w.bin", store.url("nowhere"), "w", "taskCompletion")])
    (done,) = job.wait(task)
    assert done["executionInfo"]["failureInfo"]["code"] == "FileUploadContainerNotFound"
    assert "w.bin" in job.text(task, "fileuploaderr.txt")


def test_resource_files_are_where_the_task_is_told(store, job):
    (store.folder / "in").mkdir(exist_ok=True)
    (store.folder / "in" / "a.txt").write_text("from a blob")
    files = [
        {"httpUrl": store.blob_url("in/a.txt"), "filePath": "data/a.txt"},
        {"storageContainerUrl": store.url(read=True, list=True), "blobPrefix": "in/", "filePath": "all"},
    ]
    task, _ = job.ran("train", resourceFiles=files)
    assert job.text(task, "wd/data/a.txt") == "from a blob"
    assert job.text(task, "wd/all/in/a.txt") == "from a blob"


def test_a_file_is_read_in_parts_and_deleted(job, t):
    t.rules({"files": [{"path": "w.bin", "text": "0123456789"}]})
    task, _ = job.ran("train")
    url = f"{job.url}/tasks/{task}/files/wd/w.bin"
    part = job.plane.call("GET", url, headers={"ocp-range": "bytes=2-4"}, expect=200)
    assert part.content == b"234"
    assert job.plane.call("HEAD", url, expect=200).headers["ocp-creation-time"]
    job.plane.call("DELETE", url, expect=200)
    assert job.plane.call("GET", url).status == 404


# --- packages -------------------------------------------------------------------------------------


def test_packages_of_tasks_are_told_in_their_environment(store, job, t):
    package(store.batch, "tool", "1.0", "one")
    t.rules({"match": {"environment": {"AZ_BATCH_APP_PACKAGE_tool_1_0": "*/applications/*"}}, "exitCode": 4})
    done = job.done("run", applicationPackageReferences=refs(("tool", "1.0")))
    assert done["executionInfo"].get("exitCode") == 4, done


def test_packages_of_a_pool_are_told_in_the_environment_of_tasks(store, plane, pools, t):
    package(store.batch, "tool", "1.0", "one")
    t.rules({"match": {"environment": {"AZ_BATCH_APP_PACKAGE_tool_1_0": "*/applications/*"}}, "exitCode": 4})
    done = Jobs(plane, pools(applicationPackageReferences=refs(("tool", "1.0"))))().done("run")
    assert done["executionInfo"].get("exitCode") == 4, done


def test_archives_are_not_looked_into(store, plane, pools):
    package_of(store.batch, "broken", "1", b"no archive at all")
    job = Jobs(plane, pools(applicationPackageReferences=refs(("broken", "1"))))()
    done = job.done("run", applicationPackageReferences=refs(("broken", "1")))
    assert done["executionInfo"]["exitCode"] == 0, done


# --- start tasks ----------------------------------------------------------------------------------


def start_task(**more):
    return {"commandLine": "set-up", "waitForSuccess": True, **more}


def test_a_start_task_that_fails_is_tried_again(plane, pools, t):
    t.rules({"match": {"role": "setup"}, "times": 2, "exitCode": 7, "stderr": ["no disk"]}, {"match": {"role": "setup"}, "stdout": ["now"]})
    pool = pools(startTask=start_task(maxTaskRetryCount=2))
    (node,) = listed(plane, pool)
    info = node["startTaskInfo"]
    assert (info["state"], info["exitCode"], info["retryCount"], info["result"]) == ("completed", 0, 2, "success")
    assert text(plane, f"{the_node(plane, pool)}/files/startup/stdout.txt") == "now\n"


def test_a_node_is_unusable_when_its_start_task_fails_in_the_end(plane, pools, t):
    t.rules({"match": {"role": "setup"}, "exitCode": 7, "stderr": ["no disk"]})
    pool = pools(state="starttaskfailed", startTask=start_task(maxTaskRetryCount=1))
    (node,) = listed(plane, pool)
    info = node["startTaskInfo"]
    assert (info["exitCode"], info["retryCount"], info["result"]) == (7, 1, "failure"), info
    assert info["failureInfo"]["code"] == "FailureExitCode"
    t.call("DELETE", "/rules", expect=204)
    plane.call("POST", f"{the_node(plane, pool)}/reboot", expect=202)
    wait_for(lambda: listed(plane, pool)[0]["state"] == "idle", 30, "idle")


def test_a_start_task_that_nobody_waits_for(plane, pools, t):
    (rule,) = t.rules({"match": {"role": "setup"}, "hold": True, "exitCode": 7})
    pool = pools(startTask=start_task(waitForSuccess=False))
    Jobs(plane, pool)().done("work")
    assert listed(plane, pool)[0]["startTaskInfo"]["state"] == "running"
    t.call("POST", f"/rules/{rule['id']}/release", expect=200)
    wait_for(lambda: listed(plane, pool)[0]["startTaskInfo"].get("exitCode") == 7, 30, "its end")
    assert listed(plane, pool)[0]["state"] == "idle"


def test_a_start_task_is_waited_for_and_its_resource_files_are_there(store, plane, t):
    (store.folder / "s.txt").write_text("for the start")
    (rule,) = t.rules({"match": {"role": "setup"}, "hold": True})
    files = [{"httpUrl": store.blob_url("s.txt"), "filePath": "s.txt"}]
    add_pool(plane, "waits", vmSize="fake", targetDedicatedNodes=1, startTask=start_task(resourceFiles=files))
    wait_for(lambda: [n["state"] for n in listed(plane, "waits")] == ["waitingforstarttask"], 30, "it waits")
    wait_for(lambda: t.get("/rules")["value"][0]["held"] == 1, what="held")
    t.call("POST", f"/rules/{rule['id']}/release", expect=200)
    wait_for(lambda: [n["state"] for n in listed(plane, "waits")] == ["idle"], 30, "idle")
    assert text(plane, f"{the_node(plane, 'waits')}/files/startup/wd/s.txt") == "for the start"


# --- jobs: preparation, release, manager, several nodes -------------------------------------------


def chores(job):
    return job.plane.all(f"{job.url}/jobpreparationandreleasetaskstatus")


def test_preparation_and_release_tasks_are_scripted(plane, pools, t):
    t.rules(
        {"match": {"role": "preparation", "command": "before"}, "stdout": ["prepared"]},
        {"match": {"role": "preparation", "command": "after"}, "stdout": ["released"], "exitCode": 5},
    )
    pool = pools()
    job = Jobs(plane, pool)(jobPreparationTask={"commandLine": "before"}, jobReleaseTask={"commandLine": "after"})
    job.done("work")
    job.end()
    (row,) = chores(job)
    before, after = row["jobPreparationTaskExecutionInfo"], row["jobReleaseTaskExecutionInfo"]
    assert (before["result"], before["exitCode"]) == ("success", 0)
    assert (after["result"], after["exitCode"]) == ("failure", 5)
    node = the_node(plane, pool)
    for info, said in ((before, "prepared\n"), (after, "released\n")):
        assert text(plane, f"{node}/files/{info['taskRootDirectory'].replace('/', '%2F')}%2Fstdout.txt") == said


def test_a_job_whose_preparation_fails(plane, pools, t):
    t.rules({"match": {"role": "preparation"}, "exitCode": 6})
    job = Jobs(plane, pools())(jobPreparationTask={"commandLine": "before"})
    task = job.add("work")
    failed = lambda: [r["jobPreparationTaskExecutionInfo"].get("exitCode") for r in chores(job)] == [6]
    wait_for(failed, 30, lambda: f"{chores(job)}")
    assert job.task(task)["state"] == "active" and "jobReleaseTaskExecutionInfo" not in chores(job)[0]


def test_a_manager_task_is_scripted_by_its_name(plane, pools, t):
    t.rules({"match": {"name": "*/boss"}, "stdout": ["I rule"], "hold": True}, {"match": {"name": "*/worker"}, "hold": True})
    job = Jobs(plane, pools())(jobManagerTask={"id": "boss", "commandLine": "manage", "runExclusive": False})
    job.wait_running("boss")
    t.call("POST", f"/rules/{t.get('/rules')['value'][0]['id']}/release", expect=200)
    job.wait_state("completed")
    assert job.text("boss") == "I rule\n"
    assert job.get()["executionInfo"]["terminateReason"] == "JMComplete"


def test_a_task_of_several_nodes_and_its_coordination(plane, pools, t):
    t.rules(
        {"match": {"command": "coordinate"}, "stdout": ["ready"]},
        {"match": {"command": "main"}, "stdout": ["go"], "exitCode": 2},
    )
    pool = pools(3, enableInterNodeCommunication=True)
    job = Jobs(plane, pool)()
    task = job.add("main", multiInstanceSettings={"numberOfInstances": 3, "coordinationCommandLine": "coordinate"})
    (done,) = job.wait(task)
    assert done["executionInfo"]["exitCode"] == 2
    assert job.text(task) == "ready\ngo\n"
    parts = plane.all(f"{job.url}/tasks/{task}/subtasksinfo")
    assert [(p["id"], p["state"], p["exitCode"]) for p in parts] == [(1, "completed", 0), (2, "completed", 0)]
    for p in parts:
        info = p["nodeInfo"]
        path = f"{info['taskRootDirectory']}/stdout.txt".replace("/", "%2F")
        assert text(plane, f"/pools/{pool}/nodes/{info['nodeId']}/files/{path}") == "ready\n"


def test_a_coordination_that_fails_fails_its_task(plane, pools, t):
    t.rules({"match": {"command": "coordinate"}, "times": 1, "exitCode": 9})
    job = Jobs(plane, pools(2, enableInterNodeCommunication=True))()
    task = job.add("main", multiInstanceSettings={"numberOfInstances": 2, "coordinationCommandLine": "coordinate"})
    (done,) = job.wait(task)
    assert done["executionInfo"]["result"].lower() == "failure", done


def test_retries_of_a_task_are_scripted_one_by_one(job, t):
    t.rules({"times": 2, "exitCode": 1}, {"stdout": ["third"]})
    task, done = job.ran("work", constraints={"maxTaskRetryCount": 3})
    assert (done["executionInfo"]["retryCount"], done["executionInfo"]["exitCode"]) == (2, 0)
    assert job.text(task).endswith("third\n")


def test_files_of_a_task_are_kept_as_long_as_it_says(job, clock):
    clock.change(rate=0)
    task = job.add("work", constraints={"retentionTime": "PT1H"})
    clock.advance("PT1S")
    assert job.text(task) == ""
    clock.advance("PT2H")
    assert job.plane.call("GET", f"{job.url}/tasks/{task}/files/stdout.txt").status == 409


def test_a_task_is_ended_by_its_time_limit(job, t, clock):
    clock.change(rate=0)
    t.rules({"duration": "PT3H", "stdout": ["began", {"at": "PT2H", "text": "late"}]})
    task = job.add("work", constraints={"maxWallClockTime": "PT1H"})
    clock.advance("PT59M")
    assert job.task(task)["state"] == "running"
    clock.advance("PT2M")
    info = job.task(task)["executionInfo"]
    assert info["failureInfo"]["code"] == "TaskEnded" and job.text(task) == "began\n"


# --- containers -----------------------------------------------------------------------------------

CONTAINERS = {
    "imageReference": {"publisher": "microsoft-azure-batch", "offer": "ubuntu-server-container", "sku": "20-04-lts"},
    "nodeAgentSKUId": "batch.node.ubuntu 20.04",
    "containerConfiguration": {"type": "dockerCompatible", "containerImageNames": ["busybox:1"]},
}


def test_a_task_in_a_container_is_scripted(plane, pools, t):
    t.rules({"match": {"command": "inside"}, "stdout": ["inside"], "exitCode": 3, "files": [{"path": "w.bin", "text": "w"}]})
    job = Jobs(plane, pools(virtualMachineConfiguration=CONTAINERS))()
    task, done = job.ran("inside", containerSettings={"imageName": "busybox:1"})
    assert done["executionInfo"].get("exitCode") == 3, done
    assert job.text(task) == "inside\n" and job.text(task, "wd/w.bin") == "w"
    told = done["executionInfo"]["containerInfo"]
    assert told["containerId"] and told["state"] == "exited"


def test_a_task_in_a_container_fails_on_a_pool_without_containers(plane, pools):
    """The add is taken: so it is in the service, as the tests of its client for .NET show."""
    job = Jobs(plane, pools())()
    (done,) = job.wait(job.add("inside", containerSettings={"imageName": "busybox:1"}))
    info = done["executionInfo"]
    assert (info["result"], info["failureInfo"]["code"]) == ("failure", "ContainerPoolNotSupported")
    assert "containerConfiguration" in str(info["failureInfo"]["details"]) and "containerInfo" not in info


def test_a_task_in_a_container_is_known_by_its_environment(plane, pools, t):
    t.rules({"match": {"environment": {"MODE": "bad"}}, "exitCode": 3})
    job = Jobs(plane, pools(virtualMachineConfiguration=CONTAINERS))()
    bad = [{"name": "MODE", "value": "bad"}]
    tasks = [job.add("inside", containerSettings={"imageName": "busybox:1"}, environmentSettings=e) for e in (bad, [])]
    assert [d["executionInfo"]["exitCode"] for d in job.wait(*tasks)] == [3, 0]


def test_a_start_task_in_a_container_is_scripted(plane, pools, t):
    t.rules({"match": {"role": "setup", "command": "set-up", "environment": {"A": "b"}}, "stdout": ["set up"]})
    inside = {"containerSettings": {"imageName": "busybox:1"}, "environmentSettings": [{"name": "A", "value": "b"}]}
    pool = pools(virtualMachineConfiguration=CONTAINERS, startTask=start_task(**inside))
    assert text(plane, f"{the_node(plane, pool)}/files/startup/stdout.txt") == "set up\n"
    assert listed(plane, pool)[0]["startTaskInfo"]["containerInfo"]["state"] == "exited"


# --- nodes: reimage, deallocate, logs -------------------------------------------------------------


@pytest.mark.parametrize("operation, keeps", [("reboot", True), ("reimage", False), ("deallocate", True)])
def test_a_node_that_begins_anew(plane, pools, t, operation, keeps):
    t.rules({"match": {"role": "setup"}, "stdout": ["set up"]}, {"match": {"name": "*/long"}, "hold": True})
    pool = pools(startTask=start_task())
    node = the_node(plane, pool)
    job = Jobs(plane, pool)()
    job.wait(job.add("work", id="kept"))
    job.begin("long", id="long")
    plane.call("POST", f"{node}/{operation}", expect=202)
    if operation == "deallocate":
        wait_for(lambda: plane.get(node)["state"] == "deallocated", 30, "deallocated")
        assert job.task("long")["state"] == "active"
        plane.call("POST", f"{node}/start", expect=202)
    wait_for(lambda: t.get("/rules")["value"][0]["hits"] == 2, 30, "it is set up again")
    wait_for(lambda: job.task("long")["state"] == "running", 30, "it runs again")
    names = [f["name"] for f in plane.all(f"{node}/files?recursive=true")]
    assert any(n.endswith("kept/stdout.txt") for n in names) == keeps, names
    assert text(plane, f"{node}/files/startup/stdout.txt").count("set up") >= 1


def test_logs_of_a_node_are_uploaded(store, plane, pools):
    pool = pools()
    Jobs(plane, pool)().done("work")
    start = (datetime.now(timezone.utc) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    done = plane.call("POST", f"{the_node(plane, pool)}/uploadbatchservicelogs", {"containerUrl": store.url(), "startTime": start}, expect=200)
    blobs = store.blobs(done.json["virtualDirectoryName"])
    assert " to=idle\n" in blobs["events.log"] and "run.succeeded" in blobs["daemon.log"]


def test_a_node_is_removed(plane, pools):
    pool = pools(2)
    job = Jobs(plane, pool)()
    job.done("work")
    node = listed(plane, pool)[0]["id"]
    plane.call("POST", f"/pools/{pool}/removenodes", {"nodeList": [node]}, expect=202)
    wait_for(lambda: len(listed(plane, pool)) == 1, 30, "it to leave")
    assert plane.call("GET", f"/pools/{pool}/nodes/{node}").status == 404
    job.done("work")


def test_mounts_of_a_pool(store, plane, pools, t):
    t.rules({"files": [{"path": "$AZ_BATCH_NODE_MOUNTS_DIR/data/model.bin", "text": "weights"}]})
    store.accounts.share(store.account, "files", kind="files")
    mounts = [
        {
            "azureFileShareConfiguration": {
                "accountName": store.account,
                "azureFileUrl": f"https://{store.account}.file.core.windows.net/files",
                "accountKey": store.accounts.keys(store.account)[0],
                "relativeMountPath": "data",
            }
        }
    ]
    Jobs(plane, pools(mountConfiguration=mounts))().done("work")
    assert (store.accounts.folder(store.account, "files", "files") / "model.bin").read_text() == "weights"
