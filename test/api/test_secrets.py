# SPDX-License-Identifier: MIT
"""The secrets of Key Vaults, at the vaults' own hosts."""

import json
import re
import time

import pytest
from support.people import Person
from support.vaults import ALL, DATA, RM_VERSION, Safe, Vaults, policy, vault_body
from support.world import fresh

YOU = "11111111-0000-0000-0000-000000000002"
HEX = re.compile(r"[0-9a-f]{32}")


def me(daemon):
    return daemon.env["AZURE_CLIENT_ID"]


@pytest.fixture
def safe(daemon, vaults):
    """A vault in which the test may do all."""
    return Safe(daemon, vaults.vault(policy(me(daemon), **ALL)))


def codes(reply):
    error = reply["error"] if isinstance(reply, dict) else reply.error
    return error["code"], error.get("innererror", {}).get("code")


# --- who may ----------------------------------------------------------------------------------------


def test_the_first_request_is_challenged(safe):
    for method, path, body in (("GET", "/secrets/x", None), ("PUT", "/secrets/x", ""), ("GET", "/anything", None)):
        reply = safe.call(method, path, data=body, token=None, expect=401 if "any" not in path else 404, judged=False)
        if reply.status == 401:
            assert codes(reply) == ("Unauthorized", None)
            assert reply.headers["WWW-Authenticate"] == (
                f'Bearer authorization="https://{safe.site}/adfs", resource="https://vault.{safe.site}"'
            )


def test_no_vault_has_certificate_contacts(safe):
    """Terraform's azurerm asks for them, and takes any other error for a failure."""
    assert safe.call("GET", "/certificates/contacts", expect=404, judged=False).code == "ContactsNotFound"


@pytest.mark.parametrize("what, path", [("keys", "/keys"), ("keys", "/deletedkeys/k"), ("certificates", "/certificates/c/1"),
                                        ("keys of storage accounts", "/storage"), ("random numbers", "/rng")])  # fmt: skip
def test_what_a_vault_has_elsewhere_is_refused_by_its_name(safe, what, path):
    for method in ("GET", "PUT", "POST"):
        error = safe.call(method, path, data="{}" if method != "GET" else None, expect=501, judged=False).error
        assert (error["code"], error["message"]) == ("NotImplemented", f"batchaid serves the secrets of vaults, not {what}.")
    assert safe.call("GET", "/keysx", expect=404, judged=False).code == "NotFound"


def test_a_token_must_be_for_vaults(safe, daemon):
    safe.call("GET", "/secrets/x", token=daemon.token(), expect=401, judged=False)
    reply = daemon.call("GET", f"/subscriptions/{daemon.subscription}", token=safe.token(), validate=False)
    assert reply.status == 401


def test_a_token_for_a_vault_opens_none_of_a_longer_name(daemon, vaults):
    """The host ACCOUNT-secondary is an account's own for storage alone."""
    name = vaults.vault(policy(me(daemon), secrets=["all"]))
    vaults.vault(policy(me(daemon), secrets=["all"]), name=f"{name}-secondary")
    token = daemon.token_reply(scope=f"{Safe(daemon, name).url}/.default").json["access_token"]
    statuses = [Safe(daemon, one, token).call("GET", "/secrets").status for one in (name, f"{name}-secondary")]
    assert statuses == [200, 401]


def test_only_a_policy_opens_a_vault(daemon, vaults):
    name = vaults.vault(policy(YOU, **ALL))
    safe = Safe(daemon, name)
    reply = safe.call("PUT", "/secrets/a", {"value": "x"}, expect=403)
    assert codes(reply) == ("Forbidden", "AccessDenied")
    assert "secrets set permission" in reply.error["message"]
    requests = {
        "get": ("GET", "/secrets/a/00112233445566778899aabbccddeeff", 404),
        "list": ("GET", "/secrets", 200),
        "set": ("PUT", "/secrets/a", 200),
        "backup": ("POST", "/secrets/a/backup", 200),
        "delete": ("DELETE", "/secrets/a", 200),
        "recover": ("POST", "/deletedsecrets/a/recover", 200),
        "restore": ("POST", "/secrets/restore", 400),
        "purge": ("DELETE", "/deletedsecrets/a", 404),
    }
    for permission, (_, _, expect) in requests.items():
        vaults.call("PATCH", f"/vaults/{name}", {"properties": {"accessPolicies": [policy(me(daemon).upper(), secrets=[permission])]}})
        for other, (method, path, _) in requests.items():
            if other != permission:
                safe.call(method, path, {"value": "x"}, expect=403)
        safe.call(*requests[permission][:2], {"value": "x"}, expect=expect)


