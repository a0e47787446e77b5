# SPDX-License-Identifier: MIT
"""Jobs and tasks of Azure Batch on local nodes: from the request to what the node ran."""

import pytest
from support.batch import V
from support.waiting import wait_for
from support.world import instant

OWN_POOL = {"id": "pool", "targetDedicatedNodes": 2, "taskSlotsPerNode": 2}


def test_a_task_runs_and_says_how_it_ended(jobs):
    job = jobs()
    good, bad = job.add("/bin/true"), job.add("/bin/sh -c 'exit 3'")
    ok, failed = job.wait(good, bad)
    assert ok["executionInfo"]["exitCode"] == 0 and ok["executionInfo"]["result"] == "success"
    assert ok["previousState"] == "running" and ok["nodeInfo"]["poolId"] == "pool"
    assert ok["nodeInfo"]["taskRootDirectory"] == f"workitems/{job.id}/job-1/{good}"
    info = failed["executionInfo"]
    assert info["exitCode"] == 3 and info["result"] == "failure" and info["retryCount"] == 0
    assert info["failureInfo"]["code"] == "FailureExitCode" and info["failureInfo"]["category"] == "UserError"


def test_one_sync_covers_all_until_a_task_begins(jobs, daemon, tmp_path):
    """The least of some tries, as others write too."""
    tmp_path.chmod(0o777)
    job = jobs()

    def syncs():
        return daemon.call("GET", "/batchaid/counters", api_version=None).json["storage"]["syncs"]

    def until_it_runs(number):
        file = tmp_path / f"began{number}"
        before = syncs()
        task = job.add(f"/bin/sh -c 'touch {file}; exec sleep 1000'")
        wait_for(file.exists, what="begun")
        took = syncs() - before
        daemon_says = job.task(task)["state"]
        job.end(task)
        assert daemon_says == "running"
        return took

    assert min(until_it_runs(n) for n in range(5)) == 1


def test_no_shell_is_in_between(jobs):
    none = jobs().done("no-such-program-here")
    assert none["executionInfo"]["failureInfo"]["code"] == "CommandProgramNotFound"
    assert "exitCode" not in none["executionInfo"]


def test_dependencies_and_ranges(jobs):
    job = jobs(usesTaskDependencies=True)
    last = job.add("/bin/true", id="last", dependsOn={"taskIds": ["later"], "taskIdRanges": [{"start": 1, "end": 2}]})
    job.add("/bin/true", id="1")
    job.add("/bin/true", id="02")
    job.wait("1", "02")
    assert job.task(last)["state"] == "active"
    job.add("/bin/true", id="later")
    (done,) = job.wait(last)
    assert instant(done["executionInfo"]["startTime"]) >= instant(job.task("later")["executionInfo"]["endTime"])


def numbers(low, high):
    return {"taskIdRanges": [{"start": low, "end": high}]}


def remove_task(job, task):
    job.plane.call("DELETE", f"{job.url}/tasks/{task}", expect=200)
    wait_for(lambda: job.plane.call("GET", f"{job.url}/tasks/{task}").status == 404, what=f"{task} gone")


@pytest.mark.parametrize("how", ["deleted", "reactivated"])
def test_a_range_waits_for_the_task_that_has_its_number_now(jobs, go, how):
    """The number was done before; a task that waited then has it, and waits for the rest of its range."""
    job = jobs(usesTaskDependencies=True)
    five = {"command": f"/bin/sh -c 'while [ ! -e {go} ]; do sleep 0.05; done; exit 1'", "id": "5"}
    five["exitConditions"] = {"default": {"dependencyAction": "satisfy"}}
    go.touch()
    job.done(**five)
    go.unlink()
    before = job.add("/bin/true", dependsOn=numbers(5, 6))
    if how == "deleted":
        remove_task(job, "5")
        job.add(**five)
    else:
        job.plane.call("POST", f"{job.url}/tasks/5/reactivate", expect=204)
    after = job.add("/bin/true", dependsOn=numbers(5, 5))
    job.add("/bin/true", id="6")
    job.succeed(before)
    assert job.states()[after] == "active"
    go.touch()
    done, again = job.succeed(after), job.task("5")
    assert instant(done["executionInfo"]["startTime"]) >= instant(again["executionInfo"]["endTime"])


def test_a_number_is_done_as_long_as_a_task_of_that_number_is(jobs):
    job = jobs(usesTaskDependencies=True)
    job.good("/bin/true", id="5")
    job.good("/bin/true", id="05")
    remove_task(job, "5")
    job.good("/bin/true", dependsOn=numbers(5, 5))
    remove_task(job, "05")
    last = job.add("/bin/true", dependsOn=numbers(5, 5))
    job.good("/bin/true")
    assert job.states()[last] == "active"


