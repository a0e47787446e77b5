# SPDX-License-Identifier: MIT
"""Tasks of Azure Batch on several local nodes: coordination commands, subtasks, what they know of each other."""

import shutil
from pathlib import Path

import pytest
from support.batch_jobs import Jobs, add_pool, resize
from support.waiting import wait_for

NODES = 3

OWN_POOL = {"id": "team", "targetDedicatedNodes": NODES, "enableInterNodeCommunication": True}


def multi(coordination="/bin/true", nodes=NODES, **more):
    return {"numberOfInstances": nodes, "coordinationCommandLine": coordination, **more}


def subtasks(job, task, **params):
    return job.plane.all(f"{job.url}/tasks/{task}/subtasksinfo", **params)


def url_of(info, path):
    path = f"{info['taskRootDirectory']}/{path}".replace("/", "%2F")
    return f"/pools/team/nodes/{info['nodeId']}/files/{path}"


def file_of(plane, info, path):
    """Of a task's or subtask's own directory, by its node."""
    return plane.call("GET", url_of(info, path), expect=200).content.decode()


def test_every_node_coordinates_and_the_first_runs_the_command(jobs, plane):
    job = jobs()
    note = "echo $AZ_BATCH_NODE_ID > $AZ_BATCH_TASK_SHARED_DIR/here"
    say = f"/bin/sh -c 'echo coordinated $AZ_BATCH_IS_CURRENT_NODE_MASTER $PWD; {note}'"
    main = '/bin/sh -c \'echo main; cat "$AZ_BATCH_TASK_SHARED_DIR/here"\''
    task, done = job.ran(main, multiInstanceSettings=multi(say))
    assert done["executionInfo"]["result"] == "success", done["executionInfo"]
    assert done["multiInstanceSettings"]["numberOfInstances"] == NODES
    first, root = done["nodeInfo"]["nodeId"], done["nodeInfo"]["taskRootDirectory"]
    out = job.text(task).split("\n")
    assert out[0].startswith("coordinated true /") and out[0].endswith(f"/{root}/wd")
    assert out[1:3] == ["main", first]
    parts = subtasks(job, task)
    assert [p["id"] for p in parts] == [1, 2]
    assert len({first, *(p["nodeInfo"]["nodeId"] for p in parts)}) == NODES
    for p in parts:
        assert p["state"] == "completed" and p["previousState"] == "running" and p["exitCode"] == 0
        assert p["result"] == "success" and "failureInfo" not in p
        assert p["nodeInfo"]["taskRootDirectory"] == f"{root}/{p['id']}"
        said = file_of(plane, p["nodeInfo"], "stdout.txt")
        assert said.startswith("coordinated false /") and said.endswith(f"/{root}/{p['id']}/wd\n")


def test_tasks_of_more_nodes_than_the_pool_has_let_others_pass(jobs):
    """However many they are: more than a pool looks at."""
    job, other = jobs(), jobs()
    for first in range(0, 300, 100):
        wide = [
            {"id": f"wide{first + n}", "commandLine": "/bin/true", "multiInstanceSettings": multi(nodes=NODES + 1)}
            for n in range(100)
        ]
        jobs.plane.call("POST", f"{job.url}/addtaskcollection", {"value": wide}, expect=200)
    other.wait(other.add("/bin/true"))
    job.wait(job.add("/bin/true", multiInstanceSettings=multi()))
    assert job.task("wide1")["state"] == "active"


def test_it_begins_once_its_pool_was_resized(plane):
    add_pool(plane, "grows", targetDedicatedNodes=1, enableInterNodeCommunication=True)
    job = Jobs(plane, "grows")()
    task = job.add("/bin/true", multiInstanceSettings=multi(nodes=2))
    job.wait(job.add("/bin/true"))
    said = plane.daemon.tool("explain", f"{job.id}/{task}").stdout
    assert "it needs 2 nodes, but the target of pool grows is 1" in said
    resize(plane, "grows", 2)
    job.wait(task)
    job.delete()
    plane.call("DELETE", "/pools/grows", expect=202)


def test_a_multi_instance_task_takes_one_slot_of_a_node(jobs, plane):
    task = {"id": "wide", "commandLine": "/bin/true", "requiredSlots": 2, "multiInstanceSettings": multi()}
    said = plane.refused(400, "InvalidPropertyValue", "POST", f"{jobs().url}/tasks", task)
    assert said["PropertyName"] == "requiredSlots" and "is 2" in said["Reason"]


