# SPDX-License-Identifier: MIT
"""The commit of a change is lost, because the database's disk is full for a moment: what was refused has not happened,
and what was acknowledged has; also after a restart."""

import base64
import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest
from support import metrics
from support.failing import STEPS_MAX
from support.storage import StorageDaemon
from support.waiting import wait_for


@pytest.fixture
def d(loser):
    with StorageDaemon(environment=loser.environment) as d:
        d.expect_log(r"journal\.|db\.|request\.")
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        assert d.file.call("PUT", "/share?restype=share").status == 201
        yield d


def lost_at_each_write(d, loser, fresh, change, state, half=None):
    """One write of a change after another fails, until the change has no more. `fresh(name)` makes a thing of which
    `change(name)` tells whether it was changed, and state(name) looks at it. `half`: a state that the next start ends."""
    fresh("was"), fresh("becomes")
    assert change("becomes")
    was, becomes = state("was"), state("becomes")
    assert was != becomes
    names, refused, halves = {}, 0, 0
    for n in range(1, STEPS_MAX):
        name = f"n{n}"
        fresh(name)
        wait_for(lambda: open_changes(d) == halves, what="the journal to forget the rest")
        loser.arm(n)
        done = change(name)
        is_last = loser.left > 0
        loser.arm(0)
        now = state(name)
        is_half = half is not None and not done and now == half
        assert is_half or now == (becomes if done else was), f"write {n} failed, {done}"
        names[name], refused, halves = done or is_half, refused + (not done), halves + is_half
        if is_last:
            break
    assert refused and is_last and done
    d.restart()
    for name, done in names.items():
        assert state(name) == (becomes if done else was), name


def open_changes(d):
    return len(d.rows("SELECT id FROM item_change UNION ALL SELECT id FROM kept_put"))


def appended(d, name, body, **headers):
    return d.blob.call("PUT", f"/box/{name}?comp=appendblock", body, **headers)


def make_log(d, name):
    assert d.blob.call("PUT", f"/box/{name}", x_ms_blob_type="AppendBlob").status == 201
    assert appended(d, name, b"0123456789").status == 201


def shown(d, name):
    got = d.blob.call("GET", f"/box/{name}")
    return got.status, got.body, got.headers["x-ms-blob-committed-block-count"]


@pytest.mark.parametrize("size", [100, 100_000])
def test_an_append(d, loser, size):
    def change(name):
        return appended(d, name, b"a" * size).status == 201

    lost_at_each_write(d, loser, lambda name: make_log(d, name), change, lambda name: shown(d, name))


def test_a_refused_append_leaves_nothing_in_the_journal(d):
    make_log(d, "log")
    wrong = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    for _ in range(20):
        assert appended(d, "log", b"refused", Content_MD5=wrong).code == "Md5Mismatch"
    assert appended(d, "log", b"a" * 100).status == 201
    wait_for(lambda: open_changes(d) == 0, what="the journal to be empty")
    file = d.folder / "blobs" / "box" / "log"
    with open(file, "ab") as f:
        f.write(b"of a job")
    d.restart()
    assert file.read_bytes() == b"0123456789" + b"a" * 100 + b"of a job"


def test_an_append_to_a_file_that_cannot_be_opened_leaves_nothing_in_the_journal(d):
    program = shutil.which("sleep")
    file = d.folder / "blobs" / "box" / "log"
    assert d.blob.call("PUT", "/box/log", x_ms_blob_type="AppendBlob").status == 201
    assert appended(d, "log", Path(program).read_bytes()).status == 201
    wait_for(lambda: open_changes(d) == 0, what="the journal to be empty")
    file.chmod(0o755)
    job = subprocess.Popen(["sleep", "600"], executable=file)  # whose program nobody may write: ETXTBSY
    try:
        for _ in range(3):
            assert appended(d, "log", b"a" * 100_000).status == 500
    finally:
        job.kill()
        job.wait()
    with open(file, "ab") as f:
        f.write(b"of a job")
    wait_for(lambda: open_changes(d) == 0, what="the journal to be empty")
    d.restart()
    assert file.read_bytes() == Path(program).read_bytes() + b"of a job"


def test_a_rename_of_a_file(d, loser):
    def make(name):
        assert d.file.call("PUT", f"/share/{name}", x_ms_type="file", x_ms_content_length="3", x_ms_meta_k="v").status == 201

    def change(name):
        source = f"{d.file.url}/share/{name}"
        return d.file.call("PUT", f"/share/{name}-new?comp=rename", x_ms_file_rename_source=source).status == 200

    def look(name):
        heads = [d.file.call("HEAD", f"/share/{name}{end}") for end in ("", "-new")]
        return [(head.status, head.headers["x-ms-meta-k"]) for head in heads]

    lost_at_each_write(d, loser, make, change, look)


def test_a_rename_over_a_file_leaves_one_at_its_place(d, loser):
    refused = 0
    for n in range(1, STEPS_MAX):
        source = f"{d.file.url}/share/from{n}"
        for name in (f"from{n}", f"to{n}"):
            headers = {"x_ms_type": "file", "x_ms_content_length": "3", "x_ms_meta_k": "v"}
            assert d.file.call("PUT", f"/share/{name}", **headers).status == 201
        wait_for(lambda: open_changes(d) == 0, what="the journal to be empty")
        loser.arm(n)
        headers = {"x_ms_file_rename_source": source, "x_ms_file_rename_replace_if_exists": "true"}
        done = d.file.call("PUT", f"/share/to{n}?comp=rename", **headers).status == 200
        is_last = loser.left > 0
        loser.arm(0)
        assert d.file.call("GET", f"/share/to{n}").status == 200, n
        refused += not done
        if is_last:
            break
    assert refused and is_last and done


def test_a_rename_of_a_file_waits_for_one_sync(d):
    for n in range(20):
        assert d.file.call("PUT", f"/share/f{n}", x_ms_type="file", x_ms_content_length="3").status == 201
    wait_for(lambda: open_changes(d) == 0, what="the journal to be empty")
    before = metrics.of(d, "batchaid_syncs_total")
    for n in range(20):
        source = f"{d.file.url}/share/f{n}"
        assert d.file.call("PUT", f"/share/g{n}?comp=rename", x_ms_file_rename_source=source).status == 200
    assert metrics.of(d, "batchaid_syncs_total") - before < 30


@pytest.mark.parametrize("size", [100, 100_000, 5_000_000])
def test_a_put_of_a_blob(d, loser, size):
    def put(name, body):
        return d.blob.call("PUT", f"/box/{name}", body, x_ms_blob_type="BlockBlob").status == 201

    def look(name):
        got = d.blob.call("GET", f"/box/{name}")
        return got.status, got.body, got.headers["Content-MD5"]

    lost_at_each_write(d, loser, lambda name: put(name, b"old"), lambda name: put(name, b"b" * size), look)


def test_a_deletion_of_a_blob_with_snapshots(d, loser):
    def make(name):
        assert d.blob.call("PUT", f"/box/{name}", b"bytes", x_ms_blob_type="BlockBlob").status == 201
        assert d.blob.call("PUT", f"/box/{name}?comp=snapshot").status == 201

    def change(name):
        return d.blob.call("DELETE", f"/box/{name}", x_ms_delete_snapshots="include").status == 202

    def look(name):
        listed = d.blob.call("GET", f"/box?restype=container&comp=list&include=snapshots&prefix={name}").body
        return d.blob.call("GET", f"/box/{name}").status, listed.count(b"<Blob>")

    lost_at_each_write(d, loser, make, change, look, half=(404, 1))
