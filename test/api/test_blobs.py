# SPDX-License-Identifier: MIT
"""Blobs: containers are folders, and blobs the files in them."""

import base64
import hashlib
import http.client
import subprocess
from email.utils import formatdate
from tempfile import TemporaryDirectory

import pytest
from azure.storage.blob import BlobPrefix, StandardBlobTier
from support.blobs import call, client, container, daemon, put  # noqa: F401 fixtures
from support.storage import ACCOUNT, encoded, sign
from support.two_parts import TwoParts
from support.waiting import wait_for


def test_a_container_is_made_shown_and_deleted(client):
    c = client.create_container("first", metadata={"Owner": "me"}, public_access="blob")
    shown = c.get_container_properties()
    assert shown.metadata == {"Owner": "me"}
    assert shown.public_access == "blob"
    c.set_container_metadata({"k": "v"})
    changed = c.get_container_properties()
    assert changed.metadata == {"k": "v"} and changed.etag != shown.etag
    c.delete_container()
    assert not c.exists()


def test_a_blob_that_is_sent_while_its_container_goes_is_not_in_the_next_one(daemon):
    def make():
        return daemon.blob.call("PUT", "/short?restype=container").status == 201

    body = b"x" * 300_000  # a large one is written while it comes
    assert make()
    late = TwoParts(daemon.blob, "PUT", "/short/b", len(body), x_ms_blob_type="BlockBlob")
    assert daemon.blob.call("DELETE", "/short?restype=container").status == 202
    wait_for(make, what="another container of the name")
    got = late.send(body)
    assert (got.status, got.code) == (404, "ContainerNotFound")
    assert daemon.blob.call("HEAD", "/short/b").status == 404
    daemon.blob.call("DELETE", "/short?restype=container")


@pytest.mark.parametrize("size", [10, 300_000])
@pytest.mark.parametrize("again", [False, True], ids=["gone", "made_again"])
def test_a_block_that_is_sent_while_its_container_goes_is_refused(daemon, size, again):
    def make():
        return daemon.blob.call("PUT", "/short?restype=container").status == 201

    wait_for(make, what="the container")
    late = TwoParts(daemon.blob, "PUT", "/short/b?comp=block&blockid=MQ%3D%3D", size)
    assert daemon.blob.call("DELETE", "/short?restype=container").status == 202
    if again:
        wait_for(make, what="another container of the name")
    got = late.send(b"x" * size)
    assert (got.status, got.code) == (404, "ContainerNotFound")
    assert (daemon.blob.call("DELETE", "/short?restype=container").status == 202) == again


@pytest.mark.parametrize("name, other", [("a", "a/b"), ("z/y", "z"), ("z/x/y", "z/x")])
def test_a_large_blob_whose_place_is_taken_while_it_comes_is_there(daemon, container, call, put, name, other):
    body = b"x" * 300_000
    late = TwoParts(daemon.blob, "PUT", f"/{container.container_name}/{name}", len(body), x_ms_blob_type="BlockBlob")
    assert put(other, b"other").status == 201
    assert late.send(body).status == 201
    assert (call("GET", f"/{name}").body, call("GET", f"/{other}").body) == (body, b"other")
    assert {b.name for b in container.list_blobs()} == {name, other}


@pytest.mark.parametrize("how, code", [
    ({"if_none_match": "*"}, "BlobAlreadyExists"),
    ({}, "LeaseIdMissing"),
])  # fmt: skip
def test_a_large_blob_that_was_begun_aside_meets_the_blob_that_came_meanwhile(daemon, container, call, put, how, code):
    body = b"x" * 300_000
    assert put("a").status == 201  # so that the file of a/b cannot be in its own place
    late = TwoParts(daemon.blob, "PUT", f"/{container.container_name}/a/b", len(body), x_ms_blob_type="BlockBlob", **how)
    assert call("DELETE", "/a").status == 202
    assert put("a/b", b"small").status == 201
    leased = call("PUT", "/a/b?comp=lease", x_ms_lease_action="acquire", x_ms_lease_duration="-1")
    assert leased.status == 201
    assert late.send(body).code == code
    got = call("GET", "/a/b")
    assert (got.body, got.headers["x-ms-lease-state"]) == (b"small", "leased")
    container.get_blob_client("a/b").delete_blob(lease=leased.headers["x-ms-lease-id"])