def test_nodes_show_the_parts_that_ran_on_them(jobs, plane):
    job = jobs()
    good, bad = (job.add("/bin/true", multiInstanceSettings=multi(c)) for c in ("/bin/true", "/bin/false"))
    alone = job.add("/bin/true")
    job.wait(good, bad, alone)
    seen = {}
    for node in plane.all("/pools/team/nodes"):
        mine = [t for t in node["recentTasks"] if t["jobId"] == job.id]
        assert [t["taskId"] for t in mine] == sorted((t["taskId"] for t in mine), key=[alone, bad, good].index)
        seen[node["id"]] = {t["taskId"]: t for t in mine}
    for task, code in ((good, 0), (bad, 1)):
        assert "subtaskId" not in seen[job.task(task)["nodeInfo"]["nodeId"]][task]
        for p in subtasks(job, task):
            part = seen[p["nodeInfo"]["nodeId"]][task]
            assert part["subtaskId"] == p["id"] and part["taskUrl"] == f"{plane.url}{job.url}/tasks/{task}"
            info = part["executionInfo"]
            assert (part["taskState"], info.get("exitCode"), info["startTime"]) == ("completed", p.get("exitCode"), p["startTime"])
            assert info["result"] == p["result"] and (task == bad) == ("failureInfo" in info)
    assert sum(alone in tasks for tasks in seen.values()) == 1


def test_every_node_is_prepared_before_the_task_and_released_after_the_job(jobs, plane, go):
    mark = "$AZ_BATCH_NODE_SHARED_DIR/$AZ_BATCH_JOB_ID"
    wait = f"while [ ! -e {go}.$AZ_BATCH_NODE_ID ]; do sleep 0.05; done"
    job = jobs(
        jobPreparationTask={"commandLine": f"/bin/sh -c '{wait}; touch {mark}'"},
        jobReleaseTask={"commandLine": f"/bin/sh -c 'rm {mark}'"},
    )
    task = job.add("/bin/true", multiInstanceSettings=multi(f"/bin/sh -c 'test -e {mark}'"))

    def prepared():
        rows = plane.all(f"{job.url}/jobpreparationandreleasetaskstatus")
        return {r["nodeId"]: r["jobPreparationTaskExecutionInfo"]["state"] for r in rows}

    wait_for(lambda: list(prepared().values()) == ["running"] * NODES, what="preparations on all nodes")
    for node in prepared():
        assert job.task(task)["state"] == "preparing"
        Path(f"{go}.{node}").touch()
        wait_for(lambda: prepared()[node] == "completed", what=f"the preparation of {node}")
    (done,) = job.wait(task)
    assert done["executionInfo"]["result"] == "success", done["executionInfo"]
    job.end()
    rows = plane.all(f"{job.url}/jobpreparationandreleasetaskstatus")
    assert {r["nodeId"] for r in rows} == {n["id"] for n in plane.all("/pools/team/nodes")}
    assert [r["jobReleaseTaskExecutionInfo"]["result"] for r in rows] == ["success"] * NODES


def test_a_node_that_cannot_be_prepared_gets_no_part(jobs, plane):
    bad = plane.all("/pools/team/nodes")[0]["id"]
    job = jobs(jobPreparationTask={"commandLine": f"/bin/sh -c 'test $AZ_BATCH_NODE_ID != {bad}'"})
    task, done = job.ran("/bin/true", multiInstanceSettings=multi(nodes=NODES - 1))
    assert done["executionInfo"]["result"] == "success", done["executionInfo"]
    assert bad not in (done["nodeInfo"]["nodeId"], subtasks(job, task)[0]["nodeInfo"]["nodeId"])


def test_pages_and_versions_of_subtasks(jobs, plane):
    job = jobs()
    task, _ = job.ran("/bin/true", multiInstanceSettings=multi())
    assert [p["id"] for p in subtasks(job, task, **{"$select": "id,state"})] == [1, 2]
    for version in ("2017-09-01.6.0", "2024-07-01.20.0"):
        plane.at(version).get(f"{job.url}/tasks/{task}/subtasksinfo")
    alone, _ = job.ran("/bin/true")
    assert subtasks(job, alone) == []
    plane.refused(404, "TaskNotFound", "GET", f"{job.url}/tasks/none/subtasksinfo")


