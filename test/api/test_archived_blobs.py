# SPDX-License-Identifier: MIT
"""The tier Archive: what may be done with an archived blob, and how it is rehydrated without strict mode."""

import pytest
from azure.storage.blob import StandardBlobTier
from support.blobs import call, client, container, daemon, may_read, put, refused  # noqa: F401 fixtures

XML = b"<?xml version='1.0'?>"
LATEST = XML + b"<BlockList><Latest>MDA=</Latest></BlockList>"
# Each with its arguments for call().
NEEDS_BYTES = {
    "Get Blob": ("GET", "/b", b"", {}),
    "Get Blob, a range": ("GET", "/b", b"", {"x_ms_range": "bytes=0-1"}),
    "Get Blob, with a hash": ("GET", "/b", b"", {"x_ms_range": "bytes=0-1", "x_ms_range_get_content_md5": "true"}),
    "Put Blob": ("PUT", "/b", b"new", {"x_ms_blob_type": "BlockBlob"}),
    "Put Block": ("PUT", "/b?comp=block&blockid=MDA%3D", b"new", {}),
    "Put Block List": ("PUT", "/b?comp=blocklist", LATEST, {}),
    "Get Block List": ("GET", "/b?comp=blocklist", b"", {}),
    "Set Blob Metadata": ("PUT", "/b?comp=metadata", b"", {"x_ms_meta_a": "c"}),
    "Set Blob Properties": ("PUT", "/b?comp=properties", b"", {"x_ms_blob_content_type": "text/x"}),
    "Snapshot Blob": ("PUT", "/b?comp=snapshot", b"", {}),
}
STAYS = {
    "Get Blob Properties": ("HEAD", "/b", b"", {}),
    "Get Blob Metadata": ("GET", "/b?comp=metadata", b"", {}),
    "Get Blob Tags": ("GET", "/b?comp=tags", b"", {}),
    "Set Blob Tags": ("PUT", "/b?comp=tags", XML + b"<Tags><TagSet><Tag><Key>k</Key><Value>w</Value></Tag></TagSet></Tags>", {}),
    "Set Blob Tier": ("PUT", "/b?comp=tier", b"", {"x_ms_access_tier": "Archive"}),
    "Lease Blob": ("PUT", "/b?comp=lease", b"", {"x_ms_lease_action": "break"}),
    "List Blobs": ("GET", "?restype=container&comp=list", b"", {}),
    "Find Blobs": ("GET", "?restype=container&comp=blobs&where=k%3D%27v%27", b"", {}),
    "Delete Blob": ("DELETE", "/b", b"", {}),
}  # fmt: skip


@pytest.fixture
def archived(call, put):
    call("PUT", "/b?comp=block&blockid=MDA%3D", b"old")
    assert call("PUT", "/b?comp=blocklist", LATEST, x_ms_meta_a="b", x_ms_tags="k=v").status == 201
    assert call("PUT", "/b?comp=tier", x_ms_access_tier="archive").status == 200
    return call("HEAD", "/b").headers["ETag"]


@pytest.mark.parametrize("what", NEEDS_BYTES)
def test_what_needs_or_changes_the_bytes_is_refused(call, archived, what):
    method, path, body, headers = NEEDS_BYTES[what]
    got = call(method, path, body, **headers)
    assert (got.status, got.code) == (409, "BlobArchived"), got
    assert method == "HEAD" or b"Set Blob Tier to Hot, Cool or Cold" in got.body
    head = call("HEAD", "/b")
    assert (head.headers["x-ms-access-tier"], head.headers["ETag"], head.headers["x-ms-meta-a"]) == ("Archive", archived, "b")
    assert call("PUT", "/b?comp=tier", x_ms_access_tier="Hot").status == 202
    assert call("GET", "/b").body == b"old"


