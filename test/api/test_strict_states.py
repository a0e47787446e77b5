# SPDX-License-Identifier: MIT
"""Strict mode: the states that nodes, pools, jobs and tasks pass through, each for the service's time."""

import json

import pytest
from azure.mgmt.storage import StorageManagementClient
from support import sdk
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.testing import Clock, Strict
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.waiting import wait_for
from support.world import Place, cluster_body, fresh, job_body

ARGUMENTS = ("--ephemeral", "--fake-nodes")
EXPECTS = ("short_of_nodes", "node.link", "run.failed", "leftover_killed", "blocked")
CLOCK = {"rate": 0}


def seen_by(look, clock, step, until, most=200):
    """What a client sees that looks at each step, each state once: [(state, seconds since the beginning)]."""
    seen, began = [], clock.now()
    for _ in range(most):
        state = look()
        if not seen or seen[-1][0] != state:
            seen.append((state, round((clock.now() - began).total_seconds())))
        if until(state):
            return seen
        clock.advance(step, keep_token=True)
    raise AssertionError(seen)


def of_cluster(cluster):
    def look():
        p = cluster.properties
        counts = {k.removesuffix("NodeCount"): n for k, n in p["nodeStateCounts"].items() if n}
        return p["provisioningState"], p["allocationState"], json.dumps(counts)

    return look


def test_a_clusters_nodes_take_minutes(place, strict, clock):
    strict.set()
    cluster = place.cluster_at("c")
    cluster.call("PUT", body=cluster_body(2), expect=202)
    seen = seen_by(of_cluster(cluster), clock, "PT2S", lambda s: "idle" in s[2], 400)
    assert seen == [
        (("creating", "resizing", "{}"), 0),
        (("succeeded", "resizing", "{}"), 2),
        (("succeeded", "steady", '{"preparing": 2}'), 90),
        (("succeeded", "steady", '{"idle": 2}'), 90 + 120),
    ]
    cluster.resize(0)
    seen = seen_by(of_cluster(cluster), clock, "PT10S", lambda s: s[1:] == ("steady", "{}"))
    assert seen == [
        (("succeeded", "resizing", '{"leaving": 2}'), 0),
        (("succeeded", "steady", "{}"), 270),
    ]