def test_what_they_know_of_each_other(jobs):
    job = jobs()
    checks = [
        'test "$(echo $AZ_BATCH_NODE_LIST | tr ";" ,)" = "$AZ_BATCH_HOST_LIST"',
        f'test $(echo $AZ_BATCH_HOST_LIST | tr , "\\n" | sort -u | wc -l) = {NODES}',
        'test "${AZ_BATCH_MASTER_NODE%:*}" = "${AZ_BATCH_HOST_LIST%%,*}"',
        "test ${AZ_BATCH_MASTER_NODE##*:} -gt 1024",
        'test "$AZ_BATCH_TASK_SHARED_DIR" = "$AZ_BATCH_NODE_ROOT_DIR/workitems/$AZ_BATCH_JOB_ID/job-1/$AZ_BATCH_TASK_ID"',
        f'test "${{CCP_NODES%% *}}" = {NODES}',
        'test "$PWD" = "$AZ_BATCH_TASK_WORKING_DIR"',
        'test "$AZ_BATCH_TASK_WORKING_DIR" = "$AZ_BATCH_TASK_DIR/wd"',
    ]
    both = f"/bin/sh -ec '{'; '.join(checks)}'"
    task, done = job.ran(both, multiInstanceSettings=multi(both))
    assert done["executionInfo"].get("exitCode") == 0, done["executionInfo"]
    assert {p["exitCode"] for p in subtasks(job, task)} == {0}


def runs(pid):
    try:
        return "sleep" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


def test_what_coordination_leaves_goes_on_until_the_task_ends(jobs, tmp_path):
    job = jobs()
    tmp_path.chmod(0o777)
    begin = f"/bin/sh -c 'setsid sleep 1000 & echo $! > {tmp_path}/$AZ_BATCH_NODE_ID'"
    main = f"/bin/sh -c 'until [ -e {tmp_path}/go ]; do sleep 0.05; done'"
    task = job.add(main, multiInstanceSettings=multi(begin))
    notes = lambda: [f.read_text() for f in tmp_path.iterdir() if f.name != "go"]
    pids = lambda: [int(text) for text in notes() if text]
    wait_for(lambda: len(pids()) == NODES, what="all have coordinated")
    wait_for(lambda: {p["state"] for p in subtasks(job, task)} == {"completed"}, what="they are told")
    assert job.task(task)["state"] == "running"
    assert all(runs(p) for p in pids())
    (tmp_path / "go").touch()
    job.wait(task)
    wait_for(lambda: not any(runs(p) for p in pids()), what="what was left is ended")


def test_coordination_that_fails_fails_the_task(jobs, tmp_path):
    job = jobs()
    tmp_path.chmod(0o777)
    one = "/bin/sh -c 'test $AZ_BATCH_IS_CURRENT_NODE_MASTER = true || exit 7'"
    task, done = job.ran(f"touch {tmp_path}/ran", multiInstanceSettings=multi(one, nodes=2))
    info = done["executionInfo"]
    assert info["result"] == "failure" and info["failureInfo"]["code"] == "FailureExitCode", info
    assert "coordination command" in info["failureInfo"]["message"]
    assert not (tmp_path / "ran").exists()
    (part,) = subtasks(job, task)
    assert part["exitCode"] == 7 and part["result"] == "failure"
    assert part["failureInfo"]["code"] == "FailureExitCode"
    done = job.done("/bin/true", multiInstanceSettings=multi("no-such-program-here", nodes=2))
    assert done["executionInfo"]["failureInfo"]["code"] == "CommandProgramNotFound"


def test_it_is_tried_again_as_a_whole(jobs, tmp_path):
    job = jobs(constraints={"maxTaskRetryCount": 1})
    tmp_path.chmod(0o777)
    second = f"echo x >> {tmp_path}/tries; test $(wc -l < {tmp_path}/tries) = 2"
    once = f"/bin/sh -c 'test $AZ_BATCH_IS_CURRENT_NODE_MASTER = true || {{ {second}; }}'"
    task, done = job.ran("/bin/true", multiInstanceSettings=multi(once, nodes=2))
    assert done["executionInfo"]["result"] == "success", done["executionInfo"]
    assert done["executionInfo"]["retryCount"] == 1
    assert [p["result"] for p in subtasks(job, task)] == ["success"]


