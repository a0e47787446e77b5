# SPDX-License-Identifier: MIT
"""Blobs: containers are folders, and blobs the files in them."""

import base64
import hashlib

import pytest
from azure.storage.blob import BlobServiceClient
from support.storage import ACCOUNT, KEY, StorageDaemon, encoded


@pytest.fixture(scope="module")
def daemon():
    with StorageDaemon() as d:
        yield d


@pytest.fixture
def client(daemon):
    return BlobServiceClient(daemon.blob.url, credential=KEY, max_single_put_size=8 << 20)


@pytest.fixture
def container(client, request):
    name = "c" + hashlib.sha256(request.node.name.encode()).hexdigest()[:20]
    c = client.create_container(name)
    yield c
    c.delete_container()


@pytest.fixture
def put(daemon, container):
    """Puts a blob by its name as it stands in a URL."""

    def put(name, body=b"bytes", **headers):
        path = f"/{container.container_name}/{name}"
        return daemon.blob.call("PUT", path, body, x_ms_blob_type="BlockBlob", **headers)

    return put


@pytest.fixture
def call(daemon, container):
    def call(method, name, body=b"", **headers):
        return daemon.blob.call(method, f"/{container.container_name}{name}", body, **headers)

    return call


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


def test_what_is_public_is_read_without_a_key(daemon, client):
    for access, blob, props in (("blob", 200, 401), ("container", 200, 401), (None, 401, 401)):
        c = client.create_container(f"public-{access or 'none'}".lower(), public_access=access)
        c.upload_blob("b", b"x")
        path = f"/{c.container_name}"
        assert daemon.blob.call("GET", path + "/b", signed=False).status == blob
        assert daemon.blob.call("PUT", path + "/b", b"y", signed=False, x_ms_blob_type="BlockBlob").status == 401
        c.delete_container()


def test_a_wrong_signature_is_answered_with_what_was_signed(daemon):
    got = daemon.blob.call("GET", "/c?restype=container", key=base64.b64encode(b"wrong").decode())
    assert (got.status, got.code) == (403, "AuthenticationFailed")
    assert f"/{ACCOUNT}/{ACCOUNT}/c\nrestype:container'".encode() in got.body
    assert daemon.blob.call("GET", "/c?restype=container", signed=False).status == 401


def test_a_request_from_long_ago_is_refused(daemon):
    got = daemon.blob.call("GET", "/c?restype=container", x_ms_date="Thu, 07 Jun 2018 21:34:00 GMT")
    assert got.status == 403 and b"too old" in got.body


def test_each_reply_has_the_services_headers(call, put):
    put("b")
    got = call("GET", "/b", x_ms_client_request_id="mine")
    assert got.headers["x-ms-version"] == "2021-12-02"
    assert got.headers["x-ms-client-request-id"] == "mine"
    assert got.headers["Server"].startswith("Windows-Azure-Blob/1.0")
    assert got.headers["x-ms-request-id"] and got.headers["Cache-Control"] is None


def test_a_blob_survives_kill_9(container, daemon, put, call):
    assert put("kept", b"k" * 1000, x_ms_meta_a="b").status == 201
    daemon.kill9()
    daemon.start()
    got = call("GET", "/kept")
    assert got.body == b"k" * 1000 and got.headers["x-ms-meta-a"] == "b"


def test_a_client_that_hangs_up_in_the_middle_leaves_the_old_blob(daemon, container, put, call):
    import http.client

    from support.storage import sign

    put("b", b"old")
    path = f"/{ACCOUNT}/{container.container_name}/b"
    for size in (1000, 2_000_000):
        headers = {"x-ms-blob-type": "BlockBlob", "x-ms-version": "2021-12-02", "Content-Length": str(size)}
        from email.utils import formatdate

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
    below = sorted(i.name for i in container.walk_blobs(name_starts_with="a/"))
    assert below == ["a/", "a//", "a/b", "a/c/"]


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


def block_id(n):
    return base64.b64encode(f"{n:06}".encode()).decode()