def test_a_policy_for_an_application_on_behalf_of_somebody_is_not_ones_own(daemon, vaults):
    entry = {**policy(me(daemon), **ALL), "applicationId": YOU}
    Safe(daemon, vaults.vault(entry)).call("GET", "/secrets", expect=403)


def test_with_roles_policies_do_not_count(daemon, vaults):
    safe = Safe(daemon, vaults.vault(policy(YOU, **ALL), enableRbacAuthorization=True))
    assert safe.set("a", "x")["value"] == "x"  # the first principal is Owner of everything


def token_of(person, safe):
    reply = person.login(scope=f"https://vault.{safe.site}/.default")
    assert reply.status == 200, reply
    return reply.json["access_token"]


@pytest.mark.parametrize(
    "role, reads, writes",
    [("Key Vault Secrets User", 200, 403), ("Key Vault Secrets Officer", 200, 200), ("Owner", 403, 403)],
)
def test_with_roles_those_who_have_one_may(daemon, vaults, role, reads, writes, temporary):
    name = vaults.vault(policy(YOU, **ALL), enableRbacAuthorization=True)
    other = vaults.vault(enableRbacAuthorization=True)
    Safe(daemon, name).set("a", "x")
    person = temporary(Person(daemon, role, scope=vaults.get(name)["id"]))
    safe, closed = Safe(daemon, name), Safe(daemon, other)
    safe._token = closed._token = token_of(person, safe)
    safe.get("a", expect=reads)
    reply = safe.call("PUT", "/secrets/b", {"value": "y"}, expect=writes)
    if writes == 403:
        assert codes(reply) == ("Forbidden", "ForbiddenByRbac")
    closed.call("GET", "/secrets", expect=403)


def test_a_role_at_one_secret_opens_that_secret_alone(daemon, vaults, person):
    name, other = vaults.vault(enableRbacAuthorization=True), vaults.vault(enableRbacAuthorization=True)
    for secret in ("one", "one-more"):
        Safe(daemon, name).set(secret, "x")
    Safe(daemon, other).set("one", "x")
    reader, officer = (person(role, f"{vaults.get(name)['id']}/secrets/One") for role in ("Key Vault Secrets User", "Key Vault Secrets Officer"))
    for who, status in ((reader, 403), (officer, 200)):
        safe, closed = (Safe(daemon, vault, token_of(who, Safe(daemon, vault))) for vault in (name, other))
        assert safe.get("one")["value"] == "x" and safe.get("ONE")["value"] == "x"
        assert len(safe.names("/secrets/one/versions")) == 1
        for path in ("/secrets", "/deletedsecrets", "/secrets/one-more", "/secrets/on", "/secrets/one-more/versions", "/deletedsecrets/one-more"):
            assert codes(safe.call("GET", path, expect=403, judged=False)) == ("Forbidden", "ForbiddenByRbac")
        safe.call("POST", "/secrets/restore", {"value": "x"}, expect=403, judged=False)
        safe.set("one-more", "y", expect=403)
        closed.get("one", expect=403)
        safe.call("PATCH", "/secrets/one", {"tags": {"a": "b"}}, expect=status, judged=False)
    safe.delete("one")
    for method, path in (("POST", "/deletedsecrets/one/recover"), ("DELETE", "/secrets/one")):
        safe.call(method, path, expect=200)
    safe.call("DELETE", "/deletedsecrets/one", expect=204)


