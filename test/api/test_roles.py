# SPDX-License-Identifier: MIT
"""Microsoft.Authorization and the graph, as az asks them. What az itself makes of them: test/e2e/test_az_people.py."""

import copy
import json
import uuid

import pytest
from support import cloud_spec
from support.accounts import Accounts, account_name
from support.batch import Plane
from support.batch_jobs import add_pool
from support.batch_packages import packaged
from support.certificates import Made
from support.people import OWNER, READER, Person
from support.refusals import refused
from support.storage import StorageDaemon
from support.vaults import Safe, Vaults
from support.waiting import wait_for
from support.world import Place, fresh

BATCH_AI = "9fcb3732-5f52-4135-8c08-9d4bbaf203ea"
BLOB_READER = "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1"
READER_ROLE = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
ROOT = "/providers/Microsoft.Authorization"
IMPLICIT = "batchaid-implicit"
ASSIGNMENTS = cloud_spec.load(
    "authorization/2022-04-01", "authorization-RoleAssignmentsCalls.json", error="ErrorResponse"
)
DEFINITIONS = cloud_spec.load(
    "authorization/2022-04-01", "authorization-RoleDefinitionsCalls.json", error="ErrorResponse"
)


class Roles:
    """Role assignments at a scope, as one person sees them."""

    def __init__(self, daemon, scope, person=None):
        self.daemon, self.scope, self.person = daemon, scope, person

    def call(self, method, tail, body=None, judge=ASSIGNMENTS, **more):
        token = self.person.token() if self.person else True
        reply = self.daemon.call(
            method,
            self.scope + ROOT + tail,
            body,
            token=token,
            api_version=more.pop("api_version", "2022-04-01"),
            validate=False,
            **more,
        )
        if reply.status < 400:
            judged = copy.copy(reply)  # the documents' {scope} is one name; ours has many
            judged.url = f"{self.daemon.endpoint}/scope{ROOT}{tail}?api-version=2022-04-01"
            judge.judge(judged)
        return reply

    def give(self, principal, role=READER_ROLE, guid=None):
        body = {"properties": {"roleDefinitionId": f"{ROOT}/roleDefinitions/{role}", "principalId": principal}}
        return self.call("PUT", f"/roleAssignments/{guid or uuid.uuid4()}", body)

    def take(self, reply):
        return self.call("DELETE", "/roleAssignments/" + reply.json["name"])

    def list(self, text=None):
        params = {"$filter": text} if text else None
        return self.call("GET", "/roleAssignments", params=params).json["value"]


@pytest.fixture
def sub(daemon):
    return f"/subscriptions/{daemon.subscription}"


@pytest.mark.parametrize("version", ["2015-07-01", "2018-01-01-preview", "2020-04-01-preview", "2022-05-01-preview"])
def test_definitions_are_azures_in_every_version(daemon, sub, version):
    roles = Roles(daemon, sub)
    found = roles.call("GET", "/roleDefinitions", judge=DEFINITIONS, api_version=version).json["value"]
    names = {d["name"]: d["properties"]["roleName"] for d in found}
    assert names[READER_ROLE] == "Reader" and len(names) == len(found) > 15
    for d in found:
        assert d["id"] == f"{sub}{ROOT}/roleDefinitions/{d['name']}"
        assert roles.call("GET", f"/roleDefinitions/{d['name']}", judge=DEFINITIONS).json == d
    for text, n in (("roleName eq 'reader'", 1), ("roleName eq 'it''s'", 0), ("type eq 'BuiltInRole'", len(found))):
        reply = roles.call("GET", "/roleDefinitions", judge=DEFINITIONS, params={"$filter": text})
        assert len(reply.json["value"]) == n
    for text in ("roleName eq 'it's'", "roleName eq Reader", "roleName eq '", "x eq 'y'", "roleName"):
        refused(roles.call("GET", "/roleDefinitions", params={"$filter": text}), 400, "InvalidQueryParameterValue")
    refused(roles.call("GET", f"/roleDefinitions/{uuid.uuid4()}"), 404, "RoleDefinitionDoesNotExist")


