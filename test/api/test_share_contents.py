# SPDX-License-Identifier: MIT
"""Azure Files: what is in shares, listed, described, leased and removed."""

import base64
import hashlib
import os
import subprocess
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from unittest.mock import ANY
from uuid import uuid4

import pytest
import requests
from azure.multiapi.storage.v2018_11_09.file import FileService
from azure.storage.fileshare import (
    AccessPolicy,
    ContentSettings,
    NTFSAttributes,
    ShareLeaseClient,
    ShareSasPermissions,
    ShareServiceClient,
    generate_share_sas,
)
from support.accounts import Accounts, account_name
from support.crc64 import crc64
from support.hanging import hanging_folder
from support.shares import call, client, daemon, folder, refused, share  # noqa: F401 fixtures
from support.storage import ACCOUNT, KEY
from support.waiting import wait_for


def xml(answer):
    assert answer.body.startswith(b"\xef\xbb\xbf<?xml")
    assert answer.headers["Content-Type"] == "application/xml"
    return ET.fromstring(answer.body.decode("utf-8-sig"))


# --- lists ------------------------------------------------------------------------------------


def test_shares_are_listed_page_by_page(client, daemon):
    names = [f"list-{i}" for i in range(5)]
    for name in names:
        client.create_share(name, metadata={"n": name}, quota=3)
    pages = list(client.list_shares(name_starts_with="list-", include_metadata=True, results_per_page=2).by_page())
    found = [s for page in pages for s in page]
    assert [s.name for s in found] == names and len(pages) == 3
    assert found[1].metadata == {"n": "list-1"} and found[1].quota == 3
    assert found[0].etag.startswith('"0x') and found[0].lease.state == "available"
    for name in names:
        client.delete_share(name)
    none = daemon.file.call("GET", "/?comp=list&maxresults=0")
    assert (none.status, none.code) == (400, "OutOfRangeQueryParameterValue")
    assert daemon.file.call("GET", "/?comp=list&marker=x").code == "InvalidQueryParameterValue"


def test_a_directory_is_listed_in_order_and_in_pages(share, folder, call):
    root = share.get_directory_client("")
    for name in ("b", "a-1", "ä"):
        root.create_subdirectory(name)
    for name in ("a", "a.txt", "Z", "c d&e"):
        (folder / name).write_bytes(b"x" * len(name))
    (folder / "out").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    entries = xml(call("GET", "?restype=directory&comp=list")).find("Entries")
    assert [(e.tag, e.findtext("Name")) for e in entries] == [
        ("File", "Z"),
        ("File", "a"),
        ("Directory", "a-1"),
        ("File", "a.txt"),
        ("Directory", "b"),
        ("File", "c d&e"),
        ("Directory", "ä"),
    ]
    sizes = {f["name"]: f["size"] for f in root.list_directories_and_files() if not f["is_directory"]}
    assert sizes == {"Z": 1, "a": 1, "a.txt": 5, "c d&e": 5}
    pages = list(root.list_directories_and_files(results_per_page=3).by_page())
    assert [sorted(f["name"] for f in page) for page in pages] == [["Z", "a", "a-1"], ["a.txt", "b", "c d&e"], ["ä"]]
    # This client sends something else for the prefix of a second page.
    first = xml(call("GET", "?restype=directory&comp=list&prefix=a&maxresults=2"))
    assert [e.text for e in first.findall("Entries/*/Name")] == ["a", "a-1"]
    rest = call("GET", f"?restype=directory&comp=list&prefix=a&maxresults=2&marker={first.findtext('NextMarker')}")
    assert [e.text for e in xml(rest).findall("Entries/*/Name")] == ["a.txt"]
    assert not xml(rest).findtext("NextMarker")


