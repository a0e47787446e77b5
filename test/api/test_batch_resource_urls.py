# SPDX-License-Identifier: MIT
"""Resource files of Azure Batch's tasks from elsewhere: URLs of others, and whole containers."""

import hashlib
from datetime import datetime, timedelta, timezone
from urllib.parse import quote

import pytest
from azure.storage.blob import generate_blob_sas
from support.batch_store import InputStore
from support.boxes import Box
from support.daemon import Daemon
from support.delegated import delegated
from support.people import CONTRIBUTOR, Person

IDENTITY = {"resourceId": "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"}


@pytest.fixture(scope="module")
def daemon():
    with Daemon(config={"batch": {"transfer_timeout_s": 2}}) as d:
        yield d


OWN_POOL = {"id": "pool", "targetDedicatedNodes": 1}
OWN_STORE = InputStore


def run(jobs, command, *files):
    job = jobs()
    info = job.done(command, id="t", resourceFiles=list(files))["executionInfo"]
    out = None
    if "exitCode" in info:
        out = job.text("t")
    return info, out


def good(jobs, command, *files):
    info, out = run(jobs, command, *files)
    assert info.get("exitCode") == 0, info
    return out


def failed(jobs, code, *files):
    info, _ = run(jobs, "/bin/true", *files)
    assert "exitCode" not in info and info["result"] == "failure"
    assert info["failureInfo"]["code"] == code, info
    assert "secret" not in str(info) and "sig=" not in str(info)
    return " ".join(d["value"] for d in info["failureInfo"]["details"])


# --- URLs of others ------------------------------------------------------------------------------------------------


def test_files_of_others_are_fetched(jobs, others):
    large = bytes(range(256)) * 9000  # some pieces
    others.files |= {"/a/x.txt": b"from others\n", "/a/large": large, "/a/empty": b"", "/a/b c.txt": b"blank\n"}
    out = good(
        jobs,
        '/bin/sh -c "cat deep/x.txt b.txt; wc -c < empty; sha256sum < large; stat -c %a deep/x.txt b.txt"',
        {"httpUrl": f"{others.url}/a/x.txt?secret=1", "filePath": "deep/x.txt"},
        {"httpUrl": f"{others.url}/a/b%20c.txt", "filePath": "b.txt", "fileMode": "0640"},
        {"httpUrl": f"{others.url}/a/empty", "filePath": "empty"},
        {"httpUrl": f"{others.url}/a/large", "filePath": "large"},
    )
    assert out.split("\n")[:-1] == [
        "from others", "blank", "0", f"{hashlib.sha256(large).hexdigest()}  -", "770", "640",
    ]  # fmt: skip


def test_a_redirection_is_followed_and_a_passing_trouble_outlived(jobs, others):
    others.files |= {"/r/end": b"there\n", "/r/busy": b"at last\n"}
    others.trouble |= {"/r/begin": "/r/end", "/r/busy": [503, 500]}
    out = good(
        jobs, '/bin/sh -c "cat a b"',
        {"httpUrl": f"{others.url}/r/begin", "filePath": "a"}, {"httpUrl": f"{others.url}/r/busy", "filePath": "b"},
    )  # fmt: skip
    assert out == "there\nat last\n"


@pytest.mark.parametrize(
    "trouble, code, says",
    [
        (404, "BlobNotFound", "status 404"),
        (403, "BlobAccessDenied", "status 403 (AuthenticationFailed)"),
        (410, "BlobDownloadMiscError", "status 410"),
        ("hang", "BlobDownloadTimedOut", "within 2 seconds"),
        ("cut", "BlobDownloadMiscError", " bytes "),  # are missing: curl's words change
        ("torn", "BlobDownloadMiscError", "breaks off in its head"),
        (206, "BlobDownloadMiscError", "status 206"),
        ("file:///etc/passwd", "BlobDownloadMiscError", "rotocol"),
        ("/t/circle", "BlobDownloadMiscError", "redirects"),
    ],
    ids=str,
)
def test_what_others_refuse_fails_the_task(jobs, others, trouble, code, says):
    others.trouble |= {"/t/bad": trouble, "/t/circle": "/t/circle"}
    url = f"{others.url}/t/bad"
    said = failed(jobs, code, {"httpUrl": f"{url}?secret=1", "filePath": "x"})
    assert url in said and says in said


