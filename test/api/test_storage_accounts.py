# SPDX-License-Identifier: MIT
"""Storage accounts, their shares and containers, through Azure Resource Manager."""

import base64
import concurrent.futures
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from support.accounts import RM_VERSION, Accounts, account_body, account_name
from support.waiting import wait_for
from support.world import fresh, instant


@pytest.fixture(scope="module")
def accounts(daemon, temporary_in_file):
    return temporary_in_file(Accounts(daemon).make())


# --- accounts ---------------------------------------------------------------------------------------


def test_an_account_is_shown_as_it_was_made(accounts, daemon):
    name = account_name()
    acls = {"bypass": "AzureServices", "defaultAction": "Deny", "ipRules": [{"value": "1.2.3.4", "action": "Allow"}], "virtualNetworkRules": []}
    made = accounts.wait(
        accounts.put(
            name,
            account_body(
                tags={"a": "b"},
                networkAcls=acls,
                encryption={"services": {"blob": {}}, "keySource": "Microsoft.Storage"},
                minimumTlsVersion="TLS1_2",
                allowBlobPublicAccess=False,
            ),
        )
    )
    assert accounts.get(name) == made
    assert made["id"].lower() == f"{accounts.path}/{name}".lower()
    assert (made["name"], made["type"]) == (name, "Microsoft.Storage/storageAccounts")
    assert made["sku"] == {"name": "Standard_LRS", "tier": "Standard"}
    assert (made["kind"], made["location"], made["tags"]) == ("StorageV2", "eastus", {"a": "b"})
    p = made["properties"]
    assert p["networkAcls"] == acls
    assert (p["provisioningState"], p["statusOfPrimary"], p["primaryLocation"]) == ("Succeeded", "available", "eastus")
    assert (p["minimumTlsVersion"], p["allowBlobPublicAccess"], p["supportsHttpsTrafficOnly"]) == ("TLS1_2", False, True)
    assert p["encryption"]["services"]["blob"]["enabled"] is True
    port = urlsplit(daemon.endpoint).port
    assert p["primaryEndpoints"] == {
        s: f"https://{name}.{s}.core.localhost:{port}/" for s in ("blob", "queue", "table", "file", "web", "dfs")
    }
    assert instant(p["creationTime"]) <= instant(p["keyCreationTime"]["key1"])


def test_choices_without_an_effect_here_are_kept(accounts):
    """Terraform's azurerm sends them, and makes the account anew if they are not shown."""
    keys = {"queue": {"keyType": "Account"}, "table": {"keyType": "Service"}}
    encryption = {"keySource": "Microsoft.Storage", "services": keys, "requireInfrastructureEncryption": True}
    name = account_name()
    made = accounts.wait(accounts.put(name, account_body(isLocalUserEnabled=True, encryption=encryption)))["properties"]
    assert made["isLocalUserEnabled"] is True and made["encryption"]["requireInfrastructureEncryption"] is True
    services = made["encryption"]["services"]
    assert services["queue"]["keyType"] == "Account" and set(services) == {"blob", "file", "queue"}
    reply = accounts.put(account_name(), account_body(isSftpEnabled=True), expect=400)
    assert reply.error["target"] == "properties.isSftpEnabled"


def test_endpoints_repeat_the_host_that_the_client_used(accounts, daemon):
    port = urlsplit(daemon.endpoint).port
    name = accounts.account()
    for host, site in ((f"head.lab:{port}", f"head.lab:{port}"), ("10.0.0.7", "localhost"), ("[::1]:99", "localhost:99")):
        seen = accounts.call("GET", f"/{name}", headers={"Host": host}, expect=200).json
        assert seen["properties"]["primaryEndpoints"]["file"] == f"https://{name}.file.core.{site}/"


@pytest.mark.parametrize("version", ["2015-06-15", "2017-10-01", "2025-08-01", "2031-01-01"])
def test_every_version_is_served(accounts, version):
    name = account_name()
    reply = accounts.daemon.call("PUT", f"{accounts.path}/{name}", account_body(), api_version=version, validate=False, expect=202)
    assert f"api-version={version}" in reply.headers["location"]
    assert accounts.get(name)["name"] == name