def test_a_list_says_what_it_is_asked(call, folder):
    (folder / "d").mkdir()
    (folder / "d" / "f").write_bytes(b"12345")
    plain = xml(call("GET", "/d?restype=directory&comp=list"))
    assert plain.get("DirectoryPath") == "d" and plain.get("ServiceEndpoint").endswith("/")
    assert [e.tag for e in plain.find("Entries/File")] == ["Name", "Properties"]
    rich = call("GET", "/d?restype=directory&comp=list&include=Timestamps,ETag,Attributes,PermissionKey")
    file = xml(rich).find("Entries/File")
    assert file.findtext("FileId") == str((folder / "d" / "f").stat().st_ino)
    assert file.findtext("Attributes") == "Archive"
    assert file.findtext("Properties/Content-Length") == "5"
    head = call("HEAD", "/d/f")
    assert file.findtext("Properties/Etag") == head.headers["ETag"]
    assert file.findtext("Properties/LastWriteTime") == head.headers["x-ms-file-last-write-time"]
    assert file.findtext("Properties/CreationTime") == head.headers["x-ms-file-creation-time"]
    assert call("GET", "/d/f?restype=directory&comp=list").code == "ResourceNotFound"
    assert call("GET", "/no?restype=directory&comp=list").code == "ResourceNotFound"
    assert call("GET", "/d?restype=directory&comp=list&marker=%25zz").code == "InvalidQueryParameterValue"


def test_ten_thousand_entries_come_in_order(share, folder):
    made = sorted(f"f{i * 7919 % 10000:05d}" for i in range(10000))
    (folder / made[0]).touch()
    for name in made[1:]:
        os.link(folder / made[0], folder / name)
    found = [f["name"] for f in share.get_directory_client("").list_directories_and_files()]
    assert found == made


# --- removed ----------------------------------------------------------------------------------


def test_what_is_removed_is_gone(share, folder, call):
    d = share.create_directory("d", metadata={"a": "b"})
    f = d.upload_file("f", b"data", metadata={"c": "d"})
    assert refused("DirectoryNotEmpty", d.delete_directory).status_code == 409
    assert call("DELETE", "/d").code == "ResourceNotFound"  # it is no file
    assert call("DELETE", "/d/f?restype=directory").code == "ResourceNotFound"
    f.delete_file()
    assert refused("ResourceNotFound", f.delete_file).status_code == 404
    d.delete_directory()
    assert list(folder.iterdir()) == []
    d.create_directory()
    assert d.get_directory_properties().metadata == {}  # not that of the one before
    assert call("DELETE", "/no/where").code == "ParentNotFound"


# --- described --------------------------------------------------------------------------------


def test_metadata_is_set_whole(share, call):
    f = share.get_file_client("f")
    f.create_file(3, metadata={"one": "1", "Two": "2"})
    before = f.get_file_properties()
    f.set_file_metadata({"three": "3"})
    after = f.get_file_properties()
    assert after.metadata == {"three": "3"} and after.etag != before.etag
    assert call("GET", "/f?comp=metadata").headers["x-ms-meta-three"] == "3"
    d = share.create_directory("d")
    d.set_directory_metadata({"k": "v"})
    assert d.get_directory_properties().metadata == {"k": "v"}
    share.set_share_metadata({"s": "t"})
    assert share.get_share_properties().metadata == {"s": "t"}


def test_headers_of_content_are_set_all_or_none(share, call):
    f = share.get_file_client("f")
    f.upload_file(
        b"data",
        content_settings=ContentSettings(
            content_type="text/x-one", cache_control="no-store", content_md5=bytearray(hashlib.md5(b"data").digest())
        ),
    )
    shown = f.get_file_properties().content_settings
    assert (shown.content_type, shown.cache_control) == ("text/x-one", "no-store")
    assert bytes(shown.content_md5) == hashlib.md5(b"data").digest()
    f.resize_file(2)
    kept = f.get_file_properties()
    assert kept.size == 2 and kept.content_settings.content_type == "text/x-one"
    f.set_http_headers(ContentSettings(content_language="de"))
    shown = f.get_file_properties().content_settings
    assert shown.content_language == "de" and shown.cache_control is None and shown.content_md5 is None
    assert shown.content_type is None
    assert f.download_file().readall() == b"da"


def test_what_a_job_writes_has_no_md5_and_another_etag(share, folder):
    f = share.get_file_client("f")
    md5 = bytearray(hashlib.md5(b"data").digest())
    f.upload_file(b"data", metadata={"k": "v"}, content_settings=ContentSettings(content_md5=md5))
    before = f.get_file_properties()
    (folder / "f").write_bytes(b"other")
    after = f.get_file_properties()
    assert after.etag != before.etag and after.content_settings.content_md5 is None
    assert after.metadata == {"k": "v"} and after.size == 5


