# SPDX-License-Identifier: MIT
"""The clock is set while storage is used: docs/storage.md, Clocks and backups."""

import os
import re
import sqlite3
import time
from contextlib import closing
from email.utils import formatdate

import pytest
from azure.storage.blob import generate_blob_sas
from support.storage import ACCOUNT, KEY, StorageDaemon

HOUR = 3600


class Stepped:
    """A daemon whose clock is set, and requests that are dated by it."""

    def __init__(self, clock):
        self.clock = clock
        self.d = StorageDaemon(environment=clock.environment)

    def now(self):
        return time.time() + self.clock.wall / 1e9

    def call(self, method, path, body=b"", **headers):
        return self.d.blob.call(method, path, body, x_ms_date=formatdate(self.now(), usegmt=True), **headers)

    def put(self, path, body=b"bytes", **headers):
        reply = self.call("PUT", path, body, x_ms_blob_type="BlockBlob", **headers)
        assert reply.status == 201, reply
        return reply

    def lease(self, path, action, **headers):
        more = {f"x_ms_lease_{key}": value for key, value in headers.items()}
        return self.call("PUT", f"{path}?comp=lease", x_ms_lease_action=action, **more)

    def state(self, path):
        headers = self.call("HEAD", path).headers
        return headers["x-ms-lease-state"], headers["x-ms-lease-status"]


@pytest.fixture
def stepped(clock):
    s = Stepped(clock)
    with s.d:
        assert s.call("PUT", "/box?restype=container").status == 201
        yield s


@pytest.mark.parametrize("by", (-HOUR, HOUR, -10 * 365 * 24 * HOUR))
def test_a_lease_lasts_as_long_as_it_is_taken_for(stepped, by):
    stepped.put("/box/b")
    taken = stepped.lease("/box/b", "acquire", duration="20")
    assert taken.status == 201, taken
    stepped.clock.set(by)
    assert stepped.state("/box/b") == ("leased", "locked")
    assert stepped.call("PUT", "/box/b", b"x", x_ms_blob_type="BlockBlob").code == "LeaseIdMissing"
    stepped.clock.go_on(19)
    assert stepped.state("/box/b") == ("leased", "locked")
    renewed = stepped.lease("/box/b", "renew", id=taken.headers["x-ms-lease-id"])
    assert renewed.status == 200, renewed
    stepped.clock.go_on(19)
    assert stepped.state("/box/b") == ("leased", "locked")
    stepped.clock.go_on(2)
    assert stepped.state("/box/b") == ("expired", "unlocked")
    stepped.put("/box/b")


def test_a_lease_of_a_later_clock_ends_after_its_time_from_the_next_start(stepped):
    stepped.put("/box/b")
    stepped.put("/box/broken")
    assert stepped.lease("/box/b", "acquire", duration="60").status == 201
    assert stepped.lease("/box/broken", "acquire", duration="-1").status == 201
    assert stepped.lease("/box/broken", "break", break_period="30").headers["x-ms-lease-time"] == "30"
    stepped.d.stop()
    stepped.clock.set(-HOUR)
    stepped.d.start()
    assert stepped.state("/box/b") == ("leased", "locked")
    assert stepped.state("/box/broken") == ("breaking", "locked")
    stepped.clock.go_on(10)
    assert 45 <= int(stepped.lease("/box/b", "break").headers["x-ms-lease-time"]) <= 50
    stepped.clock.go_on(51)
    assert stepped.state("/box/b") == ("broken", "unlocked")
    assert stepped.state("/box/broken") == ("broken", "unlocked")


