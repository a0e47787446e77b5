# SPDX-License-Identifier: MIT
"""The life of a job, and what it finds when it runs."""

import json
import os
import re
import shutil

import pytest
from support.daemon import processes_of
from support.ordered import VAULT
from support.refusals import refused
from support.waiting import wait_for
from support.world import MOUNT, Place, file_share, fresh, instant, job_body, wait_flag


def details_of(error):
    return {d["name"]: d["value"] for d in error.get("details", [])}


# --- from queued to the end -----------------------------------------------------------------------


def test_a_job_goes_from_queued_over_running_to_succeeded(own_place):
    cluster = own_place.cluster(nodes=0)
    flag, path = own_place.flag(fresh("flag"))
    job = own_place.job(cluster, wait_flag(path))
    p = job.properties
    assert p["executionState"] == "queued" and "executionInfo" not in p
    assert p["executionStateTransitionTime"] == p["creationTime"]
    cluster.resize(1)
    p = job.wait("running")
    assert list(p["executionInfo"]) == ["startTime"]
    assert p["executionInfo"]["startTime"] == p["executionStateTransitionTime"]
    flag.touch()
    p = job.succeed()
    assert list(p["executionInfo"]) == ["startTime", "endTime", "exitCode"]
    assert p["executionInfo"]["exitCode"] == 0
    assert p["executionInfo"]["endTime"] == p["executionStateTransitionTime"]


@pytest.mark.parametrize("code", [1, 3, 255])
def test_a_failing_job_explains_itself(place, shared_cluster, code):
    job = place.job(shared_cluster, f"echo out; echo 'the disk is on fire' >&2; exit {code}")
    info = job.fail()["executionInfo"]
    assert list(info) == ["startTime", "endTime", "exitCode", "errors"]
    assert info["exitCode"] == code
    (error,) = info["errors"]
    assert list(error)[:2] == ["code", "message"]
    assert error["code"] == "JobFailed"
    text = json.dumps(error)
    (nodes,) = [shared_cluster.call("POST", "/listRemoteLoginInformation").json["value"]]
    assert any(n["nodeId"] in text for n in nodes), "which node"
    assert "exit 1" in text or f"exit {code}" in text, "which command"
    assert str(code) in json.dumps(details_of(error)), "which exit code"
    assert "the disk is on fire" in text, "what it said last"
    assert f"{code}" in job.read("execution.log")
    assert any(job.name in line and str(code) in line for line in place.daemon.log())