def test_a_failed_dependency_blocks_unless_it_satisfies(jobs):
    job = jobs(usesTaskDependencies=True)
    job.add("/bin/false", id="bad")
    job.add("/bin/false", id="fine", exitConditions={"default": {"dependencyAction": "satisfy"}})
    job.add("/bin/true", id="blocked", dependsOn={"taskIds": ["bad"]})
    job.add("/bin/true", id="free", dependsOn={"taskIds": ["fine"]})
    job.wait("bad", "fine", "free")
    assert job.task("blocked")["state"] == "active"


def test_retries(jobs):
    failed = jobs(constraints={"maxTaskRetryCount": 2}).done("/bin/false")
    assert failed["executionInfo"]["retryCount"] == 2
    assert failed["constraints"]["maxTaskRetryCount"] == 2


def test_a_task_that_is_reactivated_has_all_its_retries_again(jobs, plane):
    job = jobs(constraints={"maxTaskRetryCount": 1})
    job.done("/bin/false", id="bad")
    ended = job.task("bad")["executionInfo"]["endTime"]
    plane.call("POST", f"{job.url}/tasks/bad/reactivate", expect=204)
    wait_for(lambda: job.task("bad")["executionInfo"].get("endTime", ended) != ended, what="the second end")
    assert job.task("bad")["executionInfo"]["retryCount"] == 1


@pytest.mark.parametrize("limit", ["PT1S", "PT0S", "PT0.0000001S"])
def test_a_time_limit_ends_a_task(jobs, limit):
    ended = jobs().done("sleep 1000", constraints={"maxWallClockTime": limit})
    assert ended["executionInfo"]["failureInfo"]["code"] == "TaskEnded"


def test_counts(jobs, plane):
    job = jobs()
    tasks = [{"id": f"t{i}", "commandLine": "/bin/true" if i % 2 else "/bin/false"} for i in range(6)]
    plane.call("POST", f"{job.url}/addtaskcollection", {"value": tasks}, expect=200)
    job.wait(*(t["id"] for t in tasks))
    counts = plane.get(f"{job.url}/taskcounts")["taskCounts"]
    assert counts == {"active": 0, "running": 0, "completed": 6, "succeeded": 3, "failed": 3}
    old = plane.at(V["6.1"]).get(f"{job.url}/taskcounts")
    assert old["succeeded"] == 3 and old["validationStatus"] == "Validated"
    failed = plane.all(f"{job.url}/tasks", **{"$filter": "executionInfo/result eq 'Failure'"})
    assert {t["id"] for t in failed} == {"t0", "t2", "t4"}
    assert len(plane.all(f"{job.url}/tasks", maxresults=2)) == 6


def test_disable_requeues_and_enable_goes_on(jobs, plane):
    job = jobs()
    task = job.begin("sleep 1000")
    job.disable("requeue")
    assert job.task(task)["state"] == "active"
    assert job.task(task)["executionInfo"]["requeueCount"] == 1
    before = job.get()
    plane.call("POST", f"{job.url}/disable", {"disableTasks": "wait"}, expect=202)
    assert job.get() == before
    job.enable()
    job.wait_running(task)


def test_terminate_leaves_what_never_ran(jobs, plane):
    job = jobs(usesTaskDependencies=True)
    task = job.add("sleep 1000")
    waits = job.add("true", dependsOn={"taskIds": ["never"]})
    job.wait_running(task)
    plane.call("POST", f"{job.url}/terminate", {"terminateReason": "enough"}, expect=202)
    assert job.wait_state("completed")["executionInfo"]["terminateReason"] == "enough"
    assert job.task(task)["executionInfo"]["failureInfo"]["code"] == "TaskEnded"
    assert job.task(waits)["state"] == "active"
    plane.refused(409, "JobCompleted", "POST", f"{job.url}/tasks", {"id": "late", "commandLine": "true"})


def test_a_job_ends_with_its_tasks(jobs, plane):
    job = jobs()
    job.add("/bin/true")
    plane.call("PATCH", job.url, {"onAllTasksComplete": "terminatejob"}, expect=200)
    assert job.wait_state("completed")["executionInfo"]["terminateReason"] == "AllTasksComplete"


def test_exit_options_end_the_job(jobs):
    job = jobs(onTaskFailure="performexitoptionsjobaction")
    job.add("/bin/sh -c 'exit 7'", exitConditions={"exitCodes": [{"code": 7, "exitOptions": {"jobAction": "terminate"}}]})
    assert job.wait_state("completed")["executionInfo"]["terminateReason"] == "TaskFailed"