def test_attributes_and_times_are_kept(share, folder):
    f = share.get_file_client("f")
    when = datetime(2018, 6, 7, 8, 9, 10, 123456)  # the client wants a fraction and no zone
    f.create_file(
        1,
        file_attributes=NTFSAttributes(read_only=True, hidden=True),
        file_creation_time=when,
        file_last_write_time=when + timedelta(hours=1),
    )
    shown = f.get_file_properties()
    assert shown.file_attributes == "ReadOnly | Hidden"
    assert shown.creation_time == when and shown.last_write_time == when + timedelta(hours=1)
    assert (folder / "f").stat().st_mtime_ns == 1528362550123456000
    f.set_http_headers(ContentSettings(), file_attributes="none")
    shown = f.get_file_properties()
    assert shown.file_attributes == "Archive" and shown.creation_time == when
    refused("InvalidHeaderValue", f.set_http_headers, ContentSettings(), file_attributes="Wrong")
    d = share.create_directory("d")
    d.set_http_headers(file_attributes="hidden|directory")
    assert d.get_directory_properties().file_attributes == "Hidden | Directory"


TIMES = {f"x_ms_file_{name}_time": f"2019-05-0{i + 1}T01:19:19.123456{i + 7}Z"
         for i, name in enumerate(("creation", "last_write", "change"))}  # fmt: skip
NEW = {"x_ms_type": "file", "x_ms_content_length": "3"}


def times(answer):
    return {name: answer.headers[name.replace("_", "-")] for name in TIMES}


def test_times_are_kept_to_100_ns(call, folder):
    for path, kind in (("/f", NEW), ("/d?restype=directory", {})):
        made = call("PUT", path, **kind, **TIMES)
        assert (made.status, times(made)) == (201, TIMES), made
        assert times(call("HEAD", path)) == TIMES
        assert os.stat(folder / path[1]).st_mtime_ns % 1_000_000_000 == 123456800
        others = {name: said.replace("2019", "2020") for name, said in TIMES.items()}
        comp = ("&" if "?" in path else "?") + "comp=properties"
        assert times(call("PUT", path + comp, **others)) == times(call("HEAD", path)) == others
        call("PUT", path + comp, x_ms_file_attributes="Hidden")
        assert times(call("HEAD", path)) == {**others, "x_ms_file_change_time": ANY}
    listed = xml(call("GET", "?restype=directory&comp=list&include=timestamps")).find("Entries/File/Properties")
    assert (listed.findtext("CreationTime"), listed.findtext("LastWriteTime")) == (
        others["x_ms_file_creation_time"],
        others["x_ms_file_last_write_time"],
    )


def test_a_change_after_that_has_its_own_time(call, folder):
    call("PUT", "/f", **NEW, **TIMES)
    (folder / "f").write_bytes(b"job")
    assert times(call("HEAD", "/f"))["x_ms_file_change_time"] > "2026"


@pytest.mark.parametrize(
    "said, kept, written",
    [
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.0000000Z", "2262-04-11T23:47:16"),
        ("2400-01-01T00:00:00Z", "2400-01-01T00:00:00.0000000Z", "2262-04-11T23:47:16"),
        ("1601-01-01T00:00:00Z", "1601-01-01T00:00:00.0000000Z", "1677-09-21T00:12:43"),
        ("0001-01-01T00:00:00Z", "1601-01-01T00:00:00.0000000Z", "1677-09-21T00:12:43"),
    ],
)
def test_a_time_that_nothing_holds_becomes_the_nearest(call, said, kept, written):
    assert call("PUT", "/f", **NEW, **dict.fromkeys(TIMES, said)).status == 201
    shown = times(call("HEAD", "/f"))
    assert (shown["x_ms_file_creation_time"], shown["x_ms_file_change_time"]) == (kept, kept)
    # A file system has bounds of its own, and the nearest time within them.
    nearest = shown["x_ms_file_last_write_time"]
    assert nearest.startswith(written) or "1901" <= nearest[:4] <= "2038" or nearest[:4] in ("2446", "2486")


def test_what_makes_a_file_answers_with_what_is_there(call):
    for path, kind in (("/f", NEW), ("/d?restype=directory", {}), ("/g", {**NEW, "x_ms_meta_a": "b"})):
        made = call("PUT", path, **kind)
        head = call("HEAD", path)
        assert made.headers["ETag"] == head.headers["ETag"] and times(made) == times(head), path
        again = call("PUT", path, **kind)
        if again.status == 201:
            assert again.headers["ETag"] == call("HEAD", path).headers["ETag"] != made.headers["ETag"]


