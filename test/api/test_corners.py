# SPDX-License-Identifier: MIT
"""Where two things meet: workspaces that share, names that differ in case, deletions that overlap."""

import json
import os
import re

import pytest
from support.waiting import wait_for
from support.world import MOUNT, Place, cluster_body, file_share, fresh, job_body, wait_flag


def test_a_job_may_run_on_a_cluster_of_another_workspace(own_place, daemon):
    cluster = Place(daemon, own_place.group, fresh("other")).make().cluster(nodes=1)
    job = own_place.job(cluster, "echo far from home").succeeded()
    assert job.properties["cluster"]["id"] == cluster.id
    assert job.read("stdout.txt") == "far from home\n"


def test_a_cluster_is_found_by_its_id_in_any_case(own_place):
    cluster = own_place.cluster(nodes=1, name="CamelCase")
    job = own_place.job(cluster.path.upper().replace("/SUBSCRIPTIONS/", "/subscriptions/"), "true")
    job.succeed()
    assert job.properties["cluster"]["id"] == cluster.id


def test_names_that_differ_only_in_case_are_one(own_place, daemon):
    cluster = own_place.cluster(nodes=1)
    job = own_place.job(cluster, name="Train")
    again = own_place.job_at("tRAIN").call("PUT", body=job_body(cluster.path), expect=200)
    assert again.json["name"] == "Train"
    assert [j["name"] for j in daemon.get(own_place.experiment_path() + "/jobs")["value"]] == ["Train"]
    job.succeed()


def test_queued_jobs_of_a_deleted_cluster_end_and_say_why(own_place):
    cluster = own_place.cluster(nodes=0)
    job = own_place.job(cluster)
    cluster.delete()
    assert "cluster" in json.dumps(job.fail()["executionInfo"]["errors"]).lower()
    reply = own_place.job_at(fresh("late")).call("PUT", body=job_body(cluster.path))
    assert reply.status == 404 and reply.code == "ClusterNotFound"


def stubborn(place):
    """A cluster with a running job that takes seconds to be deleted."""
    cluster = place.cluster(nodes=1)
    return cluster, place.job(cluster, "trap '' TERM; while :; do sleep 0.05; done").running()


def test_what_is_being_deleted_takes_no_changes(own_place, daemon):
    cluster, job = stubborn(own_place)
    reply = cluster.call("DELETE", expect=202)
    late = own_place.job_at(fresh("late"))
    for answer in (
        cluster.call("PATCH", body={"properties": {"scaleSettings": {"manual": {"targetNodeCount": 3}}}}),
        cluster.call("PUT", body=cluster_body(3)),
        late.call("PUT", body=job_body(cluster.path)),
    ):
        # Unless the deletion was faster: then it is not there, or made anew.
        if answer.status not in (404, 202):
            assert answer.status == 409 and answer.code == "ResourceBeingDeleted", answer
    assert daemon.wait_operation(reply)["status"] == "Succeeded"
    assert job.wait()["executionState"] == "failed"


def test_deleting_the_same_thing_twice_is_done_once(own_place, daemon):
    _, job = stubborn(own_place)
    replies = [job.call("DELETE") for _ in range(3)]
    assert replies[0].status == 202 and {r.status for r in replies} <= {202, 204}
    for reply in replies:
        if reply.status == 202:
            assert daemon.wait_operation(reply)["status"] == "Succeeded"
    assert job.gone()


def test_terminating_and_then_deleting_at_once(own_place):
    cluster, job = stubborn(own_place)
    job.terminate()
    job.terminate()
    job.delete()
    assert job.gone()
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 1, what="the node to be idle")


def test_text_of_all_the_world_passes_unharmed(place, shared_cluster):
    word = "hällo wörld ✓ 数据"
    job = place.job(
        shared_cluster, f'echo "{word}"; echo "$W"', environmentVariables=[{"name": "W", "value": word}]
    ).succeeded()
    assert job.read("stdout.txt") == f"{word}\n{word}\n"
    assert job.properties["environmentVariables"][0]["value"] == word


def test_a_zero_character_is_refused(place):
    cluster = place.cluster_at(fresh("bad"))
    reply = cluster.call("PUT", data=json.dumps(cluster_body(0, vmSize="a\0b")).encode())
    assert reply.status == 400 and cluster.gone()


