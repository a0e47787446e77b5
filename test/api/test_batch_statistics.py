# SPDX-License-Identifier: MIT
"""What an account has used; and the versions of cloud services."""

import json
import os
from datetime import datetime, timedelta, timezone

import pytest
from support import batch
from support.batch import V, VERSIONS
from support.batch_jobs import Jobs, add_pool
from support.waiting import wait_for
from support.world import fresh

WITH_LIFETIMES = [v for v in VERSIONS if not batch.before(V["16.0"], v)]


@pytest.fixture(scope="module")
def used(plane):
    """A pool whose two tasks have ended, one of them with a failure."""
    add_pool(plane, "used", targetDedicatedNodes=1)
    jobs = Jobs(plane, "used")
    job = jobs()
    job.wait(job.add("/bin/true"), job.add("/bin/false"))
    yield "used"
    jobs.remove()
    plane.call("DELETE", "/pools/used", expect=202)


@pytest.mark.parametrize("version", WITH_LIFETIMES)
def test_lifetime_statistics_count_what_is_there(plane, used, version):
    jobs = plane.at(version).get("/lifetimejobstats")
    assert (jobs["numSucceededTasks"], jobs["numFailedTasks"]) == ("1", "1")
    assert jobs.pop("odata.metadata").endswith("#jobstats/@Element") and jobs["url"] == f"{plane.url}/lifetimejobstats"
    pools = plane.at(version).get("/lifetimepoolstats")
    assert pools["odata.metadata"].endswith("#poolstats/@Element") and pools["startTime"] < pools["lastUpdateTime"]
    assert pools["usageStats"]["dedicatedCoreTime"] not in ("", "PT0S")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_pools_statistics_are_shown_to_those_who_ask(plane, used, version):
    at = plane.at(version)
    assert "stats" not in at.get(f"/pools/{used}")
    stats = at.get(f"/pools/{used}", **{"$expand": "stats"})["stats"]
    assert stats["url"] == f"{plane.url}/pools/{used}" and stats["startTime"] < stats["lastUpdateTime"]
    assert stats["usageStats"]["dedicatedCoreTime"] not in ("", "PT0S")
    assert stats["resourceStats"]["avgCPUPercentage"] == 0, "no sample was taken of a pool without a formula"
    (listed,) = [p for p in at.get("/pools", **{"$expand": "stats"})["value"] if p["id"] == used]
    assert listed["stats"]["url"] == stats["url"]


def test_the_time_of_low_priority_nodes_is_no_dedicated_core_time(plane):
    name = fresh("low")
    add_pool(plane, name, targetDedicatedNodes=0, targetLowPriorityNodes=1)
    wait_for(lambda: plane.get(f"/pools/{name}")["currentLowPriorityNodes"] == 1, what="its node")
    seen = plane.get(f"/pools/{name}", **{"$expand": "stats"})
    assert seen["stats"]["usageStats"]["dedicatedCoreTime"] == "PT0S"
    (usage,) = plane.get("/poolusagemetrics", starttime=ago(hours=1), endtime=ago(hours=-1), **{"$filter": f"poolId eq '{name}'"})["value"]
    assert usage["totalCoreHours"] > 0
    plane.call("DELETE", f"/pools/{name}", expect=202)
    wait_for(lambda: plane.call("GET", f"/pools/{name}").status == 404, what="it is gone")