def test_ranges_keep_the_time_if_they_are_told_to(call, folder):
    call("PUT", "/f", x_ms_type="file", x_ms_content_length="10")
    os.utime(folder / "f", (1500000000, 1500000000))
    given = {"x_ms_write": "update", "x_ms_range": "bytes=0-1"}
    assert call("PUT", "/f?comp=range", b"ab", x_ms_file_last_write_time="preserve", **given).status == 201
    assert (folder / "f").stat().st_mtime == 1500000000
    assert call("PUT", "/f?comp=range", b"ab", x_ms_file_last_write_time="now", **given).status == 201
    assert (folder / "f").stat().st_mtime > 1600000000


def test_each_write_of_a_range_gives_a_new_etag_whatever_becomes_of_the_time(call, folder):
    call("PUT", "/f", x_ms_type="file", x_ms_content_length="10")
    seen = [call("HEAD", "/f").headers["ETag"]]
    source = {"x_ms_write": "update", "x_ms_range": "bytes=0-1"}
    for write, body in (("update", b"ab"), ("update", b"cd"), ("clear", b""), ("update", b"ab")):
        given = {**source, "x_ms_write": write, "x_ms_file_last_write_time": "preserve"}
        before = (folder / "f").stat().st_mtime_ns
        put = call("PUT", "/f?comp=range", body, **given)
        assert put.status == 201, put
        assert (folder / "f").stat().st_mtime_ns == before
        assert call("HEAD", "/f").headers["ETag"] == put.headers["ETag"]
        seen.append(put.headers["ETag"])
    assert len(set(seen)) == len(seen), seen


def test_a_share_is_described(share, call, client):
    share.set_share_quota(9)
    share.set_share_properties(access_tier="Hot")
    shown = share.get_share_properties()
    assert shown.quota == 9 and shown.access_tier == "Hot"
    headers = [name.lower() for name in call("GET", "?restype=share").headers]
    assert "x-ms-share-quota" in headers
    assert not {"x-ms-has-immutability-policy", "x-ms-has-legal-hold"} & {*headers}  # are of containers
    share.get_file_client("f").upload_file(b"x" * 1000)
    share.create_directory("d").upload_file("g", b"y" * 234)
    assert share.get_share_stats() == 1234
    old = call("GET", "?restype=share&comp=stats", x_ms_version="2017-07-29")
    assert xml(old).findtext("ShareUsage") == "1"
    key = share.create_permission_for_share("O:SYG:SYD:(A;;FA;;;WD)")
    assert share.get_permission_for_share(key).startswith("O:")
    refused("ShareSnapshotOperationNotSupported", share.create_snapshot)
    assert call("GET", "/f?sharesnapshot=2020-01-01T00:00:00.0000000Z").code == "ShareSnapshotOperationNotSupported"
    refused("InvalidHeaderValue", share.set_share_quota, 0)


def test_stored_policies_permit(share, client, daemon):
    share.get_file_client("f").upload_file(b"seen")
    policy = AccessPolicy(
        permission=ShareSasPermissions(read=True), expiry=datetime.now(timezone.utc) + timedelta(hours=1)
    )
    share.set_share_access_policy({"mine": policy})
    shown = share.get_share_access_policy()["signed_identifiers"]
    assert [(p.id, p.access_policy.permission) for p in shown] == [("mine", "r")]
    sas = generate_share_sas(ACCOUNT, share.share_name, KEY, policy_id="mine")
    reader = ShareServiceClient(daemon.file.url, credential=sas).get_share_client(share.share_name)
    assert reader.get_file_client("f").download_file().readall() == b"seen"
    refused("AuthorizationPermissionMismatch", reader.get_file_client("f").delete_file)
    share.set_share_access_policy({})
    refused("AuthenticationFailed", reader.get_file_client("f").download_file)


# --- ranges -----------------------------------------------------------------------------------


def test_ranges_that_hold_data_are_listed(share, call):
    f = share.get_file_client("f")
    f.create_file(1 << 20)
    f.upload_range(b"x" * 4096, offset=8192, length=4096)
    f.upload_range(b"y" * 4096, offset=65536, length=4096)
    assert f.get_ranges() == [{"start": 8192, "end": 12287}, {"start": 65536, "end": 69631}]
    assert f.get_ranges(offset=9000, length=100) == [{"start": 9000, "end": 9099}]
    assert f.get_ranges(offset=9000) == [{"start": 9000, "end": 12287}, {"start": 65536, "end": 69631}]
    f.clear_range(8192, 4096)
    assert f.get_ranges() == [{"start": 65536, "end": 69631}]
    assert call("GET", "/f?comp=rangelist").headers["x-ms-content-length"] == str(1 << 20)
    assert call("GET", "/no?comp=rangelist").code == "ResourceNotFound"


