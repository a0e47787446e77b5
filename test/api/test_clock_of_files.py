# SPDX-License-Identifier: MIT
"""All that blobs and files show or compare as a time is that of a clock which tests set."""

import http.client
import re
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime, parsedate_to_datetime

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobBlock, BlobServiceClient, ContentSettings
from support.storage import ACCOUNT, KEY, VERSION, StorageDaemon, sign
from support.testing import Clock

DAY = timedelta(days=1)


@contextmanager
def storage(*arguments):
    with StorageDaemon(arguments=["--testing", *arguments]) as d:
        yield d


@pytest.fixture(scope="module", params=["on disk", "ephemeral"])
def storage_daemon(request):
    with storage(*(["--ephemeral"] if request.param == "ephemeral" else [])) as d:
        yield d


@pytest.fixture
def d(storage_daemon):
    return storage_daemon


@pytest.fixture
def clock(d):
    """A day ahead, and stopped in the middle of a second."""
    made = Clock(d)
    made.change(rate=0)
    made.advance("P1D")
    made.change(advanceTo=made.now().strftime("%Y-%m-%dT%H:%M:%S.") + "999999Z")
    yield made
    made.change(real=True)


@pytest.fixture
def box(d, clock):
    assert d.blob.call("PUT", "/box?restype=container").status == 201
    yield "/box"
    assert d.blob.call("DELETE", "/box?restype=container").status == 202


@pytest.fixture
def share(d, clock):
    assert d.file.call("PUT", "/work?restype=share").status == 201
    yield "/work"
    assert d.file.call("DELETE", "/work?restype=share").status == 202


@pytest.fixture
def blobs(d, box):
    service = BlobServiceClient(d.blob.url, credential={"account_name": ACCOUNT, "account_key": KEY})
    yield service.get_container_client("box")
    service.close()


def put(d, path, body=b"bytes", **headers):
    reply = d.blob.call("PUT", path, body, x_ms_blob_type="BlockBlob", **headers)
    assert reply.status == 201, reply
    return reply


def shown(reply, name="Last-Modified"):
    return parsedate_to_datetime(reply.headers[name])


def second(clock):
    return clock.now().replace(microsecond=0)


def texts(reply, name):
    return re.findall(f"<{name}>(.*?)</{name}>", reply.body.decode())


