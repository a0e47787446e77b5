# SPDX-License-Identifier: MIT
"""Shares and containers over the daemon's own host: who may read which, what is in them, and their bytes."""

import http.client
import os
import ssl
import uuid
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from urllib.parse import quote

import pytest
from support.accounts import Accounts
from support.hanging import hanging_folder
from support.people import Person
from support.storage import VERSION, sign
from support.waiting import wait_for

HTML = b"<script>fetch('/batchaid/users')</script>"
# Names that no file can have are aside.
BLOBS = ["plain.txt", "dir/inner.txt", "dir/deep/leaf.txt", "odd//twice", "odd/../up", "\\back\\slash", "<b>.html", "evil\u202egpj.exe"]


class Store:
    """An account with a share and two containers."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.accounts = Accounts(daemon).make()
        self.name = self.accounts.account()
        self.scope = f"{self.accounts.path}/{self.name}"
        self.key = self.accounts.keys(self.name)[0]
        self.accounts.share(self.name, "share")
        for box in ("box", "private"):
            self.accounts.share(self.name, box, kind="blobs")
        self.folder = self.accounts.folder(self.name, "share")
        for name in BLOBS:
            self.put("box", name, HTML if name.endswith("html") else name.encode())
        self.put("private", "secret", b"secret")

    def put(self, box, name, body, **headers):
        path = f"/{box}/{quote(name)}"
        head = {
            "x-ms-blob-type": "BlockBlob", "x-ms-version": VERSION, "x-ms-date": formatdate(usegmt=True),
            "Content-Length": str(len(body)), "Content-Type": "text/html", **headers,
        }  # fmt: skip
        head["Authorization"] = sign("PUT", path, head, self.key, self.name)
        context = ssl.create_default_context(cafile=self.daemon.ca)
        context.check_hostname = False
        connection = http.client.HTTPSConnection("127.0.0.1", self.daemon.port, context=context, timeout=60)
        connection.request("PUT", path, body, {**head, "Host": f"{self.name}.blob.core.localhost:{self.daemon.port}"})
        reply = connection.getresponse()
        assert reply.status == 201, (reply.status, reply.read())
        connection.close()

    def call(self, end, by=None, method="GET", expect=200, headers=None, **params):
        query = "&".join(f"{k}={quote(v, safe='')}" for k, v in params.items())
        more = {"token": by.token()} if by else {}
        path = f"/batchaid/storage/{end}" + ("?" + query if query else "")
        return self.daemon.call(method, path, api_version=None, headers=headers, expect=expect, **more)

    def accounts_of(self, by=None):
        return {a["name"]: (a["files"], a["blobs"]) for a in self.call("accounts", by).json["value"]}

    def items(self, kind="blobs", share="box", **params):
        return self.call("items", account=self.name, kind=kind, share=share, **params).json

    def names(self, *args, **params):
        return [(i["name"], i["path"]) for i in self.items(*args, **params)["value"]]

    def content(self, path, kind="blobs", share="box", **more):
        return self.call("content", account=self.name, kind=kind, share=share, path=path, **more)

    def person(self, role, scope):
        person = Person(self.daemon, "none")
        self.give(person, role, scope)
        return person

    def give(self, person, role, scope):
        path = f"/subscriptions/{self.daemon.subscription}/providers/Microsoft.Authorization/roleDefinitions"
        listed = self.daemon.call("GET", path, api_version="2022-04-01", validate=False, expect=200).json["value"]
        (guid,) = [d["name"] for d in listed if d["properties"]["roleName"] == role]
        path = f"{scope}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
        body = {"properties": {"roleDefinitionId": f"/x/roleDefinitions/{guid}", "principalId": person.id}}
        self.daemon.call("PUT", path, body, api_version="2022-04-01", validate=False, expect=201)


@pytest.fixture(scope="module")
def store(daemon):
    return Store(daemon)


# --- who may ------------------------------------------------------------------------------------------------------------


def test_each_sees_what_they_may_read(store, daemon):
    assert store.accounts_of()[store.name] == (["share"], ["box", "private"])
    group = store.accounts.path.split("/providers")[0]
    everything = (["share"], ["box", "private"])
    for role, scope, seen in (
        ("Owner", group, everything),
        ("Storage Account Contributor", store.scope, everything),  # who may list keys
        ("Reader", group, ([], [])),
        ("Storage Blob Data Reader", store.scope, ([], ["box", "private"])),
        ("Storage Blob Data Reader", f"{store.scope}/blobServices/default/containers/box", ([], ["box"])),
        ("Storage File Data Privileged Reader", store.scope, (["share"], [])),
        ("Owner", group + "-other", None),
    ):
        assert store.accounts_of(store.person(role, scope)).get(store.name) == seen, (role, scope)
    assert store.call("accounts", Person(daemon, "none"), expect=403).code == "AuthorizationFailed"


def test_a_private_container_and_a_role_without_data(store):
    reader = store.person("Reader", store.scope)
    for end in ("items", "content"):
        error = store.call(end, reader, expect=403, account=store.name, kind="blobs", share="private", path="secret").error
        assert "blobServices/containers/blobs/read" in error["message"] and "containers/private" in error["message"]
    store.give(reader, "Storage Blob Data Reader", f"{store.scope}/blobServices/default/containers/box")
    assert store.content("plain.txt", by=reader).content == b"plain.txt"
    store.content("secret", share="private", by=reader, expect=403)
    store.content("x", kind="files", share="share", by=reader, expect=403)
    store.content("x", share="nosuch", by=reader, expect=403)


def test_keys_that_open_nothing_give_no_right(store):
    name = store.accounts.account(allowSharedKeyAccess=False)
    store.accounts.share(name, "box", kind="blobs")
    contributor = store.person("Storage Account Contributor", f"{store.accounts.path}/{name}")
    store.call("items", contributor, expect=403, account=name, kind="blobs", share="box")
    assert store.accounts_of(contributor) == {name: ([], [])}


# --- containers ---------------------------------------------------------------------------------------------------------


def test_names_that_no_file_can_have_are_found_step_by_step(store):
    """Each blob is reached from the top by the paths that the items have."""
    found, left = {}, [""]
    while left:
        path = left.pop()
        for item in store.items(path=path)["value"] if path else store.items()["value"]:
            if item["isDirectory"]:
                left.append(item["path"])
            else:
                found[item["path"]] = item["size"]
    assert found == {name: len(HTML if name.endswith("html") else name.encode()) for name in BLOBS}
    for name in BLOBS:
        assert store.content(name).content == (HTML if name.endswith("html") else name.encode())
    assert store.names(path="dir") == store.names(path="dir/") == [("deep", "dir/deep/"), ("inner.txt", "dir/inner.txt")]
    assert store.names(path="odd//") == [("twice", "odd//twice")] and store.items(path="none")["value"] == []


def test_pages_of_a_container(store):
    whole, params, found = store.names(), {}, []
    for _ in range(20):
        page = store.items(max="2", **params)
        found += [(i["name"], i["path"]) for i in page["value"]]
        if "next" not in page:
            break
        params = {"after": page["next"]}
    assert found == whole and len(whole) == 6


def test_a_blob_s_bytes_run_nowhere(store):
    store.put("box", "page.html", HTML, **{"x-ms-blob-content-disposition": "inline", "x-ms-blob-cache-control": "public"})
    reply = store.content("page.html")
    assert reply.content == HTML and "sandbox" in reply.headers["Content-Security-Policy"]
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    saved = store.content("page.html", download="true")
    assert saved.headers["Content-Disposition"] == "attachment; filename=\"page.html\"; filename*=UTF-8''page.html"
    part = store.content("page.html", headers={"Range": "bytes=-9"}, expect=206)
    assert part.content == HTML[-9:] and part.headers["Content-Range"] == f"bytes {len(HTML) - 9}-{len(HTML) - 1}/{len(HTML)}"
    head = store.content("page.html", method="HEAD")
    assert head.content == b"" and head.headers["Content-Length"] == str(len(HTML)) and head.headers["ETag"] == reply.headers["ETag"]
    same = store.content("page.html", headers={"If-None-Match": reply.headers["ETag"]}, expect=304)
    assert same.content == b""
    assert "BlobNotFound" in store.content("none", expect=404).text


# --- shares -------------------------------------------------------------------------------------------------------------


def test_a_share(store):
    (store.folder / "sub" / "deep").mkdir(parents=True, exist_ok=True)
    (store.folder / "sub" / "a.txt").write_bytes(b"text")
    (store.folder / "sub" / os.fsdecode(b"caf\xe9")).write_bytes(b"x")
    (store.folder / "out").symlink_to("/etc")
    (store.folder / "passwd").symlink_to("/etc/passwd")
    assert store.names("files", "share") == [("sub", "sub")]
    sub = store.items("files", "share", path="sub")
    assert [(i["name"], i["path"], i["isDirectory"]) for i in sub["value"]] == [
        ("a.txt", "sub/a.txt", False), ("deep", "sub/deep", True),
    ]  # fmt: skip
    assert sub["leftOut"] == 1 and sub["value"][0]["size"] == 4
    first = store.items("files", "share", path="sub", max="1")
    assert store.items("files", "share", path="sub", after=first["next"])["value"][0]["name"] == "deep"
    reply = store.content("sub/a.txt", kind="files", share="share", download="true", headers={"Range": "bytes=1-2"}, expect=206)
    assert reply.content == b"ex" and 'filename="a.txt"' in reply.headers["Content-Disposition"]
    for path in ("passwd", "out/passwd", "sub", "none", "sub/a.txt/x"):
        assert store.content(path, kind="files", share="share", expect=(404, 409)).status


@pytest.mark.parametrize("path", ["../secrets", "sub/../../x", ".", "sub/..", "x" * 300])
def test_paths_of_a_share_that_cannot_be(store, path):
    for end in ("items", "content"):
        error = store.call(end, expect=400, account=store.name, kind="files", share="share", path=path).error
        assert error["code"] == "InvalidFileOrDirectoryPathName" and "invalid characters" in error["message"]


@pytest.mark.parametrize("name", ["\\windows", "run 10:30.log", "a\nb", 'a "quoted" <b>?*|', "dots..."])
def test_names_that_azure_files_forbids_are_those_of_files(store, name):
    """Programs on nodes give them."""
    (store.folder / "odd" / name).mkdir(parents=True, exist_ok=True)
    (store.folder / "odd" / name / name).write_bytes(b"text")
    assert store.names("files", "share", path=f"odd/{name}") == [(name, f"odd/{name}/{name}")]
    assert store.content(f"odd/{name}/{name}", kind="files", share="share").content == b"text"


def test_a_share_that_hangs_holds_nobody_else_up(store, daemon):
    store.accounts.share(store.name, "hangs")
    folder = store.accounts.folder(store.name, "hangs")
    (folder / "f").write_bytes(b"x")
    daemon.expect_log("share.hung")
    hanging = hanging_folder(folder)
    try:
        hanging.stop()
        with ThreadPoolExecutor(2) as pool:
            held = [pool.submit(store.content, "f", kind="files", share="hangs") for _ in range(2)]
            counters = lambda: daemon.call("GET", "/batchaid/counters", api_version=None).json  # noqa: E731
            wait_for(lambda: counters()["files"]["hungShares"] == 1, what="the share to be called hung")
            for end in ("content", "items"):
                busy = store.call(end, expect=503, account=store.name, kind="files", share="hangs", path="f")
                assert busy.code == "ServiceUnavailable" and busy.headers["Retry-After"]
            assert store.content("plain.txt").content == b"plain.txt"
            assert not any(h.done() for h in held)
            hanging.go_on()
            assert [h.result().content for h in held] == [b"x", b"x"]
    finally:
        hanging.close()


# --- refused ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params, status, words",
    [
        ({"kind": "tables"}, 400, ["'tables'", "files", "blobs"]),
        ({"kind": ""}, 400, ["files", "blobs"]),
        ({"account": "No-Such!"}, 400, ["'No-Such!'", "must be"]),
        ({"account": "nosuchaccount"}, 404, ["'nosuchaccount'", "storage/accounts"]),
        ({"share": ""}, 400, ["share is missing", "container"]),
        ({"share": "nosuch"}, 404, ["'nosuch'", "container"]),
        ({"share": "../private"}, 404, ["'../private'"]),
        ({"max": "0"}, 400, ["'0'", "1 to 5000"]),
    ],
)
def test_bad_queries(store, params, status, words):
    query = {"account": store.name, "kind": "blobs", "share": "box", **params}
    message = store.call("items", expect=status, **query).error["message"]
    assert all(w in message for w in words), message


def test_a_place_in_the_list_of_accounts(store):
    assert "'x'" in store.call("accounts", after="x", expect=400).error["message"]
    found, params = [], {}
    while True:
        page = store.call("accounts", max="1", **params).json
        found += page["value"]
        if "next" not in page:
            break
        params = {"after": page["next"]}
    assert found == store.call("accounts").json["value"]


def everything(call, **params):
    """The rows of all pages."""
    found = []
    while True:
        page = call(**params).json
        found += page["value"]
        if "next" not in page:
            return found
        params["after"] = str(page["next"])


@pytest.fixture(scope="module")
def many(store):
    """An account with more containers than are read at once: c000 to c204."""
    name = store.accounts.account()
    for n in range(205):
        store.accounts.share(name, f"c{n:03}", kind="blobs")
    return name


def test_who_may_read_the_last_container_alone_sees_it(store, many):
    """Rights decide before anything is cut."""
    scope = f"{store.accounts.path}/{many}/blobServices/default/containers"
    ada = store.person("Storage Blob Data Reader", f"{scope}/c204")
    (account,) = store.call("accounts", ada, names="1").json["value"]
    assert (account["name"], account["blobs"]) == (many, ["c204"]) and "more" not in account and "cut" not in account
    store.give(ada, "Storage Blob Data Reader", f"{scope}/c003")
    (account,) = store.call("accounts", ada, names="1").json["value"]
    assert account["blobs"] == ["c003"] and account["more"] == {"files": 0, "blobs": 1} and account["cut"] is True
    listed = everything(lambda **more: store.call("items", ada, account=many, kind="blobs", max="1", **more))
    assert [one["name"] for one in listed] == ["c003", "c204"]


def test_names_that_are_cut_are_counted_and_listed(store, many):
    account = next(a for a in store.call("accounts", names="100").json["value"] if a["name"] == many)
    assert account["blobs"] == [f"c{n:03}" for n in range(100)] and account["more"] == {"files": 0, "blobs": 105}
    listed = everything(lambda **more: store.call("items", account=many, kind="blobs", max="90", **more))
    assert [one["name"] for one in listed] == [f"c{n:03}" for n in range(205)] and all(one["isDirectory"] for one in listed)
    assert everything(lambda **more: store.call("items", account=many, kind="files", **more)) == []


def test_accounts_are_counted_by_the_rights_of_who_asks(store, many):
    page = store.call("accounts", max="1", count="true").json
    assert page["count"] == len(store.call("accounts").json["value"]) > 1 and len(page["value"]) == 1
    assert "count" not in store.call("accounts", max="1", count="true", after=page["next"]).json
    blob = store.person("Storage Blob Data Reader", f"{store.accounts.path}/{many}/blobServices/default/containers/c204")
    store.give(blob, "Storage Blob Data Reader", f"{store.scope}/blobServices/default/containers/box")
    page = store.call("accounts", blob, max="1", count="true").json
    assert page["count"] == 2 and len(page["value"]) == 1
    assert {a["name"] for a in everything(lambda **more: store.call("accounts", blob, max="1", **more))} == {store.name, many}
    assert "'some'" in store.call("accounts", count="some", expect=400).error["message"]
    assert "'1001'" in store.call("accounts", names="1001", expect=400).error["message"]


def test_bytes_need_a_path(store):
    assert "path is missing" in store.content("", expect=400).error["message"]
    assert "'yes'" in store.content("plain.txt", download="yes", expect=400).error["message"]
    assert store.content("x" * 1025, expect=400).error["code"] == "InvalidResourceName"