def test_a_range_is_copied_from_another_file(share):
    a, b = share.get_file_client("a"), share.get_file_client("b")
    a.upload_file(b"0123456789")
    b.create_file(10)
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    sas = generate_share_sas(ACCOUNT, share.share_name, KEY, permission=ShareSasPermissions(read=True), expiry=until)
    done = b.upload_range_from_url(f"{a.url}?{sas}", offset=2, length=3, source_offset=5)
    assert base64.b64encode(done["content_crc64"]).decode() == crc64(b"567")
    assert b.download_file().readall() == bytes(2) + b"567" + bytes(5)
    refused("InvalidRange", b.upload_range_from_url, f"{a.url}?{sas}", offset=0, length=3, source_offset=9)
    refused("CannotVerifyCopySource", b.upload_range_from_url, a.url, offset=0, length=3, source_offset=0)


def test_a_range_comes_with_its_md5(call, folder):
    (folder / "f").write_bytes(b"0123456789")
    got = call("GET", "/f", x_ms_range="bytes=2-4", x_ms_range_get_content_md5="true")
    assert (got.status, got.body) == (206, b"234")
    assert got.headers["Content-MD5"] == base64.b64encode(hashlib.md5(b"234").digest()).decode()
    end = call("GET", "/f", x_ms_range="bytes=8-4000", x_ms_range_get_content_md5="true")
    assert end.headers["Content-MD5"] == base64.b64encode(hashlib.md5(b"89").digest()).decode()
    open_end = call("GET", "/f", x_ms_range="bytes=3-", x_ms_range_get_content_md5="true")
    assert open_end.body == b"3456789"
    assert open_end.headers["Content-MD5"] == base64.b64encode(hashlib.md5(b"3456789").digest()).decode()
    (folder / "large").write_bytes(bytes((4 << 20) + 1))
    for first, status in ((0, 400), (1, 206)):
        got = call("GET", "/large", x_ms_range=f"bytes={first}-", x_ms_range_get_content_md5="true")
        assert (got.status, got.code) == (status, "InvalidHeaderValue" if status == 400 else None)
    none = call("GET", "/f", x_ms_range_get_content_md5="true")
    assert (none.status, none.code) == (400, "MissingRequiredHeader")
    much = call("GET", "/f", x_ms_range=f"bytes=0-{4 << 20}", x_ms_range_get_content_md5="true")
    assert (much.status, much.code) == (400, "InvalidHeaderValue")
    assert call("GET", "/no", x_ms_range="bytes=0-1", x_ms_range_get_content_md5="true").code == "ResourceNotFound"


def test_a_full_disk_loses_nothing_that_was_acknowledged(daemon, share, folder):
    daemon.expect_log(r"share\.disk_full")
    small = folder / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", small], capture_output=True).returncode:
        pytest.skip("not allowed to mount")
    try:
        f = share.get_file_client("small/f")
        f.create_file(4 << 20)
        f.upload_range(b"kept" * 1024, 0, 4096)
        refused("ShareSizeLimitReached", f.upload_range, b"x" * (2 << 20), 4096, 2 << 20)
        assert f.download_file(offset=0, length=4096).readall() == b"kept" * 1024
        told = [line for line in daemon.log() if "share.disk_full" in line and str(folder) in line]
        assert len(told) == 1 and "path=small/f" in told[0], told
        source = share.get_file_client("source")
        source.upload_file(b"s" * (2 << 20))
        refused("ShareSizeLimitReached", share.get_file_client("small/copy").start_copy_from_url, source.url)
        assert [p.name for p in small.iterdir()] == ["f"]
        f.clear_range(4096, 2 << 20)
        f.upload_range(b"more" * 1024, 4096, 4096)
    finally:
        subprocess.run(["umount", "-l", small], check=True)


# --- leases and handles -----------------------------------------------------------------------


