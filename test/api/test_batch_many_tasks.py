# SPDX-License-Identifier: MIT
"""More tasks than one slice of a list, a filter or a deletion takes. They wait for a pool that does not exist."""

import pytest
from support.batch_fixtures import ground, plane  # noqa: F401 (fixtures)
from support.batch_jobs import Jobs

COLLECTIONS, EACH = 13, 100
TASKS = COLLECTIONS * EACH  # a filter is asked about 1,000 at a time


@pytest.fixture(scope="module")
def job(plane):
    made = Jobs(plane, "nowhere")
    job = made()
    for number in range(COLLECTIONS):
        tasks = [{"id": f"t{number:02}{n:02}", "commandLine": "/bin/true"} for n in range(EACH)]
        reply = plane.call("POST", f"{job.url}/addtaskcollection", {"value": tasks}, expect=200).json
        assert [r["status"] for r in reply["value"]] == ["Success"] * EACH
    yield job
    made.remove()


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
