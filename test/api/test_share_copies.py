# SPDX-License-Identifier: MIT
"""Azure Files: files that are copied or renamed, and who may."""

import hashlib
import threading
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from itertools import count, cycle

import pytest
from azure.storage.blob import generate_container_sas
from azure.storage.fileshare import ContentSettings, ShareSasPermissions, ShareServiceClient, generate_share_sas
from support.hanging import hanging_folder
from support.people import Person
from support.shares import call, client, daemon, folder, refused, share  # noqa: F401 fixtures
from support.storage import ACCOUNT, KEY
from support.waiting import wait_for


def test_a_file_is_copied_with_what_is_said_of_it(share, client):
    a, b = share.get_file_client("a"), share.get_file_client("d/b")
    a.upload_file(b"z" * 300000, metadata={"k": "v"}, content_settings=ContentSettings(content_type="text/x"))
    refused("ParentNotFound", b.start_copy_from_url, a.url)
    share.create_directory("d")
    done = b.start_copy_from_url(a.url)
    assert done["copy_status"] == "success" and done["copy_id"]
    shown = b.get_file_properties()
    assert shown.metadata == {"k": "v"} and shown.content_settings.content_type == "text/x"
    assert shown.copy.status == "success" and shown.copy.progress == "300000/300000"
    assert b.download_file().readall() == b"z" * 300000
    b.start_copy_from_url(a.url, metadata={"n": "1"})
    assert b.get_file_properties().metadata == {"n": "1"}
    refused("NoPendingCopyOperation", b.abort_copy, done["copy_id"])
    refused("CannotVerifyCopySource", b.start_copy_from_url, a.url + "x")
    assert b.download_file().readall() == b"z" * 300000


def test_a_source_must_be_readable(share, daemon, client):
    share.get_file_client("a").upload_file(b"secret")
    write_only = generate_share_sas(
        ACCOUNT,
        share.share_name,
        KEY,
        permission=ShareSasPermissions(write=True, create=True),
        expiry=datetime.now(timezone.utc) + timedelta(hours=1),
    )
    readable = generate_share_sas(
        ACCOUNT,
        share.share_name,
        KEY,
        permission=ShareSasPermissions(read=True),
        expiry=datetime.now(timezone.utc) + timedelta(hours=1),
    )
    writer = ShareServiceClient(daemon.file.url, credential=write_only).get_share_client(share.share_name)
    b, source = writer.get_file_client("b"), f"{daemon.file.url}/{share.share_name}/a"
    refused("CannotVerifyCopySource", b.start_copy_from_url, source)
    refused("CannotVerifyCopySource", b.start_copy_from_url, f"{source}?{readable}x")
    refused("AuthorizationPermissionMismatch", b.start_copy_from_url, f"{source}?{write_only}")
    renamed = daemon.file.call(
        "PUT",
        f"/{share.share_name}/c?comp=rename&{write_only}",
        signed=False,
        x_ms_file_rename_source=f"{source}?{readable}",
    )
    assert (renamed.status, renamed.code) == (403, "AuthorizationPermissionMismatch")
    b.start_copy_from_url(f"{source}?{readable}")
    copied = share.get_file_client("b")
    assert copied.download_file().readall() == b"secret"
    assert "sig=" not in copied.get_file_properties().copy.source


def test_a_role_for_files_reads_no_blob_for_a_copy(share, daemon):
    daemon.blob.call("PUT", "/private?restype=container")
    assert daemon.blob.call("PUT", "/private/b", b"blob", x_ms_blob_type="BlockBlob").status == 201
    share.get_file_client("f").upload_file(b"file")
    one = Person(daemon, "Storage File Data Privileged Contributor")
    token = one.login(scope="https://storage.azure.com/.default").json["access_token"]

    def copy(source):
        return daemon.file.call(
            "PUT",
            f"/{share.share_name}/copy",
            signed=False,
            Authorization="Bearer " + token,
            x_ms_date=None,
            x_ms_file_request_intent="backup",
            x_ms_copy_source=source,
        )

    refused_copy = copy(f"{daemon.blob.url}/private/b")
    assert (refused_copy.status, refused_copy.code) == (401, "CannotVerifyCopySource")
    assert copy(f"{daemon.file.url}/{share.share_name}/f").status == 202
    assert share.get_file_client("copy").download_file().readall() == b"file"
    to, blob = share.get_file_client("copy"), f"{daemon.blob.url}/private/b"
    refused("CannotVerifyCopySource", to.start_copy_from_url, blob)  # nor does the account's key
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    to.start_copy_from_url(f"{blob}?{generate_container_sas(ACCOUNT, 'private', account_key=KEY, permission='r', expiry=until)}")
    assert to.download_file().readall() == b"blob"
    made = daemon.blob.call("PUT", "/private/f", x_ms_copy_source=f"{daemon.file.url}/{share.share_name}/f")
    assert (made.status, made.code) == (401, "CannotVerifyCopySource")
    daemon.blob.call("DELETE", "/private?restype=container")