def test_a_role_is_given_shown_and_taken(daemon, sub, person, own_place):
    ada = person("none")
    at = Roles(daemon, own_place.group_path)
    ada.may_not("GET", own_place.path)
    given = at.give(ada.id)
    assert given.status == 201
    properties = given.json["properties"]
    assert properties["principalType"] == "User" and properties["scope"] == own_place.group_path
    assert properties["roleDefinitionId"] == f"{sub}{ROOT}/roleDefinitions/{READER_ROLE}"
    assert properties["createdBy"] == daemon.env["AZURE_CLIENT_ID"]
    ada.get(own_place.path)
    assert at.call("GET", "/roleAssignments/" + given.json["name"]).json == given.json
    assert at.give(ada.id, guid=given.json["name"]).status == 200, "the same again"
    body = {"roleDefinitionId": READER_ROLE, "principalId": ada.id}
    for text, shown in (("why", "why"), ("why not", "why not"), ("", None)):
        path = "/roleAssignments/" + given.json["name"]
        changed = at.call("PUT", path, {"properties": {**body, "description": text}})
        assert changed.status == 200 and changed.json["properties"].get("description") == shown
        assert at.call("GET", path).json == changed.json
    refused(at.give(ada.id), 409, "RoleAssignmentExists")
    refused(at.give(BATCH_AI, guid=given.json["name"]), 400, "RoleAssignmentUpdateNotPermitted")
    other = Roles(daemon, own_place.group_path + "2")
    refused(other.call("GET", "/roleAssignments/" + given.json["name"]), 404, "RoleAssignmentNotFound")
    assert other.take(given).status == 204, "not there, so it stays"
    ada.get(own_place.path)
    assert at.take(given).json == given.json
    assert at.take(given).status == 204
    ada.may_not("GET", own_place.path)


def test_a_list_is_of_the_scope_with_what_is_above_and_below(daemon, sub, person, own_place):
    ada = person("none")
    cluster = own_place.cluster(0, "c", steady=False)
    scopes = ["", sub, own_place.group_path, own_place.path, cluster.path]
    given = [Roles(daemon, s).give(ada.id) for s in scopes]
    mine = f"principalId eq '{ada.id}'"

    def shown(scope, text=mine):
        return [x["properties"]["scope"] or "/" for x in Roles(daemon, scope).list(text)]

    assert shown(own_place.group_path) == ["/", *scopes[1:]]
    assert shown(own_place.group_path, f"atScope() and assignedTo('{ada.id}')") == ["/", *scopes[1:3]]
    assert shown(own_place.path + "/clusters/other") == ["/", *scopes[1:4]]
    assert shown(sub, f"assignedTo('{ada.id}')") == ["/", *scopes[1:]]
    assert len(Roles(daemon, sub).list("atScope()")) >= 2
    for text in ("atscope", "principalId eq 'a' or principalId eq 'b'", "assignedTo()"):
        reply = Roles(daemon, sub).call("GET", "/roleAssignments", params={"$filter": text})
        refused(reply, 400, "InvalidQueryParameterValue")
    for scope, one in zip(scopes, given, strict=True):
        Roles(daemon, scope).take(one)


def test_a_list_has_pages(daemon, person, own_place):
    ada, bob = person("none"), person(READER, own_place.group_path)
    scopes = [f"{own_place.path}/{kind}/x{i}" for i in range(4) for kind in ("clusters", "experiments")]
    for i, scope in enumerate(scopes):
        Roles(daemon, scope).give((bob if i % 3 == 0 else ada).id)
    params, seen = {"$filter": f"principalId eq '{ada.id}'", "maxresults": "2"}, []
    page = Roles(daemon, own_place.path, bob).call("GET", "/roleAssignments", params=params).json
    while "nextLink" in page:
        assert len(page["value"]) == 2
        seen += page["value"]
        page = bob.get(page["nextLink"], validate=False)
    seen += page["value"]
    assert [x["properties"]["scope"] for x in seen] == [s for i, s in enumerate(scopes) if i % 3]


