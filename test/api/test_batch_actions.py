# SPDX-License-Identifier: MIT
"""Jobs and tasks of Azure Batch at the daemon's own paths: with a login, and with the rights of the data plane."""

import pytest
from support.browser import Browser, first, good, refused
from support.people import Person
from support.waiting import wait_for

OWN_POOL = {"id": "pool", "targetDedicatedNodes": 1, "taskSlotsPerNode": 2}


@pytest.fixture
def job(jobs):
    return jobs()


class Actions:
    def __init__(self, daemon, ground, job):
        self.daemon = daemon
        self.path = f"/batchaid/batch/{ground.name}/jobs/{job.id}"

    def call(self, method, path="", body=None, by=None, **more):
        return (by or self.daemon).call(method, self.path + path, body, api_version=None, **more)

    def refused(self, method, path, status, code, *texts, body=None):
        reply = self.call(method, path, body, expect=status)
        assert reply.error["code"] == code and all(text in reply.error["message"] for text in texts), reply.error


@pytest.fixture
def actions(daemon, ground, job):
    return Actions(daemon, ground, job)


def test_a_task_is_terminated_and_deleted(actions, job):
    task = job.begin("sleep 1000")
    actions.call("POST", f"/tasks/{task}/terminate", expect=204)
    (done,) = job.wait(task)
    assert done["executionInfo"]["failureInfo"]["code"] == "TaskEnded"
    actions.call("DELETE", f"/tasks/{task}", expect=200)
    actions.refused("DELETE", f"/tasks/{task}", 404, "TaskNotFound")


def test_a_failed_task_runs_again(actions, job):
    task, done = job.ran("/bin/sh -c 'exit 3'")
    actions.call("POST", f"/tasks/{task}/reactivate", expect=204)
    (again,) = job.wait(task)
    assert again["executionInfo"]["startTime"] != done["executionInfo"]["startTime"]
    task, _ = job.ran("/bin/true")
    actions.refused("POST", f"/tasks/{task}/reactivate", 409, "TaskSucceeded", "has succeeded")


def test_a_job_is_disabled_enabled_terminated_and_deleted(actions, job):
    actions.call("POST", "/disable", {"disableTasks": "wait"}, expect=202)
    job.wait_state("disabled")
    actions.call("POST", "/enable", expect=202)
    job.wait_state("active")
    actions.call("POST", "/terminate", {"terminateReason": "enough"}, expect=202)
    assert job.wait_state("completed")["executionInfo"]["terminateReason"] == "enough"
    actions.refused("POST", "/terminate", 409, "JobCompleted", "is completed")
    actions.call("DELETE", expect=202)
    wait_for(lambda: job.plane.call("GET", job.url).status == 404)
    actions.refused("POST", "/terminate", 404, "JobNotFound")


@pytest.mark.parametrize("path, body, status, code", [
    ("/disable", {"disableTasks": "perhaps"}, 400, "InvalidParameter"),
    ("/disable", {}, 400, "MissingRequiredProperty"),
    ("/terminate", {"terminateReasn": "x"}, 400, "InvalidRequestContent"),
    ("/nothing", None, 404, "InvalidResourceType"),
])
def test_what_is_wrong_is_refused_by_name(actions, job, path, body, status, code):
    reply = actions.call("POST", path, body, expect=status)
    assert reply.error["message"] and reply.error["code"] == code, reply.error
    assert job.get()["state"] == "active"


def test_an_account_that_is_not_there(daemon):
    reply = daemon.call("DELETE", "/batchaid/batch/nowhere/jobs/j", api_version=None, expect=404)
    assert "There is no Batch account 'nowhere'" in reply.error["message"]


@pytest.mark.parametrize("role", ["Reader", "Batch AI Job Submitter", "none"])
def test_a_role_that_may_only_read_changes_nothing(actions, daemon, job, temporary, role):
    ada = temporary(Person(daemon, role))
    task = job.begin("sleep 1000")
    for method, path in (("POST", "/terminate"), ("POST", "/enable"), ("DELETE", ""), ("DELETE", f"/tasks/{task}"),
                         ("POST", f"/tasks/{task}/terminate"), ("POST", f"/tasks/{task}/reactivate")):
        reply = actions.call(method, path, by=ada, expect=403)
        assert reply.error["code"] == "AuthorizationFailed" and "Microsoft.Batch/batchAccounts/jobs/" in reply.error["message"]
    assert job.get()["state"] == "active" and job.task(task)["state"] == "running"
    job.end(task)


def test_a_contributor_of_the_account_may(actions, daemon, ground, job, temporary):
    bob = temporary(Person(daemon, "Contributor", f"{ground.accounts.path}/{ground.name}"))
    task = job.begin("sleep 1000")
    actions.call("POST", f"/tasks/{task}/terminate", by=bob, expect=204)
    job.wait(task)


def test_no_login_no_action(daemon, job, actions):
    reply = actions.call("DELETE", token=None, expect=401)
    assert reply.error["code"] == "AuthenticationFailed" and job.get()["state"] == "active"


def test_an_account_that_takes_keys_alone(actions, ground, job):
    account = f"{ground.accounts.path}/{ground.name}"
    ground.accounts.call("PATCH", account, {"properties": {"allowedAuthenticationModes": ["SharedKey"]}}, expect=200)
    actions.refused("POST", "/terminate", 403, "AuthenticationFailed", ground.name, "allowedAuthenticationModes")
    ground.accounts.call("PATCH", account, {"properties": {"allowedAuthenticationModes": ["SharedKey", "AAD", "TaskAuthenticationToken"]}}, expect=200)
    assert job.get()["state"] == "active"


def test_a_cookie_works_here_alone_and_for_the_page_alone(daemon, actions, job):
    browser = Browser(daemon)
    browser.log_in(**first(daemon))
    good(browser.call("POST", f"{actions.path}/disable", {"disableTasks": "wait"}))
    job.wait_state("disabled")
    for head in ({"Origin": "https://evil.example"}, {"Origin": None}, {"Sec_Fetch_Site": "cross-site"}):
        refused(browser.call("POST", f"{actions.path}/enable", **head), 403, "AuthorizationFailed")
    assert browser.call("POST", f"{job.url}/enable?api-version=2022-10-01.16.0").status == 401, "not the data plane"
    assert job.get()["state"] == "disabled"
    good(browser.call("POST", f"{actions.path}/enable"))
