# SPDX-License-Identifier: MIT
"""Whoever may submit jobs has a share for them, without keys or data roles; nobody else has it."""

import pytest
from support.people import READER, SUBMITTER, Person
from support.world import fresh

SHARES = "/batchaid/storage/shares"


@pytest.fixture
def people(daemon):
    made = [Person(daemon, SUBMITTER), Person(daemon, SUBMITTER), Person(daemon, READER)]
    yield made
    for person in made:
        person.remove()


def token(person):
    return person.login(scope="https://storage.azure.com/.default").json["access_token"]


def put(daemon, person, account, size=3, kind="file", name="a.tar"):
    scheme, host = daemon.endpoint.split("//")
    host = "localhost:" + host.rsplit(":", 1)[1]
    headers = {"x-ms-version": "2022-11-02", "x-ms-file-request-intent": "backup", "x-ms-type": "file", "x-ms-content-length": str(size)}
    return daemon.call("PUT", f"{scheme}//{account}.file.core.{host}/jobs/{name}", token=person if isinstance(person, str) else token(person), api_version=None, headers=headers,
                       data=b"").status


def share(person, account):
    return person.call("POST", SHARES, {"account": account, "kind": "files", "name": "jobs"}, api_version=None)


def test_a_submitter_has_their_own_share(daemon, people):
    ada, eve, reader = people
    account = fresh("jobsada")
    assert share(reader, account).status == 403
    assert share(ada, account).status == 204 == share(ada, account).status
    assert put(daemon, ada, account) == 201
    assert put(daemon, eve, account) == put(daemon, reader, account) == 403
    refused = share(eve, account)
    assert (refused.status, refused.error["code"]) == (403, "AuthorizationFailed"), refused
    assert f"The storage account {account} is not your own" in refused.error["message"]
    # Neither the account itself, nor its shares, nor its keys are theirs.
    keys = f"/subscriptions/{daemon.subscription}/resourceGroups/batchaid-implicit/providers/Microsoft.Storage/storageAccounts/{account}/listKeys"
    assert ada.call("POST", keys, api_version="2019-06-01", validate=False).status == 403


def test_an_account_that_somebody_created_is_not_theirs(daemon, people):
    ada = people[0]
    account = fresh("jobsmade")
    assert share(ada, account).status == 204
    path = f"/subscriptions/{daemon.subscription}/resourceGroups/batchaid-implicit/providers/Microsoft.Storage/storageAccounts/{account}"
    body = {"location": "eastus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    assert daemon.call("PUT", path, body, api_version="2019-06-01", validate=False).status in (200, 202)
    assert put(daemon, ada, account) == 403 and share(ada, account).status == 403


def test_a_share_is_there_when_the_reply_is(daemon, people):
    ada = people[0]
    kept = token(ada)  # no login between the two requests
    for _ in range(10):
        account = fresh("jobsnow")
        assert share(ada, account).status == 204
        assert put(daemon, kept, account) == 201