def test_a_share_whose_folder_is_gone_is_named_with_a_remedy(own_place):
    cluster = own_place.cluster(
        nodes=1, nodeSetup={"mountVolumes": {"azureFileShares": [file_share(share="lost", mount="lost")]}}
    )
    own_place.daemon.expect_log(r"node.step_failed .*execution.log")
    shutil.rmtree(own_place.share("lost"))
    job = own_place.job(cluster, stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/lost")
    (error,) = job.fail()["executionInfo"]["errors"]
    assert error["code"] == "JobDirectoryFailed"
    assert "lost" in error["message"]
    assert "share-path" in details_of(error)["remedy"]


def test_a_job_killed_by_a_signal_says_which(place, shared_cluster):
    text = json.dumps(place.job(shared_cluster, "kill -SEGV $$").fail()["executionInfo"]["errors"])
    assert "11" in text or "SIGSEGV" in text or "Segmentation" in text, text


def test_a_command_that_does_not_exist(place, shared_cluster):
    info = place.job(shared_cluster, "/no/such/program --x").fail()["executionInfo"]
    assert info["exitCode"] == 127
    assert "/no/such/program" in json.dumps(info["errors"])


def test_a_failing_preparation_ends_the_job_before_it_starts(place, shared_cluster):
    job = place.job(
        shared_cluster,
        "echo must not run",
        jobPreparation={"commandLine": "echo 'no network' >&2; exit 4"},
    )
    info = job.fail()["executionInfo"]
    (error,) = info["errors"]
    assert error["code"] == "JobPreparationFailed"
    assert info["exitCode"] == 4
    text = json.dumps(error)
    assert "no network" in text and "exit 4" in text and "4" in json.dumps(details_of(error))
    names = [f["name"] for f in job.files()]
    assert "stderr-job_prep.txt" in names
    assert job.read("stderr-job_prep.txt") == "no network\n"
    if "stdout.txt" in names:
        assert job.read("stdout.txt") == ""


def test_a_preparation_runs_before_the_job_with_the_same_variables(place, shared_cluster):
    job = place.job(
        shared_cluster,
        "cat $AZ_BATCHAI_OUTPUT_O/prepared",
        jobPreparation={"commandLine": "echo $GREETING $TOKEN > $AZ_BATCHAI_OUTPUT_O/prepared"},
        outputDirectories=[{"id": "O", "pathPrefix": MOUNT}],
        environmentVariables=[{"name": "GREETING", "value": "hello"}],
        secrets=[{"name": "TOKEN", "value": "sesame"}],
    ).succeeded()
    assert job.read("stdout.txt") == "hello sesame\n"


# --- what it finds --------------------------------------------------------------------------------


def test_the_variables_of_the_service_are_there(own_place):
    cluster = own_place.cluster(nodes=1)
    (own_place.share() / "input").mkdir(exist_ok=True)
    (own_place.share() / "input" / "x").write_text("in the input")
    job = own_place.job(
        cluster,
        'env | sort; cat "$AZ_BATCHAI_INPUT_IN/x" 1>&2; test -d "$AZ_BATCHAI_OUTPUT_OUT" && '
        'test -w "$AZ_BATCHAI_JOB_TEMP" && test -d "$AZ_BATCHAI_SHARED_JOB_TEMP"',
        inputDirectories=[{"id": "IN", "path": f"{MOUNT}/input"}],
        outputDirectories=[
            {"id": "OUT", "pathPrefix": MOUNT, "pathSuffix": "a/b"},
            {"id": "Bare", "pathPrefix": MOUNT},
        ],
        environmentVariables=[{"name": "MINE", "value": "with space and 'quote\" $HOME"}],
        secrets=[{"name": "HIDDEN", "value": "x=1;y"}],
    )
    p = job.succeed()
    env = dict(line.split("=", 1) for line in job.read("stdout.txt").splitlines() if "=" in line)
    assert job.read("stderr.txt") == "in the input"
    root = env["AZ_BATCHAI_MOUNT_ROOT"]
    base = f"{root}/out/{p['jobOutputDirectoryPathSegment']}"
    assert env["AZ_BATCHAI_INPUT_IN"] == f"{root}/out/input"
    assert env["AZ_BATCHAI_OUTPUT_OUT"].rstrip("/") == f"{base}/outputs/a/b"
    assert env["AZ_BATCHAI_OUTPUT_Bare"].rstrip("/") == f"{base}/outputs"
    assert env["AZ_BATCHAI_STDOUTERR_DIR"].rstrip("/") == f"{base}/stdouterr"
    assert env["AZ_BATCHAI_NUM_GPUS"].isdigit()
    assert env["AZ_BATCHAI_JOB_TEMP_DIR"] == env["AZ_BATCHAI_JOB_TEMP"] and env["AZ_BATCHAI_JOB_MOUNT_ROOT"] != root
    assert env["AZ_BATCH_HOST_LIST"] and env["AZ_BATCHAI_TASK_INDEX"] == "0"
    assert env["MINE"] == "with space and 'quote\" $HOME" and env["HIDDEN"] == "x=1;y"
    (host,) = [n["ipAddress"] for n in cluster.call("POST", "/listRemoteLoginInformation").json["value"]]
    assert env["AZ_BATCH_HOST_LIST"] == host
    leaked = [k for k in env if k.startswith(("AZURE_", "BATCHAID_"))]
    assert leaked == [], "the daemon's own environment is not the job's"


def test_job_level_mounts_are_there_while_the_job_runs_and_gone_after(own_place):
    cluster = own_place.cluster(nodes=1)
    folder = own_place.daemon.share("other", "jobshare")
    (folder / "data.txt").write_text("mounted for the job")
    job = own_place.job(
        cluster,
        "cat $AZ_BATCHAI_JOB_MOUNT_ROOT/deep/mount/data.txt; echo $AZ_BATCHAI_JOB_MOUNT_ROOT >&2; "
        "cat $AZ_BATCHAI_JOB_MOUNT_ROOT/box/blob.txt",
        mountVolumes={
            "azureFileShares": [file_share("jobshare", "deep/mount", account="other")],
            "azureBlobFileSystems": [
                {
                    "accountName": "other",
                    "containerName": "box",
                    "credentials": {"accountKey": "a2V5"},
                    "relativeMountPath": "box",
                }
            ],
        },
        jobPreparation={"commandLine": "echo written > $AZ_BATCHAI_JOB_MOUNT_ROOT/box/blob.txt"},
        stdOutErrPathPrefix="$AZ_BATCHAI_JOB_MOUNT_ROOT/deep/mount",
    )
    p = job.succeed()
    assert job.read("stdout.txt") == "mounted for the jobwritten\n"
    assert (folder / p["jobOutputDirectoryPathSegment"] / "stdouterr" / "stdout.txt").exists()
    mount_root = job.read("stderr.txt").strip()
    wait_for(lambda: not os.path.lexists(f"{mount_root}/deep/mount"), what="the mount to go")
    assert (folder / "data.txt").read_text() == "mounted for the job", "the share itself stays"


def test_paths_may_use_variables_with_and_without_braces(own_place):
    cluster = own_place.cluster(nodes=1)
    job = own_place.job(
        cluster,
        "echo x > ${AZ_BATCHAI_OUTPUT_O}/x",
        stdOutErrPathPrefix="${AZ_BATCHAI_MOUNT_ROOT}/out/logs",
        outputDirectories=[{"id": "O", "pathPrefix": "${AZ_BATCHAI_MOUNT_ROOT}/out/results"}],
    )
    segment = job.succeed()["jobOutputDirectoryPathSegment"]
    assert (own_place.share() / "results" / segment / "outputs" / "x").exists()
    assert (own_place.share() / "logs" / segment / "stdouterr" / "stdout.txt").exists()
    assert [f["name"] for f in job.files("O")] == ["x"]


def test_secrets_never_show_in_a_command_line(own_place, daemon):
    value = "argv-" + fresh("secret")
    flag, path = own_place.flag(fresh("flag"))
    job = own_place.job(own_place.cluster(nodes=1), wait_flag(path), secrets=[{"name": "S", "value": value}])
    job.wait("running")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                assert value.encode() not in f.read()
        except OSError:
            continue
    flag.touch()
    job.succeed()


def test_a_multi_node_job_runs_its_command_once_and_knows_its_nodes(own_place):
    cluster = own_place.cluster(nodes=3)
    runs, prepared = fresh("runs"), fresh("prepared")
    job = own_place.job(
        cluster,
        f"echo run >> {MOUNT}/{runs}; echo $AZ_BATCH_HOST_LIST; cat $AZ_BATCHAI_MPI_HOST_FILE >&2",
        nodes=2,
        jobPreparation={"commandLine": f"echo node >> {MOUNT}/{prepared}"},
    ).succeeded()
    share = own_place.share()
    assert (share / runs).read_text() == "run\n", "the command runs on one node"
    assert (share / prepared).read_text() == "node\nnode\n", "the preparation on each"
    assert len(job.read("stdout.txt").strip().split(",")) == 2
    names = [f["name"] for f in job.files()]
    logs = [n for n in names if n.startswith("execution")]
    nodes = {n["nodeId"] for n in cluster.call("POST", "/listRemoteLoginInformation").json["value"]}
    used = {n["nodeId"] for n in job.call("POST", "/listRemoteLoginInformation").json["value"]}
    assert len(used) == 2 and used <= nodes, "of an ended job, those that it used"
    assert len(logs) == 2 and used == {re.sub(r"^execution-|\.log$", "", n) for n in logs}
    assert [n for n in names if n.startswith("stdout") and "prep" not in n] == ["stdout.txt"]


def test_files_of_the_same_job_name_never_mix(own_place):
    cluster = own_place.cluster(nodes=1)
    first = own_place.job(cluster, "echo first", name="again")
    one = first.succeed()["jobOutputDirectoryPathSegment"]
    first.delete()
    second = own_place.job(cluster, "echo second", name="again")
    assert one != second.succeed()["jobOutputDirectoryPathSegment"]
    assert second.read("stdout.txt") == "second\n"


# --- order ----------------------------------------------------------------------------------------


def test_jobs_run_by_priority_and_then_in_the_order_they_came(own_place):
    cluster = own_place.cluster(nodes=0)
    order = fresh("order")
    jobs = []
    for name, priority in [
        ("n1", "normal"),
        ("l1", "low"),
        ("h1", "high"),
        ("n2", "normal"),
        ("h2", "high"),
        ("l2", "low"),
    ]:
        jobs.append(own_place.job(cluster, f"echo {name} >> {MOUNT}/{order}", schedulingPriority=priority))
    cluster.resize(1)
    for job in jobs:
        job.succeed()
    assert (own_place.share() / order).read_text().split() == ["h1", "h2", "n1", "n2", "l1", "l2"]


def test_a_gang_gets_all_its_nodes_or_none(own_place):
    cluster = own_place.cluster(nodes=2)
    flag, path = own_place.flag(fresh("flag"))
    holder = own_place.job(cluster, wait_flag(path)).running()
    gang = own_place.job(cluster, "true", nodes=2)
    behind = own_place.job(cluster, "true")
    assert gang.state == "queued" and cluster.counts()["idleNodeCount"] == 1
    flag.touch()
    first, second = gang.succeed(), behind.succeed()
    assert instant(first["executionInfo"]["startTime"]) <= instant(second["executionInfo"]["startTime"]), (
        "first come, first served"
    )


def test_a_job_larger_than_its_cluster_waits_until_it_fits(own_place):
    cluster = own_place.cluster(nodes=1)
    job = own_place.job(cluster, nodes=3)
    assert job.state == "queued"
    cluster.resize(3)
    job.succeed()


def test_many_jobs_share_a_few_nodes_and_each_runs_once(own_place):
    cluster = own_place.cluster(nodes=4)
    runs = fresh("runs")
    jobs = [own_place.job(cluster, f"echo {i} >> {MOUNT}/{runs}") for i in range(24)]
    for job in jobs:
        job.succeed(limit=60)
    assert sorted(map(int, (own_place.share() / runs).read_text().split())) == list(range(24))


# --- stopping -------------------------------------------------------------------------------------


def test_terminating_a_running_job_ends_all_its_processes(own_place):
    cluster = own_place.cluster(nodes=1)
    mark = own_place.share() / fresh("mark")
    job = own_place.job(
        cluster,
        f"(setsid sleep 1000 & echo $!; sleep 1001 & echo $!) > {MOUNT}/{mark.name}; wait; sleep 1002",
    ).running()
    wait_for(lambda: mark.exists() and len(mark.read_text().split()) == 2, what="both children")
    reply = job.call("POST", "/terminate", expect=202)
    assert own_place.daemon.wait_operation(reply)["status"] == "Succeeded"
    info = job.fail()["executionInfo"]
    assert list(info) == ["startTime", "endTime", "exitCode", "errors"]
    assert info["exitCode"] == 143
    (error,) = info["errors"]
    assert (error["code"], error["message"]) == (
        "JobTerminated",
        "The specified job has been terminated by the user",
    )
    for pid in map(int, mark.read_text().split()):
        wait_for(lambda: not os.path.exists(f"/proc/{pid}"), what=f"process {pid} to end")
    again = job.call("POST", "/terminate")
    assert (again.status, again.content) == (200, b"")
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 1, what="the node to be idle again")


