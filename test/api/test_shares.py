# SPDX-License-Identifier: MIT
"""Azure Files: shares are the folders that jobs mount."""

import base64
import hashlib

import pytest
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.storage.fileshare import ShareServiceClient
from support.accounts import Accounts
from support.shares import call, client, daemon, share  # noqa: F401 fixtures
from support.storage import StorageDaemon


def test_a_share_is_made_shown_and_deleted(client, daemon):
    s = client.create_share("first", metadata={"k": "v"}, quota=7)
    shown = s.get_share_properties()
    assert shown.metadata == {"k": "v"} and shown.quota == 7
    assert (daemon.folder / "files" / "first").is_dir()
    with pytest.raises(ResourceExistsError) as again:
        client.create_share("first")
    assert again.value.error_code == "ShareAlreadyExists"
    s.delete_share()
    with pytest.raises(ResourceNotFoundError) as gone:
        s.get_share_properties()
    assert gone.value.error_code == "ShareNotFound"


def test_directories_are_made_one_in_another(share):
    a = share.create_directory("a", metadata={"m": "1"})
    a.create_subdirectory("b")
    assert a.get_directory_properties().metadata == {"m": "1"}
    for path, code in (("a", "ResourceAlreadyExists"), ("no/where", "ParentNotFound")):
        with pytest.raises((ResourceExistsError, ResourceNotFoundError)) as e:
            share.create_directory(path)
        assert e.value.error_code == code