def block_list(*entries):
    """Of ("Latest", 3) and the like."""
    inner = "".join(f"<{kind}>{block_id(n)}</{kind}>" for kind, n in entries)
    return f'<?xml version="1.0" encoding="utf-8"?><BlockList>{inner}</BlockList>'.encode()


@pytest.fixture
def stage(call):
    def stage(name, n, body, **headers):
        from urllib.parse import quote_plus

        return call("PUT", f"/{name}?comp=block&blockid={quote_plus(block_id(n))}", body, **headers)

    return stage


def test_blocks_become_a_blob_when_they_are_committed(call, stage, container):
    for n, body in ((2, b"second"), (1, b"first "), (3, b"unused")):
        assert stage("b", n, body).status == 201
    assert call("GET", "/b").code == "BlobNotFound" and names(container) == []
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
    daemon.kill9()
    daemon.start()
    assert call("PUT", "/b?comp=blocklist", block_list(("Latest", 1))).status == 201
    assert call("GET", "/b").body == b"kept"


def refused(do, *arguments, **named):
    """The code with which a call of the SDK is refused."""
    from azure.core.exceptions import HttpResponseError

    with pytest.raises(HttpResponseError) as e:
        do(*arguments, **named)
    return e.value.error_code


def test_a_leased_blob_is_its_holders(container):
    blob = container.upload_blob("b", b"1")
    lease = blob.acquire_lease(-1)
    assert refused(blob.acquire_lease, 15) == "LeaseAlreadyPresent"
    assert refused(blob.upload_blob, b"2", overwrite=True) == "LeaseIdMissing"
    assert refused(blob.delete_blob) == "LeaseIdMissing"
    assert refused(blob.set_blob_metadata, {"a": "b"}, lease="00000000-0000-4000-8000-000000000000") == (
        "LeaseIdMismatchWithBlobOperation"
    )
    assert blob.download_blob().readall() == b"1"
    blob.upload_blob(b"2", overwrite=True, lease=lease)
    shown = blob.get_blob_properties().lease
    assert (shown.status, shown.state, shown.duration) == ("locked", "leased", "infinite")
    first = lease.id
    lease.change("11111111-2222-4333-8444-555555555555")
    assert lease.id != first
    lease.renew()
    assert lease.break_lease(lease_break_period=0) == 0
    assert blob.get_blob_properties().lease.state == "broken"
    assert refused(lease.renew) == "LeaseIsBrokenAndCannotBeRenewed"
    again = blob.acquire_lease(15)
    again.release()
    assert blob.get_blob_properties().lease.state == "available"
    blob.upload_blob(b"3", overwrite=True)
    assert refused(blob.delete_blob, lease=first) == "LeaseNotPresentWithBlobOperation"


def test_a_leased_container_is_not_deleted(client):
    c = client.create_container("leased")
    lease = c.acquire_lease(60)
    c.upload_blob("b", b"x")
    assert refused(c.delete_container) == "LeaseIdMissing"
    assert c.get_container_properties().lease.duration == "fixed"
    c.delete_container(lease=lease)


def test_a_bad_lease(call, put):
    put("b")
    for headers, code in (
        ({}, "MissingRequiredHeader"),
        ({"x_ms_lease_action": "borrow"}, "InvalidHeaderValue"),
        ({"x_ms_lease_action": "acquire"}, "MissingRequiredHeader"),
        ({"x_ms_lease_action": "acquire", "x_ms_lease_duration": "14"}, "InvalidHeaderValue"),
        ({"x_ms_lease_action": "acquire", "x_ms_lease_duration": "-1", "x_ms_proposed_lease_id": "x"}, "InvalidHeaderValue"),
        ({"x_ms_lease_action": "renew"}, "MissingRequiredHeader"),
        ({"x_ms_lease_action": "break"}, "LeaseNotPresentWithLeaseOperation"),
    ):
        assert call("PUT", "/b?comp=lease", **headers).code == code, headers


def signed_url(base, **how):
    from datetime import datetime, timedelta

    from azure.storage.blob import generate_blob_sas, generate_container_sas

    how = {"account_name": ACCOUNT, "account_key": KEY, "expiry": datetime.utcnow() + timedelta(hours=1), **how}
    make = generate_blob_sas if "blob_name" in how else generate_container_sas
    return base + "?" + make(**how)


