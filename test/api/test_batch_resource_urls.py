# SPDX-License-Identifier: MIT
"""Resource files of Azure Batch's tasks from elsewhere: URLs of others, and whole containers."""

import hashlib
from datetime import datetime, timedelta, timezone

import pytest
from azure.storage.blob import ContainerSasPermissions, generate_container_sas
from support.accounts import Accounts
from support.batch import Plane
from support.batch_fixtures import jobs, others  # noqa: F401 (fixtures)
from support.batch_jobs import add_pool
from support.batch_rm import BatchAccounts
from support.daemon import Daemon


class Store:
    """A storage account with a container, which is the auto-storage of a Batch account."""

    def __init__(self, daemon):
        self.batch = BatchAccounts(daemon).make()
        self.accounts = Accounts(daemon, self.batch.group)
        self.account = self.accounts.account()
        self.name = self.batch.account(autoStorage={"storageAccountId": f"{self.accounts.path}/{self.account}"})
        self.accounts.share(self.account, "inputs", kind="blobs")
        self.folder = self.accounts.folder(self.account, "inputs", "blobs")
        self.plane = Plane(daemon, self.name, self.batch.keys(self.name)[0])

    def url(self, container="inputs", signed=True, **may):
        until = datetime.now(timezone.utc) + timedelta(hours=1)
        may = ContainerSasPermissions(**(may or {"read": True, "list": True}))
        key = self.accounts.keys(self.account)[0]
        sas = generate_container_sas(self.account, container, account_key=key, permission=may, expiry=until)
        return f"https://{self.account}.blob.core.localhost/{container}" + (f"?{sas}" if signed else "")

    def write(self, **files):
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


@pytest.fixture(scope="module")
def daemon():
    with Daemon(config={"batch": {"transfer_timeout_s": 2}}) as d:
        yield d


@pytest.fixture(scope="module")
def store(daemon):
    s = Store(daemon)
    yield s
    s.batch.remove()


@pytest.fixture(scope="module")
def plane(store):
    return store.plane


@pytest.fixture(scope="module")
def pool(plane):
    add_pool(plane, "pool", targetDedicatedNodes=1)
    yield "pool"
    plane.call("DELETE", "/pools/pool", expect=202)


def run(jobs, command, *files):
    job = jobs()
    job.add(command, id="t", resourceFiles=list(files))
    (done,) = job.wait("t")
    info = done["executionInfo"]
    out = None
    if "exitCode" in info:
        out = job.plane.call("GET", f"{job.url}/tasks/t/files/stdout.txt", expect=200).content.decode()
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
        ("cut", "BlobDownloadMiscError", "transfer closed"),
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


def test_no_name_leads_out(jobs, others):
    others.files |= {"/evil/../../../escape": b"x"}
    assert "leads out" in failed(jobs, "BlobDownloadMiscError", {"storageContainerUrl": f"{others.url}/evil?secret=1"})


@pytest.mark.parametrize(
    "container, more, code",
    [("none", {}, "BlobNotFound"), ("inputs", {"signed": False}, "BlobAccessDenied"),
     ("inputs", {"read": True}, "BlobAccessDenied"), ("inputs", {"list": True}, "BlobAccessDenied")],
)  # fmt: skip
def test_a_container_that_may_not_be_read(jobs, store, container, more, code):
    said = failed(jobs, code, {"storageContainerUrl": store.url(container, **more)})
    assert f"/{container}" in said


def test_an_auto_storage_container_that_is_not_there(jobs):
    said = failed(jobs, "BlobNotFound", {"autoStorageContainerName": "nothing"})
    assert "container nothing of the auto-storage account" in said


def test_a_container_of_others_that_refuses(jobs, others):
    others.trouble["/closed"] = 403
    assert "403" in failed(jobs, "BlobAccessDenied", {"storageContainerUrl": f"{others.url}/closed?secret=1"})


def test_a_list_that_is_none(jobs, others):
    """What a web server without containers answers."""
    others.trouble["/page"] = "/r/page"
    others.files["/r/page"] = b"<html><br></html>"
    said = failed(jobs, "BlobDownloadMiscError", {"storageContainerUrl": f"{others.url}/page?secret=1"})
    assert "cannot be understood" in said