def test_a_repeated_put_changes_what_it_says(accounts):
    name = accounts.account(tags={"a": "b"}, accessTier="Cool")
    keys = accounts.keys(name)
    seen = accounts.put(name, account_body(sku="Standard_GRS", minimumTlsVersion="TLS1_1"), expect=200).json
    assert seen["sku"]["name"] == "Standard_GRS" and seen["tags"] == {"a": "b"}
    assert (seen["properties"]["accessTier"], seen["properties"]["minimumTlsVersion"]) == ("Cool", "TLS1_1")
    assert accounts.get(name) == seen and accounts.keys(name) == keys
    reply = accounts.put(name, account_body(location="westus"), expect=409)
    assert reply.code == "InvalidResourceLocation"


def test_a_patch_changes_only_what_it_says(accounts):
    name = accounts.account(tags={"a": "b"}, accessTier="Cool")
    seen = accounts.call("PATCH", f"/{name}", {"properties": {"allowBlobPublicAccess": True}}, expect=200).json
    assert (seen["properties"]["accessTier"], seen["properties"]["allowBlobPublicAccess"]) == ("Cool", True)
    seen = accounts.call("PATCH", f"/{name}", {"tags": {}, "sku": {"name": "Standard_ZRS"}}, expect=200).json
    assert seen["tags"] == {} and seen["sku"]["name"] == "Standard_ZRS"
    assert seen == accounts.get(name)


@pytest.mark.parametrize("name", ["ab", "a" * 25, "Upper", "with-hyphen", "under_score", "dot.dot", "%C3%A4bc", "a%20b", "abc%0Ad"])
def test_names_that_are_none(accounts, name):
    assert accounts.put(name, expect=400).code == "AccountNameInvalid"


def test_bytes_that_are_no_text_are_refused(accounts):
    for name in ("%FF%FEabc", "abc%00"):
        assert accounts.daemon.call("PUT", f"{accounts.path}/{name}", account_body(), api_version=RM_VERSION, validate=False).status == 400
    body = b'{"sku":{"name":"Standard_LRS"},"kind":"Storage","location":"\xff\xfe"}'
    assert accounts.daemon.call("PUT", f"{accounts.path}/{account_name()}", data=body, api_version=RM_VERSION, validate=False).status == 400


def test_a_name_is_one_account_in_the_whole_cloud(accounts, daemon, temporary):
    name = accounts.account()
    other = temporary(Accounts(daemon).make())
    reply = other.put(name, expect=409)
    assert reply.code == "StorageAccountAlreadyExists" and accounts.group in reply.error["message"]
    other.get(name, expect=404)
    other.delete(name, expect=204)
    assert accounts.get(name)["name"] == name


def test_names_are_checked_before(accounts):
    name = accounts.account()

    def ask(name, kind="Microsoft.Storage/storageAccounts", **more):
        return accounts.call("POST", f"{accounts.above}/checkNameAvailability", {"name": name, "type": kind}, **more).json

    assert ask(account_name()) == {"nameAvailable": True}
    taken = ask(name)
    assert taken == {
        "nameAvailable": False,
        "reason": "AlreadyExists",
        "message": f"The storage account named {name} is already taken.",
    }
    for bad in ("Upper", "", "\u00e4" * 500):
        assert ask(bad)["reason"] == "AccountNameInvalid"
    ask(name, kind="Microsoft.KeyVault/vaults", expect=400)


@pytest.mark.parametrize(
    "change, where",
    [
        ({"sku": {"name": "Huge"}}, "sku.name"),
        ({"sku": None}, "sku"),
        ({"kind": "Tape"}, "kind"),
        ({"location": ""}, "location"),
        ({"tags": ["a"]}, "tags"),
        ({"properties": {"supportsHttpsTrafficOnly": "yes"}}, "properties.supportsHttpsTrafficOnly"),
        ({"properties": {"networkAcls": {"defaultAction": "Maybe"}}}, "properties.networkAcls.defaultAction"),
        ({"properties": {"isHnsEnabled": True}}, "properties.isHnsEnabled"),
        ({"properties": 7}, "properties"),
    ],
)
def test_bad_bodies_say_what_is_wrong(accounts, change, where):
    reply = accounts.put(account_name(), {**account_body(), **change}, expect=400)
    assert reply.error["target"] == where


