# SPDX-License-Identifier: MIT
"""Clusters and pools of nodes that run no processes: rules say what jobs do there."""

import json
import subprocess
from pathlib import Path

import pytest
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.daemon import BATCHAID
from support.refusals import INVALID, MISSING, refused
from support.testing import Testing
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.world import Place, fresh


def fake_cluster(place, nodes=1, **more):
    return place.cluster(nodes, vmSize="FAKE", **more)


# --- what jobs do ---------------------------------------------------------------------------------


def test_a_job_succeeds_without_a_process(place):
    job = place.job(fake_cluster(place), "exit 7; no such shell(")
    assert job.succeed()["executionInfo"]["exitCode"] == 0
    assert [f["name"] for f in job.files()] == ["execution.log", "stderr.txt", "stdout.txt"]
    log = job.read("execution.log")
    assert "exit 7; no such shell(" in log and "exited with code 0" in log


def test_a_path_of_no_share_is_the_nodes_and_not_this_machines(place):
    job = place.job(fake_cluster(place), stdOutErrPathPrefix="/batchaid-left").succeeded()
    assert not Path("/batchaid-left").exists()


def test_the_vm_size_is_found_in_any_case_and_needs_no_free_nodes(place):
    assert place.cluster(40, vmSize="fake_nc24").counts()["idleNodeCount"] == 40