@pytest.mark.parametrize("by", (-HOUR // 2, HOUR // 2))
def test_the_resource_manager_sees_a_lease_as_its_holder_does(stepped, by):
    stepped.call("PUT", "/box?restype=container&comp=lease", x_ms_lease_action="acquire", x_ms_lease_duration="20")
    accounts = f"/subscriptions/{stepped.d.subscription}/providers/Microsoft.Storage/storageAccounts"
    (account,) = stepped.d.call("GET", accounts, api_version="2018-07-01", expect=200).json["value"]
    container = f"{account['id']}/blobServices/default/containers/box"

    def shown():
        properties = stepped.d.call("GET", container, api_version="2018-07-01", expect=200).json["properties"]
        return properties["leaseState"], properties["leaseStatus"]

    stepped.clock.set(by)
    assert stepped.state("/box?restype=container") == ("leased", "locked") and shown() == ("Leased", "Locked")
    stepped.d.call("DELETE", container, api_version="2018-07-01", expect=409)
    stepped.clock.go_on(21)
    assert stepped.state("/box?restype=container") == ("expired", "unlocked") and shown() == ("Expired", "Unlocked")
    stepped.d.call("DELETE", container, api_version="2018-07-01", expect=200)


def put_later(d):
    """Makes the blob b of the container box, which is an hour ahead of the clock."""
    assert d.blob.call("PUT", "/box?restype=container").status == 201
    assert d.blob.call("PUT", "/box/b", b"whole", x_ms_blob_type="BlockBlob").status == 201
    d.stop()
    file, later = d.folder / "blobs/box/b", HOUR * 10**9
    then = file.stat().st_mtime_ns + later
    os.utime(file, ns=(then, then))
    with closing(sqlite3.connect(next(d.state_dir.glob("*.db")), isolation_level=None)) as db:
        assert db.execute("UPDATE share_item SET mtime_ns = ?", (then,)).rowcount == 1
    d.start()


def test_blocks_can_be_committed_over_a_blob_of_a_later_clock():
    with StorageDaemon() as d:
        put_later(d)
        assert d.blob.call("PUT", "/box/b?comp=block&blockid=MQ%3D%3D", b"in blocks").status == 201
        blocks = b"<BlockList><Uncommitted>MQ==</Uncommitted></BlockList>"
        done = d.blob.call("PUT", "/box/b?comp=blocklist", blocks)
        assert done.status == 201, done
        assert d.blob.call("GET", "/box/b").body == b"in blocks"


@pytest.mark.parametrize("size", (5, 100_000))
def test_a_put_over_a_blob_of_a_later_clock_removes_its_blocks(size):
    with StorageDaemon() as d:
        put_later(d)
        assert d.blob.call("PUT", "/box/b?comp=block&blockid=MQ%3D%3D", b"old").status == 201
        listing = "/box/b?comp=blocklist&blocklisttype=uncommitted"
        assert b"<Block>" in d.blob.call("GET", listing).body
        assert d.blob.call("PUT", "/box/b", bytes(size), x_ms_blob_type="BlockBlob").status == 201
        assert b"<Block>" not in d.blob.call("GET", listing).body


def test_signatures_are_as_good_as_the_clock_says(stepped):
    stepped.put("/box/b", b"secret")
    text = formatdate(stepped.now(), usegmt=True)
    start, end = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stepped.now() + s)) for s in (-60, 60))
    sas = generate_blob_sas(ACCOUNT, "box", "b", account_key=KEY, permission="r", expiry=end, start=start)

    def get():
        return stepped.d.blob.call("GET", f"/box/b?{sas}", signed=False, x_ms_date=None).status

    assert get() == 200
    stepped.clock.set(120)
    assert get() == 403
    stepped.clock.set(-HOUR)
    assert get() == 403
    stepped.clock.set(HOUR - 120)
    assert get() == 200
    stepped.clock.set(-HOUR)
    skewed = stepped.d.blob.call("GET", "/box/b", x_ms_date=text)
    assert (skewed.status, skewed.code) == (403, "AuthenticationFailed")


def test_no_etag_comes_again_and_lists_keep_their_order(stepped):
    seen = [stepped.put("/box/b").headers["ETag"]]
    for i, by in enumerate((0, -HOUR, -HOUR, 3 * HOUR, -HOUR)):
        stepped.clock.set(by)
        seen.append(stepped.call("PUT", "/box/b?comp=metadata", x_ms_meta_a=str(i)).headers["ETag"])
        seen.append(stepped.put("/box/b", b"other").headers["ETag"])
        stepped.put(f"/box/{9 - i}")
    assert len(set(seen)) == len(seen)
    shown = stepped.call("GET", "/box?restype=container&comp=list").body.decode()
    assert re.findall("<Name>(.*?)</Name>", shown) == ["5", "6", "7", "8", "9", "b"]