@pytest.mark.parametrize("is_made_again", [False, True])
def test_a_large_blob_that_was_begun_aside_is_the_only_one_of_its_name(daemon, container, call, put, is_made_again):
    body = b"x" * 300_000
    assert put("a").status == 201
    late = TwoParts(daemon.blob, "PUT", f"/{container.container_name}/a/b", len(body), x_ms_blob_type="BlockBlob")
    assert call("DELETE", "/a").status == 202
    if is_made_again:
        assert put("a/b", b"small").status == 201
    assert late.send(body).status == 201
    assert call("GET", "/a/b").body == body
    assert [(b.name, b.size) for b in container.list_blobs()] == [("a/b", len(body))]
    assert call("DELETE", "/a/b").status == 202
    assert call("GET", "/a/b").status == 404


def test_a_large_blob_whose_place_is_taken_on_another_disk_is_sent_again(daemon, client):
    body = b"x" * 300_000
    with TemporaryDirectory(dir="/dev/shm") as disk:
        place = daemon.folder / "blobs" / "elsewhere"
        assert client.create_container("elsewhere")
        place.rmdir()
        place.symlink_to(disk)
        late = TwoParts(daemon.blob, "PUT", "/elsewhere/a", len(body), x_ms_blob_type="BlockBlob")
        assert daemon.blob.call("PUT", "/elsewhere/a/b", b"b", x_ms_blob_type="BlockBlob").status == 201
        got = late.send(body)
        assert (got.status, got.code) == (503, "ServerBusy")
        assert daemon.blob.call("PUT", "/elsewhere/a", body, x_ms_blob_type="BlockBlob").status == 201
        assert daemon.blob.call("GET", "/elsewhere/a").body == body
        assert daemon.blob.call("PUT", "/elsewhere/c", b"c", x_ms_blob_type="BlockBlob").status == 201
        late = TwoParts(daemon.blob, "PUT", "/elsewhere/c/d", len(body), x_ms_blob_type="BlockBlob")
        assert daemon.blob.call("DELETE", "/elsewhere/c").status == 202
        assert daemon.blob.call("PUT", "/elsewhere/c/d", b"d", x_ms_blob_type="BlockBlob").status == 201
        got = late.send(body)
        assert (got.status, got.code) == (503, "ServerBusy")
        assert daemon.blob.call("GET", "/elsewhere/c/d").body == b"d"
        client.delete_container("elsewhere")


def test_a_container_has_one_name(daemon, container):
    again = daemon.blob.call("PUT", f"/{container.container_name}?restype=container")
    assert (again.status, again.code) == (409, "ContainerAlreadyExists")
    bad = daemon.blob.call("PUT", "/Bad_Name?restype=container")
    assert (bad.status, bad.code) == (400, "InvalidResourceName")


def test_a_blob_is_a_file_of_the_containers_folder(daemon, container):
    container.upload_blob("logs/day 1.txt", b"hello")
    assert (daemon.folder / "blobs" / container.container_name / "logs" / "day 1.txt").read_bytes() == b"hello"


def test_a_file_that_a_job_wrote_is_a_blob(daemon, container):
    file = daemon.folder / "blobs" / container.container_name / "model.bin"
    file.write_bytes(b"weights")
    blob = container.get_blob_client("model.bin")
    assert blob.download_blob().readall() == b"weights"
    first = blob.get_blob_properties()
    assert first.blob_type == "BlockBlob" and first.size == 7
    file.write_bytes(b"weight2")
    assert blob.get_blob_properties().etag != first.etag