@pytest.mark.parametrize("size", [0, 1, (4 << 20) - 1, 4 << 20, (4 << 20) + 1])
def test_a_file_comes_back_as_it_was(share, daemon, size):
    body = bytes(range(251)) * (size // 251 + 1)
    body = body[:size]
    f = share.get_file_client("f.bin")
    f.upload_file(body, metadata={"n": str(size)}, max_concurrency=3)
    assert f.download_file().readall() == body
    shown = f.get_file_properties()
    assert shown.size == size and shown.metadata == {"n": str(size)}
    assert (daemon.folder / "files" / share.share_name / "f.bin").read_bytes() == body


def test_a_tebibyte_of_zeros_takes_no_room(call, daemon, share):
    assert call("PUT", "/huge", x_ms_type="file", x_ms_content_length=str(1 << 40)).status == 201
    stat = (daemon.folder / "files" / share.share_name / "huge").stat()
    assert stat.st_size == 1 << 40 and stat.st_blocks < 100
    assert call("HEAD", "/huge").headers["Content-Length"] == str(1 << 40)
    assert call("GET", "/huge", x_ms_range=f"bytes={(1 << 40) - 4}-").body == b"\0\0\0\0"


def test_an_empty_file_has_no_ranges(call):
    call("PUT", "/e", x_ms_type="file", x_ms_content_length="0")
    ranged = call("GET", "/e", x_ms_range="bytes=0-33554431")
    assert (ranged.status, ranged.code) == (416, "InvalidRange")
    assert call("GET", "/e").status == 200


def put_range(call, path, first, body, **headers):
    given = {"x_ms_write": "update", "x_ms_range": f"bytes={first}-{first + len(body) - 1}", **headers}
    return call("PUT", f"{path}?comp=range", body, **given)


def test_ranges_are_written_in_place(call):
    call("PUT", "/f", x_ms_type="file", x_ms_content_length="10")
    first = put_range(call, "/f", 2, b"abc")
    assert first.status == 201
    assert first.headers["Content-MD5"] == base64.b64encode(hashlib.md5(b"abc").digest()).decode()
    assert put_range(call, "/f", 3, b"X").headers["ETag"] != first.headers["ETag"]
    assert call("GET", "/f").body == b"\0\0aXc\0\0\0\0\0"
    assert call("PUT", "/f?comp=range", x_ms_write="clear", x_ms_range="bytes=2-3").status == 201
    assert call("GET", "/f").body == b"\0\0\0\0c\0\0\0\0\0"


@pytest.mark.parametrize(
    "headers, body, code",
    [
        ({"x_ms_range": "bytes=8-11"}, b"abcd", "InvalidRange"),
        ({"x_ms_range": "bytes=0-11"}, b"abcd", "InvalidHeaderValue"),
        ({"x_ms_range": "bytes=3-1"}, b"abcd", "InvalidHeaderValue"),
        ({"x_ms_range": "bytes=99999999999999999999-999999999999999999999"}, b"abcd", "InvalidHeaderValue"),
        ({"x_ms_range": None}, b"abcd", "MissingRequiredHeader"),
        ({"x_ms_write": "erase"}, b"abcd", "InvalidHeaderValue"),
        ({"Content_MD5": "AAAA"}, b"abcd", "InvalidMd5"),
        ({"Content_MD5": "AAAAAAAAAAAAAAAAAAAAAA=="}, b"abcd", "Md5Mismatch"),
        ({"x_ms_range": f"bytes=0-{4 << 20}"}, b"x" * ((4 << 20) + 1), "RequestBodyTooLarge"),
    ],
)
def test_a_range_that_is_none(call, headers, body, code):
    call("PUT", "/f", x_ms_type="file", x_ms_content_length="10")
    assert put_range(call, "/f", 0, body, **headers).code == code
    assert call("GET", "/f").body == b"\0" * 10


@pytest.mark.parametrize("path", ["/a%3Ab", "/..", "/a/../../x", "/%01", "/a*", "/" + "n" * 256])
def test_a_name_that_no_file_has(call, path):
    got = call("PUT", path, x_ms_type="file", x_ms_content_length="0")
    assert (got.status, got.code) == (400, "InvalidFileOrDirectoryPathName")


def test_a_slash_may_be_encoded(call, daemon, share):
    share.create_directory("d1")
    assert call("PUT", "/d1%2Ff", x_ms_type="file", x_ms_content_length="3").status == 201
    assert (daemon.folder / "files" / share.share_name / "d1" / "f").exists()


def test_a_link_leads_nowhere_else(call, daemon, share, tmp_path):
    (tmp_path / "secret").write_text("not yours")
    (daemon.folder / "files" / share.share_name / "out").symlink_to(tmp_path)
    assert call("GET", "/out/secret").status == 404
    assert call("PUT", "/out/new", x_ms_type="file", x_ms_content_length="1").status >= 400
    assert sorted(p.name for p in tmp_path.iterdir()) == ["secret"]


def test_what_was_acknowledged_survives_kill_9(call, daemon):
    call("PUT", "/kept", x_ms_type="file", x_ms_content_length="4", x_ms_meta_a="b")
    put_range(call, "/kept", 0, b"here")
    daemon.crash()
    got = call("GET", "/kept")
    assert got.body == b"here" and got.headers["x-ms-meta-a"] == "b"


def test_the_service_shows_its_properties(client):
    shown = client.get_service_properties()
    assert shown["cors"] == [] and not shown["hour_metrics"].enabled


def test_a_file_that_may_not_grow_so_large_is_refused():
    with StorageDaemon(prefix=("prlimit", f"--fsize={64 << 20}")) as d:
        d.file.call("PUT", "/sss?restype=share")
        made = d.file.call("PUT", "/sss/f", x_ms_type="file", x_ms_content_length=str(65 << 20))
        assert (made.status, made.code) == (400, "OutOfRangeInput")
        assert d.file.call("PUT", "/sss/g", x_ms_type="file", x_ms_content_length="1000").status == 201


@pytest.mark.parametrize("odd", [{"two words": "x"}, {"<x>": "y"}, {"1st": "x"}, {"line": "a\r\nb"}, {"number": 5}])
def test_metadata_that_no_header_can_have_is_refused_where_it_is_given(daemon, odd, temporary):
    accounts = temporary(Accounts(daemon).make())
    name = accounts.account()
    share = f"/{name}/fileServices/default/shares/odd"
    refused = accounts.call("PUT", share, {"properties": {"metadata": {"good": "1", **odd}}}, expect=400)
    assert "properties.metadata" in refused.error["message"]
    accounts.call("PUT", share, {"properties": {"metadata": {"good": "1"}}}, expect=201)
    s = ShareServiceClient(f"https://{name}.file.core.localhost:{daemon.port}", credential=accounts.keys(name)[0],
                           connection_verify=daemon.ca).get_share_client("odd")  # fmt: skip
    assert s.get_share_properties().metadata == {"good": "1"}


def test_both_interfaces_count_the_bytes_of_a_share(daemon, temporary):
    accounts = temporary(Accounts(daemon).make())
    name = accounts.account()
    path = f"/{name}/fileServices/default/shares/data"
    accounts.share(name, "data")
    s = ShareServiceClient(f"https://{name}.file.core.localhost:{daemon.port}", credential=accounts.keys(name)[0],
                           connection_verify=daemon.ca).get_share_client("data")  # fmt: skip
    s.get_file_client("f").upload_file(b"x" * 5)
    s.create_directory("d").upload_file("g", b"y" * 100)
    shown = accounts.call("GET", path, params={"$expand": "stats"}, expect=200).json["properties"]
    assert shown["shareUsageBytes"] == s.get_share_stats() == 105
    assert "shareUsageBytes" not in accounts.share(name, "data", "GET", expect=200).json["properties"]
    refused = accounts.call("GET", path, params={"$expand": "all"}, expect=400)
    assert refused.code == "InvalidQueryParameterValue" and "'all'" in refused.error["message"]