def test_a_policy_lets_a_person_in(daemon, vaults):
    person = Person(daemon, "none")
    safe = Safe(daemon, vaults.vault(policy(person.id, secrets=["set"])))
    safe._token = token_of(person, safe)
    safe.set("a", "x")
    assert codes(safe.get("a", expect=403)) == ("Forbidden", "AccessDenied")
    person.remove()
    safe.call("PUT", "/secrets/a", {"value": "x"}, expect=401, judged=False)


RIGHT = "Microsoft.Authorization/roleAssignments/write"
RM = {"api_version": RM_VERSION, "validate": False}


@pytest.mark.parametrize("by_roles", [False, True])
@pytest.mark.parametrize("role", ["Key Vault Contributor", "Contributor"])
def test_who_manages_vaults_lets_nobody_at_secrets(daemon, vaults, role, by_roles, temporary):
    name = vaults.vault(policy(YOU, secrets=["get"]), policy(me(daemon), **ALL), enableRbacAuthorization=by_roles)
    path = vaults.get(name)["id"]
    Safe(daemon, name).set("a", "x")
    person = temporary(Person(daemon, role, scope=path))

    def put(properties):
        return "PUT", path, {**vaults.get(name), "properties": {**vaults.get(name)["properties"], **properties}}

    for more in (
        policy(person.id, secrets=["get"]), policy(YOU, secrets=["get", "Set"]), policy(YOU, secrets=["all"]),
        policy("9fcb3732-5f52-4135-8c08-9d4bbaf203ea", secrets=["get"]),
    ):  # fmt: skip
        there = vaults.get(name)["properties"]["accessPolicies"]
        for method, where, body in (
            ("PATCH", path, {"properties": {"accessPolicies": [more]}}),
            put({"accessPolicies": [*there, more]}),
            ("PUT", path + "/accessPolicies/add", {"properties": {"accessPolicies": [more]}}),
            ("PUT", path + "/accessPolicies/replace", {"properties": {"accessPolicies": [more]}}),
        ):
            assert RIGHT in person.may_not(method, where, body, **RM)
    switch = {"enableRbacAuthorization": not by_roles}
    for request in (("PATCH", path, {"properties": switch}), put(switch), put({"accessPolicies": [], **switch})):
        assert RIGHT in person.may_not(*request, **RM)
    # All else about vaults is theirs, and to let in fewer.
    assert person.call("PATCH", path, {"tags": {"a": "b"}, "properties": {"enabledForDeployment": True}}, **RM).status == 200
    assert person.call(*put({}), **RM).status == 200
    fewer = {"properties": {"accessPolicies": [policy(YOU, secrets=["get"])]}}
    assert person.call("PUT", path + "/accessPolicies/remove", fewer, **RM).status == 200
    safe = Safe(daemon, name)
    safe._token = token_of(person, safe)
    safe.get("a", expect=403)


def test_who_made_a_vault_or_is_in_it_lets_others_in(daemon, vaults):
    """The maker could have made it so; those who are in give what they have themselves, and no more."""
    maker, member = (Person(daemon, "Key Vault Contributor", scope=vaults.base) for _ in "ab")
    name = fresh("vault")
    path = f"{vaults.base}/providers/Microsoft.KeyVault/vaults/{name}"
    assert maker.call("PUT", path, vault_body(), **RM).status == 200

    def add(person, *policies):
        return person.call("PUT", path + "/accessPolicies/add", {"properties": {"accessPolicies": list(policies)}}, **RM).status

    assert add(member, policy(member.id, secrets=["get"])) == 403
    assert add(maker, policy(member.id, secrets=["get", "list"])) == 200
    assert add(member, policy(YOU, secrets=["List"])) == 200
    assert add(member, policy(YOU, secrets=["list", "set"])) == add(member, policy(member.id, secrets=["all"])) == 403
    switch = {"enableRbacAuthorization": True}
    assert RIGHT in maker.may_not("PATCH", path, {"properties": switch}, **RM)
    owner = Person(daemon, "Owner", scope=path)
    assert owner.call("PATCH", path, {"properties": switch}, **RM).status == 200
    assert add(owner, policy(owner.id, secrets=["all"])) == 200
    for person in (maker, member, owner):
        person.remove()