@pytest.mark.parametrize("size", [0, 1, 256 << 10, (256 << 10) + 1, 5_000_000])
def test_bytes_come_back_as_they_were(container, size):
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    made = container.upload_blob("b", body, metadata={"size": str(size)})
    shown = made.get_blob_properties()
    assert made.download_blob().readall() == body
    assert shown.size == size and shown.metadata == {"size": str(size)}
    assert bytes(shown.content_settings.content_md5) == hashlib.md5(body).digest()


def test_a_part_of_a_blob(call, put):
    put("b", b"0123456789")
    got = call("GET", "/b", x_ms_range="bytes=2-4", Range="bytes=7-9")
    assert (got.status, got.body, got.headers["Content-Range"]) == (206, b"234", "bytes 2-4/10")
    beyond = call("GET", "/b", x_ms_range="bytes=10-")
    assert (beyond.status, beyond.code, beyond.headers["Content-Range"]) == (416, "InvalidRange", "bytes */10")


NAMES = ["a", "a/b", "a//b", "..", "../x", "./y", "a/", "/a", "é ü%+x", "n" * 300, "q?x", "a/../b", "%2e%2e"]


def test_names_may_be_anything(daemon, container, put, call):
    for name in NAMES:
        assert put(encoded(name).replace("//", "/%2F"), name.encode()).status == 201, name
    for name in NAMES:
        got = call("GET", "/" + encoded(name).replace("//", "/%2F"))
        assert (got.status, got.body) == (200, name.encode()), name
    folder = daemon.folder / "blobs" / container.container_name
    assert not (folder.parent / "x").exists() and not (folder / "y").exists()
    for name in NAMES:
        assert call("DELETE", "/" + encoded(name).replace("//", "/%2F")).status == 202, name
    for name in NAMES:
        assert call("GET", "/" + encoded(name).replace("//", "/%2F")).code == "BlobNotFound", name


def test_a_name_has_at_most_1024_characters(put):
    refused = put("%C3%A9" * 1025)
    assert (refused.status, refused.code) == (400, "InvalidResourceName")


def test_a_new_version_replaces_all_of_the_old_one(call, put):
    put("b", b"first", x_ms_meta_one="1", x_ms_blob_content_type="text/plain", x_ms_blob_cache_control="no-store")
    put("b", b"second", x_ms_meta_two="2")
    got = call("GET", "/b")
    assert got.body == b"second"
    assert got.headers["Content-Type"] == "application/octet-stream"
    assert got.headers["x-ms-meta-two"] == "2"
    assert got.headers["x-ms-meta-one"] is None and got.headers["Cache-Control"] is None


def test_a_large_version_that_is_replaced_is_closed_after_the_answer(daemon, call, put):
    def open_files():
        return subprocess.run(["ls", "-l", f"/proc/{daemon.process.pid}/fd"], capture_output=True, text=True).stdout

    old, new = (bytes([n]) * (9 << 20) for n in (1, 2))
    assert put("large", old).status == put("large", new).status == put("large", old).status == 201
    assert call("GET", "/large").body == old
    wait_for(lambda: "(deleted)" not in open_files(), what=open_files)


def test_a_wrong_md5_leaves_what_was_there(call, put):
    put("b", b"old")
    wrong = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    refused = put("b", b"new", Content_MD5=wrong)
    assert (refused.status, refused.code) == (400, "Md5Mismatch")
    refused = put("b", b"new" * 200_000, Content_MD5=wrong)
    assert (refused.status, refused.code) == (400, "Md5Mismatch")
    assert put("b", b"new", Content_MD5="AAAA").code == "InvalidMd5"
    assert call("GET", "/b").body == b"old"