def test_who_may_give_roles(daemon, sub, person, own_place):
    group = own_place.group_path
    reader, contributor = person(READER, group), person("Contributor", group)
    owner, ada = person(OWNER, group), person("none")
    for one in (reader, contributor, ada):
        reply = Roles(daemon, group, one).give(one.id, "8e3af657-a8ff-443c-a75c-2fe8c4bcb635")
        refused(reply, 403, "AuthorizationFailed", words=["Microsoft.Authorization/roleAssignments/write"])
    given = Roles(daemon, group, owner).give(ada.id)
    assert given.status == 201 and given.json["properties"]["createdBy"] == owner.id
    refused(Roles(daemon, sub, owner).give(owner.id), 403, "AuthorizationFailed")
    # By the name at another scope of one's own nothing of the subscription's is taken.
    first = Roles(daemon, sub).give(ada.id)
    assert Roles(daemon, group, owner).take(first).status == 204
    assert first.json["name"] in [x["name"] for x in Roles(daemon, sub).list()]
    # Everybody sees their own, and what they may read.
    assert [x["properties"]["principalId"] for x in Roles(daemon, sub, person("none")).list()] == []
    assert {x["properties"]["scope"] for x in Roles(daemon, sub, reader).list()} == {group}
    refused(Roles(daemon, group, reader).take(given), 403, "AuthorizationFailed")
    Roles(daemon, sub).take(first)


@pytest.mark.parametrize(
    "scope, guid, properties, code",
    [
        ("SUB", "not-a-guid", {}, "InvalidRoleAssignmentId"),
        ("SUB", "%FF", {}, "InvalidPath"),
        ("/subscriptions/other", None, {}, "InvalidParameter"),
        ("/elsewhere/x", None, {}, "InvalidParameter"),
        ("SUB/resourceGroups/a%0Ab", None, {}, "InvalidParameter"),
        ("SUB/resourceGroups/%FF", None, {}, "InvalidPath"),
        ("SUB", None, {"principalId": str(uuid.uuid4())}, "PrincipalNotFound"),
        ("SUB", None, {"principalId": None}, "MissingRequiredProperty"),
        ("SUB", None, {"principalId": 7}, "MissingRequiredProperty"),
        ("SUB", None, {"roleDefinitionId": None}, "MissingRequiredProperty"),
        ("SUB", None, {"roleDefinitionId": "/x/" + str(uuid.uuid4())}, "RoleDefinitionDoesNotExist"),
        ("SUB", None, {"description": 7}, "InvalidParameter"),
        ("SUB", None, {"condition": "@Resource[name] StringEquals 'a'", "conditionVersion": "2.0"}, "FeatureNotSupported"),
    ],
)
def test_roles_that_are_not_given(daemon, sub, scope, guid, properties, code):
    body = {"roleDefinitionId": READER_ROLE, "principalId": BATCH_AI, **properties}
    path = f"{scope.replace('SUB', sub)}{ROOT}/roleAssignments/{guid or uuid.uuid4()}"
    reply = daemon.call("PUT", path, {"properties": body}, api_version="2022-04-01", validate=False)
    assert reply.status in (400, 404) and reply.code == code, reply


def test_a_slash_at_the_end_of_a_scope_is_none_of_its_name(daemon, person, own_place):
    ada, group = person("none"), Roles(daemon, own_place.group_path)
    slash = Roles(daemon, own_place.group_path + "%2F")
    given = slash.give(ada.id)
    assert given.status == 201 and given.json["properties"]["scope"] == own_place.group_path
    for at in (slash, group):
        assert at.call("GET", "/roleAssignments/" + given.json["name"]).json == given.json
        assert [x for x in at.list() if x["name"] == given.json["name"]] == [given.json]
    assert slash.take(given).json == given.json and group.take(given).status == 204