@pytest.mark.parametrize(
    "url, says",
    [("http://nowhere.invalid/x?secret=1", "http://nowhere.invalid/x"), ("http://127.0.0.1:1/x", "127.0.0.1:1/x"),
     ("http://user:secret@127.0.0.1:1/x", "http://127.0.0.1:1/x"), ("ftp://127.0.0.1/x?secret=1", "ftp://127.0.0.1/x"),
     ("file:///etc/passwd", "file:///etc/passwd"), ("nonsense", "nonsense")],
)  # fmt: skip
def test_what_cannot_be_reached_fails_the_task(jobs, url, says):
    assert says in failed(jobs, "BlobDownloadMiscError", {"httpUrl": url, "filePath": "x"})


def test_one_that_hangs_holds_up_nobody_else(jobs, others):
    others.trouble["/h/hangs"] = "hang"
    others.files["/h/works"] = b"works\n"
    slow = jobs()
    slow.add("/bin/true", id="t", resourceFiles=[{"httpUrl": f"{others.url}/h/hangs", "filePath": "x"}])
    slow.plane.call("POST", f"{slow.url}/tasks/t/terminate", expect=204)
    slow.wait("t")
    assert good(jobs, "/bin/cat x", {"httpUrl": f"{others.url}/h/works", "filePath": "x"}) == "works\n"


# --- containers -----------------------------------------------------------------------------------------------------


LIST = '/bin/sh -c "find . -type f | sort | xargs -r head -v -n 1"'


def test_a_container_of_ours_with_its_directories(jobs, store):
    store.write(a_txt="a\n", d__b_txt="b\n", d__e__c_txt="c\n")
    out = good(jobs, LIST, {"storageContainerUrl": store.url(), "filePath": "in", "fileMode": "0640"})
    assert out.split("\n\n") == ["==> ./in/a.txt <==\na", "==> ./in/d/b.txt <==\nb", "==> ./in/d/e/c.txt <==\nc\n"]


@pytest.mark.parametrize("prefix, names", [("d/", ["d/b.txt", "d/e/c.txt"]), ("a", ["a.txt"]), ("zzz", [])])
def test_a_prefix_chooses(jobs, store, prefix, names):
    store.write(a_txt="a\n", d__b_txt="b\n", d__e__c_txt="c\n")
    for source in ({"storageContainerUrl": store.url()}, {"autoStorageContainerName": "inputs"}):
        out = good(jobs, '/bin/sh -c "find . -type f | sort"', {**source, "blobPrefix": prefix})
        assert out.split() == [f"./{n}" for n in names]


def test_a_container_of_others(jobs, others):
    names = ["1", "2", "d/3", "d/4", "d/e/5 & 6", "other"]
    others.files |= {f"/many/{n}": n.encode() for n in names}
    url = f"{others.url}/many?sv=1&secret=2"
    out = good(jobs, '/bin/sh -c "find . -type f | sort"', {"storageContainerUrl": url})
    assert out.split("\n")[:-1] == [f"./{n}" for n in names]
    out = good(jobs, '/bin/sh -c "find . -type f | sort"', {"storageContainerUrl": url, "blobPrefix": "d/"})
    assert out.split("\n")[:-1] == ["./d/3", "./d/4", "./d/e/5 & 6"]
    assert all("secret=2" in query for _, path, query, _ in others.seen if path.startswith("/many"))