def test_only_the_holder_of_a_lease_changes_a_file(share, call):
    f = share.get_file_client("f")
    f.upload_file(b"data")
    lease = f.acquire_lease()
    shown = f.get_file_properties().lease
    assert (shown.state, shown.status, shown.duration) == ("leased", "locked", "infinite")
    for act in (
        lambda: f.upload_range(b"x", 0, 1),
        lambda: f.create_file(1),
        lambda: f.set_file_metadata({}),
        lambda: f.resize_file(1),
        f.delete_file,
        lambda: f.clear_range(0, 512),
    ):
        refused("LeaseIdMissing", act)
    refused("LeaseIdMismatchWithFileOperation", f.upload_range, b"x", 0, 1, lease=str(uuid4()))
    f.upload_range(b"x", 0, 1, lease=lease)
    assert f.download_file().readall() == b"xata"
    refused("LeaseAlreadyPresent", f.acquire_lease)
    other = str(uuid4())
    lease.change(other)
    wrong = call("PUT", "/f?comp=lease", x_ms_lease_action="release", x_ms_lease_id=str(uuid4()))
    assert (wrong.status, wrong.code) == (409, "LeaseIdMismatchWithLeaseOperation")
    lease.release()
    refused("LeaseNotPresentWithFileOperation", f.upload_range, b"x", 0, 1, lease=other)
    f.acquire_lease().break_lease()
    assert f.get_file_properties().lease.state == "broken"
    f.delete_file()


def test_a_signature_to_delete_breaks_a_lease_and_acquires_none(daemon, share):
    f = share.get_file_client("f")
    f.create_file(1)
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    sas = generate_share_sas(ACCOUNT, share.share_name, KEY, permission=ShareSasPermissions(delete=True), expiry=until)

    other = ShareServiceClient(daemon.file.url, credential=sas).get_share_client(share.share_name).get_file_client("f")
    refused("AuthorizationPermissionMismatch", other.acquire_lease)
    f.acquire_lease()
    ShareLeaseClient(other).break_lease()
    assert f.get_file_properties().lease.state == "broken"


def test_a_leased_share_is_not_deleted(client):
    s = client.create_share("leased")
    lease = s.acquire_lease(lease_duration=60)
    assert s.get_share_properties().lease.duration == "fixed"
    refused("LeaseIdMissing", s.delete_share)
    lease.renew()
    lease.break_lease(lease_break_period=30)
    assert s.get_share_properties().lease.state == "breaking"
    lease.release()
    s.delete_share()


@pytest.mark.parametrize(
    "headers, code",
    [
        ({}, "MissingRequiredHeader"),
        ({"x_ms_lease_action": "take"}, "InvalidHeaderValue"),
        ({"x_ms_lease_action": "renew"}, "MissingRequiredHeader"),
        ({"x_ms_lease_action": "acquire", "x_ms_lease_duration": "30"}, "InvalidHeaderValue"),
        ({"x_ms_lease_action": "acquire", "x_ms_proposed_lease_id": "me"}, "InvalidHeaderValue"),
        ({"x_ms_lease_action": "release"}, "MissingRequiredHeader"),
        ({"x_ms_lease_action": "break"}, "LeaseNotPresentWithLeaseOperation"),
    ],
)
def test_a_lease_that_is_none(call, headers, code):
    call("PUT", "/f", x_ms_type="file", x_ms_content_length="1")
    assert call("PUT", "/f?comp=lease", **headers).code == code


def test_the_lease_of_a_file_has_no_end(call):
    call("PUT", "/f", x_ms_type="file", x_ms_content_length="1")
    wrong = call("PUT", "/f?comp=lease", x_ms_lease_action="acquire", x_ms_lease_duration="30")
    assert b"x-ms-lease-duration is '30'; it must be -1." in wrong.body


def test_a_name_loses_its_last_dots(share, folder, call):
    make = {"x_ms_type": "file", "x_ms_content_length": "1"}
    for name in ("a.", "ab.", "c..."):
        assert call("PUT", f"/{name}", **make).status == 201
    assert sorted(os.listdir(folder)) == ["a", "ab", "c"]
    assert call("HEAD", "/a").status == 200
    assert call("PUT", "/d.", **make, x_ms_allow_trailing_dot="true", x_ms_version="2022-11-02").status == 201
    assert (folder / "d.").exists()
    for name in (".", "..", "..."):
        assert call("PUT", f"/x/{name}", **make).code == "InvalidFileOrDirectoryPathName"