def test_conditions(call, put):
    etag = put("b", b"1").headers["ETag"]
    assert put("b", b"2", If_None_Match="*").code == "BlobAlreadyExists"
    assert put("new", b"2", If_None_Match="*").status == 201
    assert put("b", b"2", If_Match='"0x8000000000"').code == "ConditionNotMet"
    assert put("gone", b"2", If_Match="*").status == 412
    assert put("b", b"2", If_Match=etag).status == 201
    assert put("b", b"3", If_Match=etag).status == 412
    etag = call("HEAD", "/b").headers["ETag"]
    same = call("GET", "/b", If_None_Match=etag)
    assert (same.status, same.code, same.body) == (304, "ConditionNotMet", b"")
    assert call("GET", "/b", If_Match=etag).status == 200
    assert call("GET", "/b", If_Modified_Since="Thu, 01 Jan 2037 00:00:00 GMT").status == 304
    assert call("GET", "/b", If_Unmodified_Since="Thu, 01 Jan 2015 00:00:00 GMT").status == 412
    assert call("GET", "/b", If_Modified_Since="yesterday").code == "InvalidHeaderValue"
    assert call("DELETE", "/b", If_Match='"0x1"').status == 412
    assert call("GET", "/b").body == b"2"


def test_properties_and_metadata_change_the_etag(container):
    blob = container.upload_blob("b", b"x")
    first = blob.get_blob_properties()
    blob.set_blob_metadata({"Name": "ü"[:0] + "v"})
    second = blob.get_blob_properties()
    assert second.metadata == {"Name": "v"} and second.etag != first.etag
    assert bytes(second.content_settings.content_md5) == hashlib.md5(b"x").digest()


def test_page_blobs_are_refused_by_name(call):
    got = call("PUT", "/p", x_ms_blob_type="PageBlob", x_ms_blob_content_length="512")
    assert (got.status, got.code) == (400, "UnsupportedHeader")
    assert b"PageBlob" in got.body


def test_each_reply_has_the_services_headers(call, put):
    put("b")
    got = call("GET", "/b", x_ms_client_request_id="mine")
    assert got.headers["x-ms-version"] == "2021-12-02"
    assert got.headers["x-ms-client-request-id"] == "mine"
    assert got.headers["Server"].startswith("Windows-Azure-Blob/1.0")
    assert got.headers["x-ms-request-id"] and got.headers["Cache-Control"] is None


def test_a_blob_survives_kill_9(container, daemon, put, call):
    assert put("kept", b"k" * 1000, x_ms_meta_a="b").status == 201
    daemon.crash()
    got = call("GET", "/kept")
    assert got.body == b"k" * 1000 and got.headers["x-ms-meta-a"] == "b"