@pytest.mark.parametrize("what", STAYS)
def test_what_leaves_the_bytes_alone_is_done(call, archived, what):
    method, path, body, headers = STAYS[what]
    if what == "Lease Blob":
        call("PUT", "/b?comp=lease", x_ms_lease_action="acquire", x_ms_lease_duration="-1")
    assert call(method, path, body, **headers).status in (200, 202, 204)


@pytest.mark.parametrize("tier", ["Hot", "Cool", "Cold"])
def test_rehydrated_at_once(container, put, tier):
    put("b", b"bytes", x_ms_access_tier="Archive")
    blob = container.get_blob_client("b")
    assert refused(blob.download_blob) == "BlobArchived"
    blob.set_standard_blob_tier(StandardBlobTier(tier), rehydrate_priority="High")
    assert blob.download_blob().readall() == b"bytes"
    props = blob.get_blob_properties()
    assert (props.blob_tier, props.archive_status, props.rehydrate_priority) == (tier, None, None)


def test_a_block_list_may_be_archived(container):
    blob = container.get_blob_client("b")
    blob.stage_block("1", b"x")
    blob.commit_block_list(["1"], standard_blob_tier=StandardBlobTier.ARCHIVE)
    assert refused(blob.download_blob) == "BlobArchived"
    [listed] = container.list_blobs()
    assert listed.blob_tier == "Archive" and listed.archive_status is None


def test_conditions_and_leases_come_first(call, archived):
    assert call("PUT", "/b?comp=metadata", If_Match="\"0x1\"").code == "ConditionNotMet"
    assert call("GET", "/b", x_ms_if_tags="k = 'w'").code == "ConditionNotMet"
    lease = call("PUT", "/b?comp=lease", x_ms_lease_action="acquire", x_ms_lease_duration="-1").headers["x-ms-lease-id"]
    assert call("PUT", "/b?comp=tier", x_ms_access_tier="Cool").code == "LeaseIdMissing"
    assert call("PUT", "/b?comp=tier", x_ms_access_tier="Cool", x_ms_lease_id=lease).status == 202


def test_copies_of_an_archived_blob(container, daemon, call, archived):
    url = f"{daemon.blob.url}/{container.container_name}/b?{may_read(container, 'rt')}"
    copy = {"x_ms_copy_source": url}
    at_once = {**copy, "x_ms_requires_sync": "true", "x_ms_access_tier": "Hot"}
    for headers in (copy, {**copy, "x_ms_access_tier": "Archive"}, at_once, {**at_once, "x_ms_blob_type": "BlockBlob"}):
        got = call("PUT", "/to", **headers)
        assert (got.status, got.code) == (409, "BlobArchived"), headers
        assert call("HEAD", "/to").status == 404
    assert call("PUT", "/to?comp=block&blockid=MDA%3D", **copy).code == "BlobArchived"
    assert call("PUT", "/b", **copy, x_ms_access_tier="Hot").code == "BlobArchived"  # onto itself
    call("PUT", "/log", x_ms_blob_type="AppendBlob")
    assert call("PUT", "/log?comp=appendblock", **copy).code == "BlobArchived"
    assert call("HEAD", "/log").headers["Content-Length"] == "0"
    assert call("PUT", "/to", **copy, x_ms_access_tier="Cool", x_ms_rehydrate_priority="High").status == 202
    assert call("GET", "/to").body == b"old" and call("HEAD", "/to").headers["x-ms-access-tier"] == "Cool"
    assert call("HEAD", "/b").headers["x-ms-access-tier"] == "Archive"
    assert call("PUT", "/again", x_ms_copy_source=url.replace("/b?", "/to?")).status == 202
    assert call("HEAD", "/again").headers["x-ms-access-tier"] == "Cool"