def test_a_name_with_two_slashes_is_a_path_with_one(jobs, store, others):
    store.put("odd//a//b", b"b\n")
    others.files["/odd/odd/./a//b"] = b"b\n"
    for url, prefix in ((store.url("odd"), "odd//"), (f"{others.url}/odd?secret=1", "")):
        out = good(jobs, LIST, {"storageContainerUrl": url, "blobPrefix": prefix})
        assert out == "==> ./odd/a/b <==\nb\n"


# What no two files can be, or one; in which order they come is that of the list.
NO_FILES = [("conf", "conf/x"), ("d/-", "d//-"), ("d/z", "d//z"), ("e//z", "e///z"), ("ends/",), ("f/" + 256 * "x",)]


@pytest.mark.parametrize("where, names", [(w, n) for w in ("here", "of others") for n in NO_FILES] + [("of others", ("a/.",))],
                         ids=lambda value: value[0][:5] if isinstance(value, tuple) else value)  # fmt: skip
def test_blobs_that_cannot_all_be_files_fail_the_task_which_names_one(jobs, store, others, where, names):
    top = f"no-files-{names[0][:3]}-{where}/"
    for name in names:
        if where == "here":
            store.put(top + name)
        others.files[f"/no-files/{top}{name}"] = b"x"
    url = store.url("odd") if where == "here" else f"{others.url}/no-files?secret=1"
    said = failed(jobs, "BlobDownloadMiscError", {"storageContainerUrl": url, "blobPrefix": top})
    assert any(f": {top}{name}" in said for name in names), said


def test_a_blob_that_stands_for_a_directory_is_none(jobs, store, others):
    store.put("marked/d/", b"")
    store.put("marked/d/x")
    others.files |= {"/marked/marked/d/": b"", "/marked/marked/d/x": b"x\n"}
    for url in (store.url("odd"), f"{others.url}/marked?secret=1"):
        assert good(jobs, LIST, {"storageContainerUrl": url, "blobPrefix": "marked/"}) == "==> ./marked/d/x <==\nx\n"


def test_no_name_leads_out(jobs, others):
    others.files |= {"/evil/../../../escape": b"x"}
    assert "leaves the directory" in failed(jobs, "BlobDownloadMiscError", {"storageContainerUrl": f"{others.url}/evil?secret=1"})


@pytest.mark.parametrize(
    "container, more, code",
    [("none", {}, "BlobNotFound"), ("inputs", {"signed": False}, "BlobAccessDenied"),
     ("inputs", {"read": True}, "BlobAccessDenied"), ("inputs", {"list": True}, "BlobAccessDenied")],
)  # fmt: skip
def test_a_container_that_may_not_be_read(jobs, store, container, more, code):
    said = failed(jobs, code, {"storageContainerUrl": store.url(container, **more)})
    assert f"/{container}" in said


@pytest.mark.parametrize("resource", [{"httpUrl": "/c/x", "filePath": "x"}, {"storageContainerUrl": "/c"},
                                      {"httpUrl": "/nothing", "filePath": "x"}])  # fmt: skip
def test_an_account_that_is_not_there(jobs, resource):
    """At a host of the daemon's own, which is never asked as that of somebody else."""
    resource = {k: f"https://nosuch.blob.core.localhost{v}?sig=secret" if v[0] == "/" else v for k, v in resource.items()}
    assert "no storage account nosuch" in failed(jobs, "BlobNotFound", resource)


def test_a_blob_that_is_not_there(jobs, store):
    for url in (store.url("none"), store.url()):
        path, _, query = url.partition("?")
        assert path in failed(jobs, "BlobNotFound", {"httpUrl": f"{path}/no/blob?{query}", "filePath": "x"})


def test_a_container_of_others_that_is_not_there(jobs, others):
    others.trouble["/gone"] = 404
    assert "ContainerNotFound" in failed(jobs, "BlobNotFound", {"storageContainerUrl": f"{others.url}/gone?secret=1"})


