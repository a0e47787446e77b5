# SPDX-License-Identifier: MIT
"""A role in one subscription gives nothing of another: deleted data and vaults, roles, logins."""

import uuid

import pytest
from support.accounts import Accounts
from support.people import CONTRIBUTOR, OWNER, READER
from support.refusals import refused
from support.vaults import Vaults, policy
from support.world import In, fresh

BATCH_AI = "9fcb3732-5f52-4135-8c08-9d4bbaf203ea"


@pytest.fixture
def other(daemon):
    """A second subscription."""
    id = daemon.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    yield In(daemon, id)
    daemon.call("DELETE", f"/batchaid/subscriptions/{id}")


def graph(person, method, path, body=None):
    return person.call(method, "/v1.0" + path, body, api_version=None, validate=False)


# --- deleted shares ---------------------------------------------------------------------------------


def deleted(who, account):
    listed = who.call("GET", "/batchaid/storage/deleted", expect=200).json["value"]
    return [row["number"] for row in listed if row["account"] == account]


def restore(who, number):
    return who.call("POST", f"/batchaid/storage/deleted/{number}/restore")


def test_deleted_data_of_one_subscription_is_not_taken_into_another(daemon, other, person, temporary):
    theirs, mine = (temporary(Accounts(of).make()) for of in (other, daemon))
    bob, ada = person(CONTRIBUTOR), person(OWNER, f"/subscriptions/{other.subscription}")
    reader = person(READER, f"/subscriptions/{other.subscription}")
    name = theirs.account()
    theirs.share(name, "data")
    (theirs.folder(name, "data") / "file").write_text("theirs")
    theirs.delete(name)
    (number,) = deleted(daemon, name)
    assert deleted(bob, name) == [] and deleted(ada, name) == deleted(reader, name) == [number]
    refused(restore(bob, number), 404, "ResourceNotFound", words=[str(number)])
    refused(restore(reader, number), 403, "AuthorizationFailed", words=["batchaid/storage/write", other.subscription])
    mine.account(name)
    assert mine.shares(name, **{"$expand": "deleted"})["value"] == []
    refused(restore(bob, number), 404, "ResourceNotFound", words=[str(number)])
    for who in (ada, daemon):
        refused(restore(who, number), 404, "ResourceNotFound", words=["another subscription", other.subscription])
    mine.delete(name)
    theirs.account(name)
    assert [s["name"] for s in theirs.shares(name, **{"$expand": "deleted"})["value"]] == ["data"]
    assert restore(ada, number).status == 200
    assert (theirs.folder(name, "data") / "file").read_text() == "theirs"


def test_a_page_of_deleted_shares_is_full_of_what_may_be_seen(daemon, other, person, temporary):
    theirs, mine = (temporary(Accounts(of).make()) for of in (other, daemon))
    bob = person(READER)
    names = [(mine, mine.account()), (theirs, theirs.account())]
    for i in range(3):
        for accounts, name in names:
            accounts.share(name, f"data{i}")
            accounts.share(name, f"data{i}", "DELETE", expect=200)
    (first, *_), after, seen = deleted(daemon, names[0][1]), 0, []
    while page := bob.call("GET", "/batchaid/storage/deleted", params={"after": max(after, first - 1), "max": 2}, expect=200).json:
        seen += [row["name"] for row in page["value"] if row["account"] == names[0][1]]
        assert all(row["account"] != names[1][1] for row in page["value"])
        if not page["value"]:
            break
        after = page["next"]
    assert seen == ["data0", "data1", "data2"]


def test_shares_are_named_in_accounts_by_those_with_a_right_there(daemon, other, person, temporary):
    accounts = temporary(Accounts(other).make())
    name = accounts.account()
    bob, ada = person(CONTRIBUTOR), person(CONTRIBUTOR, accounts.base)
    body = {"account": name, "kind": "files", "name": "new"}
    reply = bob.call("POST", "/batchaid/storage/shares", body)
    refused(reply, 403, "AuthorizationFailed", words=[name, "batchaid/storage/write"])
    accounts.share(name, "new", "GET", expect=404)
    ada.call("POST", "/batchaid/storage/shares", body, expect=204)
    accounts.share(name, "new", "GET", expect=200)