def test_terminating_a_queued_job(own_place):
    job = own_place.job(own_place.cluster(nodes=0))
    job.terminate()
    info = job.fail()["executionInfo"]
    assert info["errors"][0]["code"] == "JobTerminated" and info["exitCode"] == 143
    assert instant(info["startTime"]) <= instant(info["endTime"])


def test_a_job_that_ignores_sigterm_is_terminated_all_the_same(own_place):
    job = own_place.job(own_place.cluster(nodes=1), "trap '' TERM INT HUP; while :; do sleep 0.05; done")
    job.wait("running")
    job.terminate()
    assert job.fail()["executionInfo"]["errors"][0]["code"] == "JobTerminated"


def test_deleting_a_running_job_stops_it_and_frees_its_node(own_place):
    cluster = own_place.cluster(nodes=1)
    mark = own_place.share() / fresh("mark")
    job = own_place.job(cluster, f"echo $$ > {MOUNT}/{mark.name}; sleep 1000").running()
    wait_for(lambda: mark.exists() and mark.read_text().strip(), what="its process id")
    job.delete()
    assert job.gone()
    assert not os.path.exists(f"/proc/{mark.read_text().strip()}")
    own_place.job(cluster).succeed()


def test_deleting_a_queued_job_and_a_finished_one(own_place):
    cluster = own_place.cluster(nodes=0)
    queued = own_place.job(cluster)
    queued.delete()
    assert queued.gone()
    cluster.resize(1)
    done = own_place.job(cluster).succeeded()
    done.delete()
    assert done.gone() and done.call("DELETE").status == 204