def test_it_leaves_no_files_on_nodes_that_it_had_in_an_earlier_try(jobs, plane, tmp_path):
    job = jobs(constraints={"maxTaskRetryCount": 1})
    tmp_path.chmod(0o777)
    wait = f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"
    main = f"/bin/sh -c '{wait}; echo x >> {tmp_path}/tries; test $(wc -l < {tmp_path}/tries) = 2'"
    task = job.add(main, multiInstanceSettings=multi("/bin/sh -c 'echo here'", nodes=2))
    wait_for(lambda: [p["state"] for p in subtasks(job, task)] == ["completed"], what="it runs")
    (part,) = subtasks(job, task)
    left = f"/pools/team/nodes/{part['nodeInfo']['nodeId']}"
    assert file_of(plane, part["nodeInfo"], "stdout.txt") == "here\n"
    plane.call("POST", f"{left}/disablescheduling", {"nodeDisableSchedulingOption": "taskcompletion"}, expect=200)
    try:
        (tmp_path / "go").touch()
        job.wait(task)
        assert job.task(task)["executionInfo"]["result"] == "success"
        assert subtasks(job, task)[0]["nodeInfo"]["nodeId"] != part["nodeInfo"]["nodeId"]
        url = url_of(part["nodeInfo"], "stdout.txt")
        wait_for(lambda: plane.call("GET", url).status == 404, what="the removal of the first try's files")
    finally:
        plane.call("POST", f"{left}/enablescheduling", expect=200)


def test_terminated_while_it_coordinates(jobs, plane):
    job = jobs()
    task = job.add("/bin/true", multiInstanceSettings=multi("sleep 1000"))
    wait_for(lambda: [p["state"] for p in subtasks(job, task)] == ["running"] * (NODES - 1), what="it coordinates")
    assert "endTime" not in subtasks(job, task)[0]
    assert job.end(task)["executionInfo"]["failureInfo"]["code"] == "TaskEnded"
    assert {(p["state"], p["result"]) for p in subtasks(job, task)} == {("completed", "failure")}


def test_requeued_it_has_no_subtasks(jobs, plane):
    job = jobs()
    task = job.add("sleep 1000", multiInstanceSettings=multi())
    wait_for(lambda: [p["state"] for p in subtasks(job, task)] == ["completed"] * (NODES - 1), what="it runs")
    job.disable("requeue")
    assert job.task(task)["state"] == "active" and subtasks(job, task) == []


def test_common_files_are_on_every_node(container, jobs):
    (container.folder / "data.txt").write_text("for all")
    url = container.url("data.txt")
    job = jobs()
    check = "/bin/sh -ec 'test \"$(cat $AZ_BATCH_TASK_SHARED_DIR/in/data.txt)\" = \"for all\"'"
    files = [{"httpUrl": url, "filePath": "in/data.txt"}]
    task, done = job.ran(check, multiInstanceSettings=multi(check, commonResourceFiles=files))
    assert done["executionInfo"].get("exitCode") == 0, done["executionInfo"]
    assert {p["exitCode"] for p in subtasks(job, task)} == {0}
    missing = [{"httpUrl": container.url("none.txt"), "filePath": "x"}]
    task, done = job.ran(check, multiInstanceSettings=multi(check, commonResourceFiles=missing))
    assert done["executionInfo"]["failureInfo"]["code"] == "BlobNotFound"


def test_files_of_all_parts_go_with_the_task(jobs, plane):
    job = jobs()
    task, done = job.ran("/bin/true", multiInstanceSettings=multi())
    places = [done["nodeInfo"], *(p["nodeInfo"] for p in subtasks(job, task))]
    there = lambda i: plane.call("GET", url_of(i, "stdout.txt"))
    assert {there(i).status for i in places} == {200}
    plane.call("DELETE", f"{job.url}/tasks/{task}", expect=200)
    wait_for(lambda: {there(i).status for i in places} == {404}, what="all of it is removed")


def test_a_pool_whose_nodes_do_not_communicate_lets_it_wait(jobs, plane):
    add_pool(plane, "alone", targetDedicatedNodes=1, taskSlotsPerNode=1)
    job = jobs(pool="alone")
    waits = job.add("/bin/true", multiInstanceSettings=multi(nodes=2))
    job.wait(job.add("/bin/true", multiInstanceSettings=multi(nodes=1)), job.add("/bin/true"))
    assert job.task(waits)["state"] == "active"
    plane.call("DELETE", "/pools/alone", expect=202)


@pytest.mark.skipif(not shutil.which("mpirun"), reason="mpirun is not installed")
def test_mpirun_reaches_the_other_nodes(jobs, plane):
    job = jobs()
    script = f'mpirun --host $AZ_BATCH_HOST_LIST -n {NODES} /bin/sh -c "echo rank on \\$AZ_BATCH_NODE_ID"'
    task, done = job.ran(f"/bin/sh -c '{script}'", multiInstanceSettings=multi())
    out = job.text(task)
    assert done["executionInfo"]["result"] == "success", (done["executionInfo"], out)
    assert out.count("rank on ") == NODES