def test_a_removed_users_roles_are_gone(daemon, sub, person):
    ada = person(READER)
    assert Roles(daemon, sub).list(f"principalId eq '{ada.id}'")
    ada.remove()
    assert not Roles(daemon, sub).list(f"principalId eq '{ada.id}'")


def roles_of(daemon, who):
    return {scope for (scope,) in daemon.rows("SELECT scope FROM role_assignment WHERE principal = ?", who.id)}


def test_a_role_ends_with_its_group(daemon, sub, person, temporary):
    bob, place = person("none"), temporary(Place(daemon).make())
    group = place.group_path
    for scope in (group, f"{group}/providers/Microsoft.BatchAI/workspaces/{place.workspace}", f"{group}/x"):
        Roles(daemon, scope).give(bob.id, "8e3af657-a8ff-443c-a75c-2fe8c4bcb635")
    bob.get(group, api_version="2019-11-01")
    daemon.call("DELETE", group, api_version="2019-11-01", expect=202)
    wait_for(lambda: daemon.call("GET", group, api_version="2019-11-01").status == 404, what="the group to go")
    assert not roles_of(daemon, bob)
    daemon.call("PUT", group, {"location": "eastus"}, api_version="2019-11-01", expect=201)
    bob.may_not("GET", group, api_version="2019-11-01")


def test_roles_end_with_an_account_a_purged_vault_and_a_subscription(daemon, person, temporary):
    bob = person("none")
    accounts, vaults = (temporary(kind(daemon).make()) for kind in (Accounts, Vaults))
    account, vault = accounts.account(), vaults.vault()
    other = daemon.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    scopes = [f"{accounts.path}/{account}", f"{vaults.path}/vaults/{vault}", f"/subscriptions/{other}/resourceGroups/g"]
    for scope in scopes:
        Roles(daemon, scope).give(bob.id)
    assert roles_of(daemon, bob) == set(scopes)
    accounts.delete(account)
    wait_for(lambda: roles_of(daemon, bob) == set(scopes[1:]), what="the account's role to end")
    vaults.delete(vault)
    assert roles_of(daemon, bob) == set(scopes[1:])
    vaults.deleted(vault, "/purge", "POST", expect=202)
    wait_for(lambda: roles_of(daemon, bob) == set(scopes[2:]), what="the vault's role to end")
    daemon.call("DELETE", f"/batchaid/subscriptions/{other}", expect=204)
    assert not roles_of(daemon, bob)


def test_a_role_at_a_secret_ends_when_the_secret_is_purged(daemon, person, temporary):
    bob, vaults = person("none"), temporary(Vaults(daemon).make())
    name = vaults.vault(enableRbacAuthorization=True)
    safe, scopes = Safe(daemon, name), [f"{vaults.path}/vaults/{name}{tail}" for tail in ("/secrets/One", "/secrets/one-more", "")]
    safe.set("one", "x")
    for scope in scopes:
        Roles(daemon, scope).give(bob.id)
    safe.delete("one")
    assert roles_of(daemon, bob) == set(scopes)
    safe.call("DELETE", "/deletedsecrets/one", expect=204)
    assert roles_of(daemon, bob) == set(scopes[1:])


def blobs_of(daemon, who, account, container):
    """The status of a list of blobs."""
    scheme, host = daemon.endpoint.split("//")
    url = f"{scheme}//{account}.blob.core.localhost:{host.rsplit(':', 1)[1]}/{container}"
    token = who.login(scope="https://storage.azure.com/.default").json["access_token"]
    params, head = {"restype": "container", "comp": "list"}, {"x-ms-version": "2022-11-02"}
    return daemon.call("GET", url, token=token, api_version=None, params=params, headers=head, validate=False).status