@pytest.mark.parametrize("what", ["job", "experiment"])
def test_deleting_what_waits_lets_run_what_waited_behind_it(own_place, what):
    """A job of two nodes waits for the one that is busy, and a small one behind it."""
    cluster = own_place.cluster(nodes=2)
    flag, path = own_place.flag(fresh("go"))
    first = own_place.job(cluster, wait_flag(path)).running()
    own_place.experiment("other")
    large = own_place.job(cluster, nodes=2, experiment="other")
    small = own_place.job(cluster)
    assert small.properties["executionState"] == "queued", "nothing is overtaken"
    own_place.daemon.do("DELETE", large.path if what == "job" else own_place.experiment_path("other"))
    small.succeed()
    assert first.properties["executionState"] == "running"
    flag.touch()


def test_a_job_too_large_for_its_cluster_as_it_is_stands_aside_and_says_so(own_place):
    cluster = own_place.cluster(nodes=1)
    large = own_place.job(cluster, nodes=2)
    own_place.job(cluster).succeed()
    assert large.properties["executionState"] == "queued"
    wait_for(large.files, what="execution.log")
    log = wait_for(lambda: large.read("execution.log"), what="the line in execution.log")
    assert "needs 2 nodes" in log and "scaled to 1" in log, log
    assert any("job.waiting" in line and large.name in line for line in own_place.daemon.log())
    cluster.resize(2)
    large.succeed()
    cluster.resize(0)
    never = own_place.job_at("never")
    refused(never.call("PUT", body=job_body(cluster.path, nodes=10000)), 400, "InvalidParameter", words=["10000"])