def test_an_exit_code_ends_a_job_that_waits_for_its_tasks_to_be_disabled(jobs, go):
    job = jobs(onTaskFailure="performexitoptionsjobaction")
    conditions = {"default": {"jobAction": "terminate"}}
    task = job.begin(f"/bin/sh -c 'while [ ! -e {go} ]; do sleep 0.05; done; exit 3'", exitConditions=conditions)
    job.plane.call("POST", f"{job.url}/disable", {"disableTasks": "wait"}, expect=202)
    assert job.get()["state"] == "disabling"
    go.touch()
    job.wait(task)
    job.wait_state("completed")
    assert job.get()["executionInfo"]["terminateReason"] == "TaskFailed"


def test_exit_options_of_code_0_are_those_that_list_it(jobs):
    job = jobs(usesTaskDependencies=True, onTaskFailure="performexitoptionsjobaction")
    job.add("/bin/true", id="other", exitConditions={"default": {"jobAction": "disable", "dependencyAction": "block"}})
    job.add("/bin/true", id="next", dependsOn={"taskIds": ["other"]})
    job.wait("other", "next")
    job.add("/bin/true", exitConditions={"exitCodes": [{"code": 0, "exitOptions": {"jobAction": "terminate"}}]})
    job.wait_state("completed")


def test_a_task_that_its_user_ends_does_nothing_to_its_job(jobs):
    job = jobs(onTaskFailure="performexitoptionsjobaction")
    job.add("/bin/sleep 1000", id="t")
    job.end("t")
    job.plane.call("POST", f"{job.url}/tasks/t/reactivate", expect=204)
    assert job.wait_state("active")


@pytest.mark.parametrize("conditions,where", [
    ({"exitCodes": [{"code": 7, "exitOptions": {"jobAction": "none"}}]}, "exitConditions.exitCodes[0].exitOptions"),
    ({"exitCodeRanges": [{"start": 1, "end": 2, "exitOptions": {"jobAction": "disable"}}]},
     "exitConditions.exitCodeRanges[0].exitOptions"),
    ({"default": {"jobAction": "terminate"}}, "exitConditions.default"),
    ({"preProcessingError": {"jobAction": "terminate"}}, "exitConditions.preProcessingError"),
])  # fmt: skip
def test_exit_options_that_their_job_would_not_heed(jobs, plane, conditions, where):
    """A job says that it wants to be ended by its tasks, or they cannot ask for it."""
    job = jobs()
    body = {"id": "t", "commandLine": "/bin/true", "exitConditions": conditions}
    values = plane.refused(400, "InvalidPropertyValue", "POST", f"{job.url}/tasks", body)
    assert values["PropertyName"] == f"{where}.jobAction" and "onTaskFailure" in values["Reason"]


def test_a_task_that_moves_to_another_node_leaves_no_files_behind(jobs, plane):
    job = jobs()
    nodes = lambda: plane.all("/pools/pool/nodes")
    wait_for(lambda: [n["state"] for n in nodes()] == ["idle"] * 2, what="two idle nodes")  # affinity is a wish alone
    first, second = nodes()
    task, done = job.ran("/bin/false", affinityInfo={"affinityId": first["affinityId"]})
    assert done["nodeInfo"]["nodeId"] == first["id"]
    node = f"/pools/pool/nodes/{first['id']}"
    plane.call("POST", f"{node}/disablescheduling", {}, expect=200)
    plane.call("POST", f"{job.url}/tasks/{task}/reactivate", expect=204)
    (done,) = job.wait(task)
    plane.call("POST", f"{node}/enablescheduling", expect=200)
    assert done["nodeInfo"]["nodeId"] == second["id"]
    mine = f"workitems/{job.id}/job-1/{task}"

    def files_on(node):
        return [f["name"] for f in plane.all(f"/pools/pool/nodes/{node['id']}/files", recursive="true") if f["name"].startswith(mine)]

    wait_for(lambda: not files_on(first), what="the files on the first node go")
    assert files_on(second)


def test_a_task_is_reactivated_right_after_it_was_terminated(jobs, plane):
    job = jobs()
    task = job.begin("/bin/sh -c 'echo run >> $AZ_BATCH_TASK_DIR/../ran; exec sleep 1000'")
    started = job.task(task)["executionInfo"]["startTime"]
    plane.call("POST", f"{job.url}/tasks/{task}/terminate", expect=204)
    plane.call("POST", f"{job.url}/tasks/{task}/reactivate", expect=204)
    again = lambda: (t := job.task(task))["state"] == "running" and t["executionInfo"]["startTime"] > started
    wait_for(again, what="running again")
    plane.refused(409, "TaskNotCompleted", "POST", f"{job.url}/tasks/{task}/reactivate")
    job.end(task)


