# SPDX-License-Identifier: MIT
"""Codes and parts of answers in which emulators and clients were found to differ."""

import base64
import contextlib
import socket
import xml.etree.ElementTree as ET
from email.utils import formatdate

import pytest
from support.blobs import call, client, container, daemon, may_read, put  # noqa: F401 fixtures
from support.storage import ACCOUNT, VERSION, sign

APPEND = {"x_ms_blob_type": "AppendBlob"}


def xml(answer):
    assert answer.status == 200, answer
    return ET.fromstring(answer.body.decode("utf-8-sig"))


def test_metadata_comes_without_a_body(put, call):
    put("b", x_ms_meta_k="v")
    got = call("GET", "/b?comp=metadata")
    assert (got.status, got.body, got.headers["x-ms-meta-k"]) == (200, b"", "v")
    assert call("HEAD", "/b?comp=metadata").headers["x-ms-meta-k"] == "v"


@pytest.mark.parametrize(
    "method, path, code",
    [
        ("PUT", "/b", (409, "BlobAlreadyExists")),
        ("PUT", "/b?comp=metadata", (412, "ConditionNotMet")),
        ("PUT", "/b?comp=properties", (412, "ConditionNotMet")),
        ("DELETE", "/b", (412, "ConditionNotMet")),
    ],
)
def test_only_if_there_is_none(put, call, method, path, code):
    put("b")
    kind = {"x_ms_blob_type": "BlockBlob"} if path == "/b" and method == "PUT" else {}
    got = call(method, path, If_None_Match="*", **kind)
    assert (got.status, got.code) == code


def test_nothing_is_read_only_if_it_is_not_there(put, call):
    put("b")
    for method, path in (("GET", "/b"), ("HEAD", "/b"), ("GET", "/b?comp=metadata"), ("GET", "/b?comp=blocklist")):
        got = call(method, path, If_None_Match="*")
        assert (got.status, got.code) == (400, "UnsatisfiableCondition"), (method, path)
    assert call("GET", "/none", If_None_Match="*").code == "BlobNotFound"


def test_that_ranges_are_served_is_said_once(put, call):
    put("b")
    for method, headers in (("GET", {}), ("HEAD", {}), ("GET", {"x_ms_range": "bytes=1-2"})):
        assert call(method, "/b", **headers).headers.get_all("Accept-Ranges") == ["bytes"], (method, headers)


def test_a_type_that_was_taken_away_is_shown_nowhere(container, put, call):
    put("b", x_ms_blob_content_type="text/x")
    put("c")
    call("PUT", "/b?comp=properties", x_ms_blob_content_language="de")
    call("PUT", "/b?comp=tier", x_ms_access_tier="Cool")
    for method in ("GET", "HEAD"):
        got = call(method, "/b").headers
        assert (got["Content-Type"], got["Content-Language"]) == (None, "de")
        assert call(method, "/c").headers["Content-Type"] == "application/octet-stream"
    listed = {b.name: b.content_settings.content_type for b in container.list_blobs()}
    assert listed == {"b": None, "c": "application/octet-stream"}
    call("PUT", "/b?comp=properties", x_ms_blob_content_type="text/y")
    assert call("GET", "/b").headers["Content-Type"] == "text/y"


@pytest.mark.parametrize("name", ["my-key", "1st", "a.b", "-"])
def test_names_of_metadata_are_identifiers(put, call, name):
    given = {f"x-ms-meta-{name}": "1"}
    put("b")
    refusals = [
        put("b", **given),
        call("PUT", "?restype=container&comp=metadata", **given),
        call("PUT", "/b?comp=metadata", **given),
    ]
    assert [(r.status, r.code) for r in refusals] == [(400, "InvalidMetadata")] * 3
    assert put("b", x_ms_meta_a1="1").status == 201


def test_a_block_list_has_a_body(put, call):
    put("b")
    got = call("PUT", "/b?comp=blocklist", b"")
    assert (got.status, got.code) == (400, "InvalidXmlDocument")
    assert call("GET", "/b").body == b"bytes"


def test_append_blobs_have_no_block_lists(call):
    call("PUT", "/a", **APPEND)
    call("PUT", "/a?comp=appendblock", b"line")
    got = call("GET", "/a?comp=blocklist")
    assert (got.status, got.code) == (409, "InvalidBlobType")
    got = call("PUT", "/a?comp=blocklist", b"<BlockList/>")
    assert (got.status, got.code) == (409, "InvalidBlobType")
    assert call("GET", "/a").body == b"line"


