# SPDX-License-Identifier: MIT
"""Large seeds are made in many turns of the loop: others are served meanwhile, and see all of it or nothing in the end."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from support.batch import Plane
from support.batch_jobs import POOL
from support.deep import DEEP
from support.seeds import CLUSTER, account, role, stored, t, with_vaults  # noqa: F401 (a fixture among them)
from support.small_disk import LOG_THROUGH_PIPE
from support.testing import Clock, Strict, Testing
from support.waiting import wait_for
from support.world import cluster_body, job_body

LARGE = 3000 if DEEP else 1000  # a slice of 5 ms makes some tens with sanitizers
ACCOUNT = "sliced"


@pytest.fixture
def strict(tested):
    made = Strict(tested)
    yield made
    made.forget()
    made.reset()


def jobs(n=LARGE, **last):
    """A group with so many jobs, of which the last one has more."""
    done = {**job_body(CLUSTER), "state": {"executionState": "succeeded", "exitCode": 0}}
    all = {f"j{i}": done for i in range(n - 1)} | {"last": {**done, **last}}
    ws = {"location": "eastus", "clusters": {"c": cluster_body(0, nodeSetup=None)}, "experiments": {"e": {"jobs": all}}}
    return {"groups": {"lab": {"location": "eastus", "workspaces": {"ws": ws}}}}


def tasks(n=LARGE, **job):
    done = {"commandLine": "true", "state": {"state": "completed", "exitCode": 0}}
    account = {
        "location": "eastus",
        "pools": {"p": {**POOL, "vmSize": "fake", "targetDedicatedNodes": 1}},
        "jobs": {"j": {"poolInfo": {"poolId": "p"}, "tasks": {f"t{i}": done for i in range(n)}, **job}},
    }
    return {"groups": {"lab": {"location": "eastus", "batchAccounts": {ACCOUNT: account}}}}


def groups(d, subscription=None):
    return [g["name"] for g in d.get(f"/subscriptions/{subscription or d.subscription}/resourcegroups")["value"]]


def statements(d):
    """How many statements the database has carried out."""
    return d.get("/batchaid/counters")["storage"]["statements"]


def state(d, group="lab"):
    found = d.call("GET", f"/subscriptions/{d.subscription}/resourceGroups/{group}", validate=False)
    return found.json["properties"]["provisioningState"] if found.status == 200 else None


@contextmanager
def being_seeded(d, seed):
    """The answer to come of a seed that is half there."""
    t = Testing(d)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(lambda: t.call("POST", "/seed", data=json.dumps(seed).encode()))
        wait_for(lambda: state(d) == "Creating" or asked.done(), what="the seed to be half there", every=0)
        assert not asked.done(), asked.result()
        yield asked


def plane(tested):
    keys = tested.call(
        "POST", f"/subscriptions/{tested.subscription}/resourceGroups/lab/providers/Microsoft.Batch/batchAccounts/{ACCOUNT}/listKeys",
        api_version="2022-10-01", expect=200,
    ).json  # fmt: skip
    return Plane(tested, ACCOUNT, keys["primary"])


def test_others_are_served_while_it_is_made_and_see_that_it_is_being_created(tested, t):
    with being_seeded(tested, jobs()) as asked:
        answered = 0
        while not asked.done():
            tested.get("/subscriptions")
            answered += 1
        assert asked.result().json == {"resourceGroups": 1, "resources": LARGE + 4}
    assert answered > 3 and state(tested) == "Succeeded"
    dumped = t.dump(subscription=tested.subscription)
    assert len(dumped["groups"]["lab"]["workspaces"]["ws"]["experiments"]["e"]["jobs"]) == LARGE
    t.seed_again(dumped, subscription=tested.subscription)


def test_what_is_wrong_at_its_end_leaves_nothing(tested, t):
    guid = str(uuid.uuid4())
    seed = jobs(state={"executionState": "gone"})
    seed["subscriptions"] = {guid: {"groups": {"other": {"location": "eastus"}}}}
    seed["roles"] = {"r": role()}
    reply = t.call("POST", "/seed", data=json.dumps(seed, indent=1).encode(), expect=400)
    assert "line " in reply.error["message"] and "groups.lab.workspaces.ws.experiments.e.jobs.last" in reply.error["message"]
    assert groups(tested) == [] and t.dump(subscription=tested.subscription) == {}
    assert guid not in {s["subscriptionId"] for s in tested.get("/subscriptions")["value"]}
    t.seed(jobs(3))
    assert groups(tested) == ["lab"]


@pytest.mark.parametrize("first", ["one", "zz"])
def test_a_group_that_is_there_is_left_alone(tested, t, first):
    t.seed(stored(shares={"out": {"files": {"f": "mine"}}}))
    before = t.dump(subscription=tested.subscription)
    seed = jobs()
    seed["groups"] = {"one": seed["groups"].pop("lab"), "lab": {"location": "eastus"}}
    seed = json.loads(json.dumps(seed).replace("resourceGroups/lab", "resourceGroups/one"))
    if first == "zz":
        seed["groups"] = dict(reversed(seed["groups"].items()))
    t.seed(seed, expect=409)
    assert t.dump(subscription=tested.subscription) == before


@pytest.mark.parametrize("how", ["reset", "deleted", "made again"])
def test_a_group_that_goes_meanwhile_ends_it(tested, t, how):
    group = f"/subscriptions/{tested.subscription}/resourceGroups/lab"
    with being_seeded(tested, jobs(8000)) as asked:
        if how == "deleted":
            tested.call("DELETE", group, expect=202)
        else:
            t.reset(subscription=tested.subscription)
        if how == "made again":
            tested.call("PUT", group, {"location": "westus"}, expect=201)
        reply = asked.result()
    assert reply.status == 409 and "was deleted while it was seeded" in reply.error["message"], reply
    if how == "made again":
        assert tested.get(group)["location"] == "westus" and t.dump(resourceGroup="lab")["groups"] == {"lab": {"location": "westus"}}
    else:
        wait_for(lambda: groups(tested) == [], what="the group to go")


def test_a_daemon_killed_in_the_middle_has_nothing_of_it(own_daemon):
    d = own_daemon(arguments=["--testing"])
    d.expect_log("testing.seed_unfinished")
    guid = str(uuid.uuid4())
    seed = jobs(8000)
    seed["subscriptions"] = {guid: {"groups": {"other": {"location": "eastus"}}}}
    with being_seeded(d, seed) as asked:
        d.kill9()
        assert asked.exception() is not None
    d.start()
    assert groups(d) == [] and guid not in {s["subscriptionId"] for s in d.get("/subscriptions")["value"]}
    Testing(d).seed(jobs(100))
    assert state(d) == "Succeeded"


def test_a_daemon_that_is_stopped_in_the_middle_has_all_of_it_or_nothing(own_daemon):
    d = own_daemon(arguments=["--testing"])
    d.expect_log("testing.seed_unfinished")
    with being_seeded(d, jobs(8000)) as asked:
        d.restart()
        done = asked.exception() is None and asked.result().status == 200
    assert groups(d) == (["lab"] if done else [])
    assert not done or state(d) == "Succeeded"


def on_a_small_disk(own_daemon, small_disk):
    d = own_daemon(state_dir=small_disk, prefix=LOG_THROUGH_PIPE, arguments=["--testing"])
    d.expect_log(r"db\.|request\.failed|pool\.decision_not_written")
    return d


def test_one_that_is_told_that_the_daemon_stops_leaves_no_complaint(own_daemon):
    d = own_daemon(arguments=["--testing"])
    seed = jobs()
    seed["groups"]["lab"]["storageAccounts"] = {f"stops{i}": account(shares={"out": {"files": {"f": "t"}}}) for i in range(10)}
    with being_seeded(d, seed) as asked:
        d.stop()
        assert asked.exception() is not None or asked.result().status == 503, asked.result()
    d.start()
    assert groups(d) == []


@pytest.mark.parametrize("n", [40, 1000])
def test_vaults_that_were_deleted_before_in_a_group_of_that_name_stay(tested, t, n):
    t.seed({"groups": {"lab": with_vaults(tested)["groups"]["past"]}})
    before = t.dump(subscription=tested.subscription)
    t.seed(jobs(n, state={"executionState": "gone"}), expect=400)
    assert t.dump(subscription=tested.subscription) == before


@pytest.mark.parametrize("n", [1300, 2000])
def test_a_disk_that_fills_leaves_nothing(small_disk, own_daemon, n):
    """With 1300 what fills the disk is the WAL, whose room the undo alone does not give back."""
    d = on_a_small_disk(own_daemon, small_disk)
    with being_seeded(d, jobs(n)) as asked:
        reply = asked.result()
    assert reply.status == 500 and "is full" in reply.error["message"], reply
    wait_for(lambda: groups(d) == [], what="what was written to go")
    wait_for(lambda: Testing(d).call("POST", "/seed", data=json.dumps(jobs(100)).encode()).status == 200, what="room again")
    assert state(d) == "Succeeded"


def test_a_disk_without_the_room_that_undoing_it_needs_takes_none_of_it(small_disk, own_daemon):
    d = on_a_small_disk(own_daemon, small_disk)
    reply = Testing(d).call("POST", "/seed", data=json.dumps(jobs(8000)).encode())
    assert reply.status == 500 and "has no room for this" in reply.error["message"], reply
    assert groups(d) == []
    Testing(d).seed(jobs(100))


# --- strict mode ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 300])
def test_what_it_makes_is_filled_in_strict_mode(tested, strict, n):
    strict.set()
    strict.seed(tasks(n))


def test_strict_mode_may_be_asked_for_while_it_is_seeded(tested, strict):
    with being_seeded(tested, tasks()) as asked:
        strict.set()
        assert asked.result().status == 200, asked.result()


# --- what half of it would mean is not carried out ---------------------------------------------------


def test_a_job_that_ends_with_its_tasks_does_not_end_before_they_are_there(tested, t):
    t.seed(tasks(onAllTasksComplete="terminatejob"))
    p = plane(tested)
    counts = p.get("/jobs/j/taskcounts")
    assert counts.get("taskCounts", counts)["completed"] == LARGE
    wait_for(lambda: p.get("/jobs/j")["state"] == "completed", what="the job to end")
    assert p.get("/jobs/j")["executionInfo"]["terminateReason"] == "AllTasksComplete"


def test_tasks_of_a_disabled_job_never_run(tested, t):
    waits = {f"w{i}": {"commandLine": "true"} for i in range(LARGE)}
    t.seed(tasks(1, tasks=waits, state={"state": "disabled"}))
    p = plane(tested)
    wait_for(lambda: [n["state"] for n in p.get("/pools/p/nodes")["value"]] == ["idle"], what="the node")
    counts = p.get("/jobs/j/taskcounts")
    assert counts.get("taskCounts", counts)["active"] == LARGE and p.get("/jobs/j")["state"] == "disabled"


def test_a_schedule_makes_no_job_before_it_is_due(tested, t):
    seed = tasks()
    schedule = {
        "schedule": {"recurrenceInterval": "PT1H"},
        "jobSpecification": {"poolInfo": {"poolId": "p"}},
        "state": {"state": "active", "jobs": 1, "nextRunTime": "2090-01-01T00:00:00Z"},
    }
    account = seed["groups"]["lab"]["batchAccounts"][ACCOUNT]
    account["jobSchedules"] = {"s": schedule}
    account["jobs"] = {"s:job-1": {"poolInfo": {"poolId": "p"}, "state": {"state": "completed"}}} | account["jobs"]
    t.seed(seed)
    p = plane(tested)
    p.call("PATCH", "/jobschedules/s", {"metadata": []}, expect=200)  # it is looked at again
    assert sorted(j["id"] for j in p.get("/jobs")["value"]) == ["j", "s:job-1"]


def test_a_dump_asks_for_no_tasks_of_jobs_without_tasks(tested, t):  # noqa: F811
    """Each list costs its time, and there may be thousands of such jobs."""
    seed, many = tasks(1), 300
    account = seed["groups"]["lab"]["batchAccounts"][ACCOUNT]
    account["jobs"] |= {f"empty{i}": {"poolInfo": {"poolId": "p"}} for i in range(many)}
    t.seed(seed)
    before = statements(tested)
    dumped = t.dump(subscription=tested.subscription)
    assert statements(tested) - before < 2 * many  # a list of tasks takes four
    jobs_of_account = dumped["groups"]["lab"]["batchAccounts"][ACCOUNT]["jobs"]
    assert len(jobs_of_account) == many + 1
    assert {name for name, job in jobs_of_account.items() if "tasks" in job} == {"j"}


@contextmanager
def being_dumped(d):
    """The answer to come of a dump."""
    t = Testing(d)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(lambda: t.dump(subscription=d.subscription))
        yield asked


def largest_part(d):
    """Of the statements of a dump, those between two answers that somebody else got meanwhile."""
    seen = [statements(d)]
    with being_dumped(d) as asked:
        while not asked.done():
            seen.append(statements(d))
        assert len(asked.result()["groups"]["lab"]["batchAccounts"][ACCOUNT]["jobs"]["j"]["tasks"]) == LARGE
    seen.append(statements(d))
    return max(b - a for a, b in zip(seen, seen[1:])) / (seen[-1] - seen[0])


def test_others_are_served_while_lists_are_asked_for(tested, t):  # noqa: F811
    t.seed(tasks())
    wait_for(lambda: largest_part(tested) < 0.5, what="a dump between whose parts somebody else was served", every=0)


def test_a_dump_is_of_one_instant(tested, t):  # noqa: F811
    """Each task of the job that is dumped first was made before one of the job that is dumped last."""
    seed = tasks()
    of_jobs = seed["groups"]["lab"]["batchAccounts"][ACCOUNT]["jobs"]
    of_jobs["z"] = {"poolInfo": {"poolId": "p"}, "tasks": {}}
    t.seed(seed)
    p, made = plane(tested), 0
    with being_dumped(tested) as asked:
        while not asked.done():
            for job in ("j", "z"):
                p.call("POST", f"/jobs/{job}/tasks", {"id": f"new{made}", "commandLine": "true"}, expect=201)
            made += 1
        dumped = asked.result()["groups"]["lab"]["batchAccounts"][ACCOUNT]["jobs"]
    n, last = len(dumped["j"]["tasks"]) - LARGE, len(dumped["z"].get("tasks", {}))
    assert made > 1 and n - last in (0, 1), (made, n, last)


def test_a_daemon_that_is_stopped_while_it_is_dumped_ends(own_daemon):
    d = own_daemon(arguments=["--testing"])
    Testing(d).seed(tasks())
    with being_dumped(d) as asked:
        for _ in range(3):
            d.get("/subscriptions")
        d.stop()
        assert asked.exception() is not None or asked.result()


def test_two_at_once_and_a_clock_that_is_taken_forward(own_daemon):
    d = own_daemon(arguments=["--ephemeral", "--testing"])
    t, ids = Testing(d), [str(uuid.uuid4()) for _ in range(2)]
    seeds = [{"subscriptions": {i: jobs()}} for i in ids]
    seeds = [json.loads(json.dumps(s).replace("{subscription}", i)) for s, i in zip(seeds, ids)]
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(lambda s=s: Testing(d).call("POST", "/seed", data=json.dumps(s).encode())) for s in seeds]
        moved = pool.submit(lambda: Clock(d).advance("PT1H"))
        assert [a.result().status for a in asked] == [200, 200], [a.result().text for a in asked]
        moved.result()
    for i in ids:
        assert len(t.dump(subscription=i)["groups"]["lab"]["workspaces"]["ws"]["experiments"]["e"]["jobs"]) == LARGE