def test_lists(accounts, daemon, temporary):
    mine = temporary(Accounts(daemon).make())
    names = [mine.account() for _ in range(5)]
    assert [a["name"] for a in mine.call("GET", "", expect=200).json["value"]] == names
    everywhere = {a["name"]: a for a in mine.call("GET", f"{mine.above}/storageAccounts", expect=200).json["value"]}
    assert set(names) <= set(everywhere) and everywhere[names[0]] == mine.get(names[0])
    listed = daemon.call("GET", f"{mine.base}/resources", expect=200, validate=False).json["value"]
    assert [x["type"] for x in listed] == ["Microsoft.Storage/storageAccounts"] * 5
    mine.delete(names[0])
    assert [a["name"] for a in mine.call("GET", "", expect=200).json["value"]] == names[1:]


def test_fifteen_at_once(accounts, daemon, temporary):
    mine = temporary(Accounts(daemon).make())
    with concurrent.futures.ThreadPoolExecutor(15) as pool:
        names = list(pool.map(lambda _: mine.account(), range(15)))
        same = account_name()
        replies = list(pool.map(lambda _: mine.put(same, expect=(200, 202)).status, range(15)))
    assert {a["name"] for a in mine.call("GET", "", expect=200).json["value"]} == {*names, same}
    assert replies.count(202) == 1
    assert len({k for n in names for k in mine.keys(n)}) == 30


# --- keys -------------------------------------------------------------------------------------------


def test_keys(accounts):
    name = accounts.account()
    listed = accounts.call("POST", f"/{name}/listKeys", params={"$expand": "kerb"}, expect=200).json["keys"]
    assert [k["keyName"] for k in listed] == ["key1", "key2"]
    assert all(len(base64.b64decode(k["value"])) == 64 and k["permissions"] == "Full" for k in listed)
    one, two = accounts.keys(name)
    again = accounts.call("POST", f"/{name}/regenerateKey", {"keyName": "key2"}, expect=200).json["keys"]
    assert again[0]["value"] == one and again[1]["value"] not in (one, two)
    assert accounts.keys(name) == [one, again[1]["value"]]
    reply = accounts.call("POST", f"/{name}/regenerateKey", {"keyName": "key3"}, expect=400)
    assert reply.error["target"] == "keyName"
    accounts.call("POST", f"/{account_name()}/listKeys", expect=404)


def test_keys_outlive_the_daemon_and_are_in_no_log(own_daemon):
    d = own_daemon()
    a = Accounts(d).make()
    name = a.account()
    keys = a.keys(name)
    d.crash()
    assert a.keys(name) == keys
    database = b"".join(p.read_bytes() for p in d.state_dir.glob("batchaid.db*"))
    said = d.stderr_path.read_bytes()
    for key in keys:
        assert key.encode() not in database and key.encode() not in said
        assert base64.b64decode(key) not in database


def test_signatures(accounts):
    name = accounts.account()
    when = {"signedStart": "2026-01-01T00:00:00Z", "signedExpiry": "2036-01-01T00:00:00Z"}
    body = {"signedServices": "bf", "signedResourceTypes": "sco", "signedPermission": "rl", **when}
    token = accounts.call("POST", f"/{name}/ListAccountSas", body, expect=200).json["accountSasToken"]
    fields = {k: v[0] for k, v in parse_qs(token, strict_parsing=True).items()}
    assert fields.pop("sig") and fields == {
        "sv": "2021-06-08", "ss": "bf", "srt": "sco", "sp": "rl", "st": when["signedStart"], "se": when["signedExpiry"],
    }  # fmt: skip
    other = accounts.call("POST", f"/{name}/ListAccountSas", {**body, "keyToSign": "key2"}, expect=200).json
    assert other["accountSasToken"] != token
    where = {"canonicalizedResource": f"/blob/{name}/c", "signedResource": "c", "signedPermission": "r", **when}
    token = accounts.call("POST", f"/{name}/ListServiceSas", where, expect=200).json["serviceSasToken"]
    fields = {k: v[0] for k, v in parse_qs(token, strict_parsing=True).items()}
    assert fields["sr"] == "c" and "ss" not in fields
    for bad in ("/blob/other/c", f"/queue/{name}/c", name, ""):
        accounts.call("POST", f"/{name}/ListServiceSas", {**where, "canonicalizedResource": bad}, expect=400)


# --- what is around accounts ------------------------------------------------------------------------


