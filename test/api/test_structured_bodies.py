# SPDX-License-Identifier: MIT
"""Structured messages as bodies: bytes in segments, each with its CRC64."""

import base64
import struct

import pytest
from support.blobs import call, client, container, daemon, put, refused  # noqa: F401 fixtures
from support.crc64 import crc64

FORM = {"x_ms_structured_body": "XSM/1.0; properties=crc64"}
SIZES = [0, 1, 5, 12, 800, 300_000]


def crc(data):
    return base64.b64decode(crc64(data))


def message(data, size=7, version=1, flags=1, segments=None, length=None, number=1, spoilt=None, whole=None):
    parts = [data[i : i + size] for i in range(0, len(data), size)] or [b""]
    body = b""
    for n, part in enumerate(parts, number):
        body += struct.pack("<HQ", n, len(part)) + part + (bytes(8) if spoilt == n else crc(part))
    body += crc(data) if whole is None else whole
    length = 13 + len(body) if length is None else length
    return struct.pack("<BQHH", version, length, flags, len(parts) if segments is None else segments) + body


def unpacked(body):
    """The bytes of a message, each part of which must be right."""
    version, length, flags, segments = struct.unpack_from("<BQHH", body)
    assert (version, length, flags) == (1, len(body), 1)
    at, data = 13, b""
    for n in range(1, segments + 1):
        number, size = struct.unpack_from("<HQ", body, at)
        part = body[at + 10 : at + 10 + size]
        assert number == n and body[at + 10 + size : at + 18 + size] == crc(part)
        at, data = at + 18 + size, data + part
    assert body[at:] == crc(data)
    return data


def head(data, **more):
    return {**FORM, "x_ms_structured_content_length": str(len(data)), **more}