def test_a_role_ends_with_its_share_or_container(daemon, person, temporary):
    bob, accounts = person("none"), temporary(Accounts(daemon).make())
    name = accounts.account()
    at = f"{accounts.path}/{name}"
    kept = set()
    for kind, paths in (("blobs", ("blobServices/default/containers",)), ("files", ("fileServices/default/shares", "fileServices/default/fileshares"))):
        for box in ("box", "box2"):
            accounts.share(name, box, kind=kind)
            for scope in (f"{at}/{path}/{box}" for path in paths):
                Roles(daemon, scope).give(bob.id, BLOB_READER)
                kept |= {scope} if box == "box2" else set()
    assert blobs_of(daemon, bob, name, "box") == 200
    for kind in ("blobs", "files"):
        accounts.share(name, "box", "DELETE", expect=200, kind=kind)
    assert roles_of(daemon, bob) == kept
    (number,) = (s["number"] for s in daemon.get("/batchaid/storage/deleted")["value"] if (s["account"], s["kind"]) == (name, "blobs"))
    daemon.call("POST", f"/batchaid/storage/deleted/{number}/restore", expect=200)
    assert (blobs_of(daemon, bob, name, "box"), blobs_of(daemon, bob, name, "box2")) == (403, 200)


def test_a_role_at_an_account_of_a_mount_ends_when_somebody_creates_the_account(daemon, person, temporary):
    """A later account of a mount has the old path."""
    bob, accounts, name = person("none"), temporary(Accounts(daemon).make()), account_name()
    implicit = Accounts(daemon, IMPLICIT)

    def mount():
        daemon.call("POST", "/batchaid/storage/shares", {"account": name, "kind": "blobs", "name": "box"}, expect=204)

    mount()
    for scope in ("", "/blobServices/default/containers/box"):
        Roles(daemon, f"{implicit.path}/{name}{scope}").give(bob.id, BLOB_READER)
    assert blobs_of(daemon, bob, name, "box") == 200
    accounts.account(name)
    assert not roles_of(daemon, bob) and blobs_of(daemon, bob, name, "box") == 403
    accounts.delete(name)
    mount()
    assert blobs_of(daemon, bob, name, "box") == 403


def test_a_role_ends_with_its_pool_application_package_or_certificate(daemon, person, temporary, tmp_path):
    bob, accounts = person("none"), temporary(packaged(daemon))
    name, made = accounts.account(**accounts.auto), Made(tmp_path)
    plane = Plane(daemon, name, accounts.keys(name)[0])
    tails = ["pools/p", f"certificates/sha1-{made.thumbprint}", "applications/a/versions/1", "applications/a"]
    scopes = [f"{accounts.path}/{name}/{tail}" for tail in tails]
    plane.call("POST", "/certificates", made.body(), expect=201)
    add_pool(plane, "p", targetDedicatedNodes=0)
    for tail in reversed(tails[2:]):
        accounts.call("PUT", f"/{name}/{tail}", expect=200)
    beside = [f"{accounts.path}/{name}/{tail}" for tail in ("pools/p2", "applications/a2", "certificates/sha1-2")]
    for scope in scopes + beside:
        Roles(daemon, scope).give(bob.id)
    for i, tail in enumerate(tails):
        assert accounts.call("DELETE", f"/{name}/{tail}").status in (200, 202, 204)
        left = {*scopes[i + 1 :], *beside}
        wait_for(lambda: roles_of(daemon, bob) == left, what=f"the role at {tail} to end, and no other")


def test_a_blob_may_be_called_like_a_role():
    with StorageDaemon() as d:
        assert d.blob.call("PUT", "/ccc?restype=container").status == 201
        name = "/ccc/providers/Microsoft.Authorization/roleAssignments"
        assert d.blob.call("PUT", name, b"x", x_ms_blob_type="BlockBlob").status == 201
        assert d.blob.call("GET", name).body == b"x"


# --- the graph ------------------------------------------------------------------------------------