def test_usages_skus_and_operations(accounts):
    accounts.account()
    (usage,) = accounts.call("GET", f"{accounts.above}/locations/eastus/usages", expect=200).json["value"]
    assert usage["name"]["value"] == "StorageAccounts" and usage["currentValue"] >= 1
    names = {s["name"] for s in accounts.call("GET", f"{accounts.above}/skus", expect=200).json["value"]}
    assert {"Standard_LRS", "Premium_LRS"} <= names
    path = f"{accounts.daemon.endpoint}/providers/Microsoft.Storage/operations"
    assert accounts.daemon.call("GET", path, api_version=RM_VERSION, validate=False, expect=200).json["value"]
    known = accounts.daemon.call("GET", f"{accounts.subscription}/providers/Microsoft.Storage", expect=200, validate=False).json
    assert "storageAccounts" in [t["resourceType"] for t in known["resourceTypes"]]


@pytest.mark.parametrize("service", ["blobServices", "fileServices"])
def test_settings_of_services_are_kept(accounts, service):
    name = accounts.account()
    seen = accounts.call("GET", f"/{name}/{service}/default", expect=200).json
    assert seen["name"] == "default" and seen["properties"]["cors"] == {"corsRules": []}
    rule = {
        "allowedOrigins": ["*"],
        "allowedMethods": ["GET"],
        "maxAgeInSeconds": 5,
        "exposedHeaders": ["*"],
        "allowedHeaders": ["*"],
    }
    put = accounts.call("PUT", f"/{name}/{service}/default", {"properties": {"cors": {"corsRules": [rule]}}}, expect=200).json
    assert put["properties"]["cors"]["corsRules"] == [rule]
    assert accounts.call("GET", f"/{name}/{service}/default", expect=200).json == put
    assert accounts.call("GET", f"/{name}/{service}", expect=200).json["value"] == [put]
    blank = {"versions": "", "channelEncryption": ""}  # reset to the service's defaults, as Terraform's azurerm does
    for smb, shown in (({**blank, "versions": "SMB3.1.1;"}, {"smb": {"versions": "SMB3.1.1;"}}), (blank, None)):
        if service != "fileServices":
            break
        body = {"properties": {"protocolSettings": {"smb": smb}}}
        put = accounts.call("PUT", f"/{name}/{service}/default", body, expect=200).json
        assert put["properties"].get("protocolSettings") == shown
    for bad in ({}, {"properties": 1}, {"properties": {"x": "y" * 70000}}):
        accounts.call("PUT", f"/{name}/{service}/default", bad, expect=400)
    accounts.call("GET", f"/{account_name()}/{service}/default", expect=404)


# --- shares and containers --------------------------------------------------------------------------


def test_a_share_has_access_policies(accounts):
    name = f"/{accounts.account()}/fileServices/default/shares/data"
    times = {"startTime": "2026-07-02T09:38:21Z", "expiryTime": "2027-07-02T10:38:21Z"}
    policies = [{"id": "a", "accessPolicy": {**times, "permission": "rwdl"}}, {"id": "b", "accessPolicy": {}}]
    accounts.call("PUT", name, {"properties": {"signedIdentifiers": policies, "shareQuota": 5}}, expect=201)
    assert accounts.call("GET", name, expect=200).json["properties"]["signedIdentifiers"] == policies
    accounts.call("PATCH", name, {"properties": {"shareQuota": 6}}, expect=200)
    assert accounts.call("GET", name, expect=200).json["properties"]["signedIdentifiers"] == policies
    shown = accounts.call("PATCH", name, {"properties": {"signedIdentifiers": []}}, expect=200).json["properties"]
    assert "signedIdentifiers" not in shown and shown["shareQuota"] == 6
    for bad in ([{"accessPolicy": {}}], [{"id": "a", "accessPolicy": {"startTime": "soon"}}], policies * 3):
        accounts.call("PATCH", name, {"properties": {"signedIdentifiers": bad}}, expect=400)


KINDS = pytest.mark.parametrize("kind", ["files", "blobs"])


