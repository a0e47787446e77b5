# SPDX-License-Identifier: MIT
"""Append Block and Append Block From URL where the blob's disk is full: the block is refused whole, and the next one fits."""

import subprocess
from contextlib import contextmanager

import pytest
from support.blobs import call, client, container, daemon, may_read  # noqa: F401 fixtures
from support.small_disk import fill

SIZES = (10, 300_000)  # the journal takes the first; of the second a part fits


@contextmanager
def small_disk_at(folder):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0777", "none", folder], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("way", ("body", "URL"))
def test_a_block_without_room_is_refused_and_leaves_nothing(daemon, client, container, call, size, way):  # noqa: F811
    daemon.expect_log(r"share\.disk_full")
    source = client.create_container(f"source{size}{way.lower()}")
    block = bytes(i % 251 for i in range(size))
    source.upload_blob("from", block)
    url = f"{daemon.blob.url}/{source.container_name}/from?{may_read(source)}"
    given = ("PUT", "/log?comp=appendblock", block) if way == "body" else ("PUT", "/log?comp=appendblock")
    headers = {} if way == "body" else {"x_ms_copy_source": url}
    folder = daemon.folder / "blobs" / container.container_name
    with small_disk_at(folder):
        assert call("PUT", "/log", x_ms_blob_type="AppendBlob").status == 201
        filler = folder / "filler"
        fill(filler)
        if size > 4096:  # a page and no more is free
            with open(filler, "ab") as f:
                f.truncate(filler.stat().st_size - 8192)
        for _ in range(2):
            reply = call(*given, **headers)
            assert (reply.status, reply.code) == (409, "ShareSizeLimitReached"), reply
        assert call("GET", "/log").body == b""
        filler.unlink()
        reply = call(*given, **headers)
        assert (reply.status, reply.headers["x-ms-blob-append-offset"]) == (201, "0"), reply
        assert reply.headers["x-ms-blob-committed-block-count"] == "1"
        assert call("GET", "/log").body == block
        call("DELETE", "/log")
