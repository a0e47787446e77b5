# SPDX-License-Identifier: MIT
"""MD5 and CRC64 of what is sent, either way."""

import base64
import hashlib

import pytest
from azure.storage.blob import ContentSettings
from support.blobs import call, client, container, daemon, may_read  # noqa: F401 (fixtures)
from support.crc64 import crc64

ID = base64.b64encode(b"one").decode()


def md5(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()


def test_it_is_the_crc64_of_the_service():
    assert base64.b64decode(crc64(b"123456789"))[::-1].hex() == "ae8b14860a799888"


WAYS = {
    "put": ("PUT", "/b", {"x_ms_blob_type": "BlockBlob"}),
    "block": ("PUT", f"/b?comp=block&blockid={ID}", {}),
    "append": ("PUT", "/a?comp=appendblock", {}),
}


@pytest.mark.parametrize("way, size", [("put", 0), *((way, size) for way in WAYS for size in (1, 3000, 300_000))])
def test_what_is_sent_has_the_crc64_that_is_said(call, way, size):  # noqa: F811
    method, path, more = WAYS[way]
    body = bytes(i * 31 % 251 for i in range(size))
    call("PUT", "/a", x_ms_blob_type="AppendBlob")
    wrong = call(method, path, body, x_ms_content_crc64=crc64(body + b"x"), **more)
    assert (wrong.status, wrong.code) == (400, "Crc64Mismatch")
    assert call("GET", "/b").status == 404 and call("GET", "/a").body == b""
    assert call("GET", "/b?comp=blocklist&blocklisttype=all").status == 404
    right = call(method, path, body, x_ms_content_crc64=crc64(body), **more)
    assert right.status == 201, right
    assert right.headers["x-ms-content-crc64"] == crc64(body)
    if way != "block":
        assert call("GET", path[:2]).body == body


@pytest.mark.parametrize("way, size", [("put", 0), *((way, size) for way in WAYS for size in (1, 3000, 70_000, 300_001))])
def test_what_is_put_is_answered_with_its_crc64(call, way, size):  # noqa: F811
    method, path, more = WAYS[way]
    body = bytes(i * 37 % 249 for i in range(size))
    call("PUT", "/a", x_ms_blob_type="AppendBlob")
    assert call(method, path, body, **more).headers["x-ms-content-crc64"] == crc64(body)
    by_md5 = call(method, path, body, Content_MD5=md5(body), **more).headers
    assert by_md5["Content-MD5"] == md5(body)
    assert by_md5["x-ms-content-crc64"] == (None if way == "block" else crc64(body))
    # Clients of before that hash do not know it.
    old = call(method, path, body, x_ms_version="2018-11-09", **more)
    assert (old.status, old.headers["x-ms-content-crc64"]) == (201, None)


def test_a_block_list_is_answered_with_its_crc64(call):  # noqa: F811
    blocks = f"<BlockList><Latest>{ID}</Latest></BlockList>".encode()
    call("PUT", f"/b?comp=block&blockid={ID}", b"x")
    assert call("PUT", "/b?comp=blocklist", blocks).headers["x-ms-content-crc64"] == crc64(blocks)


@pytest.mark.parametrize("size", (0, 1, 3000, 3_000_001))
def test_what_comes_from_a_url_is_answered_with_its_crc64(call, container, size):  # noqa: F811
    body = bytes(i * 41 % 241 for i in range(size))
    call("PUT", "/from", body, x_ms_blob_type="BlockBlob")
    source = {"x_ms_copy_source": f"{container.url}/from?{may_read(container)}"}
    block = call("PUT", f"/b?comp=block&blockid={ID}", **source)
    assert (block.status, block.headers["x-ms-content-crc64"]) == (201, crc64(body))
    if size:
        part = call("PUT", f"/b?comp=block&blockid={ID}", x_ms_source_range=f"bytes=0-{size // 2}", **source)
        assert part.headers["x-ms-content-crc64"] == crc64(body[: size // 2 + 1])
    at_once = call("PUT", "/to", x_ms_requires_sync="true", **source)
    assert (at_once.status, at_once.headers["x-ms-content-crc64"]) == (202, crc64(body))
    assert call("GET", "/to").body == body
    for none in (call("PUT", "/to", **source), call("PUT", "/to", x_ms_blob_type="BlockBlob", **source)):
        assert none.status < 300 and none.headers["x-ms-content-crc64"] is None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", ("", "x", "AAAA", "AAAAAAAAAAAAAAAA", "AAAAAAAAAA", "!!!!!!!!!!!="))
def test_a_crc64_that_is_none_is_refused(call, way, text):  # noqa: F811
    method, path, more = WAYS[way]
    call("PUT", "/a", x_ms_blob_type="AppendBlob")
    reply = call(method, path, b"bytes", x_ms_content_crc64=text, **more)
    assert (reply.status, reply.code) == (400, "InvalidHeaderValue")


def test_both_hashes_are_too_many(call):  # noqa: F811
    method, path, more = WAYS["put"]
    reply = call(method, path, b"bytes", x_ms_content_crc64=crc64(b"bytes"), Content_MD5=md5(b"bytes"), **more)
    assert (reply.status, reply.code) == (400, "InvalidHeaderValue")


def test_ranges_are_sent_with_their_hash(call):  # noqa: F811
    body = bytes(i % 253 for i in range(10_000))
    call("PUT", "/b", body, x_ms_blob_type="BlockBlob")
    for first, last in ((0, 0), (100, 4999), (9000, 9999), (9000, 20_000)):
        part, span = body[first : last + 1], f"bytes={first}-{last}"
        for name, hashed, header in (("md5", md5, "Content-MD5"), ("crc64", crc64, "x-ms-content-crc64")):
            ask = {f"x_ms_range_get_content_{name}": "true"}
            got = call("GET", "/b", x_ms_range=span, **ask)
            assert (got.status, got.body, got.headers[header]) == (206, part, hashed(part))
            assert got.headers["x-ms-blob-content-md5"] == md5(body)
            assert call("GET", "/none", x_ms_range=span, **ask).code == "BlobNotFound"
    for name in ("md5", "crc64"):
        ask = {f"x_ms_range_get_content_{name}": "true"}
        assert call("GET", "/b", **ask).status == 400
        assert call("GET", "/b", x_ms_range=f"bytes=0-{4 << 20}", **ask).code == "InvalidHeaderValue"
        assert call("GET", "/b", x_ms_range="bytes=10000-10001", **ask).status == 416
    for first in (0, 9_999):
        for name, hashed, header in (("md5", md5, "Content-MD5"), ("crc64", crc64, "x-ms-content-crc64")):
            got = call("GET", "/b", x_ms_range=f"bytes={first}-", **{f"x_ms_range_get_content_{name}": "true"})
            assert (got.status, got.body, got.headers[header]) == (206, body[first:], hashed(body[first:]))
    large = bytes(4 << 20) + b"12"
    call("PUT", "/large", large, x_ms_blob_type="BlockBlob")
    for first, status in ((1, 400), (2, 206), (len(large), 416)):
        got = call("GET", "/large", x_ms_range=f"bytes={first}-", x_ms_range_get_content_md5="true")
        assert got.status == status and (status != 206 or got.headers["Content-MD5"] == md5(large[2:]))
    both = {"x_ms_range_get_content_md5": "true", "x_ms_range_get_content_crc64": "true"}
    assert call("GET", "/b", x_ms_range="bytes=0-1", **both).status == 400


FROM_URL = {
    "put block": (f"/b?comp=block&blockid={ID}", {}),
    "put blob": ("/b", {"x_ms_blob_type": "BlockBlob"}),
    "copy": ("/b", {}),
    "copy at once": ("/b", {"x_ms_requires_sync": "true"}),
}


@pytest.mark.parametrize("way", FROM_URL)
@pytest.mark.parametrize("name", ("md5", "crc64"))
def test_a_hash_of_a_source_is_not_taken_on_trust(call, daemon, container, name, way):  # noqa: F811
    target, headers = FROM_URL[way]
    call("PUT", "/from", b"bytes", x_ms_blob_type="BlockBlob")
    source = f"{daemon.blob.url}/{container.container_name}/from"
    given = {f"x_ms_source_content_{name}": {"md5": md5, "crc64": crc64}[name](b"other")}
    reply = call("PUT", target, x_ms_copy_source=source, **headers, **given)
    assert (reply.status, reply.code) == (400, "UnsupportedHeader"), reply
    assert f"x-ms-source-content-{name}" in reply.body.decode()
    assert call("GET", "/b").status == 404


def test_an_append_blob_begins_with_the_md5_that_it_will_have(call, container):  # noqa: F811
    whole = {"x_ms_blob_type": "AppendBlob", "x_ms_blob_content_md5": md5(b"bytes to come")}
    assert call("PUT", "/a", Content_MD5=md5(b"not empty"), **whole).code == "Md5Mismatch"
    assert call("PUT", "/a", **{**whole, "x_ms_blob_content_md5": "bad"}).code == "InvalidMd5"
    assert call("PUT", "/a", Content_MD5=md5(b""), **whole).status == 201
    assert call("HEAD", "/a").headers["Content-MD5"] == md5(b"bytes to come")
    settings = ContentSettings(content_md5=bytearray(hashlib.md5(b"bytes").digest()))
    container.upload_blob("b", b"bytes", blob_type="AppendBlob", content_settings=settings)
    assert call("GET", "/b").body == b"bytes"
    assert call("PUT", "/b?comp=appendblock", bytes(100_000)).status == 201
    assert call("HEAD", "/b").headers["Content-MD5"] == md5(b"bytes")


NO_MD5 = ("not base64!", base64.b64encode(b"short").decode(), md5(b"b")[:-2])


@pytest.mark.parametrize("wrong", NO_MD5)
def test_a_blob_gets_no_md5_that_is_none(container, call, wrong):  # noqa: F811
    source = {"x_ms_copy_source": f"{container.url}/b?{may_read(container)}"}
    call("PUT", "/b", b"b", x_ms_blob_type="BlockBlob")
    for path, body, headers in (
        ("/b?comp=properties", b"", {}),
        ("/list?comp=blocklist", b"<BlockList/>", {}),
        ("/copy", b"", source),
        ("/copy", b"", {"x_ms_blob_type": "BlockBlob", **source}),
    ):
        got = call("PUT", path, body, x_ms_blob_content_md5=wrong, **headers)
        assert (got.status, got.code) == (400, "InvalidMd5"), (path, headers)
        assert call("PUT", path, body, x_ms_blob_content_md5=md5(b"b"), **headers).status in (200, 201, 202), path
        assert call("HEAD", path.partition("?")[0]).headers["Content-MD5"] == md5(b"b")
    assert [b.content_settings.content_md5 for b in container.list_blobs()] == [bytearray(hashlib.md5(b"b").digest())] * 3


@pytest.mark.parametrize("wrong", NO_MD5)
def test_a_file_gets_no_md5_that_is_none(daemon, wrong):  # noqa: F811
    made = {"x_ms_type": "file", "x_ms_content_length": "1"}
    daemon.file.call("PUT", "/hashed?restype=share")
    for path, headers in (("/hashed/f", made), ("/hashed/f?comp=properties", {})):
        got = daemon.file.call("PUT", path, x_ms_content_md5=wrong, **headers)
        assert (got.status, got.code) == (400, "InvalidMd5"), path
        assert daemon.file.call("PUT", path, x_ms_content_md5=md5(b"f"), **headers).status in (200, 201)
        assert daemon.file.call("HEAD", "/hashed/f").headers["Content-MD5"] == md5(b"f")
    daemon.file.call("DELETE", "/hashed?restype=share")