def test_who_may_only_create_writes_over_nothing(share, daemon):
    share.get_file_client("a").upload_file(b"there")
    create_only = generate_share_sas(
        ACCOUNT,
        share.share_name,
        KEY,
        permission=ShareSasPermissions(create=True, read=True),
        expiry=datetime.now(timezone.utc) + timedelta(hours=1),
    )
    maker = ShareServiceClient(daemon.file.url, credential=create_only).get_share_client(share.share_name)
    maker.get_file_client("new").create_file(3)
    refused("AuthorizationPermissionMismatch", maker.get_file_client("a").create_file, 3)
    source = f"{daemon.file.url}/{share.share_name}/new?{create_only}"
    refused("AuthorizationPermissionMismatch", maker.get_file_client("a").start_copy_from_url, source)
    assert share.get_file_client("a").download_file().readall() == b"there"


SAID = {
    "x_ms_file_attributes": "ReadOnly | Hidden",
    "x_ms_file_creation_time": "2001-02-03T04:05:06.7890123Z",
    "x_ms_file_last_write_time": "2002-02-03T04:05:06.7890123Z",
    "x_ms_file_change_time": "2003-02-03T04:05:06.7890123Z",
}


def said(answer):
    return {name: answer.headers[name.replace("_", "-")] for name in SAID}


def test_a_copy_takes_times_and_attributes(share, daemon, folder):
    at, source = f"/{share.share_name}", {"x_ms_copy_source": f"{daemon.file.url}/{share.share_name}/a"}
    daemon.file.call("PUT", f"{at}/a", x_ms_type="file", x_ms_content_length="3", **SAID)
    assert daemon.file.call("PUT", f"{at}/taken", **source, **dict.fromkeys(SAID, "source")).status == 202
    assert said(daemon.file.call("HEAD", f"{at}/taken")) == SAID
    given = {name: value.replace("200", "201").replace("Hidden", "System") for name, value in SAID.items()}
    daemon.file.call("PUT", f"{at}/given", x_ms_file_copy_set_archive="true", **source, **given)
    given["x_ms_file_attributes"] += " | Archive"
    assert said(daemon.file.call("HEAD", f"{at}/given")) == given
    daemon.file.call("PUT", f"{at}/now", **source)
    assert all(when > "2026" for name, when in said(daemon.file.call("HEAD", f"{at}/now")).items() if "time" in name)
    wrong = daemon.file.call("PUT", f"{at}/now", **source, x_ms_file_creation_time="yesterday")
    assert (wrong.status, wrong.code) == (400, "InvalidHeaderValue")


def test_a_copy_has_no_md5_that_is_of_other_bytes(share, folder):
    a = share.get_file_client("a")
    a.upload_file(b"first", content_settings=ContentSettings(content_md5=bytearray(16)))
    (folder / "a").write_bytes(b"second")
    b = share.get_file_client("b")
    b.start_copy_from_url(a.url)
    assert b.get_file_properties().content_settings.content_md5 is None