def ago(**more):
    return (datetime.now(timezone.utc) - timedelta(**more)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("version", VERSIONS)
def test_usage_is_of_nodes_that_are_there(plane, used, version):
    at = plane.at(version)
    before = at.get("/poolusagemetrics", starttime=ago(days=2), endtime=ago(days=1))["value"]
    last_half_hour = at.get("/poolusagemetrics", **{"$filter": f"poolId eq '{used}'"})["value"]
    assert before == last_half_hour == []
    (now,) = at.get("/poolusagemetrics", starttime=ago(hours=1), endtime=ago(hours=-1))["value"]
    assert now["totalCoreHours"] > 0 and now["vmSize"] == "standard_d2_v3"
    assert at.get("/poolusagemetrics", **{"$filter": "poolId eq 'other'"})["value"] == []
    for params in ({"starttime": "yesterday"}, {"endtime": "x"}, {"starttime": ago(days=1), "endtime": ago(days=2)}, {"$filter": "vmSize eq 'a'"}):
        values = at.refused(400, "InvalidQueryParameterValue", "GET", "/poolusagemetrics", params=params)
        assert values["QueryParameterName"] in params


def test_usage_has_no_hours_of_the_future(plane, used):
    (year,) = plane.get("/poolusagemetrics", starttime=ago(hours=1), endtime=ago(days=-365), **{"$filter": f"poolId eq '{used}'"})["value"]
    assert 0 < year["totalCoreHours"] <= os.cpu_count()


def test_pages_of_usage_go_on_behind_pools_that_were_not_there_then(plane, used):
    early, late = fresh("z-early"), fresh("a-late")
    add_pool(plane, early)
    add_pool(plane, late)
    until = plane.get(f"/pools/{late}")["creationTime"]
    listed = plane.all("/poolusagemetrics", maxresults=1, starttime=ago(hours=1), endtime=until)
    assert [row["poolId"] for row in listed] == [used, early]
    for name in (early, late):
        plane.call("DELETE", f"/pools/{name}", expect=202)


def test_the_version_of_a_cloud_service_is_changed_by_name(plane):
    name, old = fresh("cloud"), plane.at(V["7.0"])
    body = {"id": name, "vmSize": "small", "cloudServiceConfiguration": {"osFamily": "5"}}
    old.call("POST", "/pools", body, expect=201)
    path = f"/pools/{name}/upgradeos"
    reply = old.call("POST", path, {"targetOSVersion": "WA-GUEST-OS-5.0"}, expect=202)
    assert reply.headers["dataserviceid"] == plane.url + path
    seen = old.get(f"/pools/{name}")
    assert seen["cloudServiceConfiguration"]["targetOSVersion"] == "WA-GUEST-OS-5.0" and seen["eTag"] == reply.headers["etag"]
    old.refused(400, "PoolVersionEqualsUpgradeVersion", "POST", path, {"targetOSVersion": "WA-GUEST-OS-5.0"})
    old.refused(400, "MissingRequiredProperty", "POST", path, {})
    old.refused(412, "ConditionNotMet", "POST", path, {"targetOSVersion": "*"}, headers={"If-Match": "0x8D000000000000"})
    old.refused(404, "PoolNotFound", "POST", "/pools/nothing/upgradeos", {"targetOSVersion": "*"})
    plane.call("DELETE", f"/pools/{name}", expect=202)


def test_machines_have_no_such_version(plane, used):
    wait_for(lambda: plane.get(f"/pools/{used}")["allocationState"] == "steady")
    old = plane.at(V["6.0"])
    old.refused(409, "OperationNotValidOnPool", "POST", f"/pools/{used}/upgradeos", {"targetOSVersion": "*"})


@pytest.mark.parametrize("version", WITH_LIFETIMES)
def test_what_a_task_used_is_in_its_statistics_and_its_jobs(plane, used, version):
    """Nothing is there before the end of the task's allocation, a moment after that of the task."""
    def cpu(stats):
        return sum(float(stats[k].removeprefix("PT").removesuffix("S")) for k in ("userCPUTime", "kernelCPUTime"))

    jobs = Jobs(plane, "used")
    job = jobs()
    job.wait(job.add("/usr/bin/python3 -c 'import time\nwhile time.process_time() < 0.3: pass'"))
    at = plane.at(version)
    (task,) = at.get(f"/jobs/{job.id}/tasks")["value"]
    stats = wait_for(lambda: (got := at.get(f"/jobs/{job.id}/tasks/{task['id']}", **{"$expand": "stats"})["stats"])
                     and cpu(got) > 0 and got)
    assert 0.3 <= cpu(stats) < 10
    assert cpu(at.get(f"/jobs/{job.id}", **{"$expand": "stats"})["stats"]) == cpu(stats)
    assert cpu(at.get("/lifetimejobstats")) >= cpu(stats)
    jobs.remove()


def test_the_commands_tell_what_a_task_used(plane, used, temporary):
    def cpu_us(stats):
        return [round(float(stats[k].removeprefix("PT").removesuffix("S")) * 1e6) for k in ("userCPUTime", "kernelCPUTime")]

    job = temporary(Jobs(plane, used))()
    task = job.add("/usr/bin/python3 -c 'import time\nwhile time.process_time() < 0.3: pass'")
    job.wait(task)
    d = plane.daemon
    told = lambda: json.loads(d.tool("job", "--json", f"{job.id}/{task}").stdout)
    got = wait_for(lambda: (said := told())["use"]["attempts"] > 0 and said, what="the end of its allocation")
    use, place = got["use"], f"{got['job']['resourceGroup']}/{plane.account}/{job.id}"
    stats = plane.get(f"{job.url}/tasks/{task}", **{"$expand": "stats"})["stats"]
    assert cpu_us(stats) == [use["userMicroseconds"], use["kernelMicroseconds"]] and sum(cpu_us(stats)) >= 300_000
    assert use["runs"] == 1 and use["unmeasured"] == 0
    lines = d.tool("job", f"{place}/{task}").stdout.splitlines()
    assert lines[0].startswith(f"{task} in {place}, ") and lines[-1].endswith("too short for advice.")
    rows = {v["name"]: v for v in json.loads(d.tool("report", "--by", "experiment", "--json").stdout)["value"]}
    assert {**rows[place], "name": ""} == {**use, "name": ""}