def test_strict_leaves_the_exit_code_out(own_daemon):
    place = Place(own_daemon(config={"compat": {"strict": True}})).make()
    cluster = place.cluster(nodes=1)
    late = place.job(cluster, "sleep 1000", constraints={"maxWallClockTime": "PT1S"})
    assert "exitCode" not in late.fail()["executionInfo"]
    queued = place.job(cluster, nodes=1, command="sleep 1000")
    queued.terminate()
    assert "exitCode" not in queued.fail()["executionInfo"]
    assert place.job(cluster, "exit 7").fail()["executionInfo"]["exitCode"] == 7


def test_the_wall_clock_limit_ends_a_job_and_says_so(own_place):
    job = own_place.job(own_place.cluster(nodes=1), "sleep 1000", constraints={"maxWallClockTime": "PT1S"})
    info = job.fail()["executionInfo"]
    (error,) = info["errors"]
    text = json.dumps(error)
    assert "PT1S" in text or "maxWallClockTime" in text or "wall clock" in text.lower(), text
    assert info["exitCode"] == 124


def test_a_repeated_put_of_a_running_job_starts_nothing(own_place):
    cluster = own_place.cluster(nodes=2)
    flag, path = own_place.flag(fresh("flag"))
    runs = own_place.share() / fresh("runs")
    command = f"echo run >> {MOUNT}/{runs.name}; {wait_flag(path)}"
    job = own_place.job(cluster, command).running()
    again = job.call("PUT", body=job_body(cluster.path, command), expect=200)
    assert (
        again.json["properties"]["jobOutputDirectoryPathSegment"]
        == job.properties["jobOutputDirectoryPathSegment"]
    )
    flag.touch()
    job.succeed()
    job.call("PUT", body=job_body(cluster.path, command), expect=200)
    assert job.state == "succeeded"
    assert runs.read_text() == "run\n"


# --- what cannot run yet --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "what, properties",
    [
        ("container", {"containerSettings": {"imageSourceRegistry": {"image": "ubuntu"}}}),
        ("secret", {"secrets": [{"name": "S", "valueSecretReference": VAULT}]}),
    ],
)
def test_a_kind_of_job_that_cannot_run_yet_says_so(place, shared_cluster, what, properties):
    (error,) = place.job(shared_cluster, "true", **properties).fail()["executionInfo"]["errors"]
    text = json.dumps(error)
    assert what in text.lower(), text
    if what == "secret":
        assert VAULT["secretUrl"] in text or '"S"' in text or "'S'" in text


def test_nothing_of_a_finished_job_is_left_on_its_node(own_place, daemon):
    cluster = own_place.cluster(nodes=1)
    mark = own_place.share() / fresh("mark")
    own_place.job(cluster, f"setsid sleep 1000 & echo $! > {MOUNT}/{mark.name}").succeed()
    pid = mark.read_text().strip()
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"), what="what the job left behind to end")
    own_place.remove()
    wait_for(
        lambda: not [c for c in processes_of(daemon.state_dir).values() if "sleep" in c and "1000" in c],
        what="no process of this job",
    )


def test_a_job_is_put_again_after_its_cluster_is_gone(own_place):
    cluster = own_place.cluster(nodes=0, name="MyCluster")
    spelt = cluster.path.replace("/resourceGroups/", "/RESOURCEGROUPS/").replace("MyCluster", "mycluster")
    job = own_place.job(spelt)
    job.call("POST", "/terminate")
    job.wait()
    shown = job.get()["properties"]["cluster"]
    cluster.delete()
    for id in (spelt, cluster.path):
        assert job.call("PUT", body=job_body(id), expect=200).json["properties"]["cluster"] == shown
    refused(job.call("PUT", body=job_body(cluster.path + "2")), 409, "PropertyChangeNotAllowed", "properties.cluster.id")
