# SPDX-License-Identifier: MIT
"""Blobs that are made of blocks, and those that grow."""

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from threading import Event
from urllib.parse import quote_plus
from xml.etree import ElementTree

import pytest
from azure.core.exceptions import ResourceExistsError
from azure.storage.blob import BlobServiceClient, generate_blob_sas
from support.blobs import call, client, container, daemon, may_read, put  # noqa: F401 fixtures
from support.storage import ACCOUNT, KEY


def block_id(n):
    return base64.b64encode(f"{n:06}".encode()).decode()


def block_list(*entries):
    """Of ("Latest", 3) and the like."""
    inner = "".join(f"<{kind}>{block_id(n)}</{kind}>" for kind, n in entries)
    return f'<?xml version="1.0" encoding="utf-8"?><BlockList>{inner}</BlockList>'.encode()


@pytest.fixture
def stage(call):
    def stage(name, n, body, **headers):
        return call("PUT", f"/{name}?comp=block&blockid={quote_plus(block_id(n))}", body, **headers)

    return stage


def test_blocks_become_a_blob_when_they_are_committed(call, stage, container):
    for n, body in ((2, b"second"), (1, b"first "), (3, b"unused")):
        assert stage("b", n, body).status == 201
    assert call("GET", "/b").code == "BlobNotFound" and list(container.list_blobs()) == []
    made = call("PUT", "/b?comp=blocklist", block_list(("Latest", 1), ("Uncommitted", 2), ("Latest", 1)))
    assert made.status == 201
    assert call("GET", "/b").body == b"first secondfirst "
    listed, waiting = container.get_blob_client("b").get_block_list("all")
    assert [(x.id, x.size) for x in listed] == [("000001", 6), ("000002", 6), ("000001", 6)]
    assert waiting == []


def test_committed_blocks_are_used_again(call, stage):
    for n in (1, 2, 3):
        stage("b", n, str(n).encode() * 1000)
    call("PUT", "/b?comp=blocklist", block_list(("Latest", 1), ("Latest", 2), ("Latest", 3)))
    stage("b", 4, b"new")
    stage("b", 2, b"two")
    changed = call("PUT", "/b?comp=blocklist", block_list(("Committed", 3), ("Latest", 4), ("Committed", 2), ("Latest", 2)))
    assert changed.status == 201
    assert call("GET", "/b").body == b"3" * 1000 + b"new" + b"2" * 1000 + b"two"


def test_a_list_with_an_unknown_block_changes_nothing(call, stage, put):
    put("b", b"old")
    stage("b", 1, b"x")
    refused = call("PUT", "/b?comp=blocklist", block_list(("Latest", 1), ("Latest", 9)))
    assert (refused.status, refused.code) == (400, "InvalidBlockList")
    assert call("PUT", "/b?comp=blocklist", b"<BlockList><Latest>").code == "InvalidXmlDocument"
    assert call("GET", "/b").body == b"old"
    assert call("PUT", "/b?comp=block&blockid=%21", b"x").code == "InvalidBlockId"
    assert call("PUT", "/b?comp=block", b"x").code == "MissingRequiredQueryParameter"
    put("b", b"new")
    assert call("PUT", "/b?comp=blocklist", block_list(("Latest", 1))).code == "InvalidBlockList"


def test_a_large_upload_goes_in_blocks(client, container):
    body = bytes(range(256)) * 100_000
    small = BlobServiceClient(client.url, credential=KEY, max_single_put_size=1 << 20, max_block_size=4 << 20)
    blob = small.get_blob_client(container.container_name, "dir/large.bin")
    blob.upload_blob(body, max_concurrency=4, metadata={"a": "b"})
    assert blob.download_blob(max_concurrency=4).readall() == body
    assert blob.get_blob_properties().metadata == {"a": "b"}


def test_blocks_that_wait_survive_kill_9(daemon, call, stage):
    stage("b", 1, b"kept")
    daemon.crash()
    assert call("PUT", "/b?comp=blocklist", block_list(("Latest", 1))).status == 201
    assert call("GET", "/b").body == b"kept"


def test_bytes_are_appended(container, call, daemon):
    blob = container.get_blob_client("log")
    blob.create_append_blob(metadata={"a": "b"})
    assert blob.append_block(b"one ")["blob_append_offset"] == "0"
    second = blob.append_block(b"two ")
    assert (second["blob_append_offset"], second["blob_committed_block_count"]) == ("4", 2)
    assert call("PUT", "/log?comp=appendblock", b"x", x_ms_blob_condition_appendpos="4").code == (
        "AppendPositionConditionNotMet"
    )
    assert call("PUT", "/log?comp=appendblock", b"x", x_ms_blob_condition_maxsize="8").code == "MaxBlobSizeConditionNotMet"
    assert blob.download_blob().readall() == b"one two "
    shown = blob.get_blob_properties()
    assert (shown.blob_type, shown.append_blob_committed_block_count, shown.metadata) == ("AppendBlob", 2, {"a": "b"})
    container.upload_blob("b", b"x")
    assert call("PUT", "/b?comp=appendblock", b"x").code == "InvalidBlobType"
    assert call("PUT", "/none?comp=appendblock", b"x").code == "BlobNotFound"