@pytest.mark.parametrize(
    "query, name",
    [
        ("/b?comp=blocklist&blocklisttype=some", "blocklisttype"),
        ("?restype=container&comp=list&include=metadata,everything", "include"),
    ],
)
def test_words_that_nobody_knows(put, call, query, name):
    put("b")
    got = call("GET", query)
    assert (got.status, got.code) == (400, "InvalidQueryParameterValue")
    assert f"<QueryParameterName>{name}</QueryParameterName>" in got.body.decode()


def test_lists_show_copies_and_how_many_tags(daemon, container, put, call):
    put("b", x_ms_tags="a=1&b=2")
    source = f"{daemon.blob.url}/{container.container_name}/b"
    copied = call("PUT", "/c", x_ms_copy_source=source)
    listed = "?restype=container&comp=list"
    shown = {b.findtext("Name"): b.find("Properties") for b in xml(call("GET", listed + "&include=copy")).iter("Blob")}
    assert shown["b"].findtext("TagCount") == "2" and shown["b"].find("CopyId") is None
    c = shown["c"]
    assert c.findtext("CopyId") == copied.headers["x-ms-copy-id"] and c.findtext("CopySource") == source
    assert (c.findtext("CopyStatus"), c.findtext("CopyProgress")) == ("success", "5/5")
    assert c.findtext("CopyCompletionTime").endswith("GMT") and c.find("TagCount") is None
    assert not list(xml(call("GET", listed)).iter("CopyId"))


def from_url(daemon, container, call, source, **headers):
    """Two blocks of it, the second the part that the headers name, as a blob."""
    url = f"{daemon.blob.url}/{container.container_name}{source}?{may_read(container)}"
    for block, part in (("MDA%3D", {}), ("MDE%3D", headers)):
        answer = call("PUT", f"/made?comp=block&blockid={block}", x_ms_copy_source=url, **part)
        if answer.status != 201:
            return answer
    return call("PUT", "/made?comp=blocklist", b"<BlockList><Latest>MDA=</Latest><Latest>MDE=</Latest></BlockList>")


def test_blocks_come_from_other_blobs(daemon, container, put, call):
    put("b", b"0123456789")
    assert from_url(daemon, container, call, "/b", x_ms_source_range="bytes=2-4").status == 201
    assert call("GET", "/made").body == b"0123456789234"


def test_a_range_of_a_source_ends_where_the_source_does(daemon, container, put, call):
    put("b", b"0123456789")
    assert from_url(daemon, container, call, "/b", x_ms_source_range="bytes=0-10").status == 201
    assert call("GET", "/made").body == b"0123456789" * 2
    assert from_url(daemon, container, call, "/b", x_ms_source_range="bytes=8-12").status == 201
    assert call("GET", "/made").body == b"012345678989"


@pytest.mark.parametrize(
    "source, headers, code",
    [
        ("/absent", {}, (404, "CannotVerifyCopySource")),
        ("/b", {"x_ms_source_range": "bytes=10-12"}, (416, "InvalidRange")),
        ("/b", {"x_ms_source_range": "bytes=2"}, (400, "InvalidHeaderValue")),
        ("/b", {"x_ms_source_if_match": '"0x1"'}, (412, "SourceConditionNotMet")),
        ("/b", {"x_ms_source_content_md5": "AAAAAAAAAAAAAAAAAAAAAA=="}, (400, "UnsupportedHeader")),
    ],
)
def test_blocks_that_cannot_come(daemon, container, put, call, source, headers, code):
    put("b", b"0123456789")
    got = from_url(daemon, container, call, source, **headers)
    assert (got.status, got.code) == code


def test_a_block_from_a_url_has_no_body(daemon, container, put, call):
    put("b")
    url = f"{daemon.blob.url}/{container.container_name}/b"
    got = call("PUT", "/c?comp=block&blockid=MDA%3D", b"body", x_ms_copy_source=url)
    assert (got.status, got.code) == (400, "InvalidHeaderValue")


def test_tags_are_ten_at_most(put, call):
    put("b")
    tags = "".join(f"<Tag><Key>k{i}</Key><Value>v</Value></Tag>" for i in range(11))
    got = call("PUT", "/b?comp=tags", f"<Tags><TagSet>{tags}</TagSet></Tags>".encode())
    assert (got.status, got.code) == (400, "TagsTooLarge")