def some(n):
    return (bytes(range(251)) * (n // 251 + 1))[:n]


@pytest.fixture
def ways(call):
    """How bytes become a blob: each takes a body and headers, and gives the answer."""

    def by_block(body, **headers):
        got = call("PUT", "/b?comp=block&blockid=MDA%3D", body, **headers)
        if got.status == 201:
            call("PUT", "/b?comp=blocklist", b"<?xml version='1.0'?><BlockList><Latest>MDA=</Latest></BlockList>")
        return got

    def by_append(body, **headers):
        call("PUT", "/b", x_ms_blob_type="AppendBlob")
        return call("PUT", "/b?comp=appendblock", body, **headers)

    return {
        "put": lambda body, **headers: call("PUT", "/b", body, x_ms_blob_type="BlockBlob", **headers),
        "block": by_block,
        "append": by_append,
    }


WAYS = pytest.mark.parametrize("way", ["put", "block", "append"])


@WAYS
@pytest.mark.parametrize("n", SIZES)
def test_bytes_come_out_of_the_segments(ways, call, way, n):
    data = some(n)
    for size in (7, 100, 1 << 20) if n < 1000 else (70_000, 1 << 20):
        got = ways[way](message(data, size), **head(data))
        if n == 0 and way != "put":
            continue  # no block is empty
        assert got.status == 201 and got.headers["x-ms-structured-body"] == FORM["x_ms_structured_body"], got
        assert call("GET", "/b").body == data


WRONG = {
    "version": (lambda d: message(d, version=2), "InvalidInput", b"its version is 2; it must be 1"),
    "length": (lambda d: message(d, length=5), "InvalidInput", b"its length is 5"),
    "flags": (lambda d: message(d, flags=0), "InvalidInput", b"its flags is 0; it must be 1"),
    "no segments": (lambda d: message(d, segments=0), "InvalidInput", b"its number of segments is 0"),
    "number": (lambda d: message(d, number=2), "InvalidInput", b"the number of a segment is 2; it must be 1"),
    "fewer segments": (lambda d: message(d, segments=1), "InvalidInput", b"the number of its bytes is 7"),
    "more segments": (lambda d: message(d, segments=9), "InvalidInput", b"it ended early"),
    "a segment's CRC": (lambda d: message(d, spoilt=2), "Crc64Mismatch", b"segment 2"),
    "the message's CRC": (lambda d: message(d, whole=bytes(8)), "Crc64Mismatch", b"of the structured message did not"),
    "more bytes": (lambda d: message(d + b"x"), "InvalidInput", b"at most 4 are left"),
    "bytes behind": (lambda d: message(d, length=len(message(d)) + 1) + b"x", "InvalidInput", b"bytes behind its end"),
    "cut": (lambda d: message(d, length=len(message(d)) - 1)[:-1], "InvalidInput", b"it ended early"),
    "a head alone": (lambda d: message(d, length=13)[:13], "InvalidInput", b"it ended early"),
    "empty": (lambda d: b"", "InvalidInput", b"it ended early"),
    "another": (lambda d: d, "InvalidInput", b"it ended early"),
}  # fmt: skip


@WAYS
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_message_changes_nothing(ways, call, way, what):
    make, code, word = WRONG[what]
    data = some(11)
    got = ways[way](make(data), **head(data))
    assert (got.status, got.code) == (400, code) and word in got.body, got
    assert call("GET", "/b").status in (404, 200) and call("GET", "/b").body.find(data) < 0
    assert ways[way](message(data), **head(data)).status == 201
    assert call("GET", "/b").body == data


@pytest.mark.parametrize("size", [300_000, 3 << 20])
def test_a_large_message_that_is_wrong_at_its_end(put, call, size):
    put("b", b"old")
    data = some(size)
    got = put("b", message(data, 1 << 20, whole=bytes(8)), **head(data))
    assert (got.status, got.code) == (400, "Crc64Mismatch")
    assert call("GET", "/b").body == b"old"
    assert put("b", message(data, 1 << 20), **head(data)).status == 201
    assert call("GET", "/b").body == data


@WAYS
def test_headers_that_do_not_fit(ways, way):
    data = b"bytes"
    length = {"x_ms_structured_content_length": "5"}
    for form in ("XSM/1.0", "XSM/2.0; properties=crc64", "XSM/1.0; properties=md5", "crc64"):
        got = ways[way](message(data), x_ms_structured_body=form, **length)
        assert (got.status, got.code) == (400, "InvalidHeaderValue") and b"must be 'XSM/1.0; properties=crc64'" in got.body
    assert ways[way](message(data), **FORM).code == "MissingRequiredHeader"
    assert ways[way](message(data), **FORM, x_ms_structured_content_length="five").code == "InvalidHeaderValue"
    assert ways[way](message(data), **head(data), x_ms_content_crc64=crc64(data)).code == "InvalidHeaderValue"
    assert ways[way](message(data), **head(data, x_ms_structured_body="xsm/1.0;properties=CRC64")).status == 201


@pytest.mark.parametrize("n", SIZES + [4 << 20, (4 << 20) + 1])
def test_a_blob_is_sent_in_segments(put, call, n):
    data = some(n)
    put("b", data)
    got = call("GET", "/b", **FORM)
    assert (got.status, got.headers["x-ms-structured-body"]) == (200, FORM["x_ms_structured_body"])
    assert got.headers["x-ms-structured-content-length"] == str(n)
    assert unpacked(got.body) == data


def test_a_range_is_sent_in_segments(put, call):
    data = some(1 << 20)
    put("b", data)
    got = call("GET", "/b", x_ms_range="bytes=10-700000", **FORM)
    assert (got.status, got.headers["Content-Range"]) == (206, f"bytes 10-700000/{1 << 20}")
    assert unpacked(got.body) == data[10:700001]
    assert call("GET", "/b", x_ms_range="bytes=0-9", x_ms_range_get_content_md5="true", **FORM).code == "InvalidHeaderValue"
    assert call("GET", "/b", x_ms_structured_body="XSM/1.0").code == "InvalidHeaderValue"
    assert call("GET", "/b", x_ms_range=f"bytes={2 << 20}-", **FORM).status == 416


def test_other_operations_refuse_it(put, call):
    put("b")
    got = call("PUT", "/b?comp=metadata", **FORM)
    assert (got.status, got.code) == (400, "UnsupportedHeader") and b"Put Block" in got.body