# --- deleted vaults ---------------------------------------------------------------------------------


def test_a_deleted_vault_is_found_in_its_own_subscription_alone(daemon, other, person, temporary):
    vaults = temporary(Vaults(other).make())
    name, here = vaults.vault(), Vaults(daemon)
    bob = person(CONTRIBUTOR)
    vaults.delete(name)
    path = f"/subscriptions/{daemon.subscription}/providers/Microsoft.KeyVault/locations/eastus/deletedVaults/{name}"
    for who in (bob, daemon):
        for method, tail in (("GET", ""), ("POST", "/purge")):
            reply = who.call(method, path + tail, api_version=here.version, validate=False)
            refused(reply, 404, "DeletedVaultNotFound", words=[name])
    vaults.deleted(name)
    vaults.put(name, {"location": "eastus", "properties": {"createMode": "recover"}})
    vaults.get(name)


# --- the directory ----------------------------------------------------------------------------------


def test_nobody_logs_in_as_azure_batch_ai(daemon, person):
    for who in (person("User Access Administrator"), daemon):
        for method, tail in (("POST", "/addPassword"), ("POST", "/removePassword"), ("DELETE", "")):
            reply = graph(who, method, f"/servicePrincipals/{BATCH_AI}{tail}", {"keyId": str(uuid.uuid4())})
            refused(reply, 400, "Request_BadRequest")
    assert graph(daemon, "GET", f"/servicePrincipals/{BATCH_AI}").json["passwordCredentials"] == []


def test_who_has_a_vault_open_elsewhere_gets_no_new_secret_here(daemon, other, person, temporary):
    """Whoever gives a principal a secret reads the vaults that are open to it."""
    owner, ada = person(OWNER), person("none")
    app = graph(daemon, "POST", "/applications", {"displayName": fresh("tool")}).json
    service = graph(daemon, "POST", "/servicePrincipals", {"appId": app["appId"]}).json
    vaults = temporary(Vaults(other).make())
    name = vaults.vault(*(policy(id.upper(), secrets=["get"]) for id in (ada.id, service["id"])))
    for vault in ("there", "soft-deleted"):
        refused(owner.call("POST", f"/batchaid/users/{ada.name}/reset", {}), 403, "AuthorizationFailed", words=[name])
        refused(owner.call("DELETE", f"/batchaid/users/{ada.name}"), 403, "AuthorizationFailed", words=[name])
        for kind, id in (("applications", app["id"]), ("servicePrincipals", service["id"])):
            for method, tail in (("POST", "/addPassword"), ("DELETE", "")):
                reply = graph(owner, method, f"/{kind}/{id}{tail}", {})
                refused(reply, 403, "Authorization_RequestDenied", words=["access policy"])
        if vault == "there":
            vaults.delete(name)
    vaults.deleted(name, "/purge", "POST", expect=202)
    assert owner.call("POST", f"/batchaid/users/{ada.name}/reset", {}).status == 200
    assert graph(owner, "DELETE", f"/applications/{app['id']}").status == 204


# --- subscriptions ----------------------------------------------------------------------------------


def test_a_subscription_in_which_others_have_roles_stays(daemon, other, person):
    bob, ada = person(CONTRIBUTOR), person(OWNER, f"/subscriptions/{other.subscription}")
    path = f"/batchaid/subscriptions/{other.subscription}"
    for written in (path, path.upper().replace("/BATCHAID/SUBSCRIPTIONS", "/batchaid/subscriptions")):
        bob.may_not("DELETE", written)
    assert daemon.rows("SELECT count(*) FROM role_assignment WHERE principal = ?", ada.id) == [(1,)]
    ada.remove()
    bob.call("DELETE", path, expect=204)
