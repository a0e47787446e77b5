# SPDX-License-Identifier: MIT
"""What a job leaves behind: listing its directories, and download links with byte ranges."""

import base64
import hashlib
import hmac
import os
import re
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode, urlsplit
from xml.etree import ElementTree

import pytest
from azure.mgmt.batchai import models
from support.refusals import refused
from support.waiting import wait_for
from support.world import MOUNT, Place, fresh

COMMAND = """
cd $AZ_BATCHAI_OUTPUT_OUT
printf 0123456789 > ten.bin
: > empty.txt
mkdir -p deep/er && echo leaf > deep/er/leaf.txt
echo '{"a": 1}' > metrics.json
echo "to stdout"; echo "to stderr" >&2
"""


@pytest.fixture(scope="module")
def job(_place, shared_cluster):
    j = _place.job(
        shared_cluster,
        COMMAND,
        name=fresh("files"),
        jobPreparation={"commandLine": "echo prepared; echo careful >&2"},
        outputDirectories=[
            {"id": "OUT", "pathPrefix": MOUNT, "pathSuffix": "models"},
            {"id": "PLAIN", "pathPrefix": MOUNT},
        ],
    ).succeeded()
    return j


@pytest.fixture
def folder(job, place):
    """The output directory as a path of this machine."""
    return place.share() / job.properties["jobOutputDirectoryPathSegment"] / "outputs" / "models"


@pytest.fixture
def fetch(daemon):
    return daemon.fetch


# --- listing --------------------------------------------------------------------------------------


def test_the_standard_output_directory_has_the_services_names_in_order(job):
    names = [f["name"] for f in job.files()]
    assert names == [
        "execution.log", "stderr-job_prep.txt", "stderr.txt", "stdout-job_prep.txt", "stdout.txt",
    ]  # fmt: skip
    assert job.read("stdout.txt") == "to stdout\n"
    assert job.read("stderr.txt") == "to stderr\n"
    assert job.read("stdout-job_prep.txt") == "prepared\n"
    assert job.read("stderr-job_prep.txt") == "careful\n"
    assert job.read("execution.log")


def test_files_lie_where_the_service_put_them(job, place, folder):
    segment = job.properties["jobOutputDirectoryPathSegment"]
    assert (place.share() / segment / "stdouterr" / "stdout.txt").read_text() == "to stdout\n"
    assert (folder / "ten.bin").read_text() == "0123456789"


def test_files_and_directories_are_listed_by_name_one_level_at_a_time(job):
    items = job.list("OUT").json["value"]
    assert [(f["name"], f["fileType"]) for f in items] == [
        ("deep", "directory"),
        ("empty.txt", "file"),
        ("metrics.json", "file"),
        ("ten.bin", "file"),
    ]
    assert list(items[0]) == ["name", "fileType"]
    assert list(items[3]) == ["name", "fileType", "downloadUrl", "properties"]
    assert list(items[3]["properties"]) == ["lastModified", "contentLength"]
    assert [f["properties"]["contentLength"] for f in items[1:]] == [0, 9, 10]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", items[3]["properties"]["lastModified"])


def test_a_subdirectory_is_listed_when_asked_for(job):
    assert [f["name"] for f in job.files("OUT", directory="deep")] == ["er"]
    assert [f["name"] for f in job.files("OUT", directory="deep/er")] == ["leaf.txt"]
    assert job.read("leaf.txt", "OUT", directory="deep/er") == "leaf\n"
    assert [f["name"] for f in job.files("OUT", directory=".")] == [f["name"] for f in job.files("OUT")]
    assert job.files("PLAIN") and [f["name"] for f in job.files("PLAIN")] == ["models"]


def test_the_sdk_follows_the_next_link_of_a_listing(job, sdk, place):
    """It does so with GET, whatever the first request was."""
    options = models.JobsListOutputFilesOptions(outputdirectoryid="OUT", directory=".", max_results=1)
    experiment = job.path.split("/")[-3]
    found = sdk.jobs.list_output_files(place.group, place.workspace, experiment, job.name, options)
    assert [f.name for f in found] == ["deep", "empty.txt", "metrics.json", "ten.bin"]


def test_a_directory_that_is_not_there_is_an_empty_list_or_a_clear_404(job):
    reply = job.list("OUT", directory="none")
    if reply.status == 200:
        assert reply.json == {"value": []}
    else:
        assert reply.status == 404 and "none" in reply.error["message"]


def test_an_output_directory_id_nobody_declared_is_refused_by_name(job):
    reply = job.list("WHAT")
    assert reply.status in (400, 404)
    assert "WHAT" in reply.error["message"] and reply.error["target"] == "outputdirectoryid"
    assert reply.code == "OutputDirectoryNotFound"