def test_the_etag_of_a_reactivation_is_the_tasks_while_it_still_ends(jobs, plane, go):
    job = jobs()
    wait = f"while [ ! -e {go} ]; do sleep 0.05; done"
    task = job.begin(f"/bin/sh -c 'trap \"{wait}; exit\" TERM; echo ready; while :; do sleep 0.05; done'")
    stdout = f"{job.url}/tasks/{task}/files/stdout.txt"
    wait_for(lambda: plane.call("GET", stdout).content == b"ready\n", what="its trap")
    plane.call("POST", f"{job.url}/tasks/{task}/terminate", expect=204)
    reply = plane.call("POST", f"{job.url}/tasks/{task}/reactivate", expect=204)
    assert reply.headers["ETag"] == job.task(task)["eTag"]
    go.touch()
    job.end()


def test_a_task_is_terminated_and_reactivated(jobs, plane):
    job = jobs()
    task = job.begin("sleep 1000")
    job.end(task)
    plane.call("POST", f"{job.url}/tasks/{task}/reactivate", expect=204)
    job.wait_running(task)
    plane.refused(409, "TaskNotCompleted", "POST", f"{job.url}/tasks/{task}/reactivate")
    plane.call("DELETE", f"{job.url}/tasks/{task}", expect=200)
    plane.refused(404, "TaskNotFound", "GET", f"{job.url}/tasks/{task}")


def test_slots_and_parallel_tasks_are_bounds(jobs, plane):
    job = jobs(maxParallelTasks=1)
    tasks = [job.add("sleep 1000") for _ in range(3)]
    wait_for(lambda: "running" in job.states().values(), what="one runs")
    assert sorted(job.states().values()) == ["active", "active", "running"]
    plane.call("PATCH", job.url, {"maxParallelTasks": -1}, expect=200)
    wait_for(lambda: set(job.states().values()) == {"running"}, what="all run")
    assert len(tasks) == 3


def test_variables_of_a_task(jobs, plane):
    job = jobs(commonEnvironmentSettings=[{"name": "A", "value": "job"}, {"name": "B", "value": "job"}])
    checks = [
        'test "$A$B" = jobtask', 'test "$AZ_BATCH_POOL_ID" = pool', f'test "$AZ_BATCH_JOB_ID" = {job.id}',
        'test "$AZ_BATCH_TASK_ID" = env', 'test "$PWD" = "$AZ_BATCH_TASK_WORKING_DIR"',
        'test "$AZ_BATCH_TASK_WORKING_DIR" = "$AZ_BATCH_TASK_DIR/wd"', 'test "$AZ_BATCH_NODE_IS_DEDICATED" = true',
        f'test "$AZ_BATCH_TASK_DIR" = "$AZ_BATCH_NODE_ROOT_DIR/workitems/{job.id}/job-1/env"',
        'test -n "$AZ_BATCH_NODE_ID"', f'test "$AZ_BATCH_ACCOUNT_NAME" = {plane.account}',
    ]  # fmt: skip
    job.good(f"/bin/sh -ec '{'; '.join(checks)}'", id="env", environmentSettings=[{"name": "B", "value": "task"}])


def test_a_deleted_job_takes_all_with_it(jobs, plane):
    job = jobs()
    tasks = [{"id": f"t{i}", "commandLine": "sleep 1000" if i < 2 else "/bin/true"} for i in range(50)]
    plane.call("POST", f"{job.url}/addtaskcollection", {"value": tasks}, expect=200)
    job.wait_running("t0")
    job.delete()
    plane.refused(404, "JobNotFound", "GET", f"{job.url}/tasks")


