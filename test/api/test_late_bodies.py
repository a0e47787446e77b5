# SPDX-License-Identifier: MIT
"""Rights and logins that end between the head of a request and the last byte of its body."""

import json
import uuid

import pytest
from support.late_bodies import LateBody
from support.people import OWNER, Person
from support.testing import KEY, Testing
from support.world import fresh

ARGUMENTS = ("--ephemeral",)
ASSIGNMENTS = "/providers/Microsoft.Authorization/roleAssignments"


@pytest.fixture
def group(tested):
    path = f"/subscriptions/{tested.subscription}/resourceGroups/{fresh('late')}"
    tested.call("PUT", path, {"location": "eastus"}, api_version="2019-11-01", expect=201)
    return path


def late_body(person, method, path, version, body):
    headers = {"Authorization": f"Bearer {person.token()}"}
    return LateBody(person.daemon, method, f"{path}?api-version={version}", headers, body)


def end(late):
    status, document = late.end()
    return status, document["error"]["code"]


def assignments_of(daemon, group, principal):
    reply = daemon.call("GET", group + ASSIGNMENTS, api_version="2022-04-01", validate=False, expect=200)
    return [a for a in reply.json["value"] if a["properties"]["principalId"] == principal]


def late_assignment(owner, group, principal):
    role = {"roleDefinitionId": f"/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"}
    body = json.dumps({"properties": {**role, "principalId": principal}}).encode()
    return late_body(owner, "PUT", f"{group}{ASSIGNMENTS}/{uuid.uuid4()}", "2022-04-01", body)


def test_a_seed_that_comes_late_keeps_nobody_from_a_login(tested):
    """Bodies of anybody at one address may have 1 MiB together; that of a seed has a key, and is not counted with them."""
    late = LateBody(tested, "POST", "/batchaid/testing/seed", {KEY: Testing(tested).key}, b" " * (2 << 20) + b"{}")
    assert tested.token_reply().status == 200
    assert late.end()[0] == 200


def test_a_role_that_is_taken_allows_no_late_body(tested, clock, group):
    owner, second = Person(tested, OWNER, group), Person(tested, "none")
    late = late_assignment(owner, group, second.id)
    (own,) = assignments_of(tested, group, owner.id)
    tested.call("DELETE", own["id"], api_version="2022-04-01", validate=False, expect=200)
    clock.advance("PT10S", keep_token=True)
    assert end(late) == (403, "AuthorizationFailed")
    assert not assignments_of(tested, group, second.id)


def test_a_token_that_has_ended_allows_no_late_body(tested, clock, group):
    owner, second = Person(tested, OWNER, group), Person(tested, "none")
    late = late_assignment(owner, group, second.id)
    clock.advance("PT30H")
    assert end(late) == (401, "ExpiredAuthenticationToken")
    assert not assignments_of(tested, group, second.id)


def test_a_body_that_is_only_ignored_is_late_too(tested, clock, group):
    owner = Person(tested, OWNER, group)
    late = late_body(owner, "DELETE", group, "2019-11-01", b"xx")
    (own,) = assignments_of(tested, group, owner.id)
    tested.call("DELETE", own["id"], api_version="2022-04-01", validate=False, expect=200)
    clock.advance("PT10S", keep_token=True)
    assert end(late) == (403, "AuthorizationFailed")
    tested.call("GET", group, api_version="2019-11-01", expect=200)