def exact(text):
    return datetime.strptime(text[:26], "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=timezone.utc)


# --- blobs ----------------------------------------------------------------------------------------


def block_list(d, path):
    assert d.blob.call("PUT", f"{path}?comp=block&blockid=MQ%3D%3D", b"block").status == 201
    return d.blob.call("PUT", f"{path}?comp=blocklist", b"<BlockList><Latest>MQ==</Latest></BlockList>")


def appended(d, path):
    assert d.blob.call("PUT", path, x_ms_blob_type="AppendBlob").status == 201
    return d.blob.call("PUT", f"{path}?comp=appendblock", b"more")


def copied(d, path):
    put(d, "/box/source")
    return d.blob.call("PUT", path, x_ms_copy_source=f"{d.blob.url}/box/source")


def noted(d, path):
    put(d, path)
    return d.blob.call("PUT", f"{path}?comp=metadata", x_ms_meta_a="b")


def large(d, path):
    return put(d, path, b"x" * (5 << 20))


@pytest.mark.parametrize("way", [put, block_list, appended, copied, noted, large])
def test_however_a_blob_is_written_it_is_of_the_clocks_time(d, clock, box, way):
    for path in ("/box/b", "/box/deep/below/b", "/box/odd//name"):
        reply = way(d, path)
        assert reply.status in (201, 202, 200), reply
        head = d.blob.call("HEAD", path)
        listed = d.blob.call("GET", "/box?restype=container&comp=list&prefix=" + path[5:])
        assert shown(reply) == shown(head) == shown(reply, "Date") == second(clock)
        assert shown(head, "x-ms-creation-time") == second(clock)
        assert {parsedate_to_datetime(t) for t in texts(listed, "Last-Modified")} == {second(clock)}
        clock.advance("P1D")
        assert shown(d.blob.call("HEAD", path)) == second(clock) - DAY


def test_two_writes_at_a_clock_that_stands_differ(d, clock, box):
    seen = [put(d, f"/box/{i % 2}").headers["ETag"] for i in range(50)]
    assert len(set(seen)) == len(seen)
    assert shown(d.blob.call("HEAD", "/box/0")) == second(clock)


def test_conditions_compare_times_of_the_clock(clock, blobs):
    blob = blobs.upload_blob("b", b"first")
    first = blob.get_blob_properties().last_modified
    assert first == second(clock)
    clock.advance("P1D")
    with pytest.raises(HttpResponseError) as refused:
        blob.download_blob(if_modified_since=second(clock) - timedelta(hours=1))
    assert refused.value.status_code == 304
    assert blob.download_blob(if_unmodified_since=first).readall() == b"first"
    blob.upload_blob(b"second", overwrite=True)
    assert blob.download_blob(if_modified_since=first).readall() == b"second"
    with pytest.raises(HttpResponseError) as refused:
        blob.upload_blob(b"third", overwrite=True, if_unmodified_since=first)
    assert refused.value.status_code == 412
    assert blob.get_blob_properties().last_modified - first == DAY
    assert [b.last_modified - first for b in blobs.list_blobs()] == [DAY]


@pytest.mark.parametrize(
    "change",
    [
        lambda b: b.set_blob_metadata({"a": "b"}),
        lambda b: b.set_http_headers(ContentSettings(content_type="text/plain")),
        lambda b: b.seal_append_blob(),
    ],
    ids=["metadata", "properties", "seal"],
)
def test_a_change_of_a_blobs_notes_is_a_change_for_conditions_on_dates(d, clock, blobs, change):
    blob = blobs.upload_blob("b", b"bytes", blob_type="AppendBlob")
    seen = blob.get_blob_properties().last_modified
    clock.advance("PT10S")
    change(blob)
    now = blob.get_blob_properties().last_modified
    assert now == seen + timedelta(seconds=10) and [b.last_modified for b in blobs.list_blobs()] == [now]
    with pytest.raises(HttpResponseError) as refused:
        blob.set_blob_metadata({"a": "c"}, if_unmodified_since=seen)
    assert refused.value.status_code == 412
    assert blob.download_blob(if_modified_since=seen).readall() == b"bytes"
    copy = blobs.get_blob_client("copy")
    with pytest.raises(HttpResponseError) as refused:
        copy.start_copy_from_url(blob.url, source_if_unmodified_since=seen)
    assert refused.value.status_code == 412
    copy.start_copy_from_url(blob.url, source_if_unmodified_since=now)


def test_an_etag_of_the_sdk_holds_while_nothing_was_written(clock, blobs):
    blob = blobs.upload_blob("b", b"first")
    etag = blob.get_blob_properties().etag
    clock.advance("P20D")
    assert blob.get_blob_properties().etag == etag
    blob.upload_blob(b"second", overwrite=True, etag=etag, match_condition=MatchConditions.IfNotModified)
    with pytest.raises(HttpResponseError):
        blob.upload_blob(b"third", overwrite=True, etag=etag, match_condition=MatchConditions.IfNotModified)


def test_a_copy_ends_at_the_clocks_time(d, clock, box):
    copied(d, "/box/b")
    done = d.blob.call("HEAD", "/box/b")
    listed = d.blob.call("GET", "/box?restype=container&comp=list&include=copy&prefix=b")
    assert done.headers["x-ms-copy-status"] == "success"
    assert shown(done, "x-ms-copy-completion-time") == second(clock)
    assert [parsedate_to_datetime(t) for t in texts(listed, "CopyCompletionTime")] == [second(clock)]


def test_snapshots_are_called_by_the_clock(clock, blobs):
    blob = blobs.upload_blob("b", b"first")
    names = [exact(blob.create_snapshot()["snapshot"]) for _ in range(3)]
    assert len(set(names)) == 3 and all(abs(n - clock.now()) < timedelta(seconds=1) for n in names)


def test_a_lease_of_15_seconds_ends_with_the_clock_alone(clock, blobs):
    blob = blobs.upload_blob("b", b"first")
    blob.acquire_lease(15)
    with pytest.raises(HttpResponseError):
        blob.upload_blob(b"second", overwrite=True)
    clock.advance("PT14S")
    assert blob.get_blob_properties().lease.state == "leased"
    clock.advance("PT2S")
    assert blob.get_blob_properties().lease.state == "expired"
    blob.upload_blob(b"second", overwrite=True)


WRITES = {
    "a blob": lambda blob: blob.upload_blob(b"second", overwrite=True),
    "blocks": lambda blob: (blob.stage_block("1", b"second"), blob.commit_block_list([BlobBlock("1")])),
    "a copy": lambda blob: blob.start_copy_from_url(blob.url),
    "metadata": lambda blob: blob.set_blob_metadata({"a": "b"}),
    "properties": lambda blob: blob.set_http_headers(ContentSettings(content_type="text/x")),
    "an append": lambda blob: blob.append_block(b"second"),
    "a seal": lambda blob: blob.seal_append_blob(),
}


@pytest.mark.parametrize("write", [None, *WRITES])
def test_an_expired_lease_is_renewed_unless_the_blob_was_written(clock, blobs, write):
    kind = "AppendBlob" if write in ("an append", "a seal") else "BlockBlob"
    blob = blobs.upload_blob("b", b"first", blob_type=kind)
    lease = blob.acquire_lease(15)
    clock.advance("PT20S")
    if write is None:
        lease.renew()
        assert blob.get_blob_properties().lease.state == "leased"
        return
    WRITES[write](blob)
    assert blob.get_blob_properties().lease.state == "available"
    with pytest.raises(HttpResponseError) as refused:
        lease.renew()
    assert (refused.value.status_code, refused.value.error_code) == (409, "LeaseIdMismatchWithLeaseOperation")
    blob.acquire_lease(15)


def test_a_lease_breaks_by_the_clock_and_an_infinite_one_stays(clock, blobs):
    blob = blobs.upload_blob("b", b"first")
    lease = blob.acquire_lease(-1)
    clock.advance("P20D")
    assert blob.get_blob_properties().lease.state == "leased"
    assert lease.break_lease(30) == 30
    clock.advance("PT20S")
    assert blob.get_blob_properties().lease.state == "breaking"
    clock.advance("PT20S")
    assert blob.get_blob_properties().lease.state == "broken"
    blob.upload_blob(b"second", overwrite=True)
    assert blob.get_blob_properties().lease.state == "available"


def test_a_blob_that_is_written_while_the_clock_goes_on_is_of_its_end(d, clock, box):
    body = b"x" * (3 << 20)

    def in_two_halves():
        yield body
        clock.advance("P1D")
        yield body

    head = {"x-ms-version": VERSION, "x-ms-date": format_datetime(datetime.now(timezone.utc), usegmt=True),
            "x-ms-blob-type": "BlockBlob", "Content-Length": str(2 * len(body))}  # fmt: skip
    path = f"/{ACCOUNT}/box/b"
    connection = http.client.HTTPConnection("127.0.0.1", d.blob.port, timeout=30)
    connection.request("PUT", path, in_two_halves(), {**head, "Authorization": sign("PUT", path, head)})
    reply = connection.getresponse()
    assert reply.status == 201, reply.read()
    connection.close()
    assert parsedate_to_datetime(reply.headers["Last-Modified"]) == second(clock)


def test_blocks_of_before_are_forgotten_by_a_whole_blob_at_a_clock_that_stands(d, clock, box):
    assert d.blob.call("PUT", "/box/b?comp=block&blockid=MQ%3D%3D", b"old").status == 201
    put(d, "/box/b", b"whole")
    assert d.blob.call("PUT", "/box/b?comp=block&blockid=Mg%3D%3D", b"new").status == 201
    listed = d.blob.call("GET", "/box/b?comp=blocklist&blocklisttype=uncommitted")
    assert texts(listed, "Name") == ["Mg=="]


@pytest.mark.parametrize("size", (5, 100_000, 300_000))
def test_a_blob_of_a_clock_that_is_behind_removes_the_blocks_of_before(d, clock, box, size):
    listing = "/box/b?comp=blocklist&blocklisttype=uncommitted"

    def put(path, body, **more):
        assert d.blob.call("PUT", path, body, **more).status == 201

    put("/box/b", b"whole", x_ms_blob_type="BlockBlob")
    put("/box/b?comp=block&blockid=MQ%3D%3D", b"old")
    assert b"<Block>" in d.blob.call("GET", listing).body
    clock.change(real=True)
    put("/box/b", bytes(size), x_ms_blob_type="BlockBlob")
    assert b"<Block>" not in d.blob.call("GET", listing).body


def test_after_the_machines_time_again_no_etag_comes_again(d, clock, box):
    seen = [put(d, "/box/b").headers["ETag"]]
    later = shown(d.blob.call("HEAD", "/box/b"))
    clock.change(real=True)
    assert shown(d.blob.call("HEAD", "/box/b")) == later
    seen += [put(d, "/box/b").headers["ETag"] for _ in range(3)]
    assert abs(shown(d.blob.call("HEAD", "/box/b")) - datetime.now(timezone.utc)) < timedelta(seconds=30)
    assert len(set(seen)) == len(seen)


# --- files ----------------------------------------------------------------------------------------


def make(d, path, size=4):
    reply = d.file.call("PUT", path, x_ms_type="file", x_ms_content_length=str(size))
    assert reply.status == 201, reply
    return reply


def made(d, path):
    return make(d, path)


def written(d, path):
    make(d, path)
    return d.file.call("PUT", f"{path}?comp=range", b"text", x_ms_write="update", x_ms_range="bytes=0-3")


def resized(d, path):
    make(d, path)
    return d.file.call("PUT", f"{path}?comp=properties", x_ms_content_length="9")


def copied_file(d, path):
    make(d, "/work/source")
    return d.file.call("PUT", path, x_ms_copy_source=f"{d.file.url}/work/source")


TIMES = {"CreationTime", "LastAccessTime", "LastWriteTime", "ChangeTime"}


def list_times(d, where):
    include = "include=Timestamps,ETag,Attributes"
    return d.file.call("GET", f"{where}?restype=directory&comp=list&{include}", x_ms_file_extended_info="true")


@pytest.mark.parametrize("way", [made, written, resized, copied_file])
def test_however_a_file_is_written_it_is_of_the_clocks_time(d, clock, share, way):
    reply = way(d, "/work/f")
    assert reply.status in (200, 201, 202), reply
    head = d.file.call("HEAD", "/work/f")
    assert shown(reply) == shown(head) == shown(head, "Date") == second(clock)
    for name in ("creation", "last-write", "change"):
        assert abs(exact(head.headers[f"x-ms-file-{name}-time"]) - clock.now()) < timedelta(seconds=1), name
    listed = list_times(d, "/work")
    for name in TIMES:
        assert all(abs(exact(t) - clock.now()) < timedelta(seconds=1) for t in texts(listed, name)), name
    for t in texts(listed, "Last-Modified"):
        assert parsedate_to_datetime(t) == second(clock)
    clock.advance("P1D")
    assert shown(d.file.call("HEAD", "/work/f")) == second(clock) - DAY
    d.file.call("GET", "/work/f")
    assert all(clock.now() - exact(t) > DAY / 2 for name in TIMES for t in texts(list_times(d, "/work"), name))


def test_directories_are_of_the_clocks_time(d, clock, share):
    assert d.file.call("PUT", "/work/deep?restype=directory").status == 201
    assert d.file.call("PUT", "/work/deep/er?restype=directory").status == 201
    for path in ("/work/deep", "/work/deep/er"):
        assert shown(d.file.call("HEAD", f"{path}?restype=directory")) == second(clock)
    for change in (
        lambda: make(d, "/work/deep/f"),
        lambda: d.file.call("PUT", "/work/deep/g?comp=rename", x_ms_file_rename_source=f"{d.file.url}/work/deep/f"),
        lambda: d.file.call("DELETE", "/work/deep/g"),
        lambda: d.file.call("DELETE", "/work/deep/er?restype=directory"),
    ):
        clock.advance("PT1H")
        assert change().status in (200, 201, 202)
        assert shown(d.file.call("HEAD", "/work/deep?restype=directory")) == second(clock)


def test_what_a_client_says_of_a_files_times_is_kept(d, clock, share):
    said = "2031-05-06T07:08:09.1234560Z"
    reply = d.file.call("PUT", "/work/f", x_ms_type="file", x_ms_content_length="1",
                        x_ms_file_last_write_time=said, x_ms_file_creation_time=said,
                        x_ms_file_attributes="None", x_ms_file_permission="inherit")  # fmt: skip
    assert reply.status == 201, reply
    head = d.file.call("HEAD", "/work/f").headers
    assert head["x-ms-file-last-write-time"] == head["x-ms-file-creation-time"] == said


def test_ranges_written_at_a_clock_that_stands_have_etags_of_their_own(d, clock, share):
    make(d, "/work/f")
    body = [b"text", b"tent"] * 10
    seen = [
        d.file.call("PUT", "/work/f?comp=range", b, x_ms_write="update", x_ms_range="bytes=0-3").headers["ETag"]
        for b in body
    ]
    assert len(set(seen)) == len(seen)


# --- the daemon -----------------------------------------------------------------------------------


def test_a_daemon_that_starts_again_shows_the_times_that_it_showed():
    with storage() as d:
        clock = Clock(d)
        clock.change(rate=0)
        clock.advance("P1D")
        assert d.blob.call("PUT", "/box?restype=container").status == 201
        put(d, "/box/b")
        before = d.blob.call("HEAD", "/box/b").headers
        d.crash()
        after = d.blob.call("HEAD", "/box/b").headers
        assert [before[n] for n in ("ETag", "Last-Modified")] == [after[n] for n in ("ETag", "Last-Modified")]
        assert d.blob.call("GET", "/box/b").body == b"bytes"


def test_dates_of_replies_are_the_clocks(d, clock):
    reply = d.call("GET", "/subscriptions", expect=200)
    assert parsedate_to_datetime(reply.headers["Date"]) == second(clock)


def test_blocks_count_that_were_put_while_the_clock_was_behind(d, clock, box):
    put(d, "/box/b", b"whole")
    put(d, "/box/source", b"two")
    clock.change(real=True)
    assert d.blob.call("PUT", "/box/b?comp=block&blockid=MQ%3D%3D", b"one").status == 201
    source = {"x_ms_copy_source": f"{d.blob.url}/box/source", "x_ms_version": "2021-12-02"}
    assert d.blob.call("PUT", "/box?restype=container&comp=acl", x_ms_blob_public_access="blob").status == 200
    assert d.blob.call("PUT", "/box/b?comp=block&blockid=Mg%3D%3D", **source).status == 201
    clock.change(rate=0)
    clock.advance("P2D")
    done = d.blob.call("PUT", "/box/b?comp=blocklist", b"<BlockList><Latest>MQ==</Latest><Latest>Mg==</Latest></BlockList>")
    assert done.status == 201, done
    assert d.blob.call("GET", "/box/b").body == b"onetwo"
