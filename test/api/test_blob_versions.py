# SPDX-License-Identifier: MIT
"""A read of a blob shows one version of it: bytes, ETag, metadata and type of one moment, however often it is put
again meanwhile, and so do lists and copies."""

import base64
import hashlib
import re
import threading

import pytest
from support.blobs import call, client, container, daemon, put  # noqa: F401 fixtures

SMALL, MIDDLE, LARGE = 800, 100_000, 400_000  # in the journal; in one go; in pieces
READS, VERSIONS = 60, 6


def md5(body):
    return hashlib.md5(body).digest()


def body_of(version, size):
    return version.encode() * (size // len(version))


class Writer:
    """Puts a blob again and again, each time with metadata, a type and bytes that name the version."""

    def __init__(self, write):
        self.made, self._stop = {}, threading.Event()
        self._write, self._error = write, None
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        i = 0
        try:
            while not self._stop.is_set():
                i += 1
                version = f"v{i:07}"
                self.made[self._write(version)] = version
        except Exception as e:  # noqa: BLE001 it is the test's
            self._error = e

    def __enter__(self):
        self._thread.start()
        return self

    def rounds(self, n=READS):
        """So many times, and until some versions were made meanwhile."""
        done = 0
        while self._thread.is_alive() and (done < n or len(self.made) < VERSIONS):
            yield done
            done += 1

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        if self._error:
            raise self._error


def whole_puts(put, size):
    def write(version):
        answer = put("b", body_of(version, size), x_ms_meta_v=version, x_ms_blob_content_type=f"text/{version}")
        assert answer.status == 201, answer
        return answer.headers["ETag"]

    return write


def in_blocks(call, size):
    def write(version):
        block = base64.b64encode(b"one").decode()
        assert call("PUT", f"/b?comp=block&blockid={block}", body_of(version, size)).status == 201
        xml = f"<?xml version='1.0'?><BlockList><Latest>{block}</Latest></BlockList>".encode()
        answer = call(
            "PUT", "/b?comp=blocklist", xml, x_ms_meta_v=version, x_ms_blob_content_type=f"text/{version}"
        )
        assert answer.status == 201, answer
        return answer.headers["ETag"]

    return write


@pytest.mark.parametrize("size", [SMALL, MIDDLE, LARGE])
@pytest.mark.parametrize("how", ["whole", "blocks"])
def test_a_download_beside_puts_is_of_one_version(call, put, how, size):
    write = whole_puts(put, size) if how == "whole" else in_blocks(call, size)
    first = write("v0000000")
    seen = []
    with Writer(write) as writer:
        for _ in writer.rounds():
            answer = call("GET", "/b")
            assert answer.status == 200, answer
            version = answer.body[:8].decode()
            assert answer.body == body_of(version, size)
            seen.append((version, answer))
    writer.made[first] = "v0000000"
    for version, answer in seen:
        assert answer.headers["x-ms-meta-v"] == version
        assert answer.headers["Content-Type"] == f"text/{version}"
        assert writer.made[answer.headers["ETag"]] == version


def in_turn_with_deletes(call, put):
    """A version whose number is even is deleted again."""
    write = whole_puts(put, SMALL)

    def one(version):
        etag = write(version)
        if int(version[1:]) % 2 == 0:
            assert call("DELETE", "/b").status == 202
        return etag

    return one


def test_what_is_said_of_a_blob_beside_puts_is_of_one_version(call, put):
    with Writer(whole_puts(put, SMALL)) as writer:
        seen = []
        for _ in writer.rounds():
            answer = call("HEAD", "/b")
            if answer.status == 200:
                seen.append(answer)
    for answer in seen:
        version = writer.made[answer.headers["ETag"]]
        assert answer.headers["x-ms-meta-v"] == version
        assert answer.headers["Content-Type"] == f"text/{version}"
        assert base64.b64decode(answer.headers["Content-MD5"]) == md5(body_of(version, SMALL))


def test_a_blob_that_is_deleted_and_put_again_is_whole_or_not_there(call, put):
    with Writer(in_turn_with_deletes(call, put)) as writer:
        seen = set()
        for _ in writer.rounds(4 * READS):
            answer = call("GET", "/b")
            seen.add(answer.status)
            if answer.status == 200:
                assert answer.headers["x-ms-meta-v"] == answer.body[:8].decode()
            else:
                assert (answer.status, answer.code) == (404, "BlobNotFound")
    assert seen == {200, 404}


def listed(daemon, container):
    answer = daemon.blob.call("GET", f"/{container.container_name}?restype=container&comp=list&include=metadata")
    assert answer.status == 200, answer
    return re.findall(
        r"<Name>b</Name>.*?<Etag>(.*?)</Etag>.*?<Content-Type>(.*?)</Content-Type>.*?<Metadata>(.*?)</Metadata>",
        answer.body.decode(),
        re.S,
    )


@pytest.mark.parametrize("size", [SMALL, MIDDLE])
def test_a_list_beside_puts_shows_each_blob_as_one_version(daemon, container, put, size):
    put("a", b"1")
    put("z", b"2")
    first = whole_puts(put, size)("v0000000")
    with Writer(whole_puts(put, size)) as writer:
        seen = [listed(daemon, container) for _ in writer.rounds()]
    writer.made[first] = "v0000000"
    for entries in seen:
        ((etag, kind, metadata),) = entries
        version = writer.made[f'"{etag}"']
        assert kind == f"text/{version}" and f"<v>{version}</v>" in metadata


@pytest.mark.parametrize("size", [SMALL, MIDDLE])
def test_a_copy_of_a_blob_beside_puts_is_of_one_version(daemon, call, put, container, size):
    whole_puts(put, size)("v0000000")
    source = f"{daemon.blob.url}/{container.container_name}/b"
    with Writer(whole_puts(put, size)) as writer:
        for _ in writer.rounds(READS // 2):
            assert call("PUT", "/copy", x_ms_copy_source=source).status == 202
            answer = call("GET", "/copy")
            version = answer.body[:8].decode()
            assert answer.headers["x-ms-meta-v"] == version
            assert answer.headers["Content-Type"] == f"text/{version}"
            assert base64.b64decode(answer.headers["Content-MD5"]) == md5(answer.body)


def test_the_hash_of_a_range_is_of_the_bytes_that_are_sent(call, put):
    write = whole_puts(put, MIDDLE)
    write("v0000000")
    with Writer(write) as writer:
        for _ in writer.rounds():
            answer = call("GET", "/b", x_ms_range="bytes=0-79999", x_ms_range_get_content_md5="true")
            assert base64.b64decode(answer.headers["Content-MD5"]) == md5(answer.body)
            assert answer.headers["x-ms-meta-v"] == answer.body[:8].decode()


def test_a_download_beside_appends_has_as_many_bytes_as_the_blocks_that_it_says(daemon, call, container):
    path = f"/{container.container_name}/b"
    assert daemon.blob.call("PUT", path, x_ms_blob_type="AppendBlob").status == 201
    block = b"0123456789" * 1000

    def append(_):
        answer = call("PUT", "/b?comp=appendblock", block)
        assert answer.status == 201, answer
        return answer.headers["ETag"]

    with Writer(append) as writer:
        for _ in writer.rounds():
            answer = call("GET", "/b")
            assert answer.body == block * int(answer.headers["x-ms-blob-committed-block-count"])
            head = call("HEAD", "/b")
            assert int(head.headers["Content-Length"]) == len(block) * int(
                head.headers["x-ms-blob-committed-block-count"]
            )


def names(daemon, container, query=""):
    answer = daemon.blob.call("GET", f"/{container.container_name}?restype=container&comp=list{query}")
    assert answer.status == 200, answer
    text = answer.body.decode()
    return re.findall(r"<Name>(.*?)</", text), re.findall(r"<NextMarker>(.+?)</", text)


def test_what_lies_aside_is_not_listed_once_its_file_is_gone(daemon, container, call, put):
    """Nor does it end a page, or stand for a folder."""
    for name in ("a//1", "a//2", "a//3", "b//1", "c//1"):
        assert put(name, name.encode()).status == 201
    gone = {"a//1", "a//2", "b//1"}
    for file in (daemon.folder / ".aside").rglob("*"):
        if file.is_file() and file.read_text() in gone:
            file.unlink()
    assert names(daemon, container) == (["a//3", "c//1"], [])
    assert names(daemon, container, "&delimiter=/") == (["a/", "c/"], [])
    seen, marker = names(daemon, container, "&maxresults=1")
    while marker:
        more, marker = names(daemon, container, f"&maxresults=1&marker={marker[0]}")
        seen += more
    assert seen == ["a//3", "c//1"]
    for name in gone:
        assert call("GET", f"/{name}").code == "BlobNotFound"
        assert call("HEAD", f"/{name}").status == 404
        assert call("DELETE", f"/{name}").code == "BlobNotFound"
        assert put(name, b"again").status == 201
        assert call("GET", f"/{name}").body == b"again"
