# SPDX-License-Identifier: MIT
"""Files of jobs over the daemon's own host: lists, the tail of a log, downloads; and who may not, and what may not."""

import os
import shutil
from urllib.parse import quote

import pytest
from support.people import Person
from support.waiting import wait_for
from support.world import MOUNT, fresh, wait_flag

COMMAND = """
cd $AZ_BATCHAI_OUTPUT_OUT
printf 0123456789 > ten.bin
mkdir -p deep/er && echo leaf > deep/er/leaf.txt
echo '<script>alert(1)</script>' > '<img src=x onerror=alert(1)>.html'
echo rtl > "$(printf 'evil\\342\\200\\256gpj.exe')"
echo odd > "$(printf 'two\\nlines.txt')"
echo broken > "$(printf 'caf\\351.txt')"
echo "to stdout"; echo "to stderr" >&2
"""
RIGHT_TO_LEFT = "evil\u202egpj.exe"


class Files:
    def __init__(self, daemon, job, person=None):
        self.daemon, self.person = daemon, person
        group, _, workspace = job.place.group, None, job.place.workspace
        self.path = f"/batchaid/jobs/{group}/{workspace}/exp/{job.name}/files"

    def call(self, end="", expect=200, method="GET", headers=None, **params):
        more = {"token": self.person.token()} if self.person else {}
        query = "&".join(f"{k}={quote(v, safe='')}" for k, v in params.items())
        path = self.path + end + ("?" + query if query else "")
        return self.daemon.call(method, path, api_version=None, headers=headers, expect=expect, **more)

    def list(self, **params):
        return self.call(**params).json

    def names(self, **params):
        return [f["name"] for f in self.list(**params)["value"]]

    def get(self, directory="OUT", **more):
        return self.call("/content", directory=directory, **more)


@pytest.fixture(scope="module")
def job(_place, shared_cluster):
    directories = [{"id": "OUT", "pathPrefix": MOUNT, "pathSuffix": "models"}]
    j = _place.job(shared_cluster, COMMAND, name=fresh("browsed"), outputDirectories=directories).succeeded()
    j.place = _place
    return j


@pytest.fixture
def files(daemon, job):
    return Files(daemon, job)


def folder_of(job):
    return job.place.share() / job.properties["jobOutputDirectoryPathSegment"] / "outputs" / "models"


# --- lists --------------------------------------------------------------------------------------------------------------


def test_output_directories_and_what_is_in_them(files, job):
    assert files.names() == ["stdouterr", "OUT"]
    assert set(files.names(directory="stdouterr")) == {f["name"] for f in job.files()}
    found = files.list(directory="OUT")
    names = [f["name"] for f in found["value"]]
    assert names == sorted(names, key=str.encode) and found["leftOut"] == 1, "a name that is not UTF-8 is counted"
    assert {"ten.bin", "deep", "<img src=x onerror=alert(1)>.html", RIGHT_TO_LEFT, "two\nlines.txt"} == set(names)
    ten = next(f for f in found["value"] if f["name"] == "ten.bin")
    assert ten["size"] == 10 and ten["path"] == "ten.bin" and ten["isDirectory"] is False and ten["modifiedTime"]
    (leaf,) = files.list(directory="OUT", path="deep/er")["value"]
    assert (leaf["name"], leaf["path"], leaf["size"]) == ("leaf.txt", "deep/er/leaf.txt", 5)


def test_pages(files):
    first = files.list(directory="OUT", max="2")
    rest = files.list(directory="OUT", after=first["next"])
    assert [f["name"] for f in first["value"] + rest["value"]] == files.names(directory="OUT") and "next" not in rest
    first = files.list(max="1")
    assert [f["name"] for f in first["value"]] == ["stdouterr"] and files.names(after=first["next"]) == ["OUT"]
    assert "'x'" in files.call(after="x", expect=400).json["error"]["message"]


def test_a_file_that_comes_or_goes_between_two_pages_moves_no_other(files, job):
    out = folder_of(job)
    (out / "between").mkdir()
    for name in ("b", "d", "f"):
        (out / f"between/{name}").write_text(name)
    first = files.list(directory="OUT", path="between", max="2")
    (out / "between/a").write_text("a")
    (out / "between/e").write_text("e")
    rest = files.list(directory="OUT", path="between", after=first["next"])
    assert [f["name"] for f in first["value"] + rest["value"]] == ["b", "d", "e", "f"]
    (out / "between/d").unlink()
    assert [f["name"] for f in files.list(directory="OUT", path="between", after=first["next"])["value"]] == ["e", "f"]
    shutil.rmtree(out / "between")