@KINDS
def test_the_life_of_a_share(accounts, kind):
    name = accounts.account()
    made = accounts.share(name, "data", body={"properties": {"metadata": {"Key": "v"}}}, kind=kind).json
    folder = accounts.folder(name, "data", kind)
    assert folder.stat().st_mode & 0o7777 == 0o777
    assert made["properties"]["metadata"] == {"Key": "v"}
    assert re.fullmatch('"0x[0-9A-F]{15,16}"', made["etag"])
    assert accounts.share(name, "data", "GET", expect=200, kind=kind).json == made
    assert (made["properties"]["leaseState"], made["properties"]["leaseStatus"]) == ("Available", "Unlocked")
    changed = accounts.share(name, "data", "PATCH", {"properties": {"metadata": {}}}, expect=200, kind=kind).json
    assert changed["properties"]["metadata"] == {} and changed["etag"] != made["etag"]
    again = accounts.share(name, "data", body={"properties": {}}, expect=200, kind=kind).json
    assert again["properties"]["metadata"] == {}
    accounts.share(name, "data", "DELETE", expect=200, kind=kind)
    accounts.share(name, "data", "DELETE", expect=204, kind=kind)
    reply = accounts.share(name, "data", "GET", expect=404, kind=kind)
    assert reply.code == ("ShareNotFound" if kind == "files" else "ContainerNotFound")
    assert not folder.exists()
    accounts.share(name, "data", kind=kind)


def test_what_only_one_kind_has(accounts):
    name = accounts.account()
    assert accounts.share(name, "s", body={"properties": {"shareQuota": 5}}, expect=400).status == 400
    share = accounts.share(name, "sss", body={"properties": {"shareQuota": 5, "accessTier": "Hot"}}).json["properties"]
    assert (share["shareQuota"], share["accessTier"], share["enabledProtocols"]) == (5, "Hot", "SMB")
    accounts.share(name, "sss", "PATCH", {"properties": {"shareQuota": 0}}, expect=400)
    box = accounts.share(name, "ccc", body={"properties": {"publicAccess": "Blob"}}, kind="blobs").json["properties"]
    assert (box["publicAccess"], box["hasLegalHold"]) == ("Blob", False)
    for special in ("$root", "$web", "$logs"):
        accounts.share(name, special, kind="blobs")
        accounts.share(name, special, expect=400)
    closed = accounts.account(allowBlobPublicAccess=False)
    reply = accounts.share(closed, "ccc", body={"properties": {"publicAccess": "Container"}}, kind="blobs", expect=409)
    assert reply.code == "PublicAccessNotPermitted"


@KINDS
@pytest.mark.parametrize("bad", ["ab", "a" * 64, "Upper", "a--b", "-ab", "ab-", "a_b", "a.b", "%C3%A4bc", "%2E%2Ex"])
def test_names_of_shares_that_are_none(accounts, kind, bad):
    name = accounts.account()
    assert accounts.share(name, bad, kind=kind, expect=400).code == "InvalidResourceName"


def listed_in_pages(accounts, account, kind, **query):
    """All shares, by links from page to page; deleted ones are on the last page whatever its size."""
    page = accounts.shares(account, kind, **{"$maxpagesize": "3", **query})
    seen = page["value"]
    while "nextLink" in page:
        assert len(page["value"]) == 3
        page = accounts.call("GET", page["nextLink"].removeprefix(accounts.daemon.endpoint)).json
        seen += page["value"]
    return seen


@KINDS
def test_lists_of_shares(accounts, kind):
    name = accounts.account()
    names = sorted(["abc", "abd", "a-b", "b00", "b01", "zzz", "a1b"])
    with concurrent.futures.ThreadPoolExecutor(7) as pool:
        list(pool.map(lambda n: accounts.share(name, n, kind=kind), names))
    assert [s["name"] for s in accounts.shares(name, kind)["value"]] == names
    assert [s["name"] for s in listed_in_pages(accounts, name, kind)] == names
    for text in ("startswith(name, ab)", "startswith(name,'ab')", "ab"):
        assert [s["name"] for s in accounts.shares(name, kind, **{"$filter": text})["value"]] == ["abc", "abd"]
    above = "fileServices/default/shares" if kind == "files" else "blobServices/default/containers"
    for bad in ({"$filter": "name eq 'x'"}, {"$filter": "startswith(name, x"}, {"$maxpagesize": "0"}, {"$maxpagesize": "many"}):
        accounts.call("GET", f"/{name}/{above}", params=bad, expect=400)
    accounts.share(name, "zzz", "DELETE", expect=200, kind=kind)
    assert [s["name"] for s in accounts.shares(name, kind)["value"]] == names[:-1]
    asked = {"$include" if kind == "blobs" else "$expand": "deleted"}
    (gone,) = [s for s in listed_in_pages(accounts, name, kind, **asked) if s["properties"].get("deleted")]
    assert gone["name"] == "zzz"