@pytest.mark.parametrize("given", ["SharedKey", "SharedKey devstoreaccount1", "Basic " + base64.b64encode(b"a:b").decode()])
def test_what_does_not_say_who_asks(daemon, container, given):
    got = daemon.blob.call("GET", f"/{container.container_name}/b", signed=False, Authorization=given)
    assert (got.status, got.code) == (400, "InvalidAuthenticationInfo")


def test_a_blob_has_the_type_of_its_body_unless_it_is_given_another(call):
    for headers, want in (
        ({"Content_Type": "text/csv"}, "text/csv"),
        ({"Content_Type": "text/csv", "x_ms_blob_content_type": "text/plain"}, "text/plain"),
        ({}, "application/octet-stream"),
    ):
        assert call("PUT", "/typed", b"a,b", x_ms_blob_type="BlockBlob", **headers).status == 201
        assert call("HEAD", "/typed").headers["content-type"] == want


def test_an_append_blob_has_no_md5(call):
    made = call("PUT", "/log", x_ms_blob_type="AppendBlob")
    assert made.status == 201 and "content-md5" not in made.headers
    assert call("PUT", "/log?comp=appendblock", b"bytes").status == 201
    assert "content-md5" not in call("HEAD", "/log").headers


LARGE = 65 << 20  # more than the daemon discards of the body of just anybody


def begin_put(daemon, path, length, **headers):
    """A connection on which only the head of a Put Blob was sent."""
    path = f"/{ACCOUNT}{path}"
    sent = {"x-ms-version": VERSION, "x-ms-date": formatdate(usegmt=True), "x-ms-blob-type": "BlockBlob"}
    sent |= {"Content-Length": str(length)} if length else {"Transfer-Encoding": "chunked"}
    sent |= headers
    sent["Authorization"] = sign("PUT", path, sent)
    lines = [f"PUT {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in sent.items())]
    connection = socket.create_connection(("127.0.0.1", daemon.blob.port), timeout=30)
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    return connection


def send_body(connection, length):
    """Sends zeros, unless the daemon has answered and reads no more."""
    piece = bytes(1 << 20)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for _ in range(length // len(piece)):
            connection.sendall(piece)


@pytest.mark.parametrize(
    "name, headers, answer",
    [
        ("nowhere/b", {}, (b"404", b"ContainerNotFound")),
        ("{}/b", {"x-ms-blob-type": "Odd"}, (b"400", b"InvalidHeaderValue")),
        ("{}/b", {"If-None-Match": "*"}, (b"409", b"BlobAlreadyExists")),
    ],
)
def test_a_large_upload_that_is_refused_gets_its_answer(daemon, container, put, name, headers, answer):
    put("b")
    with begin_put(daemon, "/" + name.format(container.container_name), LARGE, **headers) as connection:
        send_body(connection, LARGE)
        got = connection.recv(65536)
    assert (got.split()[1], answer[1] in got) == (answer[0], True), got


def test_a_refused_upload_without_a_length_is_not_read_for_ever(daemon):
    piece = b"100000\r\n" + bytes(1 << 20) + b"\r\n"
    with begin_put(daemon, "/nowhere/b", None) as connection, pytest.raises((BrokenPipeError, ConnectionResetError)):
        for _ in range(4 * LARGE // len(piece)):
            connection.sendall(piece)


@pytest.mark.parametrize("length", [1 << 20, LARGE])
def test_a_client_that_waits_with_its_body_is_refused_at_once(daemon, container, length):
    path = f"/{container.container_name}/b"
    headers = {"Expect": "100-continue", "x-ms-blob-type": "Odd"}
    with begin_put(daemon, path, length, **headers) as connection:
        got = connection.recv(65536)
    assert got.startswith(b"HTTP/1.1 400 ") and b"InvalidHeaderValue" in got, got


def test_a_client_that_waits_with_its_body_is_told_to_send_it(daemon, container, call):
    with begin_put(daemon, f"/{container.container_name}/b", 1 << 20, Expect="100-continue") as connection:
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        send_body(connection, 1 << 20)
        assert connection.recv(65536).startswith(b"HTTP/1.1 201 ")
    assert len(call("GET", "/b").body) == 1 << 20
