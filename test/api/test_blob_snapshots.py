# SPDX-License-Identifier: MIT
"""Snapshots of blobs: what a blob was stays as it was, until it is deleted."""

import hashlib
from datetime import datetime, timedelta, timezone

import pytest
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.storage.blob import BlobClient, StandardBlobTier, generate_blob_sas
from support.blobs import call, client, container, daemon, put, refused  # noqa: F401 fixtures
from support.storage import ACCOUNT, KEY, encoded
from support.waiting import wait_for


@pytest.fixture
def of(container):
    """The client of a snapshot."""
    return lambda name, taken: container.get_blob_client(name, snapshot=taken["snapshot"])


def test_a_snapshot_is_what_the_blob_was(container, of):
    blob = container.upload_blob("dir/b", b"first", metadata={"k": "1"}, content_settings=None)
    before = blob.get_blob_properties()
    taken = blob.create_snapshot()
    assert taken["etag"].strip('"') == before.etag.strip('"') and taken["last_modified"] == before.last_modified
    blob.upload_blob(b"second one", overwrite=True, metadata={"k": "2"})
    old = of("dir/b", taken)
    assert old.download_blob().readall() == b"first"
    shown = old.get_blob_properties()
    assert (shown.size, shown.metadata, shown.etag) == (5, {"k": "1"}, before.etag)
    assert bytes(shown.content_settings.content_md5) == hashlib.md5(b"first").digest()
    assert shown.last_modified == before.last_modified and shown.creation_time == before.creation_time
    assert blob.download_blob().readall() == b"second one"
    assert old.download_blob(offset=1, length=3).readall() == b"irs"


def test_a_snapshot_may_have_metadata_of_its_own(container, of):
    blob = container.upload_blob("b", b"x", metadata={"a": "1"})
    first, second = blob.create_snapshot(), blob.create_snapshot(metadata={"b": "2"})
    assert first["snapshot"] < second["snapshot"]
    assert of("b", first).get_blob_properties().metadata == {"a": "1"}
    assert of("b", second).get_blob_properties().metadata == {"b": "2"}
    assert first["etag"] != second["etag"]
    assert blob.get_blob_properties().metadata == {"a": "1"}


def test_what_a_job_writes_leaves_the_snapshot(container, of, daemon):
    blob = container.upload_blob("b", b"before")
    taken = blob.create_snapshot()
    file = daemon.folder / "blobs" / container.container_name / "b"
    with file.open("r+b") as f:
        f.write(b"AFTER!")
    again = blob.create_snapshot()
    assert of("b", taken).download_blob().readall() == b"before"
    assert of("b", again).download_blob().readall() == b"AFTER!"
    assert of("b", again).get_blob_properties().content_settings.content_md5 is None
    file.unlink()
    assert of("b", taken).download_blob().readall() == b"before"
    names = [(b.name, b.snapshot) for b in container.list_blobs(include=["snapshots"])]
    assert names == [("b", taken["snapshot"]), ("b", again["snapshot"])]
    assert sorted(p.name for p in file.parent.iterdir()) == []


def test_names_of_all_kinds(container, call, put, daemon):
    for name in ("a//b", "..", "n" * 300, "é ü%+x", "a/b", "a"):
        path = "/" + encoded(name).replace("//", "/%2F")
        put(path[1:], name.encode())
        taken = call("PUT", path + "?comp=snapshot")
        assert taken.status == 201, (name, taken)
        put(path[1:], b"changed")
        got = call("GET", f"{path}?snapshot={taken.headers['x-ms-snapshot']}")
        assert (got.status, got.body) == (200, name.encode())


def test_append_blobs_have_snapshots(container, of):
    blob = container.get_blob_client("log")
    blob.create_append_blob()
    blob.append_block(b"one")
    taken = blob.create_snapshot()
    blob.append_block(b"two")
    old = of("log", taken)
    assert old.download_blob().readall() == b"one"
    shown = old.get_blob_properties()
    assert (shown.blob_type, shown.append_blob_committed_block_count) == ("AppendBlob", 1)


def test_blocks_of_a_snapshot(container, of):
    blob = container.get_blob_client("b")
    for n in (1, 2):
        blob.stage_block(f"b{n}", b"x" * n)
    blob.commit_block_list(["b1", "b2"])
    taken = blob.create_snapshot()
    blob.upload_blob(b"", overwrite=True)
    committed, _ = of("b", taken).get_block_list("committed")
    assert [(b.id, b.size) for b in committed] == [("b1", 1), ("b2", 2)]