def test_there_are_no_handles(share):
    f = share.get_file_client("f")
    f.create_file(1)
    assert list(f.list_handles()) == []
    assert f.close_all_handles()["closed_handles_count"] == 0
    assert list(share.get_directory_client("").list_handles(recursive=True)) == []
    refused("ResourceNotFound", lambda: list(share.get_file_client("no").list_handles()))


# --- uploads ----------------------------------------------------------------------------------


def test_a_large_file_goes_up_and_down_in_parallel(share, folder, tmp_path):
    body = os.urandom(1 << 20) * 40
    f = share.get_file_client("big")
    f.upload_file(body, max_concurrency=4)
    assert hashlib.md5((folder / "big").read_bytes()).digest() == hashlib.md5(body).digest()
    with open(tmp_path / "down", "wb") as out:
        f.download_file(max_concurrency=4).readinto(out)
    assert (tmp_path / "down").read_bytes() == body


def hung_shares(daemon):
    return daemon.call("GET", "/batchaid/counters", api_version=None).json["files"]["hungShares"]


def test_a_share_that_hangs_refuses_and_then_goes_on(share, folder, call, daemon):
    """Two writes are held by the share and are answered when it goes on; what comes meanwhile is told to try again."""
    daemon.expect_log("share.hung")
    (folder / "f").write_bytes(bytes(4))
    hanging = hanging_folder(folder)
    try:
        hanging.stop()
        with ThreadPoolExecutor(2) as pool:
            given = {"x_ms_write": "update"}
            held = [
                pool.submit(call, "PUT", "/f?comp=range", b"ab", x_ms_range=f"bytes={i}-{i + 1}", **given) for i in (0, 2)
            ]
            wait_for(lambda: hung_shares(daemon) == 1, what="the share to be called hung")
            busy = call("HEAD", "/f")
            assert (busy.status, busy.code) == (503, "ServerBusy") and busy.headers["Retry-After"]
            assert not any(h.done() for h in held)
            hanging.go_on()
            assert [h.result().status for h in held] == [201, 201]
        assert call("GET", "/f").body == b"abab"
    finally:
        hanging.close()


def test_two_writers_of_one_file_do_not_mix_ranges(share, call):
    f = share.get_file_client("f")
    f.create_file(1 << 20)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: f.upload_range(bytes([65 + i % 4]) * 65536, i % 16 * 65536, 65536), range(64)))
    body = f.download_file().readall()
    for i in range(16):
        assert len(set(body[i * 65536 : (i + 1) * 65536])) == 1


def test_the_root_is_a_directory(share, call):
    root = share.get_directory_client("")
    root.set_directory_metadata({"r": "1"})
    assert root.get_directory_properties().metadata == {"r": "1"}
    assert call("DELETE", "?restype=directory").status in (400, 405)
    assert call("PUT", "?restype=directory").status in (400, 405)


def test_a_client_of_before(daemon):
    """azure-storage-file 2.1, as az of its time had it."""
    accounts = Accounts(daemon).make()
    name = account_name()
    accounts.wait(accounts.put(name))
    key = accounts.call("POST", f"/{name}/listKeys", expect=200).json["keys"][0]["value"]
    session = requests.Session()
    session.verify, session.trust_env = daemon.ca, False
    suffix = "core.localhost:" + daemon.endpoint.rsplit(":", 1)[1]
    old = FileService(name, key, endpoint_suffix=suffix, request_session=session)
    old.MAX_SINGLE_GET_SIZE = old.MAX_CHUNK_GET_SIZE = 4 << 20
    assert old.create_share("old")
    assert old.create_directory("old", "dd")
    body = os.urandom(1 << 20) * 5
    old.create_file_from_bytes("old", "dd", "f", body, validate_content=True)
    assert old.get_file_to_bytes("old", "dd", "f", validate_content=True).content == body
    assert [x.name for x in old.list_directories_and_files("old", "dd")] == ["f"]
    assert [x.name for x in old.list_shares()] == ["old"]
    assert old.get_share_stats_in_bytes("old") == len(body)
    assert old.list_ranges("old", "dd", "f")[0].end == len(body) - 1
    old.set_file_metadata("old", "dd", "f", {"a": "b"})
    assert old.get_file_metadata("old", "dd", "f") == {"a": "b"}
    old.copy_file("old", None, "g", f"https://{name}.file.{suffix}/old/dd/f")
    assert old.get_file_properties("old", None, "g").properties.content_length == len(body)
    old.delete_file("old", "dd", "f")
    old.delete_directory("old", "dd")
    old.delete_share("old")
