# SPDX-License-Identifier: MIT
"""storage.sync: whether what clients write to files and blobs is on disk before it is acknowledged."""

import base64
import hashlib

import pytest
from support.failing import environment
from support.storage import StorageDaemon

BLOBS = 10


@pytest.mark.parametrize("sync", [True, False])
def test_files_are_synced_unless_a_site_says_otherwise(library, tmp_path, sync):
    count = tmp_path / "count"
    count.touch()
    with StorageDaemon({"storage": {"sync": sync}}, environment=environment(library, "sync", 0, count)) as d:
        assert any("storage.sync_disabled" in line for line in d.log()) == (not sync)
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        assert d.file.call("PUT", "/share?restype=share").status == 201
        before = count.stat().st_size
        for i in range(BLOBS):
            put = d.blob.call("PUT", f"/box/{i}", bytes(1 << 20), x_ms_blob_type="BlockBlob")
            assert put.status == 201, put
        blobs, before = count.stat().st_size - before, count.stat().st_size
        made = d.file.call("PUT", "/share/f", x_ms_type="file", x_ms_content_length=str(BLOBS << 20))
        assert made.status == 201, made
        for i in range(BLOBS):
            span = f"bytes={i << 20}-{((i + 1) << 20) - 1}"
            put = d.file.call("PUT", "/share/f?comp=range", bytes(1 << 20), x_ms_write="update", x_ms_range=span)
            assert put.status == 201, put
        ranges = count.stat().st_size - before
    # A blob is bytes, a name and a row; a range is bytes alone. Rows are synced in any case.
    if sync:
        assert blobs >= 3 * BLOBS and ranges >= BLOBS, (blobs, ranges)
    else:
        assert blobs < 2 * BLOBS and ranges < BLOBS, (blobs, ranges)


@pytest.mark.parametrize("sync", [True, False])
def test_a_small_blob_has_its_md5(sync):
    with StorageDaemon({"storage": {"sync": sync}}) as d:
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        md5 = base64.b64encode(hashlib.md5(b"bytes").digest()).decode()
        assert d.blob.call("PUT", "/box/b", b"bytes", x_ms_blob_type="BlockBlob").headers["content-md5"] == md5
        assert d.blob.call("HEAD", "/box/b").headers["content-md5"] == md5