def test_a_client_that_hangs_up_in_the_middle_leaves_the_old_blob(daemon, container, put, call):
    put("b", b"old")
    path = f"/{ACCOUNT}/{container.container_name}/b"
    for size in (1000, 2_000_000):
        headers = {"x-ms-blob-type": "BlockBlob", "x-ms-version": "2021-12-02", "Content-Length": str(size)}
        headers["x-ms-date"] = formatdate(usegmt=True)
        headers["Authorization"] = sign("PUT", path, headers)
        c = http.client.HTTPConnection("127.0.0.1", daemon.blob.port, timeout=10)
        c.putrequest("PUT", path)
        for k, v in headers.items():
            c.putheader(k, v)
        c.endheaders(b"n" * (size // 2))
        c.close()
    assert call("GET", "/b").body == b"old"
    folder = daemon.folder / "blobs" / container.container_name
    assert sorted(p.name for p in folder.iterdir()) == ["b"]


def names(container, **how):
    return [b.name for b in container.list_blobs(**how)]


LISTED = ["B", "a", "a-b", "a.txt", "a/", "a//b", "a/b", "a/c/d", "a0", "b/é", "b/ü.txt", "n" * 300]


def test_a_list_is_in_the_order_of_bytes(daemon, container, put):
    for name in LISTED:
        assert put(encoded(name).replace("//", "/%2F")).status == 201, name
    (daemon.folder / "blobs" / container.container_name / "empty" / "directory").mkdir(parents=True)
    expected = sorted(LISTED, key=str.encode)
    assert names(container) == expected
    for size in (1, 2, 3, 5):
        pages = [list(p) for p in container.list_blobs(results_per_page=size).by_page()]
        assert [b.name for p in pages for b in p] == expected, size
        assert all(len(p) <= size for p in pages)
    assert names(container, name_starts_with="a/") == [n for n in expected if n.startswith("a/")]
    assert names(container, name_starts_with="zz") == []


def test_a_delimiter_makes_groups(container, put):
    for name in LISTED:
        put(encoded(name).replace("//", "/%2F"))
    for size in (1, 2, 4, 100):
        pages = container.walk_blobs(results_per_page=size).by_page()
        walked = [n for p in pages for n in sorted((i.name for i in p), key=str.encode)]  # groups come first in a page
        assert walked == sorted(["B", "a", "a-b", "a.txt", "a/", "a0", "b/", "n" * 300], key=str.encode), size
    for size in (1, 2, 100):
        pages = container.walk_blobs(name_starts_with="a/", results_per_page=size).by_page()
        assert sorted(i.name for p in pages for i in p) == ["a/", "a//", "a/b", "a/c/"], size


def test_a_name_that_ends_in_the_delimiter_is_in_its_group(container, put):
    def listed(prefix=""):
        return [(i.name, isinstance(i, BlobPrefix)) for i in container.walk_blobs(name_starts_with=prefix)]

    put("dir%2F")
    assert listed() == [("dir/", True)]
    put("dir%2F%2Fx")
    assert listed() == [("dir/", True)]
    assert sorted(listed("dir/")) == [("dir/", False), ("dir//", True)]


def test_a_list_has_what_is_known_of_each(container):
    container.upload_blob("x", b"12345", metadata={"k": "<v>"})
    (shown,) = container.list_blobs(include=["metadata"])
    blob = container.get_blob_client("x").get_blob_properties()
    assert (shown.size, shown.metadata, shown.blob_type) == (5, {"k": "<v>"}, "BlockBlob")
    assert shown.etag == blob.etag.strip('"') and shown.last_modified == blob.last_modified
    assert shown.content_settings.content_md5 == blob.content_settings.content_md5


def test_containers_are_listed_by_name(client):
    for n in ("list-b", "list-a", "list-c"):
        client.create_container(n, metadata={"n": n[-1]})
    got = list(client.list_containers(name_starts_with="list-", include_metadata=True, results_per_page=2))
    assert [(c.name, c.metadata) for c in got] == [(f"list-{n}", {"n": n}) for n in "abc"]
    for c in got:
        client.delete_container(c.name)


@pytest.mark.parametrize("query, code", [
    ("maxresults=0", "OutOfRangeQueryParameterValue"),
    ("maxresults=x", "OutOfRangeQueryParameterValue"),
    ("marker=nonsense", "InvalidQueryParameterValue"),
    ("marker=00", "InvalidQueryParameterValue"),
    ("comp=wrong", "InvalidQueryParameterValue"),
])  # fmt: skip
def test_a_bad_list(call, query, code):
    query = query if "comp=" in query else f"comp=list&{query}"
    assert call("GET", f"?restype=container&{query}").code == code


def test_tags_and_tiers_are_noted(container, call, put):
    blob = container.upload_blob("b", b"x", tags={"project": "a b", "n": "1"}, standard_blob_tier=StandardBlobTier.Cool)
    shown = blob.get_blob_properties()
    assert shown.tag_count == 2 and shown.blob_tier == "Cool" and not shown.blob_tier_inferred
    assert blob.get_blob_tags() == {"project": "a b", "n": "1"}
    blob.set_blob_tags({"only": "one"})
    blob.set_standard_blob_tier("Hot")
    blob.set_http_headers()
    shown = blob.get_blob_properties()
    assert shown.tag_count == 1 and (shown.blob_tier, shown.blob_tier_inferred) == ("Hot", None)
    (listed,) = container.list_blobs(include=["tags"])
    assert listed.tags == {"only": "one"}
    assert put("c", x_ms_tags="&".join(f"k{n}=v" for n in range(11))).code == "TagsTooLarge"
    assert put("c", x_ms_tags="a=b&a=c").code == "InvalidTags"
    assert put("c", x_ms_access_tier="Frozen").code == "InvalidHeaderValue"


def test_tags_are_read_as_each_sdk_encodes_them(container, put):
    for name, tags in (("go", "a+b=c+d%2Be"), ("python", "a%20b=c%20d%2Be"), ("mixed", "a+b=c%20d%2Be")):
        assert put(name, x_ms_tags=tags).status == 201
        assert container.get_blob_client(name).get_blob_tags() == {"a b": "c d+e"}, name


def test_what_tools_ask_of_an_account(client, container):
    info = client.get_account_information()
    assert (info["sku_name"], info["account_kind"]) == ("Standard_LRS", "StorageV2")
    assert container.get_account_information()["sku_name"] == info["sku_name"]
    assert client.get_service_properties()["cors"] == []


def test_a_copy_is_whole_and_has_what_the_source_had(container, call, put, daemon):
    source = container.upload_blob("dir/a", b"bytes" * 100_000, metadata={"k": "v"})
    copy = container.get_blob_client("b/copy")
    done = copy.start_copy_from_url(source.url)
    assert done["copy_status"] == "success"
    shown = copy.get_blob_properties()
    assert copy.download_blob().readall() == b"bytes" * 100_000
    assert shown.metadata == {"k": "v"} and shown.copy.id == done["copy_id"] and shown.copy.source == source.url
    assert shown.content_settings.content_md5 == source.get_blob_properties().content_settings.content_md5
    copy.start_copy_from_url(source.url, metadata={"own": "1"})
    assert copy.get_blob_properties().metadata == {"own": "1"}
    put("a%2F%2Fb", b"aside")
    url = f"{daemon.blob.url}/{container.container_name}"
    assert call("PUT", "/plain", x_ms_copy_source=f"{url}/a%2F%2Fb").status == 202
    assert call("PUT", "/%2Fodd%2F", x_ms_copy_source=f"{url}/plain").status == 202
    assert call("GET", "/%2Fodd%2F").body == b"aside"
    assert call("PUT", "/plain", x_ms_copy_source=f"{url}/plain", x_ms_meta_a="b").status == 202
    assert call("GET", "/plain").body == b"aside" and call("HEAD", "/plain").headers["x-ms-meta-a"] == "b"


def test_a_copy_that_cannot_be(daemon, container, call, put):
    put("a", b"x")
    put("there", b"old")
    url = f"{daemon.blob.url}/{container.container_name}"
    for source, code in (
        (f"{url}/none", "CannotVerifyCopySource"),
        (f"{daemon.blob.url}/nowhere/a", "CannotVerifyCopySource"),
        (url.replace(ACCOUNT, "another1") + "/a", "CannotVerifyCopySource"),
        ("nonsense", "InvalidHeaderValue"),
        ("ftp://x/y/z", "InvalidHeaderValue"),
        (f"{url}/../../../../etc/passwd", "CannotVerifyCopySource"),
    ):
        assert call("PUT", "/there", x_ms_copy_source=source).code == code, source
    held = call("PUT", "/there", x_ms_copy_source=f"{url}/a", x_ms_source_if_match='"0x1"')
    assert held.code == "SourceConditionNotMet"
    assert call("PUT", "/there", x_ms_copy_source=f"{url}/a", If_None_Match="*").code == "BlobAlreadyExists"
    assert call("GET", "/there").body == b"old"
    assert call("PUT", "/there?comp=copy&copyid=1", x_ms_copy_action="abort").code == "NoPendingCopyOperation"