def test_a_setup_task_is_seen(place, strict, clock):
    strict.set(clusterCreation="PT0S", allocation="PT0S", nodeCreation="PT10S", nodeStart="PT10S", nodeSetup="PT1M")
    cluster = place.cluster_at("c")
    setup = {"setupTask": {"commandLine": "true", "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}}
    cluster.call("PUT", body=cluster_body(1, nodeSetup=setup), expect=202)
    seen = seen_by(lambda: cluster.counts()["idleNodeCount"], clock, "PT5S", lambda n: n == 1)
    assert seen == [(0, 0), (1, 80)]


def test_a_cluster_that_scales_by_itself_is_slower(place, strict, clock):
    strict.set()
    cluster = place.cluster_at("c")
    auto = {"manual": None, "autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 2, "initialNodeCount": 1}}
    cluster.call("PUT", body=cluster_body(scaleSettings=auto), expect=202)
    seen = seen_by(lambda: cluster.properties["currentNodeCount"], clock, "PT30S", lambda n: n == 1)
    assert seen == [(0, 0), (1, 690)]
    seen = seen_by(lambda: of_cluster(cluster)()[2], clock, "PT30S", lambda counts: counts == "{}")
    assert seen == [('{"preparing": 1}', 0), ('{"idle": 1}', 120), ('{"leaving": 1}', 120 + 330), ("{}", 120 + 330 + 270)]


def test_a_job_waits_is_seen_terminating_and_has_no_made_up_exit_code(place, strict, clock):
    cluster = place.cluster_at("c")
    place.daemon.call("PUT", cluster.path, cluster_body(1), expect=202)
    clock.advance("PT1M")
    strict.rules({"duration": "PT10M"})
    strict.set()
    place.experiment()
    job = place.job_at("j")
    place.daemon.call("PUT", job.path, job_body(cluster.path), expect=202)

    def look():
        p = job.properties
        return p["provisioningState"], p["executionState"]

    seen = seen_by(look, clock, "PT1S", lambda s: s[1] == "running")
    assert seen == [(("creating", "queued"), 0), (("succeeded", "queued"), 1), (("succeeded", "running"), 4)]
    reply = job.call("POST", "/terminate", expect=202)
    seen = seen_by(look, clock, "PT1S", lambda s: s[1] == "failed")
    assert seen == [(("succeeded", "terminating"), 0), (("succeeded", "failed"), 2)]
    info = job.properties["executionInfo"]
    assert "exitCode" not in info and info["errors"][0]["code"] == "JobTerminated"
    assert place.daemon.get(reply.headers["Azure-AsyncOperation"])["status"] == "Succeeded"
    reply = job.call("DELETE", expect=202)
    assert not job.gone()
    clock.advance("PT1S")
    assert job.gone()


@pytest.mark.parametrize("deleted", ["running", "queued"])
def test_a_job_whose_deletion_takes_its_time_holds_up_no_job_behind_it(place, strict, clock, deleted):
    strict.rules({"times": 1, "duration": "PT30M"}, {"duration": "PT1M"})
    cluster = place.cluster(1).wait_steady(1)
    strict.set(jobDeletion="PT3H", jobStart="PT0S")
    jobs = {name: place.job_at(name) for name in ("running", "queued", "behind")}
    place.experiment()
    for job in jobs.values():
        job.call("PUT", body=job_body(cluster.path), expect=202)
        clock.advance("PT1M")
    assert [job.state for job in jobs.values()] == ["running", "queued", "queued"]
    jobs[deleted].call("DELETE", expect=202)
    clock.advance("PT1H")
    assert jobs[deleted].properties["provisioningState"] == "deleting"
    assert [job.state for name, job in jobs.items() if name != deleted] == ["succeeded", "succeeded"]
    clock.advance("PT3H")
    assert jobs[deleted].gone()


def test_another_subscription_waits_for_nothing(tested, strict, clock, place):
    strict.call("POST", "/strict", {"strict": True}, expect=200)
    strict.set(strict=False)
    cluster = place.cluster_at("c")
    reply = place.daemon.call("PUT", cluster.path, cluster_body(2), expect=202)
    assert place.daemon.get(reply.headers["Azure-AsyncOperation"])["status"] == "Succeeded"
    clock.advance("PT10S")
    assert cluster.counts()["idleNodeCount"] == 2


def test_a_reset_waits_for_nothing(tested, strict, clock, place):
    strict.call("POST", "/strict", {"strict": True}, expect=200)
    cluster = place.cluster_at("c")
    cluster.call("PUT", body=cluster_body(2), expect=202)
    clock.advance("PT5M")
    assert cluster.counts()["idleNodeCount"] == 2
    began = len(tested.log())
    strict.reset(subscription=tested.subscription)
    wait_for(lambda: sum("node.removed" in line for line in tested.log()[began:]) == 2, what="its nodes are gone")
    place.make()


def test_what_is_held_up_goes_on_when_the_mode_is_switched_off(place, strict, clock):
    strict.set()
    cluster = place.cluster_at("c")
    cluster.call("PUT", body=cluster_body(1), expect=202)
    clock.advance("PT20S")
    assert cluster.properties["currentNodeCount"] == 0
    strict.off()
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 1, what="its node")


def test_each_node_and_job_that_waits_has_its_few_timers(place, strict, clock):
    """Not all of them look again whenever one does."""
    strict.rules({"duration": "PT1M"})
    strict.set()
    place.experiment()

    def timers(n):
        cluster = place.cluster_at(fresh("c"))
        cluster.call("PUT", body=cluster_body(n), expect=202)
        up = clock.advance("PT5M")["timers"]
        assert cluster.counts()["idleNodeCount"] == n
        jobs = [place.job_at(fresh("j")) for _ in range(n)]
        for job in jobs:
            job.call("PUT", body=job_body(cluster.path), expect=202)
        run = clock.advance("PT5M")["timers"]
        assert {job.state for job in jobs} == {"succeeded"}
        cluster.resize(0)
        down = clock.advance("PT10M")["timers"]
        assert cluster.properties["currentNodeCount"] == 0
        return up, run, down

    few, many = timers(10), timers(80)
    assert all(b <= 8 * a + 100 for a, b in zip(few, many, strict=True)), (few, many)


# --- Azure Batch --------------------------------------------------------------------------------------


@pytest.fixture
def ground(tested, hurried, clock):
    made = hurried(BatchGround(tested))
    clock.advance("PT1M")  # it is created
    return made


def test_nodes_of_a_pool_pass_through_their_states(ground, strict, clock):
    strict.set()
    plane = ground.plane
    add_pool(plane, "p", vmSize="fake", targetDedicatedNodes=1, startTask={"commandLine": "true", "waitForSuccess": True})

    def look():
        pool = plane.get("/pools/p")
        return pool["allocationState"], *(n["state"] for n in plane.all("/pools/p/nodes"))

    seen = seen_by(look, clock, "PT10S", lambda s: s[-1] == "idle")
    assert seen == [
        (("resizing",), 0),
        (("steady", "creating"), 90),
        (("steady", "starting"), 180),
        (("steady", "waitingforstarttask"), 210),
        (("steady", "idle"), 240),
    ]
    plane.call("DELETE", "/pools/p", expect=202)
    seen = seen_by(lambda: plane.call("GET", "/pools/p").json.get("state", "gone"), clock, "PT10S", lambda s: s == "gone")
    assert seen == [("deleting", 0), ("gone", 270)]


def test_jobs_and_tasks_of_batch_take_their_time(ground, strict, clock):
    plane = ground.plane
    add_pool(plane, "p", vmSize="fake", targetDedicatedNodes=1)
    clock.advance("PT1M")
    strict.set(taskStart="PT5S")
    job = Jobs(plane, "p")()
    job.add("train", id="t")
    seen = seen_by(lambda: job.task("t")["state"], clock, "PT1S", lambda s: s == "completed")
    assert seen == [("active", 0), ("completed", 5)]
    plane.call("POST", f"{job.url}/terminate", expect=202)
    seen = seen_by(lambda: job.get()["state"], clock, "PT1S", lambda s: s == "completed")
    assert seen == [("terminating", 0), ("completed", 2)]
    plane.call("DELETE", job.url, expect=202)
    seen = seen_by(lambda: plane.call("GET", job.url).json.get("state", "gone"), clock, "PT1S", lambda s: s == "gone")
    assert seen == [("deleting", 0), ("gone", 2)]


def test_batch_says_that_there_are_too_many_requests(ground, strict, clock):
    strict.set(batchRequestsPerSecond=2)
    seen = [ground.plane.call("GET", "/pools") for _ in range(3)]
    assert [r.status for r in seen] == [200, 200, 429]
    assert seen[2].json["code"] == "TooManyRequests" and seen[2].headers["Retry-After"] == "1"
    clock.advance("PT1S")
    ground.plane.call("GET", "/pools", expect=200)


def test_a_formula_is_enabled_once_in_half_a_minute(ground, strict, clock):
    plane = ground.plane
    add_pool(plane, "p", vmSize="fake", targetDedicatedNodes=0)
    clock.advance("PT10S")
    strict.set()
    formula = {"autoScaleFormula": "$TargetDedicatedNodes=0"}
    plane.call("POST", "/pools/p/enableautoscale", formula, expect=200)
    reply = plane.call("POST", "/pools/p/enableautoscale", formula)
    assert (reply.status, reply.json["code"], reply.headers["Retry-After"]) == (503, "TooManyEnableAutoScaleRequests", "30")
    clock.advance("PT30S")
    plane.call("POST", "/pools/p/enableautoscale", formula, expect=200)


def test_a_job_of_batch_is_seen_disabling_and_enabling(ground, strict, clock):
    plane = ground.plane
    strict.set()
    job = Jobs(plane, "none")()
    for action, body, seen in (("disable", {"disableTasks": "requeue"}, ["disabling", "disabled"]), ("enable", None, ["enabling", "active"])):
        plane.call("POST", f"{job.url}/{action}", body, expect=202)
        assert [s for s, _ in seen_by(lambda: job.get()["state"], clock, "PT1S", lambda s, end=seen[-1]: s == end)] == seen


def test_a_pool_takes_no_resize_while_it_is_resized_and_nothing_while_it_is_deleted(ground, strict, clock):
    strict.set()
    plane = ground.plane
    add_pool(plane, "p", vmSize="fake", targetDedicatedNodes=1)
    body = {"targetDedicatedNodes": 2}
    assert plane.call("POST", "/pools/p/resize", body).json["code"] == "PoolBeingResized"
    clock.advance("PT5M")
    plane.call("POST", "/pools/p/resize", body, expect=202)
    plane.call("DELETE", "/pools/p", expect=202)
    for method, path, body in (("DELETE", "/pools/p", None), ("POST", "/pools/p/resize", body), ("PATCH", "/pools/p", {"metadata": []})):
        reply = plane.call(method, path, body)
        assert (reply.status, reply.json["code"]) == (409, "PoolBeingDeleted"), (method, path)


def test_a_job_of_batch_takes_no_tasks_while_it_ends_or_goes(ground, strict, clock):
    plane = ground.plane
    strict.set()
    job = Jobs(plane, "none")()
    for method, path, code in (("POST", "/terminate", "JobBeingTerminated"), ("DELETE", "", "JobBeingDeleted")):
        plane.call(method, job.url + path, expect=202)
        reply = plane.call("POST", f"{job.url}/tasks", {"id": "late", "commandLine": "true"})
        assert (reply.status, reply.json["code"]) == (409, code)


def test_a_resize_that_takes_too_long_is_given_up(ground, strict, clock):
    strict.set(allocation="PT20M")
    plane = ground.plane
    add_pool(plane, "p", vmSize="fake", targetDedicatedNodes=2, resizeTimeout="PT5M")
    seen = seen_by(lambda: plane.get("/pools/p")["allocationState"], clock, "PT1M", lambda s: s == "steady")
    assert seen == [("resizing", 0), ("steady", 300)]
    pool = plane.get("/pools/p")
    assert pool["currentDedicatedNodes"] == 0 and pool["resizeErrors"][0]["code"] == "AllocationTimedout"


def test_an_account_of_batch_goes_by_and_by(ground, strict, clock):
    strict.set()
    place = ground.accounts.call("DELETE", f"/{ground.name}", expect=202).headers["Location"]
    polls = []
    while not polls or polls[-1] == 202:
        clock.advance("PT5S")
        polls.append(ground.accounts.daemon.call("GET", place, api_version=None, validate=False).status)
    assert polls == [202, 202, 200]


# --- with real nodes and real clients -----------------------------------------------------------------


def test_local_nodes_are_held_up_by_the_daemons_clock(own_daemon):
    d = own_daemon(arguments=["--ephemeral", "--testing", "--strict"])
    clock, place = Clock(d), Place(d, "lab", "ws").make()
    clock.change(rate=0)
    cluster = place.cluster_at("c")
    cluster.call("PUT", body=cluster_body(1), expect=202)
    clock.advance("PT89S")
    assert cluster.properties["currentNodeCount"] == 0
    clock.advance("PT1S")
    assert cluster.counts()["preparingNodeCount"] == 1
    clock.advance("PT119S")
    assert cluster.counts()["preparingNodeCount"] == 1
    clock.advance("PT1S")
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 1, what="its agent")
    cluster.resize(0)
    clock.advance("PT4M")
    assert cluster.counts()["leavingNodeCount"] == 1
    Strict(d).call("POST", "/strict", {"strict": False}, expect=200)
    wait_for(lambda: cluster.properties["currentNodeCount"] == 0, what="it is gone")


def test_a_restart_forgets_no_waiting_time(own_daemon):
    d = own_daemon(arguments=["--testing", "--strict", "--fake-nodes"])
    for pattern in ("node.link", "node.lost", "node.unusable"):
        d.expect_log(pattern)
    clock, place = Clock(d), Place(d, "lab", "ws").make()
    clock.change(rate=0)
    cluster = place.cluster_at("c")
    cluster.call("PUT", body=cluster_body(1), expect=202)
    d.restart()
    clock = Clock(d)
    clock.change(rate=0)
    clock.advance("PT60S")
    assert cluster.properties["currentNodeCount"] == 0
    clock.advance("PT40S")
    assert cluster.counts()["preparingNodeCount"] == 1
    clock.advance("PT10M")
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 1, what="its node")
    Strict(d).call("POST", "/strict", {"strict": False}, expect=200)
    clock.change(real=True)