def test_the_output_directory_id_is_required(job):
    reply = job.call("POST", "/listOutputFiles")
    assert reply.status == 400 and reply.error["target"] == "outputdirectoryid"


def test_a_job_that_has_not_started_has_no_files_yet(own_place):
    cluster = own_place.cluster(nodes=1)
    own_place.job(cluster, "sleep 1000")
    job = own_place.job(cluster, outputDirectories=[{"id": "OUT", "pathPrefix": MOUNT}])
    assert job.files() == [] and job.files("OUT") == []


@pytest.mark.parametrize(
    "directory",
    [
        "..", "../", "../..", "deep/../..", "/", "/etc", "deep/../../stdouterr", "..%2f..", "./..",
        "deep//..//..", "a\\..\\..",
    ],
)
def test_a_directory_that_tries_to_leave_is_refused(job, directory):
    reply = job.list("OUT", directory=directory)
    assert 400 <= reply.status < 500, reply
    assert reply.status == 404 or reply.code == "InvalidPath", reply


def test_a_symbolic_link_out_of_the_share_leads_nowhere(job, folder, fetch, tmp_path):
    (tmp_path / "secret.txt").write_text("do not show")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "secret.txt").write_text("do not show")
    os.symlink(tmp_path / "secret.txt", folder / "escape.txt")
    os.symlink(tmp_path / "inside", folder / "escape")
    try:
        url = job.link("ten.bin", "OUT")
        listed = {f["name"]: f for f in job.files("OUT")}
        if "downloadUrl" in listed.get("escape.txt", {}):
            assert fetch(listed["escape.txt"]["downloadUrl"]).status in (403, 404)
        assert fetch(url.replace("ten.bin", "escape.txt")).status in (403, 404)
        reply = job.list("OUT", directory="escape")
        assert reply.status in (400, 404) or reply.json == {"value": []}
    finally:
        os.unlink(folder / "escape.txt")
        os.unlink(folder / "escape")


@pytest.mark.parametrize("target", ["/", "../" * 30, "{tmp}"])
def test_a_link_that_leads_out_is_called_that(job, folder, fetch, tmp_path, target):
    (tmp_path / "secret.txt").write_text("do not show")
    os.symlink(target.format(tmp=tmp_path), folder / "escape")
    try:
        reply = job.list("OUT", directory="escape")
        error = refused(reply, 400, "InvalidQueryParameterValue", "directory", ["leaves the share"])
        assert "cross-device" not in error["message"]
    finally:
        os.unlink(folder / "escape")


def test_links_that_stay_inside_are_listed_for_the_files_they_lead_to(job, folder, fetch, tmp_path):
    links = {"latest": "ten.bin", "far": "deep/er/leaf.txt", "walk": "deep", "self": ".", "gone": "nothing",
             "round": "round", "out": "/etc/passwd", "absolute": str(folder / "ten.bin")}
    for name, target in links.items():
        os.symlink(target, folder / name)
    try:
        listed = {f["name"]: f for f in job.files("OUT")}
        assert set(listed) & set(links) == {"latest", "far"}
        assert listed["latest"]["properties"]["contentLength"] == 10
        assert fetch(listed["latest"]["downloadUrl"]).content == b"0123456789"
        assert fetch(listed["far"]["downloadUrl"]).content == b"leaf\n"
        # Walking into a link to a directory is the client's own decision.
        assert [f["name"] for f in job.files("OUT", directory="walk/er")] == ["leaf.txt"]
        reply = job.list("OUT", directory="round")
        refused(reply, 400, "InvalidQueryParameterValue", "directory", ["form a loop"])
    finally:
        for name in links:
            os.unlink(folder / name)


def test_what_a_listing_leaves_out_is_counted_in_the_log(own_daemon):
    d = own_daemon(arguments=["--log-level", "debug"])
    place = Place(d).make()
    job = place.job(place.cluster(nodes=1), COMMAND, outputDirectories=[{"id": "OUT", "pathPrefix": MOUNT}])
    job.succeed()
    here = place.share() / job.properties["jobOutputDirectoryPathSegment"] / "outputs"
    job.files("OUT")
    assert not [line for line in d.log() if "listing.truncated" in line]
    (here / os.fsdecode(b"caf\xe9.txt")).write_text("latin 1")
    os.symlink("/etc/passwd", here / "out")
    os.mkfifo(here / "pipe")
    names = [f["name"] for f in job.files("OUT")]
    assert names == ["deep", "empty.txt", "metrics.json", "ten.bin"]
    (line,) = [line for line in d.log() if "listing.truncated" in line]
    assert " debug " in line and "left_out=3" in line and "listed=4" in line and job.name in line
    # The last page is known to be the last, although more lies in the directory.
    reply = job.list("OUT", maxresults=4)
    assert len(reply.json["value"]) == 4 and not reply.json.get("nextLink")


