# SPDX-License-Identifier: MIT
"""Append Block From URL."""

import base64
import hashlib
import hmac
import os
import threading
from datetime import datetime, timedelta, timezone
from urllib.parse import urlencode

import pytest
from azure.core import MatchConditions
from azure.storage.blob import BlobBlock, BlobClient
from support.blobs import call, client, container, daemon, may_read, put, refused  # noqa: F401 fixtures
from support.crc64 import crc64
from support.storage import ACCOUNT, KEY
from support.waiting import wait_for

SAME = MatchConditions.IfNotModified
BYTES = bytes(range(256)) * 1200  # more than a piece


@pytest.fixture
def log(container):
    blob = container.get_blob_client("log")
    blob.create_append_blob()
    return blob


@pytest.fixture
def source(daemon, container, put):
    etag = put("from", BYTES).headers["ETag"]
    url = f"{daemon.blob.url}/{container.container_name}/from?{may_read(container)}"
    return {"x_ms_copy_source": url}, url, etag


def md5(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()


def test_appended(log, source):
    _, url, _ = source
    first = log.append_block_from_url(url)
    assert (first["blob_append_offset"], first["blob_committed_block_count"]) == ("0", 1)
    second = log.append_block_from_url(url, source_offset=10, source_length=20, appendpos_condition=len(BYTES))
    assert (second["blob_append_offset"], second["blob_committed_block_count"]) == (str(len(BYTES)), 2)
    assert log.download_blob().readall() == BYTES + BYTES[10:30]


def test_a_blob_is_appended_to_itself(daemon, container, log):
    log.append_block(b"ab")
    url = f"{daemon.blob.url}/{container.container_name}/log?{may_read(container)}"
    for _ in range(3):
        log.append_block_from_url(url)
    assert log.download_blob().readall() == b"ab" * 8


def test_the_end_of_the_source_cuts_the_range(call, log, source):
    headers, _, _ = source
    assert call("PUT", "/log?comp=appendblock", x_ms_source_range=f"bytes={len(BYTES) - 3}-{len(BYTES) + 9}", **headers).status == 201
    assert call("GET", "/log").body == BYTES[-3:]
    beyond = call("PUT", "/log?comp=appendblock", x_ms_source_range=f"bytes={len(BYTES)}-{len(BYTES) + 9}", **headers)
    assert (beyond.status, beyond.code) == (416, "InvalidRange")
    beyond = call("PUT", "/log?comp=appendblock", x_ms_source_range=f"bytes={len(BYTES)}-", **headers)
    assert (beyond.status, beyond.code) == (416, "InvalidRange")
    assert call("PUT", "/log?comp=appendblock", x_ms_source_range="bytes=5", **headers).code == "InvalidHeaderValue"
    assert call("GET", "/log").body == BYTES[-3:]


def test_a_range_without_an_end_is_the_rest_of_the_source(call, container, log, source):
    headers, url, _ = source
    log.append_block_from_url(url, source_offset=5)
    assert log.download_blob().readall() == BYTES[5:]
    block = container.get_blob_client("blocks")
    path = f"/{block.blob_name}?comp=block&blockid=MQ%3D%3D"
    assert call("PUT", path, x_ms_source_range="bytes=7-", **headers).status == 201
    block.commit_block_list([BlobBlock("1")])
    assert block.download_blob().readall() == BYTES[7:]


def test_hashes_of_the_source(call, log, source):
    headers, _, _ = source
    some = {"x_ms_source_range": "bytes=0-9", **headers}
    for name, right, wrong, code in (
        ("x_ms_source_content_md5", md5(BYTES[:10]), md5(b""), "Md5Mismatch"),
        ("x_ms_source_content_crc64", crc64(BYTES[:10]), crc64(b"x"), "Crc64Mismatch"),
    ):
        got = call("PUT", "/log?comp=appendblock", **some, **{name: wrong})
        assert (got.status, got.code) == (400, code)
        assert call("PUT", "/log?comp=appendblock", **some, **{name: "bad"}).status == 400
        assert call("GET", "/log").body == b""
        got = call("PUT", "/log?comp=appendblock", **some, **{name: right})
        assert got.status == 201 and got.headers["x-ms-content-crc64"] == crc64(BYTES[:10])
        log.create_append_blob()


def test_hashes_of_a_source_of_several_pieces(call, log, source, put):
    headers, _, _ = source
    large = BYTES * (1 + 900_000 // len(BYTES))
    put("from", large)
    for name, hashed in (("x_ms_source_content_md5", md5), ("x_ms_source_content_crc64", crc64)):
        assert call("PUT", "/log?comp=appendblock", **headers, **{name: hashed(large[:-1])}).status == 400
        assert call("PUT", "/log?comp=appendblock", **headers, **{name: hashed(large)}).status == 201


def test_conditions(log, source, container):
    _, url, etag = source
    block = container.get_blob_client("from")
    assert refused(log.append_block_from_url, url, maxsize_condition=len(BYTES) - 1) == "MaxBlobSizeConditionNotMet"
    assert refused(log.append_block_from_url, url, appendpos_condition=1) == "AppendPositionConditionNotMet"
    assert refused(log.append_block_from_url, url, source_etag="0x1", source_match_condition=SAME) == "SourceConditionNotMet"
    assert refused(block.append_block_from_url, url) == "InvalidBlobType"
    log.append_block_from_url(url, source_etag=etag, source_match_condition=SAME, maxsize_condition=len(BYTES))
    log.seal_append_blob()
    assert refused(log.append_block_from_url, url) == "BlobIsSealed"
    assert log.download_blob().readall() == BYTES


def test_what_cannot_be_a_source(daemon, container, call, log, put, source):
    headers, url, _ = source
    assert call("PUT", "/log?comp=appendblock", b"body", **headers).code == "InvalidHeaderValue"
    for wrong, code in ((url.partition("?")[0], 401), (url.replace("/from?", "/none?"), 404), (url.replace("sig=", "sig=A"), 403)):
        got = call("PUT", "/log?comp=appendblock", x_ms_copy_source=wrong)
        assert (got.status, got.code) == (code, "CannotVerifyCopySource"), wrong
    assert call("PUT", "/log?comp=appendblock", x_ms_copy_source="no URL").code == "InvalidHeaderValue"
    put("cold", b"x", x_ms_access_tier="Archive")
    assert call("PUT", "/log?comp=appendblock", x_ms_copy_source=url.replace("/from?", "/cold?")).code == "BlobArchived"
    put("empty", b"")
    assert call("PUT", "/log?comp=appendblock", x_ms_copy_source=url.replace("/from?", "/empty?")).code == "InvalidHeaderValue"
    assert call("PUT", "/none?comp=appendblock", **headers).code == "BlobNotFound"
    assert log.download_blob().readall() == b""


def test_a_source_of_any_size_up_to_the_limit(daemon, container, log):
    big = container.get_blob_client("big")
    big.upload_blob(b"x" * (1 << 20), length=1 << 20)
    with (daemon.folder / "blobs" / container.container_name / "big").open("r+b") as f:
        f.truncate((100 << 20) + 1)
    url = f"{big.url}?{may_read(container)}"
    assert refused(log.append_block_from_url, url) == "RequestBodyTooLarge"
    log.append_block_from_url(url, source_offset=0, source_length=5 << 20)
    assert BlobClient.from_blob_url(log.url + "?" + may_read(container)).get_blob_properties().size == 5 << 20


def may_read_directory(container, directory):
    """The query of a URL that reads the directory's blobs."""
    end = f"{datetime.now(timezone.utc) + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
    place = f"/blob/{ACCOUNT}/{container.container_name}/{directory}"
    text = "\n".join(["r", "", end, place, "", "", "", "2020-02-10", "d", *[""] * 6])
    mac = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
    return urlencode({"sv": "2020-02-10", "sr": "d", "sdd": 1, "sp": "r", "se": end, "sig": base64.b64encode(mac)})


def test_a_directorys_signature_reads_no_blob_beside_it(daemon, container, call, log, put):
    put("dir/open", b"open")
    put("secret", b"secret")
    at, signature = f"{daemon.blob.url}/{container.container_name}", may_read_directory(container, "dir")
    assert call("PUT", "/log?comp=appendblock", x_ms_copy_source=f"{at}/dir/open?{signature}").status == 201
    for beside in ("dir/../secret", "dir/x/../../secret", "dir/./../secret"):
        got = call("PUT", "/log?comp=appendblock", x_ms_copy_source=f"{at}/{beside}?{signature}")
        assert (got.status, got.code) == (404, "CannotVerifyCopySource"), beside
        got = call("PUT", "/block?comp=block&blockid=MQ%3D%3D", x_ms_copy_source=f"{at}/{beside}?{signature}")
        assert (got.status, got.code) == (404, "CannotVerifyCopySource"), beside
    assert log.download_blob().readall() == b"open"


def test_a_path_that_leads_to_a_blobs_file_is_not_the_blob(daemon, container, call, log, put):
    put("d/f", b"cold", x_ms_access_tier="Archive")
    at = f"{daemon.blob.url}/{container.container_name}"
    for path, code in (("d/f", "BlobArchived"), ("d//f", "CannotVerifyCopySource"), ("d/./f", "CannotVerifyCopySource")):
        assert call("PUT", "/log?comp=appendblock", x_ms_copy_source=f"{at}/{path}?{may_read(container)}").code == code
    put("d//f", b"another")
    assert call("PUT", "/log?comp=appendblock", x_ms_copy_source=f"{at}/d//f?{may_read(container)}").status == 201
    assert log.download_blob().readall() == b"another"


def test_a_source_that_becomes_shorter_while_it_is_read(daemon, container, call, log):
    file = daemon.folder / "blobs" / container.container_name / "busy"
    file.write_bytes(b"x" * 60_000)
    headers = {"x_ms_copy_source": f"{daemon.blob.url}/{container.container_name}/busy?{may_read(container)}"}
    seen = threading.Event()

    def shorten_and_lengthen():
        fd = os.open(file, os.O_RDWR)
        while not seen.is_set():
            os.ftruncate(fd, 0)
            os.ftruncate(fd, 60_000)
        os.close(fd)

    job = threading.Thread(target=shorten_and_lengthen)
    job.start()
    try:
        wait_for(lambda: call("PUT", "/log?comp=appendblock", **headers).code == "SourceConditionNotMet")
    finally:
        seen.set()
        job.join()
    assert call("PUT", "/log?comp=appendblock", **headers).status == 201