def test_who_manages_vaults_purges_none(daemon, vaults, temporary):
    name = vaults.vault()
    person = temporary(Person(daemon, "Key Vault Contributor", scope=vaults.above.split("/providers")[0]))
    vaults.call("DELETE", f"/vaults/{name}")
    assert "purge/action" in person.may_not("POST", f"{vaults.above}/locations/eastus/deletedVaults/{name}/purge", **RM)


def test_a_vault_that_is_not_there(daemon, vaults):
    reply = Safe(daemon, fresh("none")).call("GET", "/secrets", expect=404)
    assert codes(reply) == ("VaultNotFound", None)
    name = vaults.vault(policy(me(daemon), **ALL))
    safe = Safe(daemon, name)
    safe.set("a", "kept")
    vaults.delete(name)
    assert codes(safe.call("GET", "/secrets", expect=404)) == ("VaultNotFound", None)
    vaults.put(name, {"location": "eastus", "properties": {"createMode": "recover"}})
    assert safe.get("a")["value"] == "kept"
    vaults.delete(name)
    vaults.deleted(name, "/purge", "POST", expect=202)
    vaults.vault(policy(me(daemon), **ALL), name=name)
    safe.get("a", expect=404)


# --- set and get ------------------------------------------------------------------------------------


def test_a_secret_and_its_versions(safe):
    before = int(time.time())
    first = safe.set("Name-1", "one", tags={"a": "b"}, contentType="text/plain")
    assert first["value"] == "one" and first["tags"] == {"a": "b"} and first["contentType"] == "text/plain"
    base, version = first["id"].rsplit("/", 1)
    assert base == f"{safe.url}/secrets/Name-1" and HEX.fullmatch(version)
    a = first["attributes"]
    assert a["enabled"] is True and "nbf" not in a and "exp" not in a
    assert before <= a["created"] == a["updated"] <= time.time()
    assert (a["recoveryLevel"], a["recoverableDays"]) == ("Recoverable+Purgeable", 90)
    second = safe.set("NAME-1", "two", attributes={"enabled": True, "nbf": 1, "exp": 253402300799})
    assert second["id"].startswith(f"{safe.url}/secrets/Name-1/")  # as it was made
    assert (second["attributes"]["nbf"], second["attributes"]["exp"]) == (1, 253402300799)
    assert "tags" not in second and "contentType" not in second
    assert safe.get("name-1") == second
    assert safe.get("name-1", version.upper()) == first
    assert safe.call("GET", "/secrets/name-1/", expect=200, judged=False).json == second
    assert safe.get("name-1", "0" * 32, expect=404)["error"]["code"] == "SecretNotFound"
    assert safe.get("name-2", expect=404)["error"]["code"] == "SecretNotFound"
    versions = safe.call("GET", "/secrets/name-1/versions", expect=200).json["value"]
    assert [v["id"] for v in versions] == [second["id"], first["id"]]
    assert all("value" not in v for v in versions)
    assert safe.names() == ["Name-1"]


def test_levels_of_recovery(daemon, vaults):
    for properties, level in (
        ({"softDeleteRetentionInDays": 7}, "CustomizedRecoverable+Purgeable"),
        ({"enablePurgeProtection": True}, "Recoverable"),
        ({"enablePurgeProtection": True, "softDeleteRetentionInDays": 8}, "CustomizedRecoverable"),
    ):
        safe = Safe(daemon, vaults.vault(policy(me(daemon), **ALL), **properties))
        assert safe.set("a", "x")["attributes"]["recoveryLevel"] == level