def test_a_url_of_a_snapshot_gives_the_bytes_of_the_snapshot_alone(jobs, store):
    box = Box(store.accounts, store.account, "inputs")
    box.put("s", b"then\n")
    taken = box.ask("PUT", "s", "?comp=snapshot").headers["x-ms-snapshot"]
    box.put("s", b"now\n")
    url, _, query = store.url().partition("?")
    when = f"snapshot={quote(taken)}"
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    alone = generate_blob_sas(store.account, "inputs", "s", snapshot=taken, account_key=box.key, permission="r", expiry=until)

    def resource(query):
        return {"httpUrl": f"{url}/s?{query}", "filePath": "f"}

    for signed in (query, alone.replace(f"{when}&", "")):
        assert good(jobs, "/bin/cat f", resource(f"{when}&{signed}")) == "then\n"
    assert good(jobs, "/bin/cat f", resource(query)) == "now\n"
    failed(jobs, "BlobAccessDenied", resource(alone.replace(f"{when}&", "")))
    for other in (taken.replace(taken[:4], "2001"), "soon"):
        failed(jobs, "BlobNotFound", resource(f"snapshot={quote(other)}&{query}"))
    assert box.ask("PUT", "s", f"?comp=tier&{when}", x_ms_access_tier="Archive").status == 200
    assert "archived" in failed(jobs, "BlobDownloadMiscError", resource(f"{when}&{query}"))
    assert good(jobs, "/bin/cat f", resource(query)) == "now\n"


def test_an_identity_reads_the_auto_storage_of_the_account_and_nothing_else(jobs, store, others):
    others.files["/x"] = b"theirs\n"
    store.write(mine_txt="mine\n")
    by = lambda **source: {**source, "identityReference": IDENTITY}
    blob, container = f"{store.url(signed=False)}/mine.txt", store.url(signed=False)
    assert good(jobs, "/bin/cat a", by(httpUrl=blob, filePath="a")) == "mine\n"
    assert "mine\n" in good(jobs, "/bin/cat mine.txt", by(storageContainerUrl=container))
    assert "managed identities are not supported" in failed(jobs, "BlobAccessDenied", by(httpUrl=f"{others.url}/x", filePath="x"))
    other = store.accounts.account()
    store.accounts.share(other, "inputs", kind="blobs")
    for source in ({"httpUrl": blob, "filePath": "a"}, {"storageContainerUrl": container}):
        source = {key: value.replace(store.account, other) for key, value in source.items()}
        assert "managed identities are not supported" in failed(jobs, "BlobAccessDenied", by(**source))
        assert "no signature" in failed(jobs, "BlobAccessDenied", source)


def test_an_auto_storage_container_that_is_not_there(jobs):
    said = failed(jobs, "BlobNotFound", {"autoStorageContainerName": "nothing"})
    assert "container nothing of the auto-storage account" in said


def test_a_container_of_others_that_refuses(jobs, others):
    others.trouble["/closed"] = 403
    assert "403" in failed(jobs, "BlobAccessDenied", {"storageContainerUrl": f"{others.url}/closed?secret=1"})


def test_a_list_that_never_ends(jobs, others):
    others.trouble["/again"] = "/r/again"
    others.files["/r/again"] = b"<E><Blobs><Blob><Name>x/</Name></Blob></Blobs><NextMarker>m</NextMarker></E>"
    assert "is endless" in failed(jobs, "BlobDownloadMiscError", {"storageContainerUrl": f"{others.url}/again?secret=1"})
    others.trouble["/nameless"] = "/r/nameless"
    others.files["/r/nameless"] = b"<E><Blobs>" + 100000 * b"<Blob/>" + b"</Blobs></E>"
    assert "is endless" in failed(jobs, "BlobDownloadMiscError", {"storageContainerUrl": f"{others.url}/nameless?secret=1"})