def test_a_rename_takes_times_attributes_type_and_metadata(share, daemon):
    at = f"/{share.share_name}"
    for name, more in (("f", {"x_ms_type": "file", "x_ms_content_length": "3"}), ("d", {})):
        kind = "restype=" if more else "restype=directory"
        daemon.file.call("PUT", f"{at}/{name}?{kind}", x_ms_meta_old="1", **more)
        source = {"x_ms_file_rename_source": f"{daemon.file.url}{at}/{name}"}
        typed = {"x_ms_content_type": "text/x"} if more else {}
        attributes = SAID["x_ms_file_attributes"] + ("" if more else " | Directory")
        given = {**SAID, "x_ms_file_attributes": attributes}
        wrong = daemon.file.call("PUT", f"{at}/to{name}?{kind}&comp=rename", x_ms_file_attributes="Odd", **source)
        assert (wrong.status, wrong.code) == (400, "InvalidHeaderValue")
        done = daemon.file.call("PUT", f"{at}/to{name}?{kind}&comp=rename", x_ms_meta_new="2", **source, **given, **typed)
        head = daemon.file.call("HEAD", f"{at}/to{name}?{kind}")
        assert done.status == 200 and said(done) == said(head) == given, done
        assert done.headers["ETag"] == head.headers["ETag"]
        assert (head.headers["x-ms-meta-new"], head.headers["x-ms-meta-old"]) == ("2", None)
        assert not more or head.headers["Content-Type"] == "text/x"


def test_a_rename_needs_a_signature_to_write(share, daemon):
    share.get_file_client("a").upload_file(b"data")

    def rename(permission, old, new):
        token = generate_share_sas(ACCOUNT, share.share_name, KEY, permission=permission,
                                   expiry=datetime.now(timezone.utc) + timedelta(hours=1))  # fmt: skip
        by = ShareServiceClient(daemon.file.url, credential=token).get_share_client(share.share_name)
        return by.get_file_client(old).rename_file(new)

    for wrong in (ShareSasPermissions(read=True), ShareSasPermissions(read=True, create=True, delete=True)):
        refused("AuthorizationPermissionMismatch", rename, wrong, "a", "b")
    rename(ShareSasPermissions(read=True, write=True), "a", "b")
    assert share.get_file_client("b").download_file().readall() == b"data"


def test_files_and_directories_are_renamed_with_what_is_said(share, folder):
    d = share.create_directory("d", metadata={"of": "d"})
    f = d.upload_file("f", b"data", metadata={"of": "f"})
    d.create_subdirectory("sub").upload_file("deep", b"deep", metadata={"of": "deep"})
    g = f.rename_file("g")
    assert g.get_file_properties().metadata == {"of": "f"} and g.download_file().readall() == b"data"
    refused("ResourceNotFound", f.get_file_properties)
    share.get_file_client("h").upload_file(b"there", metadata={"of": "h"})
    refused("ResourceAlreadyExists", g.rename_file, "h")
    h = g.rename_file("h", overwrite=True)
    assert h.download_file().readall() == b"data" and h.get_file_properties().metadata == {"of": "f"}
    refused("ResourceAlreadyExists", h.rename_file, "h")
    assert h.rename_file("h", overwrite=True).get_file_properties().metadata == {"of": "f"}
    refused("ParentNotFound", h.rename_file, "no/where")
    assert d.rename_directory("e").get_directory_properties().metadata == {"of": "d"}
    assert share.get_file_client("e/sub/deep").get_file_properties().metadata == {"of": "deep"}
    assert sorted(p.name for p in folder.iterdir()) == ["e", "h"]


def arrives(daemon, send):
    """Sends a request that will wait, and waits until the daemon has it."""

    def received():
        return daemon.call("GET", "/batchaid/counters", api_version=None).json["requests"]["received"]

    before, asked = received(), count(1)
    future = send()
    wait_for(lambda: received() - before > next(asked), what="the request to arrive")
    return future


@pytest.fixture
def slow(client, folder):
    """A share that can be stopped, with a file."""
    share = client.create_share("slow")
    share.get_file_client("source").upload_file(b"bytes")
    hanging = hanging_folder(folder.parent / "slow")
    yield hanging
    hanging.close()
    share.delete_share()


def md5_of(size):
    """Of so many zeros."""
    return b64encode(hashlib.md5(bytes(size)).digest()).decode()


def test_a_copy_into_a_share_that_goes_is_not_in_the_next_one(client, slow, daemon):
    client.create_share("short")
    slow.stop()
    with ThreadPoolExecutor(1) as pool:
        source = f"{daemon.file.url}/slow/source"
        copied = arrives(daemon, lambda: pool.submit(daemon.file.call, "PUT", "/short/f", x_ms_copy_source=source))
        client.delete_share("short")
        wait_for(lambda: daemon.file.call("PUT", "/short?restype=share").status == 201, what="another share of the name")
        slow.go_on()
        got = copied.result()
    assert (got.status, got.code) == (404, "ShareNotFound")
    assert daemon.file.call("HEAD", "/short/f").status == 404
    client.delete_share("short")


