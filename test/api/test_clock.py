# SPDX-License-Identifier: MIT
"""The clock of a daemon with --testing: stopped, scaled, taken forward; and what follows it."""

import json
import time
from datetime import datetime, timedelta, timezone

import pytest
import requests
from support.batch import BatchGround
from support.batch_jobs import add_pool
from support.refusals import INVALID, refused
from support.testing import instant6
from support.testing_fixtures import place  # noqa: F401 (a fixture)
from support.world import instant

ARGUMENTS = ("--ephemeral",)
CLOCK = {"rate": 0}
HOUR = timedelta(hours=1)


def fake_cluster(place, clock, nodes=1, **more):
    """Made while time runs; it stands still then."""
    clock.change(rate=1)
    cluster = place.cluster(nodes, vmSize="FAKE", **more)
    clock.change(rate=0)
    return cluster


# --- the clock itself -----------------------------------------------------------------------------


def test_it_stands_runs_and_is_taken_forward(clock):
    first = clock.look()
    assert clock.look()["time"] == first["time"] and not first["real"] and first["rate"] == 0
    clock.advance("PT6H")
    assert clock.now() - instant6(first["time"]) == 6 * HOUR
    clock.change(advanceTo=(clock.now() + HOUR).strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    assert clock.now() - instant6(first["time"]) == 7 * HOUR
    clock.change(rate=100000)
    time.sleep(0.1)
    assert clock.now() - instant6(first["time"]) > 8 * HOUR
    clock.change(real=True)
    assert abs(clock.now() - datetime.now(timezone.utc)) < timedelta(seconds=30) and clock.look()["real"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"advance": "6 hours"}, ["advance", "PT6H"]),
        ({"advance": "P400D"}, ["366 days"]),
        ({"advanceTo": "tomorrow"}, ["advanceTo", "2026-"]),
        ({"advanceTo": "2001-01-01T00:00:00Z"}, ["past", "real"]),
        ({"rate": -1}, ["rate"]),
        ({"rate": "fast"}, ["rate"]),
        ({"rate": 1e7}, ["1000000"]),
        ({"real": True, "rate": 1}, ["alone"]),
        ({"advance": "PT1S", "advanceTo": "2030-01-01T00:00:00Z"}, ["advanceTo"]),
        ({"stop": True}, ["stop", "rate"]),
    ],
)
def test_what_makes_no_sense_changes_nothing(clock, body, words):
    before = clock.look()["time"]
    refused(clock.call("POST", body), 400, INVALID, words=words)
    assert clock.look()["time"] == before


def test_nothing_asked_for(clock):
    refused(clock.call("POST", {}), 400, "MissingRequiredProperty", words=["advance"])


def test_without_testing_there_is_no_clock(daemon):
    refused(daemon.call("GET", "/batchaid/clock", validate=False), 404, "TestingIsOff")


# --- jobs -----------------------------------------------------------------------------------------


def test_a_job_of_six_hours_ends_now(place, clock, t):
    t.rules({"duration": "PT6H", "stdout": ["began", {"at": "PT5H", "text": "late"}]})
    job = place.job(fake_cluster(place, clock)).running()
    began = clock.now()
    clock.advance("PT5H")
    assert job.state == "running" and job.read("stdout.txt") == "began\nlate\n"
    clock.advance("PT1H")
    info = job.succeed()["executionInfo"]
    assert instant(info["endTime"]) - instant(info["startTime"]) == 6 * HOUR
    assert abs(instant(info["startTime"]) - began) < timedelta(seconds=1)


def test_a_time_limit_is_kept_to_the_second(place, clock, t):
    t.rules({"duration": "PT6H"})
    job = place.job(fake_cluster(place, clock), constraints={"maxWallClockTime": "PT1H"}).running()
    clock.advance("PT6H")
    info = job.fail()["executionInfo"]
    ran = instant(info["endTime"]) - instant(info["startTime"])
    assert HOUR <= ran < HOUR + timedelta(seconds=30), ran
    assert "PT1H" in json.dumps(info["errors"]) or "limit" in json.dumps(info["errors"])


def test_jobs_one_after_the_other(place, clock, t):
    """Each begins when the one before has ended, hours later: what follows a timer comes before the next."""
    t.rules({"duration": "PT2H"})
    cluster = fake_cluster(place, clock)
    jobs = [place.job(cluster) for _ in range(3)]
    jobs[0].wait("running")
    clock.advance("PT6H")
    infos = [job.succeed()["executionInfo"] for job in jobs]
    for one, other in zip(infos, infos[1:]):
        assert timedelta(0) <= instant(other["startTime"]) - instant(one["endTime"]) < timedelta(seconds=5)


def test_a_cluster_scales_down_when_it_has_idled(place, clock, t):
    t.rules({"duration": "PT1H"})
    scale = {"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 2}, "manual": None}
    cluster = fake_cluster(place, clock, 0, scaleSettings=scale)
    job = place.job(cluster, nodes=2)
    clock.advance("PT1M")
    job.wait("running")
    clock.advance("PT2H")
    job.succeed()
    assert cluster.properties["currentNodeCount"] == 0


def test_to_what_is_due_next(place, clock, t):
    t.rules({"duration": "PT3H"})
    job = place.job(fake_cluster(place, clock)).running()
    for _ in range(2000):
        clock.advance("next")
        if job.state == "succeeded":
            break
    info = job.succeed()["executionInfo"]
    assert instant(info["endTime"]) - instant(info["startTime"]) == 3 * HOUR


# --- tokens, links --------------------------------------------------------------------------------


def test_tokens_run_out(tested, clock):
    path = f"/subscriptions/{tested.subscription}/resourcegroups"
    assert tested.call("GET", path).status == 200
    clock.advance("P2D", keep_token=True)
    assert tested.call("GET", path).status == 401
    tested.forget_token()
    assert tested.call("GET", path).status == 200


def test_links_run_out(place, clock, tested):
    link = place.job(fake_cluster(place, clock)).succeeded().link("stdout.txt")
    assert requests.get(link, verify=tested.ca, timeout=10).status_code == 200
    clock.advance("PT2H")
    assert requests.get(link, verify=tested.ca, timeout=10).status_code == 403


# --- Azure Batch ----------------------------------------------------------------------------------


def test_schedules_and_formulas_of_azure_batch(tested, clock, t, temporary):
    clock.change(rate=1)
    plane = temporary(BatchGround(tested)).plane
    formula = "$TargetDedicatedNodes = 1; $NodeDeallocationOption = taskcompletion;"
    add_pool(plane, "scaled", vmSize="fake", enableAutoScale=True, autoScaleFormula=formula, autoScaleEvaluationInterval="PT5M")
    plane.call(
        "POST",
        "/jobschedules",
        {
            "id": "hourly",
            "schedule": {"recurrenceInterval": "PT1H"},
            "jobSpecification": {"poolInfo": {"poolId": "scaled"}, "onAllTasksComplete": "terminatejob",
                                 "jobManagerTask": {"id": "m", "commandLine": "manage"}},
        },  # fmt: skip
        expect=201,
    )
    clock.change(rate=0)
    clock.advance("PT4H30M")
    jobs = plane.all("/jobschedules/hourly/jobs")
    assert len(jobs) == 5 and all(j["state"] == "completed" for j in jobs), jobs
    runs = plane.get("/pools/scaled")["autoScaleRun"]["timestamp"]
    assert clock.now() - instant6(runs) <= timedelta(minutes=5)
    plane.call("DELETE", "/jobschedules/hourly", expect=202)
    plane.call("DELETE", "/pools/scaled", expect=202)
    clock.change(real=True)