def test_the_sdks_pollers_wait_as_they_are_told(tested, strict, clock, place):
    strict.set(fileServerCreation="PT5M")
    clock.change(rate=30)
    batchai, listener = sdk.client(tested)
    body = {
        "vm_size": "STANDARD_D1",
        "ssh_configuration": {"user_account_settings": {"admin_user_name": "demo", "admin_user_password": "pw"}},
        "data_disks": {"disk_size_in_gb": 10, "disk_count": 2, "storage_account_type": "Standard_LRS"},
    }
    began = clock.now()
    made = batchai.file_servers.begin_create(place.group, "ws", "f", body, polling_interval=2).result()
    assert (clock.now() - began).total_seconds() >= 300
    assert made.provisioning_state == "succeeded"
    polls = [x for x in listener.exchanges if "operationresults" in x.url]
    assert len(polls) > 2 and all("Retry-After" not in x.headers for x in polls)
    storage = StorageManagementClient(
        sdk.credential(tested),
        tested.subscription,
        base_url=tested.endpoint,
        credential_scopes=[tested.endpoint + "/.default"],
        connection_verify=tested.ca,
    )
    began = clock.now()
    account = {"location": "eastus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    made = storage.storage_accounts.begin_create(place.group, fresh("pollstore"), account).result()
    assert made.provisioning_state == "Succeeded"
    assert (clock.now() - began).total_seconds() >= 17