def graph(daemon, method, path, body=None, person=None, **more):
    return daemon.call(
        method,
        "/v1.0" + path,
        body,
        token=person.token() if person else True,
        api_version=None,
        validate=False,
        **more,
    )


def found(daemon, kind, text):
    return graph(daemon, "GET", "/" + kind, params={"$filter": text}, expect=200).json["value"]


@pytest.fixture
def app(daemon):
    made = graph(daemon, "POST", "/applications", {"displayName": fresh("tool"), "keyCredentials": []}, expect=201)
    yield made.json
    graph(daemon, "DELETE", f"/applications/{made.json['id']}", expect=(204, 404))


def secret_of(daemon, app, **more):
    path = f"/applications/{app['id']}/addPassword"
    return graph(daemon, "POST", path, {"passwordCredential": {"displayName": "rbac", **more}}, expect=200).json


def login(daemon, app, secret):
    return daemon.token_reply(client_id=app["appId"], client_secret=secret)


def test_an_application_logs_in_as_its_service_principal(daemon, sub, app):
    daemon.expect_log("login.failed")
    assert app["passwordCredentials"] == app["keyCredentials"] == []
    first, second = secret_of(daemon, app), secret_of(daemon, app)
    assert login(daemon, app, first["secretText"]).error == "unauthorized_client"
    sp = graph(daemon, "POST", "/servicePrincipals", {"appId": app["appId"]}, expect=201).json
    refused(graph(daemon, "POST", "/servicePrincipals", {"appId": app["appId"]}), 409, "Request_MultipleObjectsWithSameKeyValue")
    for one in (first, second):
        reply = login(daemon, app, one["secretText"])
        assert reply.status == 200 and "refresh_token" not in reply.json
    assert login(daemon, app, "wrong").error == "invalid_client"
    assert login(daemon, app, first["hint"] + "wrong").error == "invalid_client"
    token = reply.json["access_token"]
    listed = daemon.call("GET", "/subscriptions", token=token, api_version="2019-11-01")
    assert listed.json["value"] == [], "no role yet"
    given = Roles(daemon, sub).give(sp["id"])
    assert given.json["properties"]["principalType"] == "ServicePrincipal"
    assert daemon.call("GET", sub, token=token, api_version="2019-11-01").status == 200
    shown = graph(daemon, "GET", f"/applications/{app['id']}", expect=200).json["passwordCredentials"]
    assert {c["keyId"] for c in shown} == {first["keyId"], second["keyId"]}
    assert not any(c["secretText"] for c in shown)
    graph(daemon, "POST", f"/applications/{app['id']}/removePassword", {"keyId": first["keyId"]}, expect=204)
    refused(
        graph(daemon, "POST", f"/applications/{app['id']}/removePassword", {"keyId": first["keyId"]}),
        400,
        "Request_BadRequest",
    )
    assert login(daemon, app, first["secretText"]).status == 401
    assert login(daemon, app, second["secretText"]).status == 200
    graph(daemon, "DELETE", f"/servicePrincipals/{sp['id']}", expect=204)
    assert daemon.call("GET", sub, token=token, api_version="2019-11-01").status == 401, "at once"
    assert login(daemon, app, second["secretText"]).error == "unauthorized_client"


def test_a_secret_has_its_time(daemon, app):
    daemon.expect_log("login.failed")
    graph(daemon, "POST", "/servicePrincipals", {"appId": app["appId"]}, expect=201)
    past = secret_of(daemon, app, startDateTime="2020-01-01T00:00:00Z", endDateTime="2021-01-01T00:00:00Z")
    future = secret_of(daemon, app, startDateTime="2099-01-01T00:00:00Z", endDateTime="2100-01-01T00:00:00Z")
    for one in (past, future):
        assert login(daemon, app, one["secretText"]).error == "invalid_client"
    path = f"/applications/{app['id']}/addPassword"
    never = {"startDateTime": "1960-01-01T00:00:00Z", "endDateTime": "1970-01-01T00:00:00Z"}
    for bad in ({"endDateTime": "soon"}, {"endDateTime": "2020-01-01T00:00:00Z"}, never):
        reply = graph(daemon, "POST", path, {"passwordCredential": bad})
        refused(reply, 400, "Request_BadRequest", words=["endDateTime"])


