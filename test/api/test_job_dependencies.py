# SPDX-License-Identifier: MIT
"""Jobs that wait for others, and jobs that are tried again."""

import pytest
from support.refusals import INVALID, refused
from support.world import fresh, job_body, wait_flag

LIST = "properties.environmentVariables"


def env(name, value):
    return [{"name": f"BATCHAID_JOB_{name}", "value": value}]


def after(place, cluster, text, command="true", **more):
    return place.job(cluster, command, environmentVariables=env("DEPENDS_ON", text), **more)


def reasons(d, job):
    reply = d.call("GET", "/batchaid/events", api_version=None, params={"max": 1000})
    events = [e for e in reply.json["value"] if e["kind"] == "job" and e["name"] == job.name]
    return [(e["to"], e.get("reason")) for e in events]


def why(job):
    (error,) = job.fail()["executionInfo"]["errors"]
    return error["code"], error["message"]


def test_a_job_waits_for_the_ends_that_it_names(place, shared_cluster):
    flag, path = place.flag(fresh("flag"))
    first = place.job(shared_cluster, wait_flag(path))
    second = after(place, shared_cluster, first.name)
    never = after(place, shared_cluster, f"{first.name}:failure,{second.name}:end")
    last = after(place, shared_cluster, f"exp/{second.name},exp/{never.name}:end", experiment="other")
    first.wait("running")
    place.job(shared_cluster).succeed()  # others go ahead
    assert {second.state, never.state, last.state} == {"queued"}
    assert reasons(place.daemon, second)[-1] == ("queued", f"waits for {first.name}")
    flag.touch()
    second.succeed()
    code, message = why(never)
    assert code == "JobDependencyFailed"
    assert message.startswith(f"Job {first.name} had to end with failure, but it has succeeded")
    last.succeed()
    assert ("queued", f"released: {first.name} has succeeded") in reasons(place.daemon, second)
    assert place.daemon.get(second.path)["properties"]["environmentVariables"] == env("DEPENDS_ON", first.name)


def test_one_that_has_ended_already_counts(place, shared_cluster):
    good, bad = place.job(shared_cluster), place.job(shared_cluster, "exit 7")
    good.succeed()
    bad.fail()
    after(place, shared_cluster, f"{good.name},{bad.name}:failure").succeed()
    assert "has failed" in why(after(place, shared_cluster, bad.name))[1]


def test_a_job_that_is_deleted_and_made_again_is_another(own_place):
    cluster = own_place.cluster(0)
    first = own_place.job(cluster, name="first")
    wants, any_end = after(own_place, cluster, "first"), after(own_place, cluster, "first:end")
    first.delete()
    assert "was deleted" in why(wants)[1]
    again = own_place.job(cluster, "exit 1", name="first")
    cluster.resize(1)
    any_end.succeed()
    again.fail()


@pytest.mark.parametrize("text, says", [
    ("nobody", "names nobody, but there is no such job"),
    ("nowhere/first", "names nowhere/first, but there is no such job"),
    ("exp/me", "names exp/me, which is the job itself"),
    ("{first},exp/{first}:end", "which is listed twice"),
    ("{first}:sometimes", "which :success, :failure or :end may follow"),
])
def test_what_cannot_be_waited_for_is_refused(place, shared_cluster, text, says):
    first = place.job(shared_cluster)
    body = job_body(shared_cluster.path, environmentVariables=env("DEPENDS_ON", text.format(first=first.name)))
    refused(place.job_at("me").call("PUT", body=body), 400, INVALID, f"{LIST}[0].value", [says])
    assert place.job_at("me").gone()


def test_a_job_is_tried_again_until_it_succeeds(place, shared_cluster):
    tries = place.share() / fresh("tries")
    command = f"echo x >> $AZ_BATCHAI_MOUNT_ROOT/out/{tries.name}; test $(wc -l < $AZ_BATCHAI_MOUNT_ROOT/out/{tries.name}) = 3 || exit 75"
    job = place.job(shared_cluster, command, environmentVariables=env("RETRIES", "5:75"))
    assert job.succeed()["executionInfo"]["exitCode"] == 0
    told = [reason for to, reason in reasons(place.daemon, job) if to == "queued" and reason]
    assert [t.split(":")[0] for t in told] == ["retry 1 of 5", "retry 2 of 5"]
    assert all("75" in t for t in told)
    assert tries.read_text() == "x\n" * 3


def test_a_retry_is_told_where_the_output_of_the_try_before_is(place, shared_cluster):
    command = ('if [ -z "$AZ_BATCHAI_PREV_OUTPUT_MODEL" ]; then echo 7 > $AZ_BATCHAI_OUTPUT_MODEL/epoch; exit 1; fi; '
               'test $(cat $AZ_BATCHAI_PREV_OUTPUT_MODEL/epoch) = 7')
    job = place.job(shared_cluster, command, environmentVariables=env("RETRIES", "1"),
                    outputDirectories=[{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}])
    assert job.succeed()["executionInfo"]["exitCode"] == 0


def test_after_its_retries_a_job_fails_as_it_did_last(place, shared_cluster):
    job = place.job(shared_cluster, "exit 9", environmentVariables=env("RETRIES", "1"))
    assert job.fail()["executionInfo"]["exitCode"] == 9
    assert len([1 for to, _ in reasons(place.daemon, job) if to == "running"]) == 2