def test_files_of_a_task(jobs, plane):
    job = jobs()
    script = 'mkdir -p sub; echo hello > sub/out.txt; head -c 1000 /dev/zero > zero.bin; chmod 640 zero.bin; echo "to stdout"; echo err >&2'
    job.done(f"/bin/sh -c '{script}'", id="files")
    base = f"{job.url}/tasks/files/files"
    assert {f["name"] for f in plane.all(base)} == {"stdout.txt", "stderr.txt", "wd"}
    files = {f["name"]: f for f in plane.all(base, recursive="true")}
    assert set(files) == {"stdout.txt", "stderr.txt", "wd", "wd/sub", "wd/sub/out.txt", "wd/zero.bin"}
    assert files["wd/zero.bin"]["properties"]["contentLength"] == "1000"
    assert files["wd/zero.bin"]["properties"]["fileMode"] == "0o100640"
    assert files["wd"]["isDirectory"] and not files["stdout.txt"]["isDirectory"]
    assert len(plane.all(base, recursive="true", maxresults=2)) == 6
    some = plane.all(base, recursive="true", **{"$filter": "startswith(name, 'wd/sub')"})
    assert {f["name"] for f in some} == {"wd/sub", "wd/sub/out.txt"}
    got = plane.call("GET", f"{base}/wd%2Fsub%2Fout.txt", expect=200)
    assert got.content == b"hello\n" and got.headers["Content-Type"] == "text/plain"
    assert got.headers["ocp-batch-file-isdirectory"] == "False"
    assert plane.call("GET", files["wd/sub/out.txt"]["url"], expect=200).content == b"hello\n"
    part = plane.call("GET", f"{base}/stdout.txt", headers={"ocp-range": "bytes=3-5"}, expect=200)
    assert part.content == b"std"
    head = plane.call("HEAD", f"{base}/wd/zero.bin", expect=200)
    assert head.headers["Content-Length"] == "1000" and "Last-Modified" in head.headers
    assert head.headers["ocp-batch-file-mode"] == "0o100640"
    assert str(plane.daemon.state_dir) not in str(plane.refused(404, "FileNotFound", "GET", f"{base}/none.txt"))
    assert str(plane.daemon.state_dir) not in str(plane.refused(404, "FileNotFound", "GET", f"{base}/wd"))
    plane.refused(404, "FileNotFound", "GET", f"{base}/..%2F..%2F..%2Fx")
    plane.refused(409, "OperationInvalidForCurrentState", "DELETE", f"{base}/wd%2Fsub")
    plane.call("DELETE", f"{base}/wd%2Fzero.bin", expect=200)
    plane.call("DELETE", f"{base}/wd%2Fsub?recursive=true", expect=200)
    assert {f["name"] for f in plane.all(base, recursive="true")} == {"stdout.txt", "stderr.txt", "wd"}


def test_files_of_a_node_and_of_a_task_that_runs(jobs, plane):
    job = jobs()
    job.begin("/bin/sh -c 'echo begun; exec sleep 1000'", id="runs")
    base = f"{job.url}/tasks/runs/files"
    wait_for(lambda: plane.call("GET", f"{base}/stdout.txt").content == b"begun\n", what="its output")
    info = job.task("runs")["nodeInfo"]
    node = f"/pools/pool/nodes/{info['nodeId']}/files"
    path = info["taskRootDirectory"].replace("/", "%2F")
    assert plane.call("GET", f"{node}/{path}%2Fstdout.txt", expect=200).content == b"begun\n"
    windows = ("D:\\batch\\tasks\\" + info["taskRootDirectory"].replace("/", "\\")).replace("\\", "%5C").replace(":", "%3A")
    assert plane.call("GET", f"{node}/{windows}%5Cstdout.txt", expect=200).content == b"begun\n"
    assert "workitems" in {f["name"] for f in plane.all(node)}
    plane.refused(404, "NodeNotFound", "GET", "/pools/pool/nodes/none/files")
    plane.refused(404, "PoolNotFound", "GET", "/pools/none/nodes/none/files")


def test_a_name_with_a_backslash_is_a_files_name_on_linux(jobs, plane):
    job = jobs()
    task, _ = job.ran("/bin/sh -c 'echo one > \"a\\\\b\"'")
    (file,) = [f for f in plane.all(f"{job.url}/tasks/{task}/files", recursive="true") if f["name"].startswith("wd/")]
    assert file["name"] == "wd/a\\b"
    url = file["url"].removeprefix(plane.url)
    assert plane.call("GET", url, expect=200).content == b"one\n"
    assert plane.call("HEAD", url, expect=200).headers["Content-Length"] == "4"
    plane.call("DELETE", url, expect=200)
    plane.refused(404, "FileNotFound", "GET", url)


def test_files_go_when_their_time_is_up(jobs, plane):
    job = jobs()
    job.done("/bin/true", id="short", constraints={"retentionTime": "PT1S"})
    wait_for(
        lambda: plane.call("GET", f"{job.url}/tasks/short/files").status == 409, what="its files are cleaned up"
    )
    plane.refused(409, "TaskFilesCleanedup", "GET", f"{job.url}/tasks/short/files/stdout.txt")
    waits = jobs(pool="no-such-pool")
    waits.add("/bin/true", id="t")
    plane.refused(409, "TaskFilesUnavailable", "GET", f"{waits.url}/tasks/t/files")
