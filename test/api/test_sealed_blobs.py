# SPDX-License-Identifier: MIT
"""Append blobs that are sealed."""

import pytest
from azure.core import MatchConditions
from support.blobs import call, client, container, daemon, may_read, put, refused  # noqa: F401 fixtures


@pytest.fixture
def log(container):
    blob = container.get_blob_client("log")
    blob.create_append_blob()
    blob.append_block(b"line")
    return blob


def test_a_sealed_blob_takes_no_more(container, log, call):
    before = log.get_blob_properties()
    assert "x-ms-blob-sealed" not in call("HEAD", "/log").headers
    sealed = log.seal_append_blob()
    assert sealed["blob_sealed"] is True and sealed["etag"] != before.etag
    assert refused(log.append_block, b"more") == "BlobIsSealed"
    assert call("GET", "/log").headers["x-ms-blob-sealed"] == "true"
    assert call("HEAD", "/log").headers["x-ms-blob-sealed"] == "true"
    assert b"<Sealed>true</Sealed>" in call("GET", "?restype=container&comp=list").body
    assert log.download_blob().readall() == b"line"
    assert log.seal_append_blob()["etag"] == sealed["etag"]  # again, as a client that lost the answer


def test_what_may_still_be_changed(log, call):
    log.seal_append_blob()
    log.set_blob_metadata({"a": "b"})
    log.set_http_headers()
    log.set_blob_tags({"k": "v"})
    snapshot = log.create_snapshot()["snapshot"]
    assert call("HEAD", f"/log?snapshot={snapshot}").headers["x-ms-blob-sealed"] == "true"
    assert refused(log.append_block, b"more") == "BlobIsSealed"
    log.create_append_blob()  # a new blob
    log.append_block(b"new")
    assert log.download_blob().readall() == b"new"


def test_conditions_of_a_seal(log, put, call):
    assert refused(log.seal_append_blob, appendpos_condition=3) == "AppendPositionConditionNotMet"
    assert refused(log.seal_append_blob, etag="0x1", match_condition=MatchConditions.IfNotModified) == "ConditionNotMet"
    lease = log.acquire_lease()
    assert refused(log.seal_append_blob) == "LeaseIdMissing"
    log.seal_append_blob(lease=lease, appendpos_condition=4)
    lease.release()
    put("block")
    assert call("PUT", "/block?comp=seal").code == "InvalidBlobType"
    assert call("PUT", "/none?comp=seal").code == "BlobNotFound"
    assert call("PUT", "/log?comp=seal", x_ms_blob_condition_appendpos="x").code == "InvalidHeaderValue"


def test_copies_are_sealed_if_they_are_asked_to_be(container, log, put, call):
    log.seal_append_blob()
    copy = {"x_ms_copy_source": log.url}
    for says, sealed in ((None, None), ("false", None), ("true", "true"), ("True", "true")):
        assert call("PUT", "/to", **copy, **({"x_ms_seal_blob": says} if says else {})).status == 202
        assert call("HEAD", "/to").headers["x-ms-blob-sealed"] == sealed
    assert call("PUT", "/to", **copy, x_ms_seal_blob="yes").code == "InvalidHeaderValue"
    put("block")
    block = {"x_ms_copy_source": container.get_blob_client("block").url}
    assert call("PUT", "/to", **block, x_ms_seal_blob="true").code == "InvalidBlobType"
    assert call("GET", "/to").body == b"line"


def test_a_blob_that_is_put_from_a_url_is_a_block_blob(container, log, call):
    whole = container.get_blob_client("whole")
    source = f"{log.url}?{may_read(container)}"
    whole.upload_blob_from_url(source)
    made = whole.get_blob_properties()
    assert made.blob_type == "BlockBlob" and made.blob_tier == "Hot" and whole.download_blob().readall() == b"line"
    assert whole.get_block_list() == ([], [])
    whole.set_standard_blob_tier("Cool")
    for kind in ("AppendBlob", "PageBlob"):
        assert call("PUT", "/whole", x_ms_blob_type=kind, x_ms_copy_source=source).code == "InvalidHeaderValue"
    # Copy Blob keeps the type, and an append blob has no tier.
    assert call("PUT", "/copy", x_ms_copy_source=log.url, x_ms_access_tier="Cool").code == "InvalidBlobType"
    assert call("PUT", "/copy", x_ms_copy_source=log.url).status == 202
    assert container.get_blob_client("copy").get_blob_properties().blob_type == "AppendBlob"
