# SPDX-License-Identifier: MIT
"""Pools, jobs and tasks of Azure Batch of all accounts, in compact rows."""

import pytest
from support.batch import BatchGround
from support.batch_jobs import Job, add_pool
from support.people import Person
from support.waiting import wait_for

ARGUMENTS = ["--ephemeral", "--fake-nodes"]
EXPECTS = (".",)


class Site:
    """Two accounts: of the first a pool with a job of nine tasks, of the second a pool."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.first, self.second = sorted((BatchGround(daemon), BatchGround(daemon)), key=lambda g: g.name)
        for ground in (self.first, self.second):
            add_pool(ground.plane, "pool", vmSize="fake", targetDedicatedNodes=1)
        self.job = Job(self.first.plane, "pool")
        for i in range(9):
            self.job.add("true", id=f"t{i}")
        wait_for(lambda: self.list("tasks", account=self.first.name, job=self.job.id, state="completed")["value"][8:])

    def list(self, what, by=None, expect=200, **params):
        more = {"token": by.token()} if by else {}
        return self.daemon.call("GET", f"/batchaid/batch/{what}", api_version=None, params=params, expect=expect, **more).json

    def scope(self, ground):
        return f"{ground.accounts.path}/{ground.name}"

    def pages(self, what, size, **params):
        found = [self.list(what, max=size, **params)]
        while "next" in found[-1]:
            found.append(self.list(what, max=size, after=found[-1]["next"], **params))
            assert len(found) < 30
        return [row for page in found for row in page["value"]]


@pytest.fixture(scope="module")
def site(tested):
    return Site(tested)


def test_pools_of_all_accounts(site):
    rows = site.list("pools")["value"]
    mine = [r for r in rows if r["account"] in (site.first.name, site.second.name)]
    assert [(r["account"], r["name"]) for r in mine] == [(site.first.name, "pool"), (site.second.name, "pool")]
    assert (mine[0]["state"], mine[0]["vmSize"].lower(), mine[0]["targetDedicatedNodes"], mine[0]["autoScale"]) == ("active", "fake", 1, False)
    assert wait_for(lambda: site.list("pools", account=site.second.name)["value"][0]["allocationState"] == "steady")
    assert len(site.list("pools", account=site.second.name.upper())["value"]) == 1
    assert site.pages("pools", 1) == site.list("pools")["value"]


def test_jobs_count_their_tasks(site):
    (row,) = site.list("jobs", account=site.first.name)["value"]
    assert row["name"] == site.job.id and row["pool"] == "pool" and row["state"] == "active"
    assert row["tasks"] == {"active": 0, "running": 0, "succeeded": 9, "failed": 0}
    assert site.list("jobs", account=site.second.name)["value"] == []
    assert site.list("jobs", account=site.first.name, state="completed,disabled")["value"] == []


def test_tasks_of_a_job(site):
    of = {"account": site.first.name, "job": site.job.id}
    whole = site.list("tasks", **of)["value"]
    assert [t["name"] for t in whole] == [f"t{i}" for i in range(9)]
    assert whole[0]["state"] == "completed" and whole[0]["result"] == "success" and whole[0]["exitCode"] == 0 and whole[0]["node"]
    for size in (1, 2, 4, 9):
        assert site.pages("tasks", size, **of) == whole
    assert site.list("tasks", state="active", **of) == {"value": [], "count": 0}


def test_the_first_page_says_how_many_there_are(site):
    of = {"account": site.first.name, "job": site.job.id}
    assert site.list("tasks", **of)["count"] == 9
    assert "count" not in site.list("tasks", max=4, **of)
    first = site.list("tasks", max=4, count="true", **of)
    assert first["count"] == 9 and "countIsMinimum" not in first and len(first["value"]) == 4
    second = site.list("tasks", max=4, count="true", after=first["next"], **of)
    assert "count" not in second and [t["name"] for t in second["value"]] == ["t4", "t5", "t6", "t7"]
    assert site.list("tasks", max=4, count="true", state="active", **of) == {"value": [], "count": 0}
    assert site.list("pools", max=1, count="true")["count"] == len(site.list("pools")["value"])
    one = Person(site.daemon, "Reader", site.scope(site.first))
    assert site.list("pools", one, max=1, count="true")["count"] == 1


def test_each_sees_the_accounts_that_they_may_read(site, tested):
    one = Person(tested, "Reader", site.scope(site.first))
    assert {r["account"] for r in site.list("pools", one)["value"]} == {site.first.name}
    assert len(site.list("tasks", one, account=site.first.name, job=site.job.id)["value"]) == 9
    other = Person(tested, "Reader", site.scope(site.second))
    for what, params in (("pools", {}), ("jobs", {}), ("tasks", {"job": site.job.id})):
        error = site.list(what, other, expect=404, account=site.first.name, **params)["error"]
        assert site.first.name in error["message"] and error["target"] == "account"
    assert site.list("jobs", other) == {"value": [], "count": 0}
    # A place in an account that the caller may not read is no way into it.
    assert [r["account"] for r in site.list("pools", other, after=f"{site.first.name}/")["value"]] == [site.second.name]
    site.list("pools", Person(tested, "none"), expect=403)


@pytest.mark.parametrize("params", [{}, {"count": "true"}, {"state": "active"}])
def test_a_place_in_the_list_names_no_account_that_the_caller_may_not_read(site, temporary, params):
    third = BatchGround(site.daemon)
    add_pool(third.plane, "pool", vmSize="fake", targetDedicatedNodes=0)
    first, _, last = sorted((site.first, site.second, third), key=lambda g: g.name)
    reader = temporary(Person(site.daemon, "Reader", site.scope(first)))
    reader.give("Reader", site.scope(last))
    page = site.list("pools", reader, max=1, **params)
    assert page["value"][0]["account"] == first.name and page["next"].split("/")[0] in (first.name, last.name)
    page = site.list("pools", reader, max=1, after=page["next"], **params)
    assert page["value"][0]["account"] == last.name and "next" not in page


def test_who_may_submit_jobs_sees_them_without_the_account(site, temporary):
    """As the data plane has it: pools/read and jobs/read, but no batchAccounts/read."""
    submitter = temporary(Person(site.daemon, "Azure Batch Job Submitter", site.scope(site.first)))
    submitter.may_not("GET", site.scope(site.first), api_version="2019-08-01", validate=False)
    assert [(r["account"], r["name"]) for r in site.list("pools", submitter)["value"]] == [(site.first.name, "pool")]
    assert [r["name"] for r in site.list("jobs", submitter)["value"]] == [site.job.id]
    assert len(site.list("tasks", submitter, account=site.first.name, job=site.job.id)["value"]) == 9
    site.list("pools", submitter, account=site.second.name, expect=404)
    story = f"/batchaid/jobs/{site.first.accounts.group}/{site.first.name}/{site.job.id}/t0"
    assert submitter.get(story, api_version=None)["job"]["state"] == "succeeded"
    assert submitter.get("/batchaid/tasks", params={"job": site.job.id, "name": "t0"}, api_version=None)["value"]


@pytest.mark.parametrize(
    "what, params, words",
    [
        ("pools", {"state": "sleepy"}, ["'sleepy'", "pool", "active or deleting"]),
        ("jobs", {"state": "running"}, ["'running'", "job", "completed"]),
        ("pools", {"after": "x"}, ["'x'", "next"]),
        ("pools", {"max": "1001"}, ["'1001'", "1 to 1000"]),
        ("pools", {"count": "many"}, ["'many'", "true or false"]),
        ("tasks", {}, ["account is missing", "job=ID"]),
        ("tasks", {"account": "x"}, ["job is missing"]),
    ],
)
def test_bad_queries(site, what, params, words):
    message = site.list(what, expect=400, **params)["error"]["message"]
    assert all(w in message for w in words), message


def test_what_is_not_there(site):
    assert "'nosuch'" in site.list("pools", expect=404, account="nosuch")["error"]["message"]
    assert "'nosuch'" in site.list("tasks", expect=404, account=site.first.name, job="nosuch")["error"]["message"]
