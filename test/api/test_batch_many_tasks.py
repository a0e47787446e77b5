# SPDX-License-Identifier: MIT
"""More tasks, and more jobs, than one slice of a list, a filter or a deletion takes. They wait for a pool that does not exist."""

import pytest
from support.batch_jobs import Jobs
from support.waiting import wait_for

COLLECTIONS, EACH = 13, 100
TASKS = COLLECTIONS * EACH  # a filter is asked about 1,000 at a time


@pytest.fixture(scope="module")
def job(plane, temporary_in_file):
    job = temporary_in_file(Jobs(plane, "nowhere"))()
    for number in range(COLLECTIONS):
        tasks = [{"id": f"t{number:02}{n:02}", "commandLine": "/bin/true"} for n in range(EACH)]
        reply = plane.call("POST", f"{job.url}/addtaskcollection", {"value": tasks}, expect=200).json
        assert [r["status"] for r in reply["value"]] == ["Success"] * EACH
    return job


@pytest.fixture
def names():
    return [f"t{number:02}{n:02}" for number in range(COLLECTIONS) for n in range(EACH)]


def ids(tasks):
    return [t["id"] for t in tasks]


def test_all_are_counted(job, plane):
    assert plane.get(f"{job.url}/taskcounts")["taskCounts"]["active"] == TASKS


@pytest.mark.parametrize("most", [7, 100, 128, 999, 1000])
def test_pages_have_each_once(job, plane, names, most):
    assert ids(plane.all(f"{job.url}/tasks", maxresults=most, **{"$select": "id"})) == names


@pytest.mark.parametrize("filter, wanted", [
    ("id eq 't1299'", lambda n: n == "t1299"),
    ("startswith(id, 't12')", lambda n: n.startswith("t12")),
    ("state eq 'active' and id ge 't0950' and id lt 't1005'", lambda n: "t0950" <= n < "t1005"),
    ("state eq 'completed'", lambda n: False),
    ("id ne 't0000'", lambda n: n != "t0000"),
])  # fmt: skip
@pytest.mark.parametrize("most", [10, 1000])
def test_a_filter_finds_them_wherever_they_are(job, plane, names, most, filter, wanted):
    found = plane.all(f"{job.url}/tasks", maxresults=most, **{"$filter": filter, "$select": "id"})
    assert ids(found) == [n for n in names if wanted(n)]


# --- jobs ------------------------------------------------------------------------------------------------------------

JOBS = 300


@pytest.fixture(scope="module")
def many(plane, temporary_in_file):
    """Their names; every third has another priority and is disabled."""
    made = temporary_in_file(Jobs(plane, "nowhere"))
    for n in range(JOBS):
        made(id=f"many{n:03}")
    for n in range(0, JOBS, 3):
        plane.call("POST", f"/jobs/many{n:03}/disable", {"disableTasks": "terminate"}, expect=202)
    return [f"many{n:03}" for n in range(JOBS)]


@pytest.mark.parametrize("most", [7, 128, 129, 1000])
def test_pages_of_jobs_have_each_once(many, plane, most):
    found = plane.all("/jobs", maxresults=most, **{"$filter": "startswith(id, 'many')", "$select": "id"})
    assert ids(found) == many
    assert set(many) < set(ids(plane.all("/jobs", maxresults=most)))


def test_a_filter_finds_jobs_wherever_they_are(many, plane):
    wait_for(lambda: ids(plane.all("/jobs", **{"$filter": "state eq 'disabled'"})) == many[::3], what="disabled jobs")
    text = {"$filter": "state ne 'disabled' and id gt 'many150' and id lt 'many160'", "$expand": "stats"}
    found = plane.all("/jobs", maxresults=2, **text)
    assert ids(found) == [n for i, n in enumerate(many) if 150 < i < 160 and i % 3]
    assert all(job["stats"]["numSucceededTasks"] == "0" for job in found)