def test_a_share_that_is_a_link_is_only_detached(accounts, tmp_path):
    name = accounts.account()
    accounts.share(name, "first")
    (tmp_path / "precious").write_text("x")
    accounts.folder(name, "link").symlink_to(tmp_path)
    accounts.share(name, "link")
    accounts.share(name, "link", "DELETE", expect=200)
    assert not accounts.folder(name, "link").is_symlink() and (tmp_path / "precious").exists()


def test_a_share_whose_folder_cannot_be_made_is_not_there(accounts):
    name = accounts.account()
    accounts.share(name, "first")
    accounts.folder(name, "file").write_text("")
    accounts.daemon.expect_log("share.folder_failed")
    accounts.daemon.expect_log("request.failed.*shares/file ")
    assert accounts.share(name, "file", expect=500).status == 500
    accounts.share(name, "file", "GET", expect=404)


# --- deletion ---------------------------------------------------------------------------------------


def test_an_account_goes_with_its_shares(accounts):
    name = accounts.account()
    accounts.share(name, "data")
    (accounts.folder(name, "data") / "file").write_text("kept")
    accounts.delete(name)
    accounts.get(name, expect=404)
    accounts.delete(name, expect=204)
    assert not accounts.folder(name, "data").exists()
    (kept,) = (accounts.daemon.state_dir / "storage" / ".deleted").glob(f"{name}.files.data.*/file")
    assert kept.read_text() == "kept"
    accounts.account(name)
    accounts.share(name, "data", "GET", expect=404)


def deleted_of(daemon, account):
    rows = json.loads(daemon.tool("storage", "deleted", "--json").stdout)["value"]
    return [row for row in rows if row["account"] == account]


def test_what_was_deleted_is_restored(accounts, daemon):
    name = accounts.account()
    accounts.share(name, "data", body={"properties": {"metadata": {"k": "v"}}})
    (accounts.folder(name, "data") / "file").write_text("kept")
    accounts.share(name, "box", kind="blobs")
    accounts.share(name, "box", "DELETE", expect=200, kind="blobs")
    accounts.delete(name)
    rows = deleted_of(daemon, name)
    assert [(r["kind"], r["name"]) for r in sorted(rows, key=lambda r: r["name"])] == [("blobs", "box"), ("files", "data")]
    table = daemon.tool("storage", "deleted").stdout
    assert name in table and "NUMBER" in table
    number = next(str(r["number"]) for r in rows if r["name"] == "data")

    done = daemon.tool("storage", "restore", number, check=False)
    assert done.returncode == 1 and f"The storage account {name} does not exist any more" in done.stderr
    accounts.account(name)
    assert f"{number}: restored {name}/files/data" in daemon.tool("storage", "restore", number).stdout
    accounts.share(name, "more")
    accounts.share(name, "more", "DELETE", expect=200)
    again = next(r["number"] for r in deleted_of(daemon, name) if r["name"] == "more")
    assert daemon.call("POST", f"/batchaid/storage/deleted/{again}/restore", expect=200).json["name"] == "more"
    assert (accounts.folder(name, "data") / "file").read_text() == "kept"
    assert accounts.share(name, "data", "GET", expect=200).json["properties"]["metadata"] == {"k": "v"}
    assert [r["name"] for r in deleted_of(daemon, name)] == ["box"]
    other = next(str(r["number"]) for r in rows if r["name"] == "box")
    accounts.share(name, "box", kind="blobs")
    done = daemon.tool("storage", "restore", other, check=False)
    assert done.returncode == 1 and "box exists already" in done.stderr


@pytest.mark.parametrize("number", ["4711", "0", "-1", "x", "1x", "99999999999999999999", "..%2F1"])
def test_numbers_that_nothing_has(daemon, number):
    reply = daemon.call("POST", f"/batchaid/storage/deleted/{number}/restore", expect=404)
    assert reply.code == "ResourceNotFound"