@pytest.mark.parametrize(
    "value",
    ["", " ", "x" * 25600, "\u00e9" * 12800, "tab\there\r\n", "\u2028\U0001f600", '{"a": "b\\\\"}', "-----BEGIN KEY-----\n"],
    ids=["empty", "space", "longest", "longest in two bytes", "controls", "planes", "json", "pem"],
)
def test_any_text_is_a_value(safe, value):
    assert safe.get("v", safe.set("v", value)["id"].rsplit("/", 1)[1])["value"] == value


@pytest.mark.parametrize(
    "body",
    [
        {"value": "x" * 25601},
        {"value": "\u00e9" * 12801},
        {},
        {"value": None},
        {"value": 5},
        {"value": ["x"]},
        {"value": "x", "attributes": {"enabled": "yes"}},
        {"value": "x", "attributes": ["enabled"]},
        {"value": "x", "attributes": {"exp": -1}},
        {"value": "x", "attributes": {"exp": 0}},
        {"value": "x", "attributes": {"exp": 253402300800}},
        {"value": "x", "attributes": {"nbf": 1 << 62}},
        {"value": "x", "attributes": {"nbf": 1.5}},
        {"value": "x", "attributes": {"nbf": "tomorrow"}},
        {"value": "x", "attributes": {"nbf": 100, "exp": 100}},
        {"value": "x", "contentType": "t" * 256},
        {"value": "x", "contentType": 1},
        {"value": "x", "tags": {str(i): "x" for i in range(16)}},
        {"value": "x", "tags": {"a": "b" * 257}},
        {"value": "x", "tags": {"a": 1}},
        {"value": "x", "tags": "a=b"},
    ],
    ids=lambda body: json.dumps(body)[:60],
)
def test_a_body_that_cannot_be(safe, body):
    reply = safe.call("PUT", "/secrets/bad", body, expect=400)
    assert codes(reply) == ("BadParameter", None)
    assert "xxxxxxxx" not in reply.text
    safe.get("bad", expect=404)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'"text"', b'{"value": "\xff\xfe"}', b'{"value": "a\\u0000b"}', b'{"value": "\\ud800"}'],
    ids=repr,
)
def test_a_body_that_is_none(safe, data):
    assert codes(safe.call("PUT", "/secrets/bad", data=data, expect=400)) == ("BadParameter", None)


def test_a_body_that_is_too_long(safe):
    safe.call("PUT", "/secrets/bad", {"value": "x", "more": "y" * (256 << 10)}, expect=413)


@pytest.mark.parametrize("name", ["a_b", "a.b", "a%20b", "%C3%A4", "a" * 128])
def test_a_name_that_cannot_be(safe, name):
    reply = safe.call("PUT", f"/secrets/{name}", {"value": "x"}, expect=400)
    assert codes(reply) == ("BadParameter", None)


def test_names_of_every_length(safe):
    for name in ("a", "1", "-", "a" * 127):
        safe.set(name, "x")


def test_attributes_are_changed_one_by_one(safe):
    version = safe.set("a", "x", tags={"a": "b"})["id"].rsplit("/", 1)[1]
    path = f"/secrets/a/{version}"
    seen = safe.call("PATCH", path, {"attributes": {"exp": 2000000000}}, expect=200).json
    assert seen["attributes"]["exp"] == 2000000000 and seen["tags"] == {"a": "b"} and "value" not in seen
    seen = safe.call("PATCH", path, {"contentType": "t", "tags": {}, "attributes": {"enabled": False}}, expect=200).json
    assert (seen["contentType"], seen["tags"], seen["attributes"]["enabled"]) == ("t", {}, False)
    assert seen["attributes"]["exp"] == 2000000000
    assert codes(safe.call("GET", path, expect=403)) == ("Forbidden", "SecretDisabled")
    safe.call("PATCH", path, {"attributes": {"nbf": 2000000001}}, expect=400)
    safe.call("PATCH", "/secrets/a/", {"attributes": {"enabled": True}}, expect=200, judged=False)
    assert safe.get("a")["value"] == "x"
    safe.call("PATCH", f"/secrets/a/{'0' * 32}", {}, expect=404)