def test_a_blob_with_snapshots_is_not_deleted_by_chance(container, of, daemon):
    blob = container.upload_blob("b", b"x")
    first, second = blob.create_snapshot(), blob.create_snapshot()
    assert refused(blob.delete_blob) == "SnapshotsPresent"
    of("b", first).delete_blob()
    assert [b.snapshot for b in container.list_blobs(include=["snapshots"])] == [second["snapshot"], None]
    with pytest.raises(ResourceNotFoundError):
        of("b", first).get_blob_properties()
    blob.delete_blob(delete_snapshots="only")
    assert [b.snapshot for b in container.list_blobs(include=["snapshots"])] == [None]
    third = blob.create_snapshot()
    blob.delete_blob(delete_snapshots="include")
    assert list(container.list_blobs(include=["snapshots"])) == []
    with pytest.raises(ResourceNotFoundError):
        of("b", third).download_blob()


def test_files_of_deleted_snapshots_go(container, of, daemon, call):
    blob = container.upload_blob("b", b"x")
    aside = lambda: [p for p in (daemon.folder / ".aside").rglob("*") if p.is_file()]  # noqa: E731
    before = len(aside())
    blob.upload_blob(b"y", overwrite=True)
    taken = [blob.create_snapshot() for _ in range(4)]
    assert len(aside()) == before + 4
    of("b", taken[0]).delete_blob()
    blob.delete_blob(delete_snapshots="include")
    call("GET", "/b")
    wait_for(lambda: len(aside()) == before)


def test_lists_have_snapshots_in_order(container, put):
    taken = {}
    for name in ("a", "a-b", "a/b", "a//b", "b"):
        blob = container.get_blob_client(name)
        blob.upload_blob(b"x")
        taken[name] = [blob.create_snapshot()["snapshot"] for _ in range(3)]
    container.upload_blob("none", b"x")
    expected = []
    for name in sorted([*taken, "none"]):
        expected += [(name, when) for when in taken.get(name, [])] + [(name, None)]
    for size in (1, 2, 3, 5, 100):
        pages = container.list_blobs(include=["snapshots"], results_per_page=size).by_page()
        found = [[(b.name, b.snapshot) for b in page] for page in pages]
        assert [one for page in found for one in page] == expected, size
        assert all(len(page) <= size for page in found)
    prefix = [(b.name, b.snapshot) for b in container.list_blobs("a/", include=["snapshots", "metadata"])]
    assert prefix == [one for one in expected if one[0].startswith("a/")]
    assert len(list(container.list_blobs())) == 6
    assert refused(list, container.walk_blobs(include=["snapshots"])) == "InvalidQueryParameterValue"


def test_a_copy_from_a_snapshot(container, of):
    blob = container.upload_blob("b", b"first", metadata={"k": "1"})
    taken = blob.create_snapshot()
    blob.upload_blob(b"second", overwrite=True)
    other = container.get_blob_client("copy")
    other.start_copy_from_url(of("b", taken).url)
    assert other.download_blob().readall() == b"first" and other.get_blob_properties().metadata == {"k": "1"}
    blob.start_copy_from_url(of("b", taken).url)  # promoted
    assert blob.download_blob().readall() == b"first"
    assert of("b", taken).download_blob().readall() == b"first"
    gone = of("b", taken).url.replace(taken["snapshot"][:4], "2001")
    assert refused(other.start_copy_from_url, gone) == "CannotVerifyCopySource"


def test_conditions_and_leases(container, call, of):
    blob = container.upload_blob("b", b"x")
    etag = blob.get_blob_properties().etag
    assert call("PUT", "/b?comp=snapshot", If_None_Match=etag).code == "ConditionNotMet"
    taken = blob.create_snapshot()
    blob.set_blob_metadata({"a": "b"})
    path = f"/b?snapshot={taken['snapshot']}"
    assert call("GET", path, If_Match=etag).status == 200
    assert call("GET", "/b", If_Match=etag).status == 412
    assert call("GET", path, If_None_Match=etag).status == 304
    lease = blob.acquire_lease(-1)
    assert call("PUT", "/b?comp=snapshot").status == 201  # what is there stays
    assert call("PUT", "/b?comp=snapshot", x_ms_lease_id="00000000-0000-4000-8000-000000000000").status == 412
    assert call("PUT", "/b?comp=snapshot", x_ms_lease_id=lease.id).status == 201
    assert call("GET", path).headers["x-ms-lease-state"] is None
    assert call("DELETE", path).status == 202
    assert refused(blob.delete_blob, delete_snapshots="include") == "LeaseIdMissing"
    blob.delete_blob(delete_snapshots="include", lease=lease)