def test_a_list_that_is_none(jobs, others):
    """What a web server without containers answers."""
    others.trouble["/page"] = "/r/page"
    others.files["/r/page"] = b"<html><br></html>"
    said = failed(jobs, "BlobDownloadMiscError", {"storageContainerUrl": f"{others.url}/page?secret=1"})
    assert "cannot be understood" in said


def forbid(store, way, off=True):
    store.accounts.call("PATCH", f"/{store.account}", {"properties": {way: not off}}, expect=200)


@pytest.mark.parametrize("source", [
    {"autoStorageContainerName": "inputs"},
    {"httpUrl": "/a", "filePath": "x", "identityReference": IDENTITY},
    {"storageContainerUrl": "", "identityReference": IDENTITY},
], ids=["container", "blob by identity", "container by identity"])  # fmt: skip
def test_auto_storage_whose_keys_are_off_is_read_by_nobody(jobs, store, source):
    store.write(a="a")
    url = store.url(signed=False)
    source = {k: url + v if k in ("httpUrl", "storageContainerUrl") else v for k, v in source.items()}
    good(jobs, "/bin/true", source)
    forbid(store, "allowSharedKeyAccess")
    said = failed(jobs, "BlobAccessDenied", source)
    assert f"account {store.account} does not allow access with its keys (allowSharedKeyAccess)" in said
    forbid(store, "allowSharedKeyAccess", off=False)
    good(jobs, "/bin/true", source)


def test_what_a_login_has_signed_is_read_also_without_the_keys(jobs, store):
    store.write(a="by a login\n")
    url = store.url(signed=False)

    def both(query):
        return {"httpUrl": f"{url}/a?{query}", "filePath": "a"}, {"storageContainerUrl": f"{url}?{query}"}

    def denied(query, why):
        for source in both(query):
            assert why in failed(jobs, "BlobAccessDenied", source)

    forbid(store, "allowSharedKeyAccess")
    query = delegated(store.daemon, store.account, "inputs")
    for source in both(query):
        assert good(jobs, "/bin/cat a", source) == "by a login\n"
    denied(query + "x", "the signature of its URL is wrong")
    assert "does not permit that it is listed" in failed(jobs, "BlobAccessDenied", both(delegated(store.daemon, store.account, "inputs", read=True))[1])
    scope = f"{store.accounts.path}/{store.account}"
    reader, nobody = Person(store.daemon, "Storage Blob Data Reader", scope), Person(store.daemon, CONTRIBUTOR, scope)
    query = delegated(reader, store.account, "inputs")
    assert good(jobs, "/bin/cat a", both(query)[0]) == "by a login\n"
    denied(delegated(nobody, store.account, "inputs"), "has no role to read it")
    reader.remove()
    denied(query, "Nobody has the object id")
    nobody.remove()
    forbid(store, "allowSharedKeyAccess", off=False)


def test_what_an_account_forbids_binds_resource_files_too(jobs, store):
    """Its keys, and what they signed; and what is public."""
    store.write(a="a")
    store.accounts.share(store.account, "public", kind="blobs", body={"properties": {"publicAccess": "Container"}})
    (store.accounts.folder(store.account, "public", "blobs") / "p").write_text("p")
    blob, _, query = store.url().partition("?")
    signed = {"httpUrl": f"{blob}/a?{query}", "filePath": "x"}, {"storageContainerUrl": store.url()}
    public = [{"httpUrl": store.url("public", signed=False) + "/p", "filePath": "x"}]
    public.append({"storageContainerUrl": store.url("public", signed=False)})
    for off, files in (("allowSharedKeyAccess", signed), ("allowBlobPublicAccess", public)):
        for one in files:
            good(jobs, "/bin/true", one)
        store.accounts.call("PATCH", f"/{store.account}", {"properties": {off: False}}, expect=200)
        for one in files:
            failed(jobs, "BlobAccessDenied", one)
        store.accounts.call("PATCH", f"/{store.account}", {"properties": {off: True}}, expect=200)
