# SPDX-License-Identifier: MIT
"""What became of each resource, in order, of a daemon that was started with --testing."""

import json
import uuid

import pytest
from support.accounts import Accounts
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.batch_rm import BatchAccounts
from support.certificates import Made
from support.people import Person
from support.testing import Testing
from support.vaults import Safe, Vaults
from support.waiting import wait_for
from support.world import Place, fresh

ARGUMENTS = ("--ephemeral",)
READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
ROLES = "/providers/Microsoft.Authorization"


class Changes:
    """Those behind the last that were looked at."""

    def __init__(self, d):
        self.t, self.last = Testing(d), 0
        self.all()

    def all(self, **query):
        text = "".join(f"&{k}={v}" for k, v in query.items())
        found = []
        while True:
            reply = self.t.call("GET", f"/events?after={self.last}{text}", expect=200)
            lines = [json.loads(line) for line in reply.content.decode().splitlines()]
            self.last = int(reply.headers["x-batchaid-last-event"])
            if not lines:
                return found
            found += lines

    def of(self, *kinds, **query):
        """As (kind, change, name, from, to)."""
        found = [e for e in self.all(**query) if e["kind"] in kinds]
        return [(e["kind"], e["change"], e["name"], e.get("from"), e.get("to")) for e in found]


@pytest.fixture
def changes(tested):
    yield Changes(tested)
    Testing(tested).reset()


def test_a_group_and_what_is_in_it_are_told_from_their_making_to_their_end(tested, changes):
    place = Place(tested, fresh("group"), "ws").make()
    place.experiment("exp")
    job = place.job(place.cluster(1, "c", vmSize="FAKE"), name="j").succeeded()
    kinds = ("resource group", "workspace", "experiment", "cluster", "job")
    mine = lambda told: [e for e in told if e["id"].startswith(place.group_path)]  # noqa: E731
    made = mine(changes.all())
    first = {}
    for e in made:
        first.setdefault(e["kind"], e)
        assert e["kind"] == "resource group" or (e["subscription"], e["resourceGroup"]) == (tested.subscription, place.group)
    assert [first[k]["change"] for k in kinds] == ["created"] * 5
    assert [e["kind"] for e in made if e["change"] == "created"] == [*kinds[:4], "node", "job"]
    assert (first["job"]["workspace"], first["job"]["experiment"], first["job"]["name"]) == ("ws", "exp", "j")
    assert first["node"]["cluster"] == "c"
    assert [e.get("to") for e in made if e["kind"] == "job"] == ["queued", "running", "succeeded"]
    place.remove()
    gone = mine(changes.all())
    ended = [e["kind"] for e in gone if e["change"] == "deleted"]
    assert set(ended) == {*kinds, "node"} and ended[-1] == "resource group"
    assert [e["id"] for e in gone if e["change"] == "deleted" and e["kind"] == "job"] == [first["job"]["id"]]
    assert [e["sequence"] for e in made + gone] == sorted({e["sequence"] for e in made + gone})


def test_storage_accounts_and_their_containers_and_shares(tested, changes):
    accounts = Accounts(tested).make()
    name = accounts.account()
    accounts.share(name, "models", kind="blobs")
    accounts.share(name, "data")
    accounts.share(name, "data", "PATCH", {"properties": {"metadata": {"a": "b"}}}, expect=200)
    accounts.share(name, "data", "DELETE", None, expect=200)
    accounts.delete(name)
    wanted = [
        ("storage account", "created", name, None, "succeeded"),
        ("container", "created", "models", None, None),
        ("share", "created", "data", None, None),
        ("share", "changed", "data", None, None),
        ("share", "deleted", "data", None, None),
    ]
    found = []
    wait_for(lambda: (found.extend(changes.of("storage account", "container", "share")) or
                      ("storage account", "deleted") in [f[:2] for f in found]), 20)  # fmt: skip
    assert found[:5] == wanted
    assert ("container", "deleted", "models", None, None) in found


def test_vaults_and_the_names_of_their_secrets_never_values(tested, changes):
    vaults = Vaults(tested).make()
    name = vaults.vault(enableRbacAuthorization=True)
    safe = Safe(tested, name)
    for value in ("the first value", "the second value"):
        safe.set("password", value)
    safe.delete("password")
    told = changes.all()
    assert "value" not in json.dumps(told)
    assert [(e["kind"], e["change"], e["name"]) for e in told if e["kind"] != "resource group"] == [
        ("vault", "created", name),
        ("secret", "created", "password"),
        ("secret", "changed", "password"),
        ("secret", "deleted", "password"),
    ]
    assert [e["vault"] for e in told if e["kind"] == "secret"] == [name] * 3
    vaults.delete(name)
    assert ("vault", "deleted", name, None, None) in changes.of("vault")