def test_what_cannot_be_done_with_snapshots(container, call, of):
    blob = container.upload_blob("b", b"x")
    taken = blob.create_snapshot()["snapshot"]
    assert call("PUT", "/none?comp=snapshot").code == "BlobNotFound"
    for bad in ("yesterday", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.000000xZ", "2020-13-01T00:00:00.0000000Z"):
        got = call("GET", f"/b?snapshot={bad}")
        assert (got.status, got.code) == (400, "InvalidQueryParameterValue"), bad
    assert call("GET", f"/b?snapshot={taken[:-2]}1Z").code == "BlobNotFound"
    assert call("GET", "/b?snapshot=2020-01-01T00:00:00.0000000Z").code == "BlobNotFound"
    for comp in ("metadata", "properties", "lease", "snapshot", "tags"):
        got = call("PUT", f"/b?comp={comp}&snapshot={taken}", x_ms_meta_a="b", x_ms_lease_action="acquire")
        assert got.status == 400, comp
    got = call("PUT", f"/b?snapshot={taken}", b"y", x_ms_blob_type="BlockBlob")
    assert (got.status, got.code) == (400, "InvalidQueryParameterValue")
    assert call("DELETE", f"/b?snapshot={taken}", x_ms_delete_snapshots="include").code == "InvalidHeaderValue"
    assert call("DELETE", "/b", x_ms_delete_snapshots="perhaps").code == "InvalidHeaderValue"
    assert blob.download_blob().readall() == b"x"
    container.get_blob_client("b", snapshot=taken).set_standard_blob_tier(StandardBlobTier.COOL)
    tiers = [b.blob_tier for b in container.list_blobs(include=["snapshots"])]
    assert tiers == ["Cool", "Hot"]


def test_signatures_of_a_snapshot(daemon, container, of):
    blob = container.upload_blob("b", b"first")
    taken, other = blob.create_snapshot()["snapshot"], blob.create_snapshot()["snapshot"]
    blob.upload_blob(b"second", overwrite=True)
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    common = {"account_key": KEY, "permission": "r", "expiry": until}
    sas = generate_blob_sas(ACCOUNT, container.container_name, "b", snapshot=taken, **common)
    base = f"{daemon.blob.url}/{container.container_name}/b"
    assert BlobClient.from_blob_url(f"{base}?snapshot={taken}&{sas}").download_blob().readall() == b"first"
    for query in (f"snapshot={other}&{sas}", sas):
        with pytest.raises(HttpResponseError):
            BlobClient.from_blob_url(f"{base}?{query}").download_blob()
    of_blob = generate_blob_sas(ACCOUNT, container.container_name, "b", **common)
    assert BlobClient.from_blob_url(f"{base}?{of_blob}").download_blob().readall() == b"second"
    assert BlobClient.from_blob_url(f"{base}?snapshot={taken}&{of_blob}").download_blob().readall() == b"first"


def test_undelete_where_nothing_is_kept(container, call):
    blob = container.upload_blob("b", b"x")
    blob.acquire_lease(-1)
    assert call("PUT", "/b?comp=undelete").status == 200
    assert call("PUT", "/none?comp=undelete").code == "BlobNotFound"
    assert blob.download_blob().readall() == b"x"


def test_a_batch_deletes_with_snapshots(container):
    for name in "ab":
        container.upload_blob(name, b"x").create_snapshot()
    got = list(container.delete_blobs("a", "b", delete_snapshots="include"))
    assert [r.status_code for r in got] == [202, 202]
    assert list(container.list_blobs(include=["snapshots"])) == []


def test_snapshots_survive_kill_9(container, of, daemon):
    blob = container.upload_blob("b", b"first" * 100_000)
    taken = blob.create_snapshot()
    daemon.crash()
    assert of("b", taken).download_blob().readall() == b"first" * 100_000
    assert blob.create_snapshot()["snapshot"] > taken["snapshot"]
