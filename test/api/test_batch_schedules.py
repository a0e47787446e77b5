# SPDX-License-Identifier: MIT
"""Job schedules of Batch accounts: the jobs that they make, and what can be done with them."""

import re
from datetime import datetime, timedelta, timezone

import pytest
from support.batch import ETAG, V, BatchGround
from support.waiting import wait_for
from support.world import fresh, merge

INFINITE = "P10675199DT2H48M5.4775807S"


def body(name=None, **more):
    return merge({"id": name or fresh("sched"), "schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "nopool"}}}, more)


def instant(**delta):
    return (datetime.now(timezone.utc) + timedelta(**delta)).strftime("%Y-%m-%dT%H:%M:%S.%f0Z")


class Schedule:
    def __init__(self, plane, **more):
        sent = body(**more)
        self.plane, self.id = plane, sent["id"]
        self.path = f"/jobschedules/{self.id}"
        self.added = plane.call("POST", "/jobschedules", sent, expect=201)

    def get(self):
        return self.plane.get(self.path)

    @property
    def state(self):
        return self.get()["state"]

    def jobs(self, **params):
        return self.plane.all(f"{self.path}/jobs", **params)

    def job(self, number=1):
        return f"/jobs/{self.id}%3Ajob-{number}"

    def wait_job(self, number=1):
        """Its job of this number, once it is there."""
        return wait_for(lambda: next((j for j in self.jobs() if j["id"] == f"{self.id}:job-{number}"), None), 20)

    def act(self, what, status, **more):
        return self.plane.call("POST", f"{self.path}/{what}", expect=status, **more)

    def wait(self, state):
        wait_for(lambda: self.state == state, 20, lambda: f"{state}: {self.get()}")


def test_a_schedule_makes_its_first_job_at_once(plane):
    s = Schedule(plane, jobSpecification={"displayName": "one of many", "priority": 5, "metadata": [{"name": "a", "value": "b"}]})
    reply = s.added
    assert reply.headers["location"] == reply.headers["dataserviceid"] == plane.url + s.path
    assert ETAG.fullmatch(reply.headers["etag"]) and reply.headers["last-modified"]
    job = s.wait_job()
    assert (job["displayName"], job["priority"], job["state"]) == ("one of many", 5, "active")
    assert job["metadata"] == [{"name": "a", "value": "b"}] and job["poolInfo"] == {"poolId": "nopool"}
    assert plane.get(s.job())["url"].lower() == f"{plane.url}{s.job()}".lower()
    seen = s.get()
    assert seen["executionInfo"]["recentJob"]["id"] == f"{s.id}:job-1"
    assert seen["executionInfo"]["recentJob"]["url"].lower() == f"{plane.url}{s.job()}".lower()
    assert "nextRunTime" not in seen["executionInfo"] and "previousState" not in seen
    assert seen["schedule"] == {"startWindow": INFINITE} and seen["state"] == "active"
    assert seen["jobSpecification"]["constraints"] == {"maxWallClockTime": INFINITE, "maxTaskRetryCount": 0}
    plane.call("POST", f"{s.job()}/terminate", expect=202)
    s.wait("completed")
    assert s.get()["executionInfo"]["endTime"] and s.get()["previousState"] == "active"
    assert len(s.jobs()) == 1


def test_the_next_job_waits_for_its_time_and_for_the_one_before(plane):
    s = Schedule(plane, schedule={"recurrenceInterval": "PT1M"})
    s.wait_job()
    first = s.get()["executionInfo"]["nextRunTime"]
    assert instant() < first < instant(seconds=61)
    plane.call("POST", f"{s.job()}/terminate", expect=202)
    wait_for(lambda: plane.get(s.job())["state"] == "completed", 20)
    assert s.state == "active" and len(s.jobs()) == 1
    s.act("terminate", 202)
    s.wait("completed")


def test_a_schedule_that_may_not_run_yet_has_no_job(plane):
    s = Schedule(plane, schedule={"doNotRunUntil": instant(hours=1), "doNotRunAfter": instant(hours=2)})
    seen = s.get()
    assert seen["executionInfo"] == {"nextRunTime": seen["schedule"]["doNotRunUntil"]}
    assert s.jobs() == []
    s.plane.call("PATCH", s.path, {"schedule": {}}, expect=200)
    s.wait_job()
    assert "doNotRunUntil" not in s.get()["schedule"]


def test_a_schedule_that_may_not_go_on_yet_makes_no_next_job(plane):
    s = Schedule(plane, schedule={"recurrenceInterval": "PT1M"})
    s.wait_job()
    plane.call("PATCH", s.path, {"schedule": {"recurrenceInterval": "PT1M", "doNotRunUntil": instant(hours=1)}}, expect=200)
    seen = s.get()
    assert seen["executionInfo"]["nextRunTime"] == seen["schedule"]["doNotRunUntil"]


def test_one_whose_time_is_over_is_completed_without_a_job(plane):
    s = Schedule(plane, schedule={"doNotRunAfter": instant(hours=-1)})
    s.wait("completed")
    assert s.jobs() == []
    for what in ("disable", "enable", "terminate"):
        plane.refused(409, "JobScheduleCompleted", "POST", f"{s.path}/{what}")
    plane.refused(409, "JobScheduleCompleted", "PATCH", s.path, {"metadata": []})


def test_terminating_ends_the_job_and_deleting_takes_all(plane):
    s = Schedule(plane, schedule={"recurrenceInterval": "PT1H"})
    s.wait_job()
    reply = s.act("terminate", 202)
    assert reply.headers["dataserviceid"] == f"{plane.url}{s.path}/terminate" and reply.headers["etag"]
    s.wait("completed")
    assert plane.get(s.job())["executionInfo"]["terminateReason"] == "TerminateJobSchedule"
    assert "etag" not in plane.call("DELETE", s.path, expect=202).headers
    wait_for(lambda: plane.call("GET", s.path).status == 404, 20)
    assert plane.call("GET", s.job(), expect=404).json["code"] == "JobNotFound"
    plane.refused(404, "JobScheduleNotFound", "GET", s.path)
    assert plane.call("HEAD", s.path).status == 404


def test_a_disabled_schedule_makes_none_until_it_is_enabled(plane):
    s = Schedule(plane, schedule={"doNotRunUntil": instant(hours=1)})
    assert s.act("disable", 204).headers["etag"] != s.added.headers["etag"]
    plane.call("PATCH", s.path, {"schedule": {}}, expect=200)
    assert s.state == "disabled" and s.jobs() == []
    assert s.act("disable", 204).headers["etag"] == s.get()["eTag"]
    s.act("enable", 204)
    assert s.act("enable", 204).headers["etag"] == s.get()["eTag"]
    s.wait_job()
    assert s.state == "active"


def test_changes_replace_what_they_name(plane):
    s = Schedule(plane, schedule={"doNotRunUntil": instant(hours=1)}, metadata=[{"name": "a", "value": "b"}])
    was = s.get()
    reply = plane.call("PATCH", s.path, {"jobSpecification": {"poolInfo": {"poolId": "other"}, "priority": 7}}, expect=200)
    seen = s.get()
    assert reply.headers["etag"] == seen["eTag"] != was["eTag"]
    assert seen["jobSpecification"]["priority"] == 7 and seen["metadata"] == was["metadata"]
    assert seen["schedule"] == was["schedule"]
    plane.call("PUT", s.path, {"schedule": {"recurrenceInterval": "PT90M"}, "jobSpecification": {"poolInfo": {"poolId": "p"}}}, expect=200)
    seen = s.get()
    assert "metadata" not in seen and seen["schedule"] == {"startWindow": INFINITE, "recurrenceInterval": "PT1H30M"}
    values = plane.refused(400, "MissingRequiredProperty", "PUT", s.path, {"schedule": {}})
    assert values["PropertyName"] == "jobSpecification"


def test_conditions_on_etag_and_time(plane):
    s = Schedule(plane, schedule={"doNotRunUntil": instant(hours=1)})
    etag, when = s.added.headers["etag"], s.added.headers["last-modified"]
    early = "Thu, 07 Jun 2018 21:34:00 GMT"
    get = lambda **h: plane.call("GET", s.path, headers={k.replace("_", "-"): v for k, v in h.items()})  # noqa: E731
    assert get(If_Match=etag).status == get(If_Match="*").status == get(If_None_Match="0x1").status == 200
    assert get(If_None_Match=etag).status == get(If_Modified_Since=when).status == 304
    assert get(If_Match="0x1").json["code"] == get(If_Unmodified_Since=early).json["code"] == "ConditionNotMet"
    assert get(If_Match="0x1").status == get(If_Unmodified_Since=early).status == 412
    assert get(If_Unmodified_Since=when).status == get(If_Modified_Since=early).status == 200
    assert get(If_Match=etag, If_None_Match="0x1").json["code"] == "MultipleConditionHeadersNotSupported"
    assert get(If_Match=etag, If_Unmodified_Since=early).status == 200
    assert get(If_Modified_Since="yesterday").json["code"] == "InvalidHeaderValue"
    plane.refused(412, "ConditionNotMet", "PATCH", s.path, {"metadata": []}, headers={"If-Match": "0x1"})
    plane.refused(412, "ConditionNotMet", "POST", s.path + "/disable", headers={"If-None-Match": etag})
    plane.call("DELETE", s.path, headers={"If-Match": etag}, expect=202)


def test_ids_are_unique_among_jobs_and_schedules(plane):
    s = Schedule(plane, schedule={"doNotRunUntil": instant(hours=1)})
    plane.refused(409, "JobScheduleExists", "POST", "/jobschedules", body(s.id.upper()))
    job = fresh("job")
    plane.call("POST", "/jobs", {"id": job, "poolInfo": {"poolId": "nopool"}}, expect=201)
    plane.refused(409, "JobWithSameIdExists", "POST", "/jobschedules", body(job))
    plane.refused(409, "JobScheduleWithSameIdExists", "POST", "/jobs", {"id": s.id, "poolInfo": {"poolId": "nopool"}})


def test_schedules_are_listed_and_filtered(ground):
    name = ground.accounts.account()
    plane = type(ground.plane)(ground.plane.daemon, name, ground.accounts.keys(name)[0])
    later = instant(hours=1)
    ids = [Schedule(plane, name=f"s{i}", schedule={"doNotRunUntil": later} if i else {}).id for i in range(4)]
    assert [s["id"] for s in plane.all("/jobschedules", maxresults=1)] == ids
    plane.call("POST", "/jobschedules/s3/disable", expect=204)

    def filtered(text):
        return [s["id"] for s in plane.all("/jobschedules", maxresults=2, **{"$filter": text})]

    assert filtered("state eq 'disabled'") == ["s3"] and filtered("state ne 'disabled'") == ["s0", "s1", "s2"]
    assert filtered("startswith(id,'S') and id gt 's1'") == ["s2", "s3"]
    assert filtered(f"schedule/doNotRunUntil ge datetime'{later[:19]}Z'") == ["s1", "s2", "s3"]
    assert filtered("not (schedule/doNotRunUntil gt datetime'2018-06-07T21:34:00Z')") == ["s0"]
    assert filtered("executionInfo/endTime gt datetime'2018-06-07T21:34:00Z'") == []
    assert filtered("(id eq 's0' or id eq 's2') and creationTime gt datetime'2018-06-07T21:34:00Z'") == ["s0", "s2"]
    page = plane.get("/jobschedules", **{"$select": "id, state", "$expand": "stats"})
    assert [sorted(s) for s in page["value"]] == [["id", "state"]] * 4
    s0 = f"/jobschedules/{ids[0]}"
    wait_for(lambda: plane.get(f"{s0}/jobs")["value"], 20)
    assert plane.all(f"{s0}/jobs", **{"$filter": "state eq 'completed'"}) == []
    assert len(plane.all(f"{s0}/jobs", **{"$filter": "state eq 'active'", "$select": "id"})) == 1


@pytest.mark.parametrize(
    "change, code, name",
    [
        ({"id": "a b"}, "InvalidPropertyValue", "id"),
        ({"id": None}, "MissingRequiredProperty", "id"),
        ({"schedule": None}, "MissingRequiredProperty", "schedule"),
        ({"schedule": {"recurrenceInterval": "PT59S"}}, "InvalidPropertyValue", "schedule.recurrenceInterval"),
        ({"schedule": {"startWindow": "PT1S"}}, "InvalidPropertyValue", "schedule.startWindow"),
        ({"schedule": {"doNotRunUntil": "soon"}}, "InvalidPropertyValue", "schedule.doNotRunUntil"),
        (
            {"schedule": {"doNotRunUntil": "2030-01-02T00:00:00Z", "doNotRunAfter": "2030-01-01T00:00:00Z"}},
            "InvalidPropertyValue",
            "schedule.doNotRunAfter",
        ),
        ({"schedule": {"every": "day"}}, "InvalidRequestBody", "schedule.every"),
        ({"jobSpecification": None}, "MissingRequiredProperty", "jobSpecification"),
        ({"jobSpecification": {"priority": 1001}}, "InvalidPropertyValue", "jobSpecification.priority"),
        ({"jobSpecification": {"id": "x"}}, "InvalidRequestBody", "jobSpecification.id"),
    ],
)
def test_wrong_schedules_are_refused(plane, change, code, name):
    sent = body(**change)
    assert plane.refused(400, code, "POST", "/jobschedules", sent)["PropertyName"] == name
    assert plane.call("GET", f"/jobschedules/{sent.get('id', 'x').replace(' ', '%20')}").status == 404


def test_an_old_version_sees_what_it_knows(plane):
    s = Schedule(plane, schedule={"doNotRunUntil": instant(hours=1)})
    assert "allowTaskPreemption" in s.get()["jobSpecification"]
    assert "allowTaskPreemption" not in plane.at(V["6.0"]).get(s.path)["jobSpecification"]


def test_schedules_go_on_after_a_restart(own_daemon):
    d = own_daemon()
    s = Schedule(BatchGround(d).plane, schedule={"recurrenceInterval": "PT1H"})
    s.wait_job()
    d.restart()
    assert len(s.jobs()) == 1 and s.state == "active"
    s.act("terminate", 202)
    s.wait("completed")
    assert re.fullmatch(r"\S+:job-1", s.get()["executionInfo"]["recentJob"]["id"])