# --- lists ------------------------------------------------------------------------------------------


def test_lists_come_in_pages(safe):
    names = [f"s{i:02}" for i in range(30)]
    for name in names:
        safe.set(name, "x")
    assert safe.names() == names
    assert safe.names(maxresults=7) == names
    assert safe.names(maxresults=1) == names
    for wrong in (0, 26, -1, "x"):
        assert codes(safe.call("GET", "/secrets", params={"maxresults": wrong}, expect=400)) == ("BadParameter", None)
    for name in names[:10]:
        safe.delete(name)
    assert safe.names() == names[10:]
    assert safe.names("/deletedsecrets", maxresults=3) == names[:10]
    for _ in range(9):
        safe.set("s29", "x")
    versions = safe.names("/secrets/s29/versions", maxresults=4)
    assert len(set(versions)) == 10 and versions == safe.names("/secrets/s29/versions")
    assert safe.get("s29")["id"].endswith("/" + versions[0])
    assert safe.names("/secrets/none/versions") == safe.names("/secrets/s00/versions") == []


# --- deletion ---------------------------------------------------------------------------------------


def test_a_deleted_secret_keeps_its_name(safe):
    made = safe.set("gone", "x", tags={"a": "b"})
    deleted = safe.delete("GONE")
    assert deleted["recoveryId"] == f"{safe.url}/deletedsecrets/gone" and "value" not in deleted
    assert deleted["id"] == made["id"] and deleted["tags"] == {"a": "b"}
    assert deleted["scheduledPurgeDate"] - deleted["deletedDate"] == 90 * 24 * 3600
    assert codes(safe.get("gone", expect=404)) == ("SecretNotFound", None)
    safe.delete("gone", expect=404)
    assert codes(safe.set("gone", "y", expect=409)) == ("Conflict", "ObjectIsDeletedButRecoverable")
    assert safe.call("GET", "/deletedsecrets/gone", expect=200).json == deleted
    assert safe.call("POST", "/deletedsecrets/gone/recover", expect=200).json["id"] == made["id"]
    assert safe.get("gone")["value"] == "x"
    safe.call("POST", "/deletedsecrets/gone/recover", expect=404)
    safe.call("GET", "/deletedsecrets/gone", expect=404)
    safe.call("DELETE", "/deletedsecrets/gone", expect=404)
    safe.delete("gone")
    safe.call("DELETE", "/deletedsecrets/gone", expect=204)
    safe.call("GET", "/deletedsecrets/gone", expect=404)
    safe.set("gone", "new")
    assert len(safe.names("/secrets/gone/versions")) == 1


def test_a_protected_vaults_secrets_are_not_purged(daemon, vaults):
    safe = Safe(daemon, vaults.vault(policy(me(daemon), **ALL), enablePurgeProtection=True))
    safe.set("a", "x")
    safe.delete("a")
    assert codes(safe.call("DELETE", "/deletedsecrets/a", expect=403)) == ("Forbidden", None)


# --- backups ----------------------------------------------------------------------------------------


def test_a_backup_is_put_back_anywhere(safe, daemon, vaults):
    made = [safe.set("kept", f"value-{i}", tags={"n": str(i)}, attributes={"exp": 2000000000 + i}) for i in range(3)]
    backup = safe.call("POST", "/secrets/kept/backup", expect=200).json
    assert "value-" not in backup["value"] and re.fullmatch(r"[A-Za-z0-9_-]+", backup["value"])
    assert codes(safe.call("POST", "/secrets/restore", backup, expect=409)) == ("Conflict", None)
    safe.delete("kept")
    reply = safe.call("POST", "/secrets/restore", backup, expect=409)
    assert codes(reply) == ("Conflict", "ObjectIsDeletedButRecoverable")
    other = Safe(daemon, vaults.vault(policy(me(daemon), **ALL)))
    other.call("POST", "/secrets/restore", backup, expect=200)
    for was in made:
        now = other.get("kept", was["id"].rsplit("/", 1)[1])
        assert now == {**was, "id": was["id"].replace(safe.url, other.url)}
    assert other.get("kept")["value"] == "value-2"
    text = backup["value"]
    for wrong in ("", "x", text[:-4], text[:40] + ("A" if text[40] != "A" else "B") + text[41:], text + "!", 5, None):
        reply = other.call("POST", "/secrets/restore", {"value": wrong}, expect=400)
        assert codes(reply) == ("BadParameter", None)