def test_exit_code_output_and_files_are_scripted(place, t):
    t.rules(
        {
            "match": {"name": "train-*"},
            "exitCode": 3,
            "stdout": ["first", {"text": "second"}],
            "stderr": ["that was wrong"],
            "files": [
                {"path": "$AZ_BATCHAI_OUTPUT_MODEL/deep/model.txt", "text": "weights"},
                {"path": "$AZ_BATCHAI_STDOUTERR_DIR/x"},
                {"path": "$AZ_BATCHAI_OUTPUT_MODLE/batchaid-misspelt"},
            ],
        }
    )
    cluster = fake_cluster(place)
    outputs = [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out", "pathSuffix": "models"}]
    job = place.job(cluster, name=fresh("train-"), outputDirectories=outputs)
    assert job.fail()["executionInfo"]["exitCode"] == 3
    assert job.read("stdout.txt") == "first\nsecond\n"
    assert job.read("stderr.txt") == "that was wrong\n"
    assert job.read("x") == ""
    assert not Path("/batchaid-misspelt").exists()
    assert job.read("model.txt", "MODEL", directory="deep") == "weights"
    assert place.job(cluster, name=fresh("other-")).succeed()["executionInfo"]["exitCode"] == 0


def test_a_rule_fits_by_command_line_and_environment(place, t):
    t.rules(
        {"match": {"command": "*train.py --lr 0.1*"}, "exitCode": 11},
        {"match": {"environment": {"MODE": "bad*"}}, "exitCode": 12},
        {"match": {"environment": {"MODE": "*", "OTHER": "*"}}, "exitCode": 13},
    )
    cluster = fake_cluster(place)
    mode = [{"name": "MODE", "value": "good"}]
    bad = [{"name": "MODE", "value": "bad one"}]

    def code(command, **more):
        return place.job(cluster, command, **more).wait()["executionInfo"]["exitCode"]

    assert code("python train.py --lr 0.1 --x") == 11
    assert code("python train.py", environmentVariables=bad) == 12
    assert code("python train.py", environmentVariables=mode) == 0


def test_output_comes_while_a_job_runs_and_it_is_held_until_it_is_let_go(place, t):
    (rule,) = t.rules({"hold": True, "duration": "PT0.2S", "stdout": ["began", {"at": "PT0.2S", "text": "ends"}]})
    job = place.job(fake_cluster(place)).running()
    assert t.get("/rules")["value"][0]["held"] == 1
    assert job.read("stdout.txt") == ""
    assert t.call("POST", f"/rules/{rule['id']}/release", expect=200).json == {"released": 1}
    job.succeed()
    assert job.read("stdout.txt") == "began\nends\n"


def test_a_held_job_can_be_terminated(place, t):
    t.rules({"hold": True})
    job = place.job(fake_cluster(place)).running()
    job.terminate()
    job.fail()
    assert "killed by signal" in job.read("execution.log")


def test_removing_a_rule_lets_go_what_it_holds(place, t):
    (rule,) = t.rules({"hold": True})
    job = place.job(fake_cluster(place)).running()
    t.call("DELETE", f"/rules/{rule['id']}", expect=204)
    job.succeed()


def test_rules_are_counted_and_the_first_that_fits_is_taken(place, t):
    t.rules({"skip": 1, "times": 1, "exitCode": 4}, {"exitCode": 5})
    cluster = fake_cluster(place)
    codes = [place.job(cluster).wait()["executionInfo"]["exitCode"] for _ in range(4)]
    assert codes == [5, 4, 5, 5]
    assert [r["hits"] for r in t.get("/rules")["value"]] == [1, 3]


def test_a_rule_that_fits_nothing_is_said_to_be_unused(place, t):
    first, second = t.rules({"match": {"name": "nobody*"}, "exitCode": 1}, {"exitCode": 0})
    place.job(fake_cluster(place)).succeed()
    assert t.get("/rules")["unused"] == [first["id"]]


def test_rules_of_a_subscription_are_for_its_jobs_alone(place, t, tested):
    other = tested.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    t.rules(
        {"match": {"subscription": other}, "exitCode": 9}, {"match": {"subscription": tested.subscription}, "exitCode": 8}
    )
    assert place.job(fake_cluster(place)).fail()["executionInfo"]["exitCode"] == 8
    assert len(t.get(f"/rules?subscription={other}")["value"]) == 1
    t.call("DELETE", f"/rules?subscription={other}", expect=204)
    assert len(t.get("/rules")["value"]) == 1


def test_what_does_not_start_fails(place, t):
    t.rules({"failsToStart": "the program cannot be run here"})
    assert "the program cannot be run here" in json.dumps(place.job(fake_cluster(place)).fail())


def test_preparations_and_setup_tasks_have_rules_of_their_own(place, t):
    t.rules(
        {"match": {"role": "setup", "pool": "prepared"}, "stdout": ["the node is set up"]},
        {"match": {"role": "preparation"}, "exitCode": 6},
        {"exitCode": 0},
    )
    setup = {"setupTask": {"commandLine": "apt-get install things", "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}}
    cluster = fake_cluster(place, name="prepared", nodeSetup=setup)
    job = place.job(cluster, jobPreparation={"commandLine": "prepare"})
    assert "preparation" in json.dumps(job.fail())
    assert [r["hits"] for r in t.get("/rules")["value"]] == [1, 1, 0]


def test_several_nodes_and_processes(place, t):
    """A rule is followed by each process."""
    t.rules({"match": {"command": "*worker*"}, "stdout": ["I work"]})
    cluster = fake_cluster(place, 3)
    settings = {
        "pythonScriptFilePath": "t.py",
        "masterCommandLineArgs": "master",
        "workerCommandLineArgs": "worker",
        "parameterServerCommandLineArgs": "ps",
        "workerCount": 3,
        "parameterServerCount": 1,
    }
    place.job(cluster, nodes=3, customToolkitSettings=None, tensorFlowSettings=settings).succeed()
    assert t.get("/rules")["value"][0]["hits"] == 2  # the master is the first of three workers


def serve(tmp_path, *arguments):
    command = [str(BATCHAID), "serve", "--state-dir", str(tmp_path / "state"), "--listen", "localhost:0", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


# --- files of rules, and switches -----------------------------------------------------------------


def test_rules_of_a_file_and_a_daemon_of_fake_nodes_alone(own_daemon, tmp_path):
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"rules": [{"match": {"name": "j*"}, "exitCode": 21}]}))
    d = own_daemon(arguments=["--testing", "--fake-nodes", "--rules", str(path)])
    place = Place(d, "g", "ws").make()
    cluster = place.cluster(2, vmSize="STANDARD_NC6")
    assert place.job(cluster, name="j1").fail()["executionInfo"]["exitCode"] == 21
    Testing(d).reset()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", ["rules.json:1"]),
        ('{"rules": [{}, {"exitCode": 999}]}', ["rules[1].exitCode", "0 to 255"]),
        ('{"rules": [{"exitcode": 1}]}', ["rules[0].exitcode", "exitCode"]),
    ],
)
def test_a_wrong_file_is_refused_at_the_start(own_daemon, tmp_path, text, words):
    path = tmp_path / "rules.json"
    path.write_text(text)
    done = serve(tmp_path, "--testing", "--rules", str(path))
    assert done.returncode != 0
    for word in words:
        assert word in done.stderr