def test_a_long_list_is_read_and_shown_in_steps(call, stage, container):
    for n in range(3):
        assert stage("b", n, b"%d" % n).status == 201
    entries = [("Latest", n % 3) for n in range(12_000)]
    got = call("PUT", "/b?comp=blocklist", block_list(*entries, ("Latest", 7)))
    assert (got.status, got.code) == (400, "InvalidBlockList")
    assert call("PUT", "/b?comp=blocklist", block_list(*entries)).status == 201
    assert call("GET", "/b").body == b"012" * 4_000
    assert call("PUT", "/b?comp=blocklist", block_list(*[("Committed", n % 2) for n in range(11_000)])).status == 201
    assert call("GET", "/b").body == b"01" * 5_500
    committed, waiting = container.get_blob_client("b").get_block_list("all")
    assert ([int(b.id) for b in committed], waiting) == ([0, 1] * 5_500, []) and {b.size for b in committed} == {1}


def test_an_append_blob_is_made_empty(call):
    refused = call("PUT", "/log", b"bytes", x_ms_blob_type="AppendBlob")
    assert (refused.status, refused.code) == (400, "InvalidHeaderValue")
    assert call("HEAD", "/log").status == 404
    assert call("PUT", "/log", x_ms_blob_type="AppendBlob").status == 201


def test_many_append_and_nothing_is_lost(container):
    blob = container.get_blob_client("log")
    blob.create_append_blob()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: blob.append_block(b"%03d\n" % n), range(60)))
    assert sorted(blob.download_blob().readall().split()) == [b"%03d" % n for n in range(60)]
    assert blob.get_blob_properties().append_blob_committed_block_count == 60


def test_of_many_who_make_a_blob_one_does(container):
    blob = container.get_blob_client("one")

    def make(n):
        try:
            blob.upload_blob(b"%d" % n)
            return n
        except ResourceExistsError:
            return None

    with ThreadPoolExecutor(8) as pool:
        made = [n for n in pool.map(make, range(16)) if n is not None]
    assert len(made) == 1 and blob.download_blob().readall() == b"%d" % made[0]


def test_a_block_that_is_put_again_during_a_commit_has_its_length(call, stage):
    """A list notes of each block the bytes that it has taken, whichever of two blocks with its id."""
    going = Event()

    def put_again():
        while not going.is_set():
            for size in (1, 9000):
                stage("b", 1, b"x" * size)

    with ThreadPoolExecutor(1) as pool:
        putting = pool.submit(put_again)
        try:
            for _ in range(50):
                assert stage("b", 1, b"x").status == 201
                assert call("PUT", "/b?comp=blocklist", block_list(("Latest", 1))).status == 201
                shown = ElementTree.fromstring(call("GET", "/b?comp=blocklist").body.decode("utf-8-sig"))
                assert call("HEAD", "/b").headers["Content-Length"] == shown.findtext("CommittedBlocks/Block/Size")
        finally:
            going.set()
        putting.result()


def test_a_block_that_is_put_after_a_commit_stays(call, stage):
    for _ in range(4):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: stage("b", n, b"x"), range(100)))  # what is to be thrown away takes a while
        assert call("PUT", "/b?comp=blocklist", block_list(("Latest", 1))).status == 201
        assert stage("b", 2, b"y").status == 201
        assert call("PUT", "/b?comp=blocklist", block_list(("Committed", 1), ("Uncommitted", 2))).status == 201


def test_blocks_that_a_blob_has_replaced_are_gone_after_its_deletion(call, stage, put):
    stage("b", 1, b"x")
    put("b", b"whole")
    assert call("DELETE", "/b").status == 202
    assert call("GET", "/b?comp=blocklist&blocklisttype=uncommitted").status == 404
    refused = call("PUT", "/b?comp=blocklist", block_list(("Latest", 1)))
    assert (refused.status, refused.code) == (400, "InvalidBlockList")
    stage("b", 1, b"new")
    assert call("PUT", "/b?comp=blocklist", block_list(("Latest", 1))).status == 201 and call("GET", "/b").body == b"new"