def test_objects_are_found_as_az_looks_for_them(daemon, person, app):
    ada = person("none")
    own = daemon.env["AZURE_CLIENT_ID"]
    for app_id in (BATCH_AI, own):
        (sp,) = found(daemon, "servicePrincipals", f"servicePrincipalNames/any(c:c eq '{app_id}')")
        assert sp["id"] == sp["appId"] == app_id and sp["servicePrincipalNames"] == [app_id]
        assert graph(daemon, "GET", f"/servicePrincipals/{app_id}", expect=200).json == sp
    assert found(daemon, "servicePrincipals", "displayName eq 'nothing'") == []
    assert found(daemon, "applications", f"startswith(displayName,'{app['displayName'][:4]}')")
    assert found(daemon, "applications", f"appId eq '{app['appId']}'")[0]["id"] == app["id"]
    assert [u["id"] for u in found(daemon, "users", f"userPrincipalName eq '{ada.name}'")] == [ada.id]
    assert graph(daemon, "GET", f"/users/{ada.name}", expect=200).json["id"] == ada.id
    assert graph(daemon, "GET", f"/users/{ada.id}", expect=200).json["userPrincipalName"] == ada.name
    ids = {"ids": [ada.id, BATCH_AI, str(uuid.uuid4()), 7], "types": ["user"]}
    reply = graph(daemon, "POST", "/directoryObjects/getByIds", ids, expect=200).json["value"]
    assert [(o["@odata.type"], o["id"]) for o in reply] == [
        ("#microsoft.graph.user", ada.id),
        ("#microsoft.graph.servicePrincipal", BATCH_AI),
    ]
    refused(graph(daemon, "GET", f"/users/{BATCH_AI}"), 404, "Request_ResourceNotFound")
    refused(graph(daemon, "GET", "/users", params={"$filter": "age gt 7"}), 400, "Request_UnsupportedQuery")
    refused(graph(daemon, "GET", "/me"), 400, "Request_BadRequest")
    assert graph(daemon, "GET", "/me", person=ada, expect=200).json["userPrincipalName"] == ada.name
    assert "password" not in json.dumps(graph(daemon, "GET", "/users", expect=200).json).lower()


def test_a_filter_by_id_finds_objects_of_its_list_alone(daemon, person, app):
    ada = person("none")
    assert [u["id"] for u in found(daemon, "users", f"id eq '{ada.id}'")] == [ada.id]
    assert [a["id"] for a in found(daemon, "applications", f"id eq '{app['id'].upper()}'")] == [app["id"]]
    for kind in ("servicePrincipals", "applications"):
        assert found(daemon, kind, f"id eq '{ada.id}'") == found(daemon, kind, f"userPrincipalName eq '{ada.name}'") == []
    assert found(daemon, "users", f"appId eq '{app['appId']}'") == found(daemon, "applications", "mail eq 'a@b'") == []


def test_a_long_list_of_objects_has_pages(daemon):
    own, (made,) = daemon.env["AZURE_CLIENT_ID"], [graph(daemon, "POST", "/applications", {"displayName": fresh("x")}, expect=201).json]
    services = graph(daemon, "GET", "/servicePrincipals", expect=200).json
    assert [s["id"] for s in services["value"]][:2] == [own, BATCH_AI] and "@odata.nextLink" not in services
    after = graph(daemon, "GET", "/servicePrincipals", params={"$skiptoken": "0"}, expect=200).json["value"]
    assert after == services["value"][1:]
    assert made["id"] in [a["id"] for a in graph(daemon, "GET", "/applications", expect=200).json["value"]]