def test_a_copy_has_the_notes_of_the_bytes_that_it_copies(share, call, slow, daemon):
    """Its source is created anew while the copy waits for the share of its target."""

    def create(size, version):
        notes = {"x_ms_content_md5": md5_of(size), "x_ms_meta_v": version}
        return call("PUT", "/a", x_ms_type="file", x_ms_content_length=str(size), **notes)

    assert create(1, "old").status == 201
    slow.stop()
    with ThreadPoolExecutor(1) as pool:
        source = f"{daemon.file.url}/{share.share_name}/a"
        copied = arrives(daemon, lambda: pool.submit(daemon.file.call, "PUT", "/slow/copy", x_ms_copy_source=source))
        assert create(2, "new").status == 201
        slow.go_on()
        assert copied.result().status == 202
    shown = daemon.file.call("HEAD", "/slow/copy").headers
    assert (shown["Content-Length"], shown["x-ms-meta-v"], shown["Content-MD5"]) == ("2", "new", md5_of(2))


def test_a_copy_of_a_file_beside_its_creations_has_no_md5_of_other_bytes(share, call, slow, daemon):
    """Its target is in a share where each step takes a while."""
    source = f"{daemon.file.url}/{share.share_name}/a"
    over = threading.Event()

    def create():
        for size in cycle((1000, 2000)):
            call("PUT", "/a", x_ms_type="file", x_ms_content_length=str(size), x_ms_content_md5=md5_of(size))
            if over.is_set():
                return

    assert call("PUT", "/a", x_ms_type="file", x_ms_content_length="1").status == 201
    with ThreadPoolExecutor(1) as pool:
        creator = pool.submit(create)
        try:
            for _ in range(60):
                assert daemon.file.call("PUT", "/slow/copy", x_ms_copy_source=source).status == 202
                shown = daemon.file.call("HEAD", "/slow/copy").headers
                assert shown.get("Content-MD5") in (None, md5_of(int(shown["Content-Length"])))
        finally:
            over.set()
            creator.result()


def test_a_lease_that_is_acquired_during_a_copy_stays(share, call, slow, daemon):
    """The copy writes the file's notes at its end, and its source keeps it waiting."""
    share.get_file_client("f").upload_file(b"old")
    lease = {"x_ms_lease_action": "acquire", "x_ms_lease_duration": "-1"}
    slow.stop()
    with ThreadPoolExecutor(2) as pool:
        copied = arrives(daemon, lambda: pool.submit(call, "PUT", "/f", x_ms_copy_source=f"{daemon.file.url}/slow/source"))
        assert call("HEAD", "/f").headers["Content-Length"] == "3"
        leased = arrives(daemon, lambda: pool.submit(call, "PUT", "/f?comp=lease", **lease))
        assert call("HEAD", "/f").headers["Content-Length"] == "3"
        slow.go_on()
        assert (copied.result().status, leased.result().status) == (202, 201)
    assert call("HEAD", "/f").headers["x-ms-lease-state"] == "leased"
    refused("LeaseIdMissing", share.get_file_client("f").delete_file)


@pytest.mark.parametrize("way", ["create", "copy", "rename"])
def test_a_lease_goes_with_a_file_that_a_job_removes(share, folder, call, daemon, way):
    make = {"x_ms_type": "file", "x_ms_content_length": "1"}
    assert call("PUT", "/f", **make).status == call("PUT", "/g", **make).status == 201
    assert call("PUT", "/f?comp=lease", x_ms_lease_action="acquire", x_ms_lease_duration="-1").status == 201
    (folder / "f").unlink()
    assert call("DELETE", "/f").status == 404
    source = f"{daemon.file.url}/{share.share_name}/g"
    made = {
        "create": lambda: call("PUT", "/f", **make),
        "copy": lambda: call("PUT", "/f", x_ms_copy_source=source),
        "rename": lambda: call("PUT", "/f?comp=rename", x_ms_file_rename_source=source, x_ms_version="2021-12-02"),
    }[way]()
    assert made.status in (200, 201, 202), made
    assert call("HEAD", "/f").headers["x-ms-lease-state"] == "available"
    assert call("DELETE", "/f").status == 202