# --- bytes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "range, status, body, where",
    [
        (None, 200, "0123456789", None),
        ("bytes=0-", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=-3", 206, "789", "bytes 7-9/10"),
        ("bytes=-65536", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=2-4", 206, "234", "bytes 2-4/10"),
        ("bytes=8-99999999999999999999999999", 206, "89", "bytes 8-9/10"),
        ("bytes=5-2", 200, "0123456789", None),
        ("bytes=0-1,3-4", 200, "0123456789", None),
        ("lines=1-2", 200, "0123456789", None),
        ("bytes=10-", 416, None, "bytes */10"),
        ("bytes=99999999999999999999-", 416, None, "bytes */10"),
        ("bytes=-0", 416, None, "bytes */10"),
    ],
)
def test_ranges(files, range, status, body, where):
    reply = files.get(path="ten.bin", expect=status, headers={"Range": range} if range else None)
    assert reply.headers.get("Content-Range") == where and reply.headers["Accept-Ranges"] == "bytes"
    if body:
        assert reply.content == body.encode()
    else:
        assert reply.json["error"]["code"] == "InvalidRange" and range[:20] in reply.json["error"]["message"]


def test_a_part_of_the_same_file(files):
    """A small file is read at once, whatever part is wanted."""
    etag = files.get(path="ten.bin", method="HEAD").headers["ETag"]
    for range, part in (("bytes=-3", b"789"), ("bytes=0-9", b"0123456789"), ("bytes=4-4", b"4")):
        assert files.get(path="ten.bin", headers={"Range": range, "If-Range": etag}, expect=206).content == part
        for other in ('"0x0"', "W/" + etag, "yesterday"):
            assert files.get(path="ten.bin", headers={"Range": range, "If-Range": other}).content == b"0123456789"
    assert files.get(path="ten.bin", headers={"If-Range": etag}).content == b"0123456789"


def test_the_end_of_a_log_that_grows(own_place, daemon):
    """The tail first, and what was added since by If-Range and the ETag, while the job runs."""
    cluster = own_place.cluster(1)
    marker, inside = own_place.flag("more")
    long = "yes x | tr -d '\\n' | head -c 1200000; echo; echo end"
    j = own_place.job(cluster, f"{long}; {wait_flag(inside)}; echo more").running()
    j.place = own_place
    files = Files(daemon, j)

    def tail():
        reply = files.get("stdouterr", path="stdout.txt", headers={"Range": "bytes=-16"}, expect=(200, 206, 404, 416))
        return reply.status == 206 and reply.content.endswith(b"end\n") and reply

    first = wait_for(tail, 60)
    assert first.content == b"xxxxxxxxxxx\nend\n" and first.headers["Content-Type"].startswith("text/plain")
    size = int(first.headers["Content-Range"].rpartition("/")[2])
    again = {"Range": f"bytes={size}-", "If-Range": first.headers["ETag"]}
    assert files.get("stdouterr", path="stdout.txt", headers=again, expect=416).headers["Content-Range"] == f"bytes */{size}"
    head = files.get("stdouterr", path="stdout.txt", method="HEAD")
    assert head.headers["Content-Length"] == str(size) and head.content == b""
    marker.touch()
    j.succeed()
    whole = files.get("stdouterr", path="stdout.txt", headers={**again, "Range": "bytes=0-3"})
    assert whole.status == 200 and len(whole.content) == size + 5, "it is another file now: all of it"
    part = files.get("stdouterr", path="stdout.txt", headers={"Range": f"bytes={size}-", "If-Range": whole.headers["ETag"]}, expect=206)
    assert part.content == b"more\n"


def test_a_browser_runs_nothing_of_it(files):
    reply = files.get(path="<img src=x onerror=alert(1)>.html")
    assert reply.content == b"<script>alert(1)</script>\n"
    assert reply.headers["Content-Type"] == "application/octet-stream" and reply.headers["X-Content-Type-Options"] == "nosniff"
    policy = reply.headers["Content-Security-Policy"]
    assert "sandbox" in policy and "default-src 'none'" in policy and "allow" not in policy
    assert "sandbox" in files.get(path="none", expect=404).headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "name, shown, encoded",
    [
        ("ten.bin", "ten.bin", "ten.bin"),
        (RIGHT_TO_LEFT, "evil_gpj.exe", "evil_gpj.exe"),
        ("two\nlines.txt", "two_lines.txt", "two_lines.txt"),
        ("<img src=x onerror=alert(1)>.html", "<img src=x onerror=alert(1)>.html", quote("<img src=x onerror=alert(1)>.html", safe="!#$&+^`|~")),
    ],
)
def test_names_of_downloads(files, name, shown, encoded):
    said = files.get(path=name, download="true").headers["Content-Disposition"]
    assert said == f"attachment; filename=\"{shown}\"; filename*=UTF-8''{encoded}"
    assert "Content-Disposition" not in files.get(path=name, download="false").headers


