# SPDX-License-Identifier: MIT
"""Applications of Batch accounts, and their packages, through Azure Resource Manager."""

import io
import stat
import zipfile
from urllib.parse import parse_qs, urlsplit

import pytest
from support.accounts import Accounts
from support.batch_packages import packaged, upload
from support.batch_rm import DOCUMENTED, RM_VERSION
from support.failing import clock  # noqa: F401 (fixture)
from support.people import READER, Person
from support.waiting import wait_for
from support.world import instant

FLAT = "2017-09-01"
WEEK = 8 * 24 * 3600  # seconds, and a day more


@pytest.fixture(scope="module")
def batch(daemon, temporary_in_file):
    """Accounts with auto-storage."""
    return temporary_in_file(packaged(daemon))


@pytest.fixture
def account(batch):
    return batch.account(**batch.auto)


def archive(**files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in files.items():
            z.writestr(name.replace("__", "/").replace("_", "."), text)
    return made.getvalue()


def package(batch, account, app, version, data, **more):
    """A new version that is active."""
    path = f"/{account}/applications/{app}"
    if not batch.call("GET", path, expect=(200, 404)).status == 200:
        batch.call("PUT", path, expect=200)
    made = batch.call("PUT", f"{path}/versions/{version}", expect=200).json
    assert made["properties"]["state"] == "Pending"
    assert upload(batch.daemon, made["properties"]["storageUrl"], data).status == 201
    return batch.call("POST", f"{path}/versions/{version}/activate", {"format": "zip"}, **more)


def kept(daemon):
    return sorted(p.name for p in (daemon.state_dir / "packages").iterdir())


def marked(daemon):
    """No package names them; they go after a week."""
    folder = daemon.state_dir / "packages"
    return [name for name in kept(daemon) if (folder / name).stat().st_mode & stat.S_ISVTX]


# --- applications -----------------------------------------------------------------------------------


def test_the_life_of_an_application(batch, account):
    path = f"/{account}/applications/App_1"
    made = batch.call("PUT", path, expect=200)
    assert made.json["id"].lower() == f"{batch.path}{path}".lower()
    assert (made.json["name"], made.json["type"]) == ("App_1", "Microsoft.Batch/batchAccounts/applications")
    assert made.json["properties"] == {"allowUpdates": True}
    assert made.headers["etag"] == made.json["etag"] and made.json["etag"].startswith('W/"0x')
    assert batch.call("GET", path.lower(), expect=200).json == made.json
    body = {"properties": {"displayName": "An application", "allowUpdates": False}}
    seen = batch.call("PATCH", path, body, expect=200).json
    assert seen["properties"] == body["properties"] and seen["etag"] > made.json["etag"]
    seen = batch.call("PUT", path, {"properties": {"displayName": "Another"}}, expect=200).json
    assert seen["properties"] == {"displayName": "Another", "allowUpdates": False}
    assert batch.call("GET", f"/{account}/applications", expect=200).json["value"] == [seen]
    batch.call("DELETE", path, expect=200)
    batch.call("DELETE", path, expect=204)
    assert batch.call("GET", path, expect=404).code == "ApplicationNotFound"


def test_tags_are_kept(batch, account):
    path, new = f"/{account}/applications/tagged", {"api_version": "2024-07-01"}
    made = batch.call("PUT", path, {"tags": {"team": "vision"}, "properties": {}}, expect=200, **new).json
    assert made["tags"] == {"team": "vision"} and batch.call("GET", path, expect=200, **new).json == made
    batch.call("PATCH", path, {"properties": {"displayName": "x"}}, expect=200, **new)
    assert batch.call("GET", path, expect=200, **new).json["tags"] == {"team": "vision"}
    assert batch.call("PATCH", path, {"tags": {"a": "b"}}, expect=200, **new).json["tags"] == {"a": "b"}
    version = f"{path}/versions/1"
    assert batch.call("PUT", version, {"tags": {"v": "1"}}, expect=200, **new).json["tags"] == {"v": "1"}
    assert batch.call("GET", version, expect=200, **new).json["tags"] == {"v": "1"}
    batch.call("DELETE", version, expect=200)
    batch.call("DELETE", path, expect=200)


@pytest.mark.parametrize("name", ["a.b", "a b", "%C3%A4", "a" * 65, "a!"])
def test_names_that_no_application_has(batch, account, name):
    assert batch.call("PUT", f"/{account}/applications/{name}", expect=400).code == "InvalidRequestBody"


def test_lists_have_pages(batch, account):
    names = ["b", "a", "c"]
    for name in names:
        batch.call("PUT", f"/{account}/applications/{name}", expect=200)
    first = batch.call("GET", f"/{account}/applications", params={"maxresults": 2}, expect=200).json
    assert [a["name"] for a in first["value"]] == names[:2]
    place = urlsplit(first["nextLink"])
    rest = batch.daemon.call("GET", f"{place.path}?{place.query}", validate=False, expect=200).json
    assert [a["name"] for a in rest["value"]] == names[2:]


# --- packages ---------------------------------------------------------------------------------------


def test_a_package_is_uploaded_and_activated(batch, daemon, account):
    path = f"/{account}/applications/my_App-of-a-long-name-indeed"
    batch.call("PUT", path, expect=200)
    made = batch.call("PUT", f"{path}/versions/1.0", expect=200).json
    p = made["properties"]
    assert made["type"] == "Microsoft.Batch/batchAccounts/applications/versions" and made["name"] == "1.0"
    assert p["state"] == "Pending" and "format" not in p and p["storageUrlExpiry"]
    url = urlsplit(p["storageUrl"])
    assert url.netloc == f"{batch.store_name}.blob.core.localhost:{urlsplit(daemon.endpoint).port}"
    assert url.path.startswith("/app-my-app-of-a-lon-") and url.path.endswith("/1.0") and len(url.path.split("/")[1]) <= 63
    query = parse_qs(url.query)
    assert (query["sv"], query["sr"], query["sp"]) == (["2018-03-28"], ["b"], ["rw"])
    assert upload(daemon, p["storageUrl"], archive(myapp_exe="MZ")).status == 201
    active = batch.call("POST", f"{path}/versions/1.0/activate", {"format": "zip"}, expect=200).json
    assert active["properties"]["state"] == "Active" and active["properties"]["format"] == "zip"
    assert active["properties"]["lastActivationTime"] and active["etag"] != made["etag"]
    seen = batch.call("GET", f"{path}/versions/1.0", expect=200).json
    assert seen["properties"]["state"] == "Active"
    assert [v["name"] for v in batch.call("GET", f"{path}/versions", expect=200).json["value"]] == ["1.0"]


def test_what_is_uploaded_later_changes_nothing(batch, daemon, account):
    made = package(batch, account, "app", "1", archive(a_txt="one"), expect=200).json
    url = batch.call("GET", f"/{account}/applications/app/versions/1", expect=200).json["properties"]["storageUrl"]
    before = kept(daemon)
    assert upload(daemon, url, archive(a_txt="two")).status == 201
    assert kept(daemon) == before
    again = batch.call("POST", f"/{account}/applications/app/versions/1/activate", {"format": "zip"}, expect=200).json
    assert instant(again["properties"]["lastActivationTime"]) > instant(made["properties"]["lastActivationTime"])
    assert len(set(kept(daemon)) - set(before)) == 1


def test_the_default_version_must_be_active(batch, daemon, account):
    path = f"/{account}/applications/app"
    batch.call("PUT", path, expect=200)
    batch.call("PUT", f"{path}/versions/1", expect=200)
    for version in ("1", "2"):
        reply = batch.call("PATCH", path, {"properties": {"defaultVersion": version}}, expect=409)
        assert reply.code == "RequestedDefaultVersionNotActive"
    package(batch, account, "app", "1", archive(a="x"), expect=200)
    seen = batch.call("PATCH", path, {"properties": {"defaultVersion": "1"}}, expect=200).json
    assert seen["properties"]["defaultVersion"] == "1"
    batch.call("DELETE", f"{path}/versions/1", expect=200)
    assert "defaultVersion" not in batch.call("GET", path, expect=200).json["properties"]


def test_an_application_with_packages_stays(batch, account):
    path = f"/{account}/applications/app"
    package(batch, account, "app", "1", archive(a="x"), expect=200)
    assert batch.call("DELETE", path, expect=409).code == "ApplicationPackagesNotEmpty"
    batch.call("DELETE", f"{path}/versions/1", expect=200)
    batch.call("DELETE", f"{path}/versions/1", expect=204)
    assert batch.call("GET", f"{path}/versions/1", expect=404).code == "ApplicationPackageNotFound"
    batch.call("DELETE", path, expect=200)


def test_a_deleted_package_leaves_nothing(own_daemon, clock):
    d = own_daemon(environment=clock.environment)
    b = packaged(d)
    name, account = b.store_name, b.name
    same = archive(a="x")
    package(b, account, "app", "1", same, expect=200)
    package(b, account, "app", "2", same, expect=200)
    package(b, account, "other", "1", archive(b="y"), expect=200)
    assert len(kept(d)) == 2
    b.call("DELETE", f"/{account}/applications/app/versions/1", expect=200)
    b.call("DELETE", f"/{account}/applications/other/versions/1", expect=200)
    wait_for(lambda: len(marked(d)) == 1)
    blobs = d.state_dir / "storage" / name / "blobs"
    assert sorted(p.name for p in blobs.glob("app-*/*")) == ["2"]
    clock.go_on(WEEK)
    d.restart()
    wait_for(lambda: len(kept(d)) == 1, what="the archive that no package names goes after a week")
    assert not marked(d)
    clock.set(-WEEK)  # requests have tokens
    d.restart()
    b.follow(b.delete(account))
    d.restart()
    wait_for(lambda: len(marked(d)) == 1)
    clock.go_on(WEEK)
    d.session().close()  # the daemon closes connections that are silent for so long
    asked = lambda: d.call("GET", "/subscriptions", validate=False)  # a request lets it look at its clock
    wait_for(lambda: asked() and kept(d) == [], what="a daily look at all archives")
    clock.set(-WEEK)
    d.session().close()


def test_a_restore_that_is_undone_has_its_archives(own_daemon, tmp_path):
    """The older copy does not name the archive, and it is kept for some days."""
    d = own_daemon()
    b = packaged(d)
    copy = tmp_path / "copy.db"
    d.tool("backup", str(copy))
    package(b, b.name, "app", "1", archive(a="x"), expect=200)
    (name,) = kept(d)
    for database, are_marked in ((copy, [name]), (d.state_dir / "batchaid.db.before", [])):
        d.stop()
        d.tool("restore", str(database))
        d.start()
        wait_for(lambda: marked(d) == are_marked)  # noqa: B023
        assert kept(d) == [name]
    version = f"/{b.name}/applications/app/versions/1"
    assert b.call("GET", version, expect=200).json["properties"]["state"] == "Active"


def test_an_archive_that_cannot_be_removed_is_in_the_log(own_daemon):
    d = own_daemon()
    b = packaged(d)
    package(b, b.name, "app", "1", archive(a="x"), expect=200)
    (blob,) = (d.state_dir / "storage" / b.store_name / "blobs").glob("app-*/1")
    blob.unlink()
    (blob / "in-the-way").mkdir(parents=True)
    d.expect_log(r"batch_package\.blob_not_removed")
    b.call("DELETE", f"/{b.name}/applications/app/versions/1", expect=200)
    (line,) = [line for line in d.log() if "batch_package.blob_not_removed" in line]
    assert f"account={b.name} application=app version=1" in line


def test_a_full_application_takes_only_versions_that_it_has(batch, account):
    path = f"/{account}/applications/full"
    batch.call("PUT", path, expect=200)
    for i in range(1000):
        batch.call("PUT", f"{path}/versions/{i}", expect=200)
    full = batch.call("PUT", f"{path}/versions/1000", expect=409)
    assert full.code == "ApplicationQuotaReached" and "has 1000 packages; it may have 1000" in full.error["message"]
    batch.call("PUT", f"{path}/versions/7", expect=200)
    batch.call("DELETE", f"{path}/versions/8", expect=200)
    batch.call("PUT", f"{path}/versions/1000", expect=200)


def test_updates_can_be_forbidden(batch, account):
    path = f"/{account}/applications/app"
    batch.call("PUT", path, {"properties": {"allowUpdates": False}}, expect=200)
    batch.call("PUT", f"{path}/versions/1", expect=200)
    assert batch.call("PUT", f"{path}/versions/1", expect=409).code == "ApplicationPackageUpdateNotAllowed"
    batch.call("PUT", f"{path}/versions/2", expect=200)
    batch.call("PATCH", path, {"properties": {"allowUpdates": True}}, expect=200)
    batch.call("PUT", f"{path}/versions/1", expect=200)


def test_a_version_keeps_its_content_where_updates_are_forbidden(batch, daemon, account):
    """Not even by the URL of the first PUT, which lives for hours."""
    path = f"/{account}/applications/app"
    batch.call("PUT", path, {"properties": {"allowUpdates": False}}, expect=200)
    url = batch.call("PUT", f"{path}/versions/1", expect=200).json["properties"]["storageUrl"]
    for text in ("not yet active", "first"):
        assert upload(daemon, url, archive(a_txt=text)).status == 201
    activate = ("POST", f"{path}/versions/1/activate", {"format": "zip"})
    batch.call(*activate, expect=200)
    batch.call(*activate, expect=200)  # a client that repeats itself
    active = batch.call("GET", f"{path}/versions/1", expect=200).json
    assert parse_qs(urlsplit(active["properties"]["storageUrl"]).query)["sp"] == ["r"]
    assert upload(daemon, active["properties"]["storageUrl"], archive(a_txt="second")).status == 403
    assert upload(daemon, url, archive(a_txt="second")).status == 201
    assert batch.call(*activate, expect=409).code == "ApplicationPackageUpdateNotAllowed"
    assert batch.call("GET", f"{path}/versions/1", expect=200).json["etag"] == active["etag"]
    batch.call("PATCH", path, {"properties": {"allowUpdates": True}}, expect=200)
    batch.call(*activate, expect=200)


def test_two_accounts_with_one_store_share_no_archive(batch, daemon):
    accounts = [batch.account(**batch.auto) for _ in range(2)]
    urls = []
    for name in accounts:
        batch.call("PUT", f"/{name}/applications/tool", expect=200)
        urls.append(batch.call("PUT", f"/{name}/applications/tool/versions/1", expect=200).json["properties"]["storageUrl"])
    assert upload(daemon, urls[0], archive(a="of the first")).status == 201
    refused = batch.call("POST", f"/{accounts[1]}/applications/tool/versions/1/activate", {"format": "zip"}, expect=409)
    assert refused.code == "ApplicationPackageBlobNotFound"
    assert upload(daemon, urls[1], archive(a="of the second")).status == 201
    batch.call("DELETE", f"/{accounts[1]}/applications/tool/versions/1", expect=200)
    batch.call("POST", f"/{accounts[0]}/applications/tool/versions/1/activate", {"format": "zip"}, expect=200)


def test_what_was_not_uploaded_cannot_be_activated(batch, account):
    path = f"/{account}/applications/app"
    batch.call("PUT", path, expect=200)
    batch.call("PUT", f"{path}/versions/1", expect=200)
    reply = batch.call("POST", f"{path}/versions/1/activate", {"format": "zip"}, expect=409)
    assert reply.code == "ApplicationPackageBlobNotFound"
    batch.call("POST", f"{path}/versions/1/activate", {"format": "tar"}, expect=400)
    batch.call("POST", f"{path}/versions/1/activate", {}, expect=400)
    assert batch.call("POST", f"{path}/versions/2/activate", {"format": "zip"}, expect=404).code == "ApplicationPackageNotFound"


def test_what_an_archive_is_shows_on_the_node_alone(batch, account):
    made = package(batch, account, "app", "1", b"no archive at all, but some bytes", expect=200)
    assert made.json["properties"]["state"] == "Active"


def test_an_account_without_auto_storage_has_no_packages(batch):
    name = batch.account()
    batch.call("PUT", f"/{name}/applications/app", expect=200)
    reply = batch.call("PUT", f"/{name}/applications/app/versions/1", expect=409)
    assert reply.code == "AutoStorageNotConfigured"


@pytest.mark.parametrize("version", [v for v in DOCUMENTED if v <= FLAT])
def test_the_versions_before_2018_are_flat(batch, daemon, account, version):
    path = f"/{account}/applications/app"
    old = {"api_version": version}
    made = batch.call("PUT", path, {"allowUpdates": False, "displayName": "n"}, expect=201, **old).json
    assert made == {"id": "app", "displayName": "n", "packages": [], "allowUpdates": False}
    first = batch.call("PUT", f"{path}/versions/1", expect=201, **old).json
    pending, active = ("pending", "active") if version == "2017-05-01" else ("Pending", "Active")
    assert (first["id"], first["version"], first["state"]) == ("app", "1", pending)
    assert upload(daemon, first["storageUrl"], archive(a="x")).status == 201
    assert batch.call("POST", f"{path}/versions/1/activate", {"format": "zip"}, expect=204, **old).content == b""
    assert batch.call("PATCH", path, {"defaultVersion": "1", "allowUpdates": True}, expect=204, **old).content == b""
    seen = batch.call("GET", path, expect=200, **old).json
    assert seen["defaultVersion"] == "1" and seen["allowUpdates"] is True
    assert [(p["version"], p["state"], p["format"]) for p in seen["packages"]] == [("1", active, "zip")]
    assert batch.call("GET", f"/{account}/applications", expect=200, **old).json["value"] == [seen]
    assert batch.call("GET", f"{path}/versions/1", expect=200, **old).json["state"] == active
    batch.call("DELETE", f"{path}/versions/1", expect=204, **old)
    batch.call("DELETE", path, expect=204, **old)
    assert batch.call("GET", f"/{account}/applications", expect=200).json == {"value": []}


def test_readers_see_packages_and_change_none(batch, daemon, account, temporary):
    package(batch, account, "app", "1", archive(a="x"), expect=200)
    reader = temporary(Person(daemon, role=READER, scope=batch.base))
    above = {"api_version": RM_VERSION, "validate": False}
    path = f"{batch.path}/{account}/applications/app"
    reader.get(path, **above)
    reader.may_not("PUT", f"{path}/versions/2", **above)
    reader.may_not("POST", f"{path}/versions/1/activate", {"format": "zip"}, **above)
    reader.may_not("DELETE", f"{path}/versions/1", **above)


@pytest.mark.parametrize("role", [READER, "Azure Batch Account Reader", "Azure Batch Job Submitter", "Azure Batch Data Contributor"])
def test_a_link_to_a_package_says_no_more_than_its_asker_may_do(batch, daemon, account, role, temporary):
    package(batch, account, "app", "1", archive(a="x"), expect=200)
    person = temporary(Person(daemon, role=role, scope=batch.base))
    path, above = f"{batch.path}/{account}/applications/app/versions", {"api_version": RM_VERSION, "validate": False}
    writes = role == "Azure Batch Data Contributor"
    shown = [person.get(f"{path}/1", **above)]
    shown += person.get(path, **above)["value"]
    for one in shown:
        url = one["properties"]["storageUrl"]
        assert parse_qs(urlsplit(url).query)["sp"] == ["rw" if writes else "r"]
        assert upload(daemon, url, b"another's").status == (201 if writes else 403)
        place = urlsplit(url)
        got = daemon.call("GET", f"{place.path}?{place.query}", headers={"Host": place.netloc}, token="", validate=False)
        assert got.status == 200 and (got.content == b"another's") == writes


def test_the_daemon_stops_while_a_package_is_activated(own_daemon):
    """Many at once: each is answered, and none is left half-way."""
    d = own_daemon()
    b = packaged(d)
    account = b.name
    package(b, account, "app", "1", archive(a="x" * 3000000), expect=200)
    d.restart()
    assert not [n for n in kept(d) if n.startswith("new-")]
    assert b.call("GET", f"/{account}/applications/app/versions/1", expect=200).json["properties"]["state"] == "Active"


@pytest.mark.parametrize("end", ["store deleted", "store taken away"])
def test_an_active_package_outlives_its_store(batch, end):
    """Nodes have a copy of the daemon's."""
    store = Accounts(batch.daemon, batch.group)
    name = store.account()
    account = batch.account(autoStorage={"storageAccountId": f"{store.path}/{name}"})
    package(batch, account, "app", "1", archive(a="x"), expect=200)
    if end == "store deleted":
        store.delete(name)
    else:
        batch.call("PATCH", f"/{account}", {"properties": {"autoStorage": None}}, expect=200)
    path = f"/{account}/applications/app/versions"
    shown = batch.call("GET", f"{path}/1", expect=200).json
    assert shown["properties"]["state"] == "Active" and "storageUrl" not in shown["properties"]
    assert batch.call("GET", path, expect=200).json["value"] == [shown]
    batch.call("DELETE", f"{path}/1", expect=200)


def test_a_store_whose_keys_are_off_takes_no_packages(batch, account):
    app, store = f"/{account}/applications/app", Accounts(batch.daemon, batch.group)
    package(batch, account, "app", "1", archive(a="x"))
    store.call("PATCH", f"/{batch.store_name}", {"properties": {"allowSharedKeyAccess": False}}, expect=200)
    for method, path, body in (("PUT", "/versions/2", None), ("POST", "/versions/1/activate", {"format": "zip"})):
        reply = batch.call(method, app + path, body)
        assert (reply.status, reply.code) == (409, "SharedKeyAuthenticationDisabled"), reply
        assert "allowSharedKeyAccess" in reply.error["message"]
    shown = batch.call("GET", f"{app}/versions/1", expect=200).json["properties"]
    assert shown["state"] == "Active" and "storageUrl" not in shown
    store.call("PATCH", f"/{batch.store_name}", {"properties": {"allowSharedKeyAccess": True}}, expect=200)
    assert batch.call("GET", f"{app}/versions/1", expect=200).json["properties"]["storageUrl"]