def test_an_md5_for_what_a_job_wrote_does_not_bring_old_blocks_back(daemon, container, call, stage):
    stage("b", 1, b"first")
    call("PUT", "/b?comp=blocklist", block_list(("Latest", 1)))
    (daemon.folder / "blobs" / container.container_name / "b").write_bytes(b"another")
    md5 = base64.b64encode(hashlib.md5(b"another").digest()).decode()
    assert call("PUT", "/b?comp=properties", x_ms_blob_content_md5=md5).status == 200
    assert call("GET", "/b").headers["Content-MD5"] == md5
    assert b"<Block>" not in call("GET", "/b?comp=blocklist&blocklisttype=committed").body
    assert call("PUT", "/b?comp=blocklist", block_list(("Committed", 1))).code == "InvalidBlockList"
    assert call("GET", "/b").body == b"another"


def test_an_md5_for_what_a_job_wrote_does_not_archive_it_again(daemon, container, put, call):
    put("b")
    assert call("PUT", "/b?comp=tier", x_ms_access_tier="Archive").status == 200
    (daemon.folder / "blobs" / container.container_name / "b").write_bytes(b"another")
    md5 = base64.b64encode(hashlib.md5(b"another").digest()).decode()
    assert call("PUT", "/b?comp=properties", x_ms_blob_content_md5=md5).status == 200
    assert call("GET", "/b").body == b"another"


def test_blobs_of_blocks_alone_are_listed_if_that_is_asked(daemon, container, put, call, stage):
    for name in ("a", "both", "d/e", "d/f", "x//y", "z"):
        stage(name, 0, b"block")
    url = f"{daemon.blob.url}/{container.container_name}"
    put("both")
    put("c")
    put("q//r")  # which no file can be called
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    sas = generate_blob_sas(ACCOUNT, container.container_name, "c", account_key=KEY, permission="r", expiry=until)
    assert stage("from", 0, b"", x_ms_copy_source=f"{url}/c?{sas}").status == 201
    (daemon.folder / "blobs" / container.container_name / "z").write_bytes(b"job")
    everything = ["a", "both", "c", "d/e", "d/f", "from", "q//r", "x//y", "z"]
    assert [b.name for b in container.list_blobs()] == ["both", "c", "q//r", "z"]
    for size in (1, 2, 3, 5000):
        pages = container.list_blobs(include=["uncommittedblobs"], results_per_page=size).by_page()
        assert [b.name for page in pages for b in page] == everything, size
    sizes = {b.name: b.size for b in container.list_blobs(include=["uncommittedblobs"])}
    assert (sizes["a"], sizes["both"], sizes["z"]) == (0, 5, 3)
    groups = container.walk_blobs(delimiter="/", include=["uncommittedblobs"])
    assert sorted(b.name for b in groups) == ["a", "both", "c", "d/", "from", "q/", "x/", "z"]
    assert call("GET", "/a").status == 404 and call("GET", "/a?comp=blocklist&blocklisttype=all").status == 200
    call("PUT", "/a?comp=blocklist", block_list(("Latest", 0)))
    call("DELETE", "/a")
    daemon.crash()
    assert [b.name for b in container.list_blobs(include=["uncommittedblobs"])] == everything[1:]


@pytest.fixture(params=["sent", "from_url"])
def put_block(request, container, call, put):
    """put_block(blob, size): puts a block, which the request has or which comes from a URL."""

    def put_block(blob, size):
        path = f"/{blob}?comp=block&blockid={block_id(size)}"
        if request.param == "sent":
            return call("PUT", path, b"x" * size)
        put("source", b"x" * size)
        return call("PUT", path, x_ms_copy_source=f"{container.url}/source?{may_read(container)}")

    return put_block


@pytest.fixture
def refusals(put_block):
    """refusals(blob): the codes with which a small and a large block of the blob are refused."""
    return lambda blob: [put_block(blob, size).code for size in (1, 300_000)]


def test_a_lease_keeps_blocks_away_while_the_blob_is_there(daemon, container, call, put, refusals):
    put("b", b"1")
    assert call("PUT", "/b?comp=lease", x_ms_lease_action="acquire", x_ms_lease_duration="-1").status == 201
    assert refusals("b") == ["LeaseIdMissing"] * 2
    (daemon.folder / "blobs" / container.container_name / "b").unlink()
    assert refusals("b") == [None] * 2
    assert call("PUT", "/b?comp=blocklist", block_list(("Latest", 1))).status == 201
    assert call("GET", "/b").body == b"x"


def test_an_archived_blob_gets_no_blocks_until_a_job_replaces_it(daemon, container, put, refusals):
    put("b", b"1", x_ms_access_tier="Archive")
    assert refusals("b") == ["BlobArchived"] * 2
    file = daemon.folder / "blobs" / container.container_name / "b"
    file.unlink()
    file.write_bytes(b"of a job")
    assert refusals("b") == [None] * 2


def test_an_append_blob_gets_no_blocks(call, refusals):
    call("PUT", "/log", x_ms_blob_type="AppendBlob")
    assert refusals("log") == ["InvalidBlobType"] * 2