def test_what_is_in_a_batch_account(tested, changes, tmp_path):
    ground = BatchGround(tested)
    p, name = ground.plane, ground.name
    add_pool(p, "pool", vmSize="FAKE", targetDedicatedNodes=1)
    job = Jobs(p, "pool")()
    job.add("true", "t1")
    job.wait("t1")
    certificate = Made(tmp_path)
    p.call("POST", "/certificates", certificate.body(), expect=201)
    schedule = {"id": "s", "schedule": {"doNotRunUntil": "2100-01-01T00:00:00Z"}, "jobSpecification": {"poolInfo": {"poolId": "pool"}}}
    p.call("POST", "/jobschedules", schedule, expect=201)
    ground.accounts.call("PUT", f"/{name}/applications/app", {"properties": {"displayName": "A"}}, expect=200)
    told = changes.all()
    made = {e["kind"]: e for e in told if e["change"] == "created"}
    for kind in ("Batch account", "Batch pool", "node", "Batch job", "Batch task", "Batch certificate",
                 "Batch job schedule", "Batch application"):  # fmt: skip
        assert made[kind]["id"].startswith(f"{ground.accounts.path}/{name}"), kind
        assert kind == "Batch account" or made[kind]["account"] == name
    task = [(e["change"], e.get("from"), e.get("to")) for e in told if e["kind"] == "Batch task"]
    assert task[0] == ("created", None, "active") and task[-1][2] == "completed"
    assert all(one[2] == next_[1] for one, next_ in zip(task, task[1:]))
    assert made["Batch task"]["job"] == job.id and made["node"]["pool"] == "pool"
    p.call("DELETE", f"/jobs/{job.id}/tasks/t1", expect=200)
    p.call("DELETE", "/jobschedules/s", expect=202)
    p.call("DELETE", certificate.path, expect=202)
    ended = set()
    wait_for(lambda: ended.update(f[:2] for f in changes.of("Batch task", "Batch job schedule", "Batch certificate")) or
             {k for k, change in ended if change == "deleted"} == {"Batch task", "Batch job schedule", "Batch certificate"}, 20)  # fmt: skip
    ground.remove()
    wait_for(lambda: ("Batch account", "deleted") in [f[:2] for f in changes.of("Batch account")], 30)


def test_role_assignments_and_changed_tags(tested, changes, temporary):
    place = Place(tested, fresh("group"), "ws").make()
    path, ada = place.group_path, temporary(Person(tested))
    guid = str(uuid.uuid4())
    body = {"properties": {"roleDefinitionId": f"{ROLES}/roleDefinitions/{READER}", "principalId": ada.id}}
    at = f"{path}{ROLES}/roleAssignments/{guid}"
    tested.call("PUT", at, body, api_version="2022-04-01", validate=False, expect=201)
    tested.call("DELETE", at, api_version="2022-04-01", validate=False, expect=200)
    tested.call("PATCH", path, {"tags": {"a": "b"}}, api_version="2018-05-01", validate=False, expect=200)
    own = [e for e in changes.all() if e["id"].startswith(path) and e["kind"] != "workspace"]
    assert [(e["kind"], e["change"], e["name"], e.get("from"), e.get("to")) for e in own[1:]] == [
        ("role assignment", "created", guid, None, None),
        ("role assignment", "deleted", guid, None, None),
        ("resource group", "changed", place.group, "succeeded", "succeeded"),
    ]


def test_another_subscription_sees_nothing_of_it(tested, changes, temporary):
    guid = tested.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    accounts, vaults, ground = Accounts(tested).make(), Vaults(tested).make(), temporary(BatchGround(tested))
    accounts.share(accounts.account(), "models", kind="blobs")
    Safe(tested, vaults.vault(enableRbacAuthorization=True)).set("s", "v")
    assert Changes(tested).all(subscription=guid) == []
    before = changes.last
    assert changes.all(subscription=guid) == [] and changes.last > before
    changes.last = before
    mine = changes.all(subscription=tested.subscription)
    assert {"storage account", "container", "vault", "secret", "Batch account"} <= {e["kind"] for e in mine}


def test_what_was_refused_or_taken_back_is_not_told(tested, changes):
    place = Place(tested, fresh("group"), "ws").make()
    cluster = place.cluster(0, "c", vmSize="FAKE")
    before = changes.all()
    cluster.call("PATCH", "", {"properties": {"scaleSettings": {"manual": {"targetNodeCount": -1}}}}, expect=400)
    BatchAccounts(tested).call("PUT", "/a b", {"location": "eastus"}, expect=(400, 404))
    told = [e for e in changes.all() if place.group in e["id"] or e["kind"].startswith("Batch")]
    assert before and told == []  # what tests before began may still end


def test_a_reset_forgets_them_and_tells_nothing_of_what_ends_behind_it(tested, changes):
    guid = tested.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    Place(tested, fresh("group"), "ws").make().cluster(2, "c", vmSize="FAKE")
    BatchGround(tested)
    tested.call("PUT", f"/subscriptions/{guid}/resourceGroups/kept", {"location": "eastus"}, expect=201)
    last = changes.all()[-1]["sequence"]
    Testing(tested).reset(subscription=tested.subscription)
    changes.last = 0
    assert changes.of("resource group", "cluster", "Batch account") == [("resource group", "created", "kept", None, "succeeded")]
    tested.call("PUT", f"/subscriptions/{tested.subscription}/resourceGroups/new", {"location": "eastus"}, expect=201)
    told = wait_for(changes.all, 10)
    assert [e["name"] for e in told] == ["new"] and told[0]["sequence"] > last


def test_a_daemon_that_is_not_tested_writes_none(daemon):
    Place(daemon, fresh("group"), "ws").make()
    assert daemon.rows("SELECT count(*) FROM change") == [(0,)]