def test_files_on_the_nodes_own_disks(own_place, daemon):
    """Those of further nodes are below their names; the job is over, and its nodes are there."""
    j = own_place.job(own_place.cluster(2), "echo $AZ_BATCHAI_TASK_INDEX > n.txt; echo out", nodes=2, stdOutErrPathPrefix="$AZ_BATCHAI_JOB_TEMP")
    j.succeed()
    j.place = own_place
    files = Files(daemon, j)
    assert files.names() == ["stdouterr"]
    found = files.list(directory="stdouterr")["value"]
    assert [f["path"] for f in found if not f["isDirectory"]] == [f["name"] for f in j.files() if f["fileType"] == "file"]
    reply = files.get("stdouterr", path="stdout.txt", headers={"Range": "bytes=-2"}, expect=206)
    assert reply.content == b"t\n" and reply.headers["Content-Range"] == "bytes 2-3/4" and reply.headers["Content-Type"].startswith("text/plain")
    same = {"Range": "bytes=0-0", "If-Range": reply.headers["ETag"]}
    assert files.get("stdouterr", path="stdout.txt", headers=same, expect=206).content == b"o"
    assert files.get("stdouterr", path="stdout.txt", headers={**same, "If-Range": '"0x1"'}).content == b"out\n"
    assert files.get("stdouterr", path="stdout.txt", method="HEAD").headers["Content-Length"] == "4"
    for path, code in (("none", 404), ("../../../../etc/passwd", 400)):
        files.get("stdouterr", path=path, expect=code)
    for directory in (f["name"] for f in found if f["isDirectory"]):
        assert files.list(directory="stdouterr", path=directory)["value"] is not None


# --- who may not, and what may not --------------------------------------------------------------------------------------


def test_another_user_s_job_is_not_there(files, daemon, job):
    elsewhere = f"/subscriptions/{daemon.subscription}/resourceGroups/elsewhere"
    for person in (Person(daemon, "Owner", elsewhere), Person(daemon, "Storage Blob Data Owner")):
        theirs = Files(daemon, job, person)
        for call in (theirs.call, theirs.get):
            error = call(expect=404, **({"path": "ten.bin"} if call == theirs.get else {})).json["error"]
            assert error["code"] == "JobNotFound" and job.name in error["message"]
    assert Files(daemon, job, Person(daemon, "none")).call(expect=403).status == 403
    reader = Files(daemon, job, Person(daemon, "Reader", f"/subscriptions/{daemon.subscription}/resourceGroups/{job.place.group}"))
    assert reader.names() == ["stdouterr", "OUT"] and reader.get(path="ten.bin").content == b"0123456789"
    assert daemon.call("GET", files.path, api_version=None, token=None).status == 401


@pytest.mark.parametrize("path", ["../stdouterr/stdout.txt", "deep/../ten.bin", "/etc/passwd", "..", "a//b", "", ".", "deep/.."])
def test_paths_stay_inside(files, path):
    error = files.get(path=path, expect=400).json["error"]
    assert error["code"] == "InvalidPath" and error["target"] == "path" and f"'{path}'" in error["message"]
    if path not in ("", "."):
        assert files.call(directory="OUT", path=path, expect=400).json["error"]["target"] == "path"


@pytest.mark.parametrize("path", ["\\..\\..\\etc\\passwd", "none", "ten.bin/x", "deep", "x" * 300, "ten.bin\n"])
def test_what_is_no_file(files, path):
    assert files.get(path=path, expect=404).json["error"]["code"] == "FileNotFound"


def test_a_link_out_is_neither_shown_nor_followed(files, job):
    link = folder_of(job) / "out"
    link.symlink_to("/etc/passwd")
    try:
        assert "out" not in files.names(directory="OUT")
        assert files.get(path="out", expect=404).json["error"]["code"] == "FileNotFound"
    finally:
        link.unlink()


@pytest.mark.parametrize(
    "params, status, words",
    [
        ({"path": "x"}, 400, ["directory is missing"]),
        ({"directory": "OUT"}, 400, ["path is missing"]),
        ({"directory": "NONE", "path": "x"}, 404, ["'NONE'", "stdouterr"]),
        ({"directory": "OUT", "path": "ten.bin", "download": "yes"}, 400, ["'yes'", "true or false"]),
    ],
)
def test_bad_queries(files, params, status, words):
    error = files.call("/content", expect=status, **params).json["error"]
    assert all(w in error["message"] for w in words), error
    assert "'99999'" in files.call(directory="OUT", max="99999", expect=400).json["error"]["message"]


def test_a_file_that_becomes_shorter_ends_early(daemon, job, files):
    """The reply has begun: it is cut off, and others go on."""
    folder = job.place.share() / job.properties["jobOutputDirectoryPathSegment"] / "outputs" / "models"
    big = folder / "big.bin"
    with big.open("wb") as f:
        f.truncate(64 << 20)
    try:
        with pytest.raises(Exception):  # http.client: IncompleteRead, or the connection ends

            def cut():
                os.truncate(big, 1 << 20)

            daemon_reads(daemon, files, cut)
        assert files.get(path="ten.bin").content == b"0123456789"
    finally:
        big.unlink()


def daemon_reads(daemon, files, cut):
    import http.client
    import ssl

    context = ssl.create_default_context(cafile=daemon.ca)
    context.check_hostname = False
    connection = http.client.HTTPSConnection("127.0.0.1", daemon.port, context=context, timeout=60)
    head = {"Authorization": f"Bearer {daemon.token()}", "Host": f"127.0.0.1:{daemon.port}"}
    connection.request("GET", files.path + "/content?directory=OUT&path=big.bin", headers=head)
    reply = connection.getresponse()
    assert reply.status == 200 and reply.read(1000)
    cut()
    rest = reply.read()
    assert len(rest) + 1000 == 64 << 20
