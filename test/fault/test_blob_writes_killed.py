# SPDX-License-Identifier: MIT
"""kill -9 before each call by which a change of a blob writes, syncs or names a file: after the restart the blob is
what it was, or what it was to become, as a whole, and whoever asks is told the same."""

import re
import sqlite3
import stat
from contextlib import closing

import pytest
from support.storage import StorageDaemon
from support.waiting import wait_for

SMALL, MIDDLE, LARGE = 800, 100_000, 400_000  # in the journal; in one go; in pieces
JOURNAL = ("kept_put", "item_change")
KEPT = 8 * 24 * 3600  # seconds, more than the week that a file without a row stays


@pytest.fixture
def d(killer, clock):
    both = {"LD_PRELOAD": ":".join(x.environment["LD_PRELOAD"] for x in (killer, clock))}
    with StorageDaemon(environment={**killer.environment, **clock.environment, **both}) as d:
        d.expect_log(r"journal\.")  # it says what it brought to an end
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        yield d
        none_is_left_aside(d, clock)


def body_of(version, size):
    return f"{version:08}".encode() * (size // 8)


def noted(version):
    return {
        "x_ms_meta_v": str(version),
        "x_ms_blob_content_type": f"text/v{version}",
        "x_ms_tags": f"v={version}",
    }


def put(name, version, size=SMALL, kind="BlockBlob"):
    return "PUT", f"/box/{name}", body_of(version, size), {"x_ms_blob_type": kind, **noted(version)}


def commit(name, version):
    xml = "<?xml version='1.0'?><BlockList><Latest>b25l</Latest></BlockList>".encode()
    return "PUT", f"/box/{name}?comp=blocklist", xml, noted(version)


def block(name, version, size=SMALL):
    return "PUT", f"/box/{name}?comp=block&blockid=b25l", body_of(version, size), {}


def append(name, version, size=SMALL):
    return "PUT", f"/box/{name}?comp=appendblock", body_of(version, size), {}


def asks(method, query="", body=b"", **headers):
    """Any other request, of the blob that it gets."""
    return lambda name: (method, f"/box/{name}{query}", body, headers)


def tier(name):
    return asks("PUT", "?comp=tier", x_ms_access_tier=name)


def done(d, request):
    method, path, body, headers = request
    answer = d.blob.call(method, path, body, **headers)
    assert answer.status in (200, 201, 202, 204), answer
    return answer


def listed(d, name):
    answer = d.blob.call("GET", f"/box?restype=container&comp=list&include=metadata,tags,snapshots&prefix={name}")
    assert answer.status == 200, answer
    return re.findall(r"<Blob>(.*?)</Blob>", answer.body.decode(), re.S)


def found(d, name):
    """The tags by which it is found."""
    tags = {}
    for key in ("v", "k"):
        answer = d.blob.call("GET", f"/box?restype=container&comp=blobs&where={key}%3E%3D%27%27")
        assert answer.status == 200, answer
        for entry in re.findall(r"<Blob>(.*?)</Blob>", answer.body.decode(), re.S):
            if f"<Name>{name}<" in entry:
                tags |= dict(re.findall(r"<Key>(.*?)</Key><Value>(.*?)</Value>", entry))
    return tags


SAID = ("ETag", "Last-Modified", "Content-Length", "Content-Type", "Content-MD5", "x-ms-meta-v", "x-ms-blob-type")
SAID += ("x-ms-blob-committed-block-count", "x-ms-tag-count", "x-ms-copy-source", "x-ms-blob-sealed")


def state(d, name, kind="all"):
    """All that is said of a blob, which must fit together."""
    got, head = d.blob.call("GET", f"/box/{name}"), d.blob.call("HEAD", f"/box/{name}")
    entries = listed(d, name)
    snapshots = sum("<Snapshot>" in e for e in entries)
    current = [e for e in entries if "<Snapshot>" not in e]
    if got.status == 404:
        assert head.status == 404 and not current, "what is not there is listed"
        assert found(d, name) == {}, "what is not there is found"
        return None, snapshots
    tier = head.headers["x-ms-access-tier"]
    assert f"<AccessTier>{tier}<" in current[0] or not tier
    if tier == "Archive":
        assert (got.status, got.code) == (409, "BlobArchived"), got
        return ({key: head.headers[key] for key in SAID[2:]}, found(d, name)), snapshots
    assert (got.status, head.status, len(current)) == (200, 200, 1), (got, head, entries)
    said = {key: got.headers[key] for key in SAID}
    assert said == {key: head.headers[key] for key in SAID}
    assert said["ETag"].strip('"') in current[0]
    assert f"<Content-Length>{len(got.body)}<" in current[0]
    assert f"<BlobType>{said['x-ms-blob-type']}<" in current[0]
    tags = d.blob.call("GET", f"/box/{name}?comp=tags")
    assert found(d, name) == dict(re.findall(r"<Key>(.*?)</Key><Value>(.*?)</Value>", tags.body.decode()))
    blocks = b""
    if said["x-ms-blob-type"] == "BlockBlob":
        blocks = d.blob.call("GET", f"/box/{name}?comp=blocklist&blocklisttype={kind}").body
    del said["ETag"], said["Last-Modified"], said["x-ms-copy-source"]
    return (tuple(said.items()), tier, got.body, tags.body, blocks), snapshots


def database(d):
    return closing(sqlite3.connect(f"file:{next(d.state_dir.glob('*.db'))}?mode=ro", uri=True))


def none_is_left_aside(d, clock):
    """Each file in `.aside` is that of a row, or marked by a start and removed by another a week later."""
    with database(d) as db:
        rows = "SELECT aside FROM share_item UNION SELECT aside FROM blob_snapshot"
        named = {d.folder / aside for (aside,) in db.execute(rows) if aside}
    files = lambda: set(d.folder.glob(".aside/*/*"))  # noqa: E731
    assert named <= files()
    print(f"{len(files() - named)} of {len(files())} files aside have no row")
    d.restart()
    marked = lambda: {f for f in files() if f.stat().st_mode & stat.S_ISVTX}  # noqa: E731
    wait_for(lambda: marked() == files() - named, what="files without a row to be marked")
    clock.go_on(KEPT)
    d.restart()
    wait_for(lambda: files() == named, what="files without a row to go")


def prepared(d, name, steps):
    for step in steps:
        done(d, step(name))


def settled(d):
    """The journal has nothing left to do, so the daemon does nothing more for what was acknowledged."""
    with database(d) as db:
        return not any(db.execute(f"SELECT 1 FROM {table}").fetchone() for table in JOURNAL)


def killed_at_each_step(d, killer, before, change, name="b", kind="all"):
    """`before` makes the blob, `change` is the request under which the daemon is killed. The name is another each
    time. `kind`: of the blocks that count."""

    def fresh(n):
        here = f"{name}{n}"
        prepared(d, here, before)
        return here

    def others(here):
        if d.blob.call("HEAD", f"/box/{here}").headers["x-ms-access-tier"] == "Archive":
            done(d, tier("Hot")(here))
        done(d, put(here, 99))
        assert d.blob.call("GET", f"/box/{here}").headers["x-ms-meta-v"] == "99"

    looks = lambda here: state(d, here, kind)  # noqa: E731
    killer.kill_at_each_step(d, fresh, lambda here: done(d, change(here)), looks, others, lambda: settled(d))


WHERE = pytest.mark.parametrize("name", ["b", "a//"])  # a file of its name, and one aside
# Each size, and one aside.
BOTH = pytest.mark.parametrize("name, size", [("b", SMALL), ("b", MIDDLE), ("b", LARGE), ("a//", MIDDLE)])


@BOTH
def test_a_put_of_what_is_not_there(d, killer, size, name):
    killed_at_each_step(d, killer, [], lambda name: put(name, 2, size), name)


@BOTH
def test_a_put_over_another(d, killer, size, name):
    killed_at_each_step(d, killer, [lambda name: put(name, 1, MIDDLE)], lambda name: put(name, 2, size), name)


@pytest.mark.parametrize("old, new", [("AppendBlob", "BlockBlob"), ("BlockBlob", "AppendBlob")])
def test_a_put_of_another_type(d, killer, old, new):
    def of(kind, version):
        return lambda name: put(name, version, SMALL if kind == "BlockBlob" else 0, kind)

    killed_at_each_step(d, killer, [of(old, 1)], of(new, 2))


@BOTH
def test_an_append(d, killer, size, name):
    before = [lambda name: put(name, 1, 0, "AppendBlob"), lambda name: append(name, 1, 1000)]
    killed_at_each_step(d, killer, before, lambda name: append(name, 2, size), name)


@WHERE
def test_an_append_after_others_that_are_not_settled(d, killer, name):
    before = [lambda name: put(name, 1, 0, "AppendBlob")]
    before += [lambda name, n=n: append(name, n, SMALL) for n in range(5)]
    killed_at_each_step(d, killer, before, lambda name: append(name, 9, SMALL), name)


@pytest.mark.parametrize("size", [SMALL, MIDDLE])
def test_an_append_from_a_url(d, killer, size):
    done(d, put("source", 2, size))
    done(d, ("PUT", "/box?restype=container&comp=acl", b"", {"x_ms_blob_public_access": "blob"}))
    before = [lambda name: put(name, 1, 0, "AppendBlob"), lambda name: append(name, 1)]
    copy = asks("PUT", "?comp=appendblock", x_ms_copy_source=f"{d.blob.url}/box/source")
    killed_at_each_step(d, killer, before, copy)


def test_a_seal(d, killer):
    before = [lambda name: put(name, 1, 0, "AppendBlob"), lambda name: append(name, 1)]
    killed_at_each_step(d, killer, before, asks("PUT", "?comp=seal"))


def test_a_large_append_after_small_ones(d, killer):
    before = [lambda name: put(name, 1, 0, "AppendBlob"), lambda name: append(name, 1), lambda name: append(name, 2)]
    killed_at_each_step(d, killer, before, lambda name: append(name, 3, MIDDLE))


@pytest.mark.parametrize("size", [SMALL, MIDDLE])
def test_a_put_over_what_was_appended(d, killer, size):
    before = [lambda name: put(name, 1, 0, "AppendBlob"), lambda name: append(name, 1), lambda name: append(name, 2)]
    killed_at_each_step(d, killer, before, lambda name: put(name, 2, size))


def test_a_deletion_of_what_was_appended(d, killer):
    before = [lambda name: put(name, 1, 0, "AppendBlob"), lambda name: append(name, 1)]
    killed_at_each_step(d, killer, before, asks("DELETE"))


LISTED = "committed"  # a block that was put at the very time of its blob may still wait after a kill


@WHERE
def test_a_block_list(d, killer, name):
    before = [lambda name: put(name, 1, MIDDLE), lambda name: block(name, 2)]
    killed_at_each_step(d, killer, before, lambda name: commit(name, 2), name, LISTED)


def test_a_block_list_of_what_is_not_there(d, killer):
    killed_at_each_step(d, killer, [lambda name: block(name, 2)], lambda name: commit(name, 2), kind=LISTED)


def test_a_block(d, killer):
    killed_at_each_step(d, killer, [lambda name: put(name, 1)], lambda name: block(name, 2, MIDDLE))


def test_a_copy_over_another(d, killer):
    done(d, put("source", 2, MIDDLE))
    copy = asks("PUT", x_ms_copy_source=f"{d.blob.url}/box/source")
    killed_at_each_step(d, killer, [lambda name: put(name, 1)], copy)


def test_an_archived_blob(d, killer):
    killed_at_each_step(d, killer, [lambda name: put(name, 1)], tier("Archive"))


def test_a_rehydrated_blob(d, killer):
    killed_at_each_step(d, killer, [lambda name: put(name, 1), tier("Archive")], tier("Cool"))


def test_a_copy_of_an_archived_blob(d, killer):
    done(d, put("source", 2, MIDDLE))
    done(d, tier("Archive")("source"))
    copy = asks("PUT", x_ms_copy_source=f"{d.blob.url}/box/source", x_ms_access_tier="Hot")
    killed_at_each_step(d, killer, [lambda name: put(name, 1)], copy)


def test_a_deletion(d, killer):
    killed_at_each_step(d, killer, [lambda name: put(name, 1)], asks("DELETE"))


@WHERE
def test_a_deletion_with_snapshots(d, killer, name):
    before = [lambda name: put(name, 1), asks("PUT", "?comp=snapshot"), asks("PUT", "?comp=snapshot")]
    killed_at_each_step(d, killer, before, asks("DELETE", x_ms_delete_snapshots="include"), name)


def test_a_snapshot(d, killer):
    killed_at_each_step(d, killer, [lambda name: put(name, 1)], asks("PUT", "?comp=snapshot"))


TAGS = b"<?xml version='1.0'?><Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>"


@pytest.mark.parametrize(
    "change",
    [
        asks("PUT", "?comp=metadata", x_ms_meta_v="2"),
        asks("PUT", "?comp=properties", x_ms_blob_content_type="text/v2"),
        asks("PUT", "?comp=tags", TAGS),
    ],
    ids=["metadata", "properties", "tags"],
)
def test_what_is_noted_of_it(d, killer, change):
    killed_at_each_step(d, killer, [lambda name: put(name, 1)], change)