def test_who_may_change_the_directory(daemon, person, app):
    contributor, owner = person("Contributor"), person(OWNER)
    for method, path in (
        ("POST", "/applications"),
        ("POST", f"/applications/{app['id']}/addPassword"),
        ("POST", "/servicePrincipals"),
        ("DELETE", f"/applications/{app['id']}"),
        ("DELETE", f"/users/{owner.name}"),
        ("DELETE", f"/servicePrincipals/{BATCH_AI}"),
    ):
        reply = graph(daemon, method, path, {"displayName": "x", "appId": app["appId"]}, person=contributor)
        refused(reply, 403, "Authorization_RequestDenied")
    reply = graph(daemon, "POST", "/applications", {"displayName": "of an owner"}, person=owner)
    assert reply.status == 201
    graph(daemon, "DELETE", f"/applications/{reply.json['id']}", person=owner, expect=204)
    own = daemon.env["AZURE_CLIENT_ID"]
    refused(graph(daemon, "DELETE", f"/servicePrincipals/{own}"), 400, "Request_BadRequest")
    refused(graph(daemon, "POST", f"/servicePrincipals/{own}/addPassword", {}), 400, "Request_BadRequest")
    # What is wrong with a body.
    for body in ({}, {"displayName": ""}, {"displayName": "x" * 200}, {"displayName": 7}):
        refused(graph(daemon, "POST", "/applications", body), 400, "Request_BadRequest")
    for body in ({}, {"appId": str(uuid.uuid4())}, {"appId": 7}):
        refused(graph(daemon, "POST", "/servicePrincipals", body), 400, "Request_BadRequest")
    token = daemon.token_reply(scope="https://storage.azure.com/.default").json["access_token"]
    assert daemon.call("GET", "/v1.0/users", token=token, api_version=None, validate=False).status == 401


def test_an_owner_of_one_subscription_gets_no_roles_elsewhere_through_the_directory(daemon, person, temporary):
    """Who gives a user a password, or a program a secret, has its roles."""
    other = daemon.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    try:
        owner, everywhere = person(OWNER), person(READER, scope="/")
        for scope in ("/", f"/subscriptions/{other}", f"/subscriptions/{other}/resourceGroups/g"):
            reply = owner.call("POST", "/batchaid/users", {"name": fresh("x"), "role": READER, "scope": scope})
            refused(reply, 403, "AuthorizationFailed")
            assert "Microsoft.Authorization/roleAssignments/write" in reply.error["message"]
        for tail, method in ((f"/{everywhere.name}/reset", "POST"), (f"/{everywhere.name}", "DELETE")):
            refused(owner.call(method, "/batchaid/users" + tail), 403, "AuthorizationFailed")
        refused(graph(daemon, "DELETE", f"/users/{everywhere.name}", person=owner), 403, "Authorization_RequestDenied")
        app = graph(daemon, "POST", "/applications", {"displayName": "elsewhere"}, expect=201).json
        sp = graph(daemon, "POST", "/servicePrincipals", {"appId": app["appId"]}, expect=201).json
        secret = secret_of(daemon, app)
        Roles(daemon, f"/subscriptions/{other}").give(sp["id"])
        for kind, id in (("applications", app["id"]), ("servicePrincipals", sp["id"])):
            for method, tail, body in (("POST", "/addPassword", {}), ("POST", "/removePassword", {"keyId": secret["keyId"]}), ("DELETE", "", None)):
                reply = graph(daemon, method, f"/{kind}/{id}{tail}", body, person=owner)
                refused(reply, 403, "Authorization_RequestDenied")
        assert login(daemon, app, secret["secretText"]).status == 200
        ada = temporary(Person(daemon, "none"))
        assert owner.call("POST", f"/batchaid/users/{ada.name}/reset", {}).status == 200
        graph(daemon, "DELETE", f"/applications/{app['id']}", expect=204)
    finally:
        daemon.call("DELETE", f"/batchaid/subscriptions/{other}")