@pytest.mark.parametrize(
    "change",
    [
        {"stdOutErrPathPrefix": "$NOT_THERE/out"},
        {"outputDirectories": [{"id": "O", "pathPrefix": "${NOT_THERE}"}]},
        {"inputDirectories": [{"id": "I", "path": "$NOT_THERE"}]},
    ],
)
def test_a_path_with_a_variable_that_is_not_set_fails_the_job_by_name(place, shared_cluster, change):
    info = place.job(shared_cluster, **change).fail()["executionInfo"]
    assert "NOT_THERE" in json.dumps(info["errors"])


def test_an_environment_that_no_process_can_have_fails_the_job_with_its_size(place, shared_cluster):
    """Linux takes a quarter of the stack's limit, 2 MiB mostly, of all arguments and variables together."""
    variables = [{"name": f"V{i}", "value": "x" * 120_000} for i in range(20)]
    errors = place.job(shared_cluster, environmentVariables=variables).fail()["executionInfo"]["errors"]
    assert re.search("command line of 4 bytes and an environment of 24[0-9]{5}: Argument list too long", errors[0]["message"])


def test_a_share_that_nobody_filled_is_there_and_empty(own_place):
    mounts = {"azureFileShares": [file_share("brand-new", "fresh", account="newaccount")]}
    cluster = own_place.cluster(nodes=1)
    job = own_place.job(
        cluster,
        "ls -A $AZ_BATCHAI_JOB_MOUNT_ROOT/fresh; touch $AZ_BATCHAI_JOB_MOUNT_ROOT/fresh/made",
        mountVolumes=mounts,
    ).succeeded()
    assert job.read("stdout.txt") == ""
    assert (own_place.daemon.share("newaccount", "brand-new") / "made").exists()


def test_a_mount_that_cannot_work_here_explains_itself(own_place):
    mounts = {"unmanagedFileSystems": [{"mountCommand": "mount -t nfs nowhere:/x", "relativeMountPath": "u"}]}
    job = own_place.job(own_place.cluster(nodes=1), mountVolumes=mounts)
    text = json.dumps(job.fail()["executionInfo"]["errors"])
    assert "unmanaged" in text.lower() or "mount -t nfs nowhere:/x" in text


def test_much_output_is_kept_whole(own_place):
    job = own_place.job(own_place.cluster(nodes=1), "seq 1 300000; seq 1 300000 >&2").succeeded()
    expected = "".join(f"{i}\n" for i in range(1, 300001))
    assert job.read("stdout.txt") == expected and job.read("stderr.txt") == expected


def test_a_failing_job_shows_only_the_last_of_much_error_output(own_place):
    job = own_place.job(own_place.cluster(nodes=1), "seq 1 300000 >&2; echo the reason >&2; exit 1")
    (error,) = job.fail()["executionInfo"]["errors"]
    text = json.dumps(error)
    assert "the reason" in text and len(text) < 10000


def test_a_job_that_leaves_its_input_open_does_not_hang(own_place):
    job = own_place.job(own_place.cluster(nodes=1), "cat; read x; echo end of input").succeeded()
    assert job.read("stdout.txt") == "end of input\n"


def test_two_gangs_never_hold_half_of_each_others_nodes(own_place):
    cluster = own_place.cluster(nodes=3)
    flag, path = own_place.flag(fresh("flag"))
    jobs = [own_place.job(cluster, wait_flag(path), nodes=2) for _ in range(3)]
    jobs[0].wait("running")
    assert [j.state for j in jobs] == ["running", "queued", "queued"]
    assert cluster.counts()["idleNodeCount"] == 1
    flag.touch()
    for job in jobs:
        job.succeed()


def test_the_folder_of_a_job_on_its_node_is_gone_afterwards(own_place, daemon):
    cluster = own_place.cluster(nodes=1)
    job = own_place.job(cluster, f"echo $AZ_BATCHAI_JOB_TEMP > {MOUNT}/where; touch $AZ_BATCHAI_JOB_TEMP/big")
    job.succeed()
    folder = (own_place.share() / "where").read_text().strip()
    assert folder.startswith(str(daemon.state_dir))
    wait_for(lambda: not os.path.exists(folder), what="the folder to go")
