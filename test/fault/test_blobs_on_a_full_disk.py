# SPDX-License-Identifier: MIT
"""A disk that fills while small blobs are put: each is acknowledged and there, or refused; and it goes on once there
is room."""

import os

from support.storage import StorageDaemon
from support.waiting import wait_for

BODY = os.urandom(16 * 1024)
MOST = 2000


def read(d, n):
    """The blob, or None. What is read beside rows that find no room is answered as they are: so ask again."""

    def answered():
        got = d.blob.call("GET", f"/box/{n}")
        assert got.status in (200, 404) or b"is full" in got.body, (n, got)
        return got if got.status in (200, 404) else None

    got = wait_for(answered, what=f"an answer about {n}")
    return got.body if got.status == 200 else None


def test_each_small_blob_is_there_or_was_refused(small_disk):
    with StorageDaemon(state_dir=small_disk) as d:
        d.expect_log(r"db\.|journal\.|storage|request|checkpoint")
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        there, refused = set(), []
        for n in range(MOST):
            put = d.blob.call("PUT", f"/box/{n}", BODY, x_ms_blob_type="BlockBlob")
            if put.status == 201:
                there.add(n)
            else:
                refused.append((n, put))
            if len(refused) == 20:
                break
        assert len(refused) == 20 and len(there) > 100, (len(there), refused)
        assert {put.status for _, put in refused} <= {409, 500, 503, 507}, refused
        assert all(b"<Code>" in put.body for _, put in refused), refused
        for n in there:
            assert read(d, n) == BODY, n
        for n, _ in refused:
            assert read(d, n) is None, n
        for path in list(d.folder.glob("blobs/box/*"))[:200]:  # as a job may do
            path.unlink()
            there.discard(int(path.name))

        def put_again():
            return d.blob.call("PUT", "/box/again", BODY, x_ms_blob_type="BlockBlob").status == 201

        wait_for(put_again, what="a put, now that there is room")
        d.restart()
        for n in sorted(there):
            got = d.blob.call("GET", f"/box/{n}")
            assert got.status == 200 and got.body == BODY, (n, got)