def test_a_signature_grants_what_it_says(daemon, container):
    from azure.storage.blob import BlobClient, ContainerClient

    name = container.container_name
    container.upload_blob("dir/b", b"x")
    url = f"{daemon.blob.url}/{name}/dir/b"
    read = BlobClient.from_blob_url(
        signed_url(url, container_name=name, blob_name="dir/b", permission="r", content_type="text/x", cache_control="c")
    )
    got = read.download_blob()
    assert got.readall() == b"x" and got.properties.content_settings.content_type == "text/x"
    assert refused(read.upload_blob, b"y", overwrite=True) == "AuthorizationPermissionMismatch"
    other = BlobClient.from_blob_url(read.url.replace("dir/b", "dir/c"))
    assert refused(other.download_blob) == "AuthenticationFailed"
    create = BlobClient.from_blob_url(
        signed_url(url, container_name=name, blob_name="dir/b", permission="c").replace("/dir/b?", "/dir/b?")
    )
    assert refused(create.upload_blob, b"y", overwrite=True) == "AuthorizationPermissionMismatch"
    listing = ContainerClient.from_container_url(
        signed_url(f"{daemon.blob.url}/{name}", container_name=name, permission="l")
    )
    assert [b.name for b in listing.list_blobs()] == ["dir/b"]
    assert refused(listing.delete_container) == "AuthorizationPermissionMismatch"


def test_a_signature_of_the_account(daemon, client, container):
    from datetime import datetime, timedelta

    from azure.storage.blob import generate_account_sas

    def sas(**how):
        how = {"resource_types": "sco", "permission": "rl", "expiry": datetime.utcnow() + timedelta(hours=1), **how}
        return BlobServiceClient(daemon.blob.url, credential=generate_account_sas(ACCOUNT, KEY, **how))

    container.upload_blob("b", b"x")
    path = (container.container_name, "b")
    assert sas().get_blob_client(*path).download_blob().readall() == b"x"
    assert refused(sas(resource_types="c").get_blob_client(*path).download_blob) == "AuthorizationResourceTypeMismatch"
    assert refused(sas(permission="l").get_blob_client(*path).download_blob) == "AuthorizationPermissionMismatch"
    assert refused(sas(ip="10.0.0.1").get_blob_client(*path).download_blob) == "AuthorizationSourceIPMismatch"
    assert refused(sas(protocol="https").get_blob_client(*path).download_blob) == "AuthorizationProtocolMismatch"
    past = datetime.utcnow() - timedelta(hours=1)
    assert refused(sas(expiry=past).get_blob_client(*path).download_blob) == "AuthenticationFailed"


def test_a_stored_policy_is_used_and_taken_back(daemon, container):
    from datetime import datetime, timedelta

    from azure.storage.blob import AccessPolicy, BlobClient, generate_blob_sas

    name = container.container_name
    container.upload_blob("b", b"x")
    policy = AccessPolicy(permission="r", expiry=datetime.utcnow() + timedelta(hours=1))
    container.set_container_access_policy({"readers": policy})
    assert [p.id for p in container.get_container_access_policy()["signed_identifiers"]] == ["readers"]
    sas = generate_blob_sas(ACCOUNT, name, "b", account_key=KEY, policy_id="readers")
    blob = BlobClient.from_blob_url(f"{daemon.blob.url}/{name}/b?{sas}")
    assert blob.download_blob().readall() == b"x"
    container.set_container_access_policy({})
    assert refused(blob.download_blob) == "AuthenticationFailed"


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


def test_many_append_and_nothing_is_lost(container):
    from concurrent.futures import ThreadPoolExecutor

    blob = container.get_blob_client("log")
    blob.create_append_blob()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: blob.append_block(b"%03d\n" % n), range(60)))
    lines = blob.download_blob().readall().split()
    assert sorted(lines) == [b"%03d" % n for n in range(60)]
    assert blob.get_blob_properties().append_blob_committed_block_count == 60


def test_of_many_who_make_a_blob_one_does(container):
    from concurrent.futures import ThreadPoolExecutor

    from azure.core.exceptions import ResourceExistsError

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