def test_deleted_ones_in_pages(accounts, daemon):
    name = accounts.account()
    for i in range(3):
        accounts.share(name, f"data{i}")
        accounts.share(name, f"data{i}", "DELETE", expect=200)
    seen, after = [], deleted_of(daemon, name)[0]["number"] - 1
    while page := daemon.call("GET", "/batchaid/storage/deleted", params={"after": after, "max": 2}, expect=200).json["value"]:
        assert len(page) <= 2
        seen += [r["name"] for r in page if r["account"] == name]
        after = page[-1]["number"]
    assert seen == ["data0", "data1", "data2"]
    daemon.call("GET", "/batchaid/storage/deleted", params={"max": 0}, expect=400)


def test_a_share_path_is_there_for_clients(accounts, daemon):
    name = accounts.account()
    folder = daemon.share(name, "Direct")
    assert folder == accounts.folder(name, "direct") and folder.is_dir()
    wait_for(lambda: accounts.shares(name)["value"], 10, "the share")
    daemon.call("POST", "/batchaid/storage/shares", {"account": name, "kind": "blobs", "name": "box"}, expect=204)
    for bad in ({"account": "a", "kind": "tapes", "name": "n"}, {"account": "a.b", "kind": "files", "name": "n"}, {"kind": "files"}):
        daemon.call("POST", "/batchaid/storage/shares", bad, expect=400)


def test_nothing_is_kept_where_nobody_wants_that(own_daemon):
    d = own_daemon(config={"storage": {"deleted_days": 0}})
    mine = Accounts(d).make()
    name = mine.account()
    mine.share(name, "data")
    mine.share(name, "data", "DELETE", expect=200)
    wait_for(lambda: deleted_of(d, name) == [], 10, "it to be removed")
    assert list((d.state_dir / "storage" / ".deleted").iterdir()) == []


def test_a_group_goes_with_its_accounts(daemon, temporary):
    mine = Accounts(daemon).make()
    names = [mine.account() for _ in range(3)]
    mine.share(names[0], "data")
    mine.share(names[1], "box", kind="blobs")
    gone = mine.remove()
    wait_for(lambda: gone.call("GET").status == 404, 30, "the group to go")
    assert not mine.folder(names[0], "data").exists()
    other = temporary(Accounts(daemon).make())
    for name in names:
        other.account(name)


@pytest.mark.parametrize("whole_group", [False, True], ids=["account", "group"])
def test_an_account_goes_though_a_client_makes_containers(daemon, temporary, whole_group):
    mine = Accounts(daemon).make()
    temporary(mine)
    name = mine.account()
    for i in range(10):
        mine.share(name, f"box{i}", kind="blobs")
    may = {"signedServices": "b", "signedResourceTypes": "c", "signedPermission": "c", "signedExpiry": "2099-01-01T00:00:00Z"}
    signature = mine.call("POST", f"/{name}/ListAccountSas", may, expect=200).json["accountSasToken"]
    host = {"Host": f"{name}.blob.core.localhost:{daemon.port}"}
    answers = []

    def make_containers():
        while len(answers) < 1000 and (not answers or answers[-1].status == 201):
            path = f"/late{len(answers)}?restype=container&{signature}"
            answers.append(daemon.call("PUT", path, headers=host, token="", api_version=None, validate=False))

    with concurrent.futures.ThreadPoolExecutor() as pool:
        maker = pool.submit(make_containers)
        wait_for(lambda: answers, 30, "a container")
        mine.remove() if whole_group else mine.delete(name)
        maker.result(60)
    refused = (answers[-1].status, answers[-1].headers["x-ms-error-code"])
    assert refused in ((404, "ResourceNotFound"), (409, "ContainerBeingDeleted"))
    other = temporary(Accounts(daemon).make())
    wait_for(lambda: other.put(name, expect=(202, 409)).status == 202, 30, "the name to be free")


def test_an_account_cannot_be_made_in_a_group_that_goes(accounts):
    reply = Accounts(accounts.daemon, fresh("never")).put(account_name(), expect=404)
    assert reply.code == "ResourceGroupNotFound"
    assert accounts.daemon.call("PUT", f"/subscriptions/{fresh('x')}/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/abc", account_body(), api_version=RM_VERSION, validate=False).status == 404