def test_a_backup_of_large_values(safe):
    for i in range(20):
        safe.set("large", chr(ord("a") + i) * 25600)
    backup = safe.call("POST", "/secrets/large/backup", expect=200).json
    safe.delete("large")
    safe.call("DELETE", "/deletedsecrets/large", expect=204)
    safe.call("POST", "/secrets/restore", backup, expect=200)
    assert safe.get("large")["value"] == "t" * 25600
    assert len(safe.names("/secrets/large/versions")) == 20


# --- the daemon -------------------------------------------------------------------------------------


def test_versions_of_the_interface(safe):
    safe.set("a", "x")
    for version in ("2015-06-01", "2016-10-01", "7.0", "7.1", "7.4", "7.6-preview.2", "2025-07-01"):
        safe.call("GET", "/secrets/a", api_version=version, expect=200, judged=False)
    for version in (None, "a b", "7.4/x"):
        assert codes(safe.call("GET", "/secrets/a", api_version=version, expect=400, judged=False))[0] == "BadParameter"


def test_other_suffixes_are_vaults_too(own_daemon):
    d = own_daemon(config={"vault": {"suffixes": ["vault.azure.net"]}})
    safe = Safe(d, Vaults(d).make().vault(policy(me(d), **ALL)))
    made = safe.set("a", "x")
    safe.host = f"{safe.name}.vault.azure.net"
    reply = safe.call("GET", "/secrets/a", token=None, expect=401, judged=False)
    login, resource = re.fullmatch(r'Bearer authorization="(.*)", resource="(.*)"', reply.headers["WWW-Authenticate"]).groups()
    assert login == f"{d.endpoint}/adfs"  # which vault.azure.net has not
    assert resource == "https://vault.azure.net"
    token = d.token_reply(scope=f"{resource}/.default").json["access_token"]
    seen = safe.call("GET", "/secrets/a", token=token, expect=200, judged=False).json
    assert seen["value"] == "x" and seen["id"] == made["id"].replace(safe.url, f"https://{safe.host}")


def test_what_was_acknowledged_is_there_and_nowhere_in_the_clear(own_daemon):
    d = own_daemon(config={"log": {"level": "debug"}})
    safe = Safe(d, Vaults(d).make().vault(policy(me(d), **ALL)))
    for i in range(20):
        safe.set(f"s{i}", f"under-the-mattress-{i}")
    backup = safe.call("POST", "/secrets/s0/backup", expect=200).json
    d.crash()
    again = Safe(d, safe.name)
    for i in range(20):
        assert again.get(f"s{i}")["value"] == f"under-the-mattress-{i}"
    again.delete("s0")
    again.call("DELETE", "/deletedsecrets/s0", expect=204)
    again.call("POST", "/secrets/restore", backup, expect=200)
    assert again.get("s0")["value"] == "under-the-mattress-0"
    copy = d.dir / "copy.db"
    d.tool("backup", str(copy))
    again.set("s1", "later")
    assert d.stop() == 0
    d.tool("restore", str(copy))
    d.start()
    assert Safe(d, safe.name).get("s1")["value"] == "under-the-mattress-1"
    files = [copy, d.stderr_path, *(p for p in d.state_dir.rglob("*") if p.is_file())]
    assert len(files) > 4
    for file in files:
        assert b"under-the-mattress" not in file.read_bytes(), file


def test_zz_the_documents_operations_were_all_seen():
    if DATA.seen is None:
        pytest.skip("the published specs are not here")
    assert {op.id for op in DATA.operations} - DATA.seen == set()