def test_odd_file_names_survive_listing_and_download(job, folder, fetch):
    name = "mön and sun+50%#?&x=1.txt"
    (folder / name).write_text("odd")
    try:
        assert fetch(job.link(name, "OUT")).text == "odd"
    finally:
        (folder / name).unlink()


# --- download links -------------------------------------------------------------------------------


def test_a_link_is_signed_like_a_sas_and_lasts_as_asked(job):
    for minutes in (None, 5, 600):
        params = {"linkexpiryinminutes": minutes} if minutes else {}
        url = job.link("ten.bin", "OUT", **params)
        query = urlsplit(url).query
        assert [p.split("=")[0] for p in query.split("&")] == ["sv", "sr", "sig", "se", "sp"]
        q = {k: v[0] for k, v in parse_qs(query).items()}
        assert (q["sv"], q["sr"], q["sp"]) == ("2016-05-31", "f", "rl")
        expiry = datetime.strptime(q["se"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
        expected = datetime.now(timezone.utc) + timedelta(minutes=minutes or 60)
        assert abs(expiry - expected) < timedelta(minutes=1)
        assert urlsplit(url).path.endswith("/outputs/models/ten.bin")


@pytest.mark.parametrize("minutes", ["4", "601", "0", "-5", "soon"])
def test_a_link_must_last_5_to_600_minutes(job, minutes):
    params = {"outputdirectoryid": "OUT", "linkexpiryinminutes": minutes}
    reply = job.call("POST", "/listOutputFiles", params=params)
    assert reply.status == 400 and reply.error["target"] == "linkexpiryinminutes"
    assert minutes in reply.error["message"]


def test_a_whole_download(job, fetch):
    reply = fetch(job.link("ten.bin", "OUT"))
    assert (reply.status, reply.text) == (200, "0123456789")
    assert reply.headers["Content-Length"] == "10" and reply.headers["Accept-Ranges"] == "bytes"
    assert reply.headers["ETag"] and reply.headers["Last-Modified"]


@pytest.mark.parametrize(
    "wanted, body, content_range",
    [
        ("bytes=0-", "0123456789", "bytes 0-9/10"),
        ("bytes=3-", "3456789", "bytes 3-9/10"),
        ("bytes=3-5", "345", "bytes 3-5/10"),
        ("bytes=9-", "9", "bytes 9-9/10"),
        ("bytes=5-99", "56789", "bytes 5-9/10"),
        ("bytes=-4", "6789", "bytes 6-9/10"),
        ("bytes=0-33554431", "0123456789", "bytes 0-9/10"),
    ],
)
@pytest.mark.parametrize("header", ["Range", "x-ms-range"])
def test_byte_ranges(job, fetch, header, wanted, body, content_range):
    reply = fetch(job.link("ten.bin", "OUT"), **{header: wanted})
    assert (reply.status, reply.text) == (206, body)
    assert reply.headers["Content-Range"] == content_range
    assert reply.headers["Content-Length"] == str(len(body))


@pytest.mark.parametrize("wanted", ["bytes=10-", "bytes=11-", "bytes=99-120", "bytes=99999999999999999999-"])
def test_a_range_at_or_past_the_end_answers_416(job, fetch, wanted):
    reply = fetch(job.link("ten.bin", "OUT"), Range=wanted)
    assert reply.status == 416 and reply.headers["Content-Range"] == "bytes */10"


def test_an_empty_file_has_no_range_but_can_be_read_whole(job, fetch):
    url = job.link("empty.txt", "OUT")
    reply = fetch(url, Range="bytes=0-")
    assert reply.status == 416 and reply.headers["Content-Range"] == "bytes */0"
    whole = fetch(url)
    assert (whole.status, whole.content) == (200, b"")


@pytest.mark.parametrize("wanted", ["lines=1-2", "bytes=a-b", "bytes=5-3", "nonsense", "bytes=0-1,3-4"])
def test_a_range_that_is_none_is_ignored_or_refused_but_never_wrong(job, fetch, wanted):
    reply = fetch(job.link("ten.bin", "OUT"), Range=wanted)
    assert reply.status in (200, 400, 416)
    if reply.status == 200:
        assert reply.text == "0123456789"


def test_head_tells_the_size_and_sends_nothing(job, fetch):
    reply = fetch(job.link("ten.bin", "OUT"), method="HEAD")
    assert (reply.status, reply.content) == (200, b"")
    assert reply.headers["Content-Length"] == "10"


@pytest.mark.parametrize(
    "name, kind",
    [
        ("ten.bin", "application/octet-stream"),
        ("metrics.json", "application/json"),
        ("empty.txt", "text/plain"),
    ],
)
def test_the_content_type_fits_the_file(job, fetch, name, kind):
    got = fetch(job.link(name, "OUT")).headers["Content-Type"].split(";")[0]
    assert got in (kind, "application/octet-stream")


def test_a_tampered_link_is_refused(job, fetch):
    url = job.link("ten.bin", "OUT")
    q = parse_qs(urlsplit(url).query)
    later = url.replace(q["se"][0].replace(":", "%3A"), "2099-01-01T00%3A00%3A00Z")
    assert later != url
    signature = re.search(r"sig=([^&]+)", url).group(1)
    flipped = url.replace(signature, ("B" if signature[0] == "A" else "A") + signature[1:])
    forged = [
        later,
        flipped,
        url.replace("ten.bin", "metrics.json"),
        url.replace("/outputs/models/ten.bin", "/stdouterr/stdout.txt"),
        url.replace("ten.bin", "..%2fmodels%2ften.bin"),
        url.replace("sp=rl", "sp=rwl"),
        re.sub(r"sig=[^&]+&", "", url),
        re.sub(r"se=[^&]+&", "", url),
        url.split("?")[0],
    ]
    for bad in forged:
        reply = fetch(bad)
        assert reply.status in (401, 403, 404), (bad, reply)
        assert b"0123456789" not in reply.content
    assert fetch(url).status == 200


def forged(daemon, kind, scope, path):
    """A link that the daemon would have to have signed: its key is in the test's hands."""
    key = (Path(daemon.state_dir) / "token.key").read_bytes()
    se = (datetime.now(timezone.utc) + timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = "\n".join(["link", "2016-05-31", kind[0], "rl", se, *scope, path])
    mac = hmac.new(key, text.encode(), hashlib.sha512).digest()[:32]
    query = {"sv": "2016-05-31", "sr": kind[0], "sig": base64.b64encode(mac).decode(), "se": se, "sp": "rl"}
    names = "/".join(quote(part, safe="") for part in scope)
    return f"{daemon.endpoint}/{kind}s/{names}/{quote(path)}?{urlencode(query)}"


@pytest.mark.parametrize("kind", ["file", "blob"])
@pytest.mark.parametrize("scope", [("a.b", "out"), ("acct", "a.b"), ("acct", "../../x"), ("a/b", "out")])
def test_a_signed_link_to_no_share_is_refused(daemon, kind, scope):
    assert daemon.call("GET", forged(daemon, kind, ("acct", "nothing"), "x"), token=None).status == 404
    reply = daemon.call("GET", forged(daemon, kind, scope, "x"), token=None, validate=False)
    assert reply.status == 404 and b"is not the name" in reply.content.replace(b"a storage account's", b"the"), reply


def test_errors_of_the_storage_services_are_well_formed_xml(daemon):
    bad = 'a<b>&"\x01ü'
    reply = daemon.call("GET", forged(daemon, "file", (bad, "out"), "x"), token=None, validate=False)
    error = ElementTree.fromstring(reply.content)
    assert reply.status == 404 and 'a<b>&"?ü' in error.findtext("Message")


def test_only_reading_is_possible_through_a_link(job, fetch):
    url = job.link("ten.bin", "OUT")
    for method in ("PUT", "POST", "DELETE", "PATCH"):
        assert fetch(url, method=method).status in (403, 404, 405)
    assert fetch(url).text == "0123456789"


def test_a_link_of_a_file_that_is_gone_is_a_404(job, folder, fetch):
    (folder / "brief.txt").write_text("x")
    url = job.link("brief.txt", "OUT")
    (folder / "brief.txt").unlink()
    assert fetch(url).status == 404


def test_a_running_jobs_output_grows_under_the_same_link(place, shared_cluster, fetch):
    flag, path = place.flag(fresh("grow"))
    job = place.job(shared_cluster, f"echo first; while [ ! -e {path} ]; do sleep 0.02; done; echo second")
    wait_for(
        lambda: any(f["name"] == "stdout.txt" and f["properties"]["contentLength"] == 6 for f in job.files()),
        what="the first line",
    )
    url = job.link("stdout.txt")
    assert fetch(url, Range="bytes=0-").text == "first\n"
    assert fetch(url, Range="bytes=6-").status == 416
    flag.touch()
    job.succeed()
    assert fetch(url, Range="bytes=6-").text == "second\n"


def test_a_big_file_arrives_whole_and_in_pieces(job, folder, fetch):
    content = os.urandom(3_000_001)
    (folder / "big.bin").write_bytes(content)
    try:
        url = job.link("big.bin", "OUT")
        assert fetch(url).content == content
        pieces = [
            fetch(url, Range=f"bytes={i}-{i + 999_999}").content for i in range(0, len(content), 1_000_000)
        ]
        assert b"".join(pieces) == content
    finally:
        (folder / "big.bin").unlink()