def test_a_share_gets_no_bytes_of_an_archived_blob(container, daemon, call, archived):
    def put(path, **headers):
        return daemon.file.call("PUT", f"/files/{path}", x_ms_copy_source=url, **headers)

    url = f"{daemon.blob.url}/{container.container_name}/b?{may_read(container)}"
    daemon.file.call("PUT", "/files?restype=share")
    assert daemon.file.call("PUT", "/files/to", x_ms_type="file", x_ms_content_length="3").status == 201
    part = {"x_ms_write": "update", "x_ms_range": "bytes=0-2", "x_ms_source_range": "bytes=0-2"}
    for got in (put("copy"), put("to?comp=range", **part)):
        assert (got.status, got.code) == (409, "BlobArchived"), got
    call("PUT", "/b?comp=tier", x_ms_access_tier="Hot")
    assert (put("copy").status, put("to?comp=range", **part).status) == (202, 201)
    assert daemon.file.call("GET", "/files/to").body == b"old"
    daemon.file.call("DELETE", "/files?restype=share")


def test_a_copy_may_be_archived(container, call, put):
    put("from", b"bytes", x_ms_access_tier="Cool")
    blob = container.get_blob_client("from")
    assert call("PUT", "/to", x_ms_copy_source=blob.url, x_ms_access_tier="Archive").status == 202
    assert call("GET", "/to").code == "BlobArchived"


def test_a_file_that_a_job_writes_is_not_archived(daemon, container, call, archived):
    file = daemon.folder / "blobs" / container.container_name / "b"
    assert file.read_bytes() == b"old"
    file.write_bytes(b"of a job")
    assert call("GET", "/b").body == b"of a job"
    head = call("HEAD", "/b").headers
    assert head["x-ms-access-tier"] == "Hot" and head["x-ms-access-tier-inferred"] == "true"
    assert call("PUT", "/b?comp=tier", x_ms_access_tier="Archive").status == 200
    assert call("GET", "/b").code == "BlobArchived"
    assert call("PUT", "/b?comp=tier", x_ms_access_tier="Hot").status == 202
    assert call("GET", "/b").body == b"of a job"
    assert b"<CommittedBlocks />" in call("GET", "/b?comp=blocklist").body.replace(b"<CommittedBlocks></CommittedBlocks>", b"<CommittedBlocks />")


def test_an_archived_snapshot(container, call, put):
    put("b", b"old")
    when = call("PUT", "/b?comp=snapshot").headers["x-ms-snapshot"]
    assert call("PUT", f"/b?comp=tier&snapshot={when}", x_ms_access_tier="Archive").status == 200
    assert call("GET", f"/b?snapshot={when}").code == "BlobArchived"
    assert call("GET", "/b").body == b"old"
    assert call("PUT", f"/b?comp=tier&snapshot={when}", x_ms_access_tier="Hot").status == 202
    assert call("GET", f"/b?snapshot={when}").body == b"old"


@pytest.mark.parametrize(
    "headers, code, word",
    [
        ({}, "MissingRequiredHeader", b"x-ms-access-tier"),
        ({"x_ms_access_tier": "Frozen"}, "InvalidHeaderValue", b"must be Hot, Cool, Cold or Archive"),
        ({"x_ms_access_tier": "P10"}, "InvalidHeaderValue", b"must be Hot, Cool, Cold or Archive"),
        ({"x_ms_access_tier": "Hot", "x_ms_rehydrate_priority": "Low"}, "InvalidHeaderValue", b"must be Standard or High"),
    ],
)
def test_what_is_no_tier(call, archived, headers, code, word):
    got = call("PUT", "/b?comp=tier", **headers)
    assert (got.status, got.code) == (400, code) and word in got.body
    assert call("HEAD", "/b").headers["x-ms-access-tier"] == "Archive"


def test_an_append_blob_has_no_tier(call):
    for headers in ({"x_ms_access_tier": "Hot"}, {"x_ms_access_tier": "Archive"}):
        got = call("PUT", "/a", x_ms_blob_type="AppendBlob", **headers)
        assert (got.status, got.code) == (409, "InvalidBlobType")
        assert call("HEAD", "/a").status == 404
    call("PUT", "/a", x_ms_blob_type="AppendBlob")
    assert call("PUT", "/a?comp=tier", x_ms_access_tier="Archive").code == "InvalidBlobType"