def test_a_file_that_is_not_there_is_said(own_daemon, tmp_path):
    done = serve(tmp_path, "--testing", "--rules", "/nowhere.json")
    assert done.returncode != 0 and ":-1" not in done.stderr
    assert "batchaid: cannot open /nowhere.json: No such file or directory" in done.stderr


@pytest.mark.parametrize("switches", [["--fake-nodes"], ["--rules", "/nowhere"], ["--strict"]])
def test_switches_that_need_testing(tmp_path, switches):
    done = serve(tmp_path, *switches)
    assert done.returncode == 78
    assert f"{switches[0]} needs --testing" in done.stderr


# --- bad input ------------------------------------------------------------------------------------

GOOD = {"exitCode": 1}


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"match": {"nam": "x"}}, ["rules[1].match.nam", "name, command"]),
        ({"match": "x"}, ["rules[1].match"]),
        ({"match": {"role": "cook"}}, ["rules[1].match.role", "preparation"]),
        ({"match": {"environment": {"A": 1}}}, ["rules[1].match.environment.A"]),
        ({"duration": "6 hours"}, ["rules[1].duration", "PT1H30M"]),
        ({"duration": 6}, ["rules[1].duration"]),
        ({"exitCode": "1"}, ["rules[1].exitCode"]),
        ({"exitCode": 256}, ["rules[1].exitCode", "255"]),
        ({"skip": -1}, ["rules[1].skip"]),
        ({"times": 1.5}, ["rules[1].times"]),
        ({"hold": "yes"}, ["rules[1].hold"]),
        ({"stdout": "line"}, ["rules[1].stdout"]),
        ({"stdout": [{"at": "PT1S"}]}, ["rules[1].stdout[0].text"]),
        ({"stdout": ["a", {"at": "PT1S", "text": "b"}]}, ["rules[1].stdout[1].at", "duration"]),
        ({"files": [{"text": "b"}]}, ["rules[1].files[0].path"]),
        ({"files": [{"path": "../../etc/passwd"}]}, ["rules[1].files[0].path", ".."]),
        ({"files": [{"path": "/etc/motd", "text": "b"}]}, ["rules[1].files[0].path", "/etc/motd", "variable"]),
        ({"failsToStart": "x", "duration": "PT1S"}, ["rules[1].failsToStart"]),
        ("rule", ["rules[1]"]),
    ],
)
def test_a_wrong_rule_is_refused_with_its_place_and_nothing_is_added(t, rule, words):
    refused(t.rules(GOOD, rule, expect=400), 400, (INVALID, MISSING), words=words)
    assert t.get("/rules")["value"] == []


def test_rules_that_are_not_there(t):
    refused(t.call("POST", "/rules/77/release"), 404, "ResourceNotFound", words=["77"])
    refused(t.call("DELETE", "/rules/x"), 404, "ResourceNotFound", words=["x"])


# --- Azure Batch ----------------------------------------------------------------------------------


def test_tasks_of_azure_batch(tested, t, temporary):
    plane = temporary(BatchGround(tested)).plane
    add_pool(plane, "fakes", vmSize="fake_d2", targetDedicatedNodes=2, startTask={"commandLine": "set-up"})
    t.rules(
        {"match": {"role": "setup", "pool": "fakes"}, "stdout": ["set up"]},
        {"match": {"name": "*/bad", "environment": {"AZ_BATCH_TASK_ID": "bad"}}, "exitCode": 5, "stderr": ["no"]},
        {"match": {"command": "long *"}, "hold": True, "stdout": ["is long"], "files": [{"path": "made.txt", "text": "it"}]},
    )
    jobs = Jobs(plane, "fakes")
    job = jobs()
    long, bad, good = job.add("long one"), job.add("short", id="bad"), job.add("no-such-program")
    failed, ok = job.wait(bad, good)
    assert failed["executionInfo"]["exitCode"] == 5 and ok["executionInfo"]["exitCode"] == 0
    assert plane.call("GET", f"{job.url}/tasks/bad/files/stderr.txt", expect=200).content == b"no\n"
    job.wait_running(long)
    t.call("DELETE", "/rules", expect=204)
    job.wait(long)
    assert plane.call("GET", f"{job.url}/tasks/{long}/files/wd/made.txt", expect=200).content == b"it"
    jobs.remove()
    plane.call("DELETE", "/pools/fakes", expect=202)
