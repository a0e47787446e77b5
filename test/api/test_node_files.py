# SPDX-License-Identifier: MIT
"""Output on a node's own disk: what a job writes below $AZ_BATCHAI_JOB_TEMP, to a relative path or to
any other path that no share of ours holds is listed and downloaded through the node's agent."""

import base64
import fcntl
import hashlib
import hmac
import os
import shutil
import signal
import socket
import ssl
import threading
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import requests
from support.daemon import agents_of, memory_bound, rest_of
from support.flat import FlatPlace
from support.refusals import refused
from support.waiting import wait_for
from support.world import MOUNT, Place, fresh, wait_flag

TEMP = "$AZ_BATCHAI_JOB_TEMP"
MB = 1 << 20


def output(prefix=TEMP, **more):
    return {"id": "OUT", "pathPrefix": prefix, **more}


@pytest.fixture
def fetch(daemon):
    return daemon.fetch


def node_roots(daemon):
    return sorted((daemon.state_dir / "nodes").iterdir())


def job_directories(daemon):
    return sorted(str(p) for root in node_roots(daemon) for p in (root / "jobs").glob("*"))


def error_of(reply):
    """A storage error's code and its text."""
    return reply.headers["x-ms-error-code"], reply.text


# --- while the job runs -----------------------------------------------------------------------------


def test_a_running_jobs_own_directory_is_listed_and_its_output_followed(own_place, fetch):
    """As `az batchai job file stream` does it: Range: bytes=N- over and over."""
    more, more_path = own_place.flag(fresh("more"))
    end, end_path = own_place.flag(fresh("end"))
    job = own_place.job(
        own_place.cluster(),
        f"echo first; {wait_flag(more_path)}; echo second; {wait_flag(end_path)}; echo third",
        stdOutErrPathPrefix=TEMP,
    )
    wait_for(lambda: [f for f in job.files() if f["name"] == "stdout.txt" and f["properties"]["contentLength"]])
    assert [f["name"] for f in job.files()] == ["execution.log", "stderr.txt", "stdout.txt"]
    url = job.link("stdout.txt")
    assert urlsplit(url).path.startswith("/nodes/")
    first = fetch(url, Range="bytes=0-")
    assert (first.status, first.text, first.headers["Content-Range"]) == (206, "first\n", "bytes 0-5/6")
    assert fetch(url, Range="bytes=6-").status == 416
    more.touch()
    wait_for(lambda: fetch(url, Range="bytes=6-").status == 206, what="the second line")
    assert fetch(url, Range="bytes=6-").text == "second\n"
    end.touch()
    job.succeed()
    assert fetch(url, Range="bytes=13-").text == "third\n"
    assert fetch(url).text == "first\nsecond\nthird\n"


def test_nothing_is_there_before_the_job_runs(own_place):
    job = own_place.job(own_place.cluster(nodes=0), outputDirectories=[output()], stdOutErrPathPrefix=TEMP)
    assert job.files("OUT") == [] and job.files() == []


def test_a_relative_path_counts_as_below_the_jobs_directory(own_place):
    job = own_place.job(own_place.cluster(), "echo here", stdOutErrPathPrefix="logs").succeeded()
    assert job.read("stdout.txt") == "here\n"


# --- after its end ----------------------------------------------------------------------------------


def test_output_stays_after_the_end_as_it_was(own_place, fetch):
    job = own_place.job(
        own_place.cluster(),
        "cd $AZ_BATCHAI_OUTPUT_OUT; printf 0123456789 > ten.bin; mkdir -p deep/er; echo leaf > deep/er/leaf.txt;"
        " : > empty.txt",
        outputDirectories=[output(pathSuffix="models")],
    ).succeeded()
    items = job.files("OUT")
    assert [(f["name"], f["fileType"]) for f in items] == [
        ("deep", "directory"),
        ("empty.txt", "file"),
        ("ten.bin", "file"),
    ]
    assert items[2]["properties"]["contentLength"] == 10 and "downloadUrl" not in items[0]
    assert [f["name"] for f in job.files("OUT", directory="deep")] == ["er"]
    assert job.read("leaf.txt", "OUT", directory="deep/er") == "leaf\n"
    url = job.link("ten.bin", "OUT")
    whole = fetch(url)
    assert (whole.status, whole.text, whole.headers["Content-Length"]) == (200, "0123456789", "10")
    assert whole.headers["ETag"] and whole.headers["Last-Modified"] and whole.headers["Accept-Ranges"] == "bytes"
    for header in ("Range", "x-ms-range"):
        part = fetch(url, **{header: "bytes=3-5"})
        assert (part.status, part.text, part.headers["Content-Range"]) == (206, "345", "bytes 3-5/10")
    head = fetch(url, method="HEAD")
    assert (head.status, head.content, head.headers["Content-Length"]) == (200, b"", "10")
    empty = job.link("empty.txt", "OUT")
    assert fetch(empty, Range="bytes=0-").status == 416
    assert (fetch(empty).status, fetch(empty).content) == (200, b"")


def test_pages_of_a_listing(own_place):
    job = own_place.job(
        own_place.cluster(), "cd $AZ_BATCHAI_OUTPUT_OUT; touch a b c d e", outputDirectories=[output()]
    ).succeeded()
    params = {"outputdirectoryid": "OUT", "maxresults": 2}
    seen, reply = [], job.call("POST", "/listOutputFiles", params=params, expect=200)
    while True:
        seen.append([f["name"] for f in reply.json["value"]])
        if not reply.json.get("nextLink"):
            break
        reply = job.daemon.call("GET", reply.json["nextLink"], expect=200)
    assert seen == [["a", "b"], ["c", "d"], ["e"]]


def test_fifty_megabytes_arrive_whole_and_in_pieces(own_place, fetch):
    size = 50 * MB + 4321
    job = own_place.job(
        own_place.cluster(),
        f"cd $AZ_BATCHAI_OUTPUT_OUT; head -c {size} /dev/urandom > big.bin; sha256sum big.bin",
        outputDirectories=[output()],
    ).succeeded()
    want = job.read("stdout.txt").split()[0]
    url = job.link("big.bin", "OUT")
    whole = fetch(url).content
    assert len(whole) == size and hashlib.sha256(whole).hexdigest() == want
    step = 7 * MB + 13
    pieces = [fetch(url, Range=f"bytes={i}-{i + step - 1}").content for i in range(0, size, step)]
    assert hashlib.sha256(b"".join(pieces)).hexdigest() == want
    assert fetch(url, Range="bytes=-1000").content == whole[-1000:]


def test_output_on_any_other_path_of_the_node(own_place, tmp_path):
    """An unmanaged mount, or a disk that the site has: not ours to remove, so nothing limits it."""
    tmp_path.chmod(0o777)
    job = own_place.job(
        own_place.cluster(),
        "echo kept > $AZ_BATCHAI_OUTPUT_OUT/x.txt",
        outputDirectories=[output(str(tmp_path))],
    ).succeeded()
    assert job.read("x.txt", "OUT") == "kept\n"


def test_several_nodes_the_first_ones_files_and_a_directory_for_each_other(own_place, fetch):
    cluster = own_place.cluster(nodes=3)
    flag, path = own_place.flag(fresh("go"))
    job = own_place.job(
        cluster,
        wait_flag(path),
        nodes=3,
        jobPreparation={"commandLine": "echo $AZ_BATCHAI_TASK_INDEX > $AZ_BATCHAI_OUTPUT_OUT/rank.txt"},
        outputDirectories=[output()],
    )
    wait_for(lambda: len(job.files("OUT")) == 3, what="files of three nodes")
    flag.touch()
    job.succeed()
    listed = job.files("OUT")
    others = [f["name"] for f in listed if f["fileType"] == "directory"]
    assert [f["name"] for f in listed if f["fileType"] == "file"] == ["rank.txt"] and len(others) == 2
    assert set(others) < {p.name for p in node_roots(own_place.daemon)}
    assert job.read("rank.txt", "OUT") == "0\n"
    assert sorted(job.read("rank.txt", "OUT", directory=name) for name in others) == ["1\n", "2\n"]
    assert "nobody" in job.files("OUT", directory="nobody", expect=404).error["message"]


@pytest.mark.parametrize("version", ["2017-09-01-preview", "2018-03-01"])
def test_the_versions_without_workspaces_see_the_first_nodes_files(daemon, version, fetch, temporary):
    place = temporary(FlatPlace(daemon, version).make())
    job = place.job(place.cluster(), "echo old", stdOutErrPathPrefix=TEMP).succeeded()
    assert fetch(job.link("stdout.txt")).text == "old\n"


# --- until when -------------------------------------------------------------------------------------


def test_a_deleted_jobs_directory_goes_from_the_node(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    fetch = d.fetch
    cluster = place.cluster()
    jobs = [place.job(cluster, "echo x", stdOutErrPathPrefix=TEMP) for _ in range(2)]
    for job in jobs:
        job.succeed()
    url = jobs[0].link("stdout.txt")
    wait_for(lambda: len(job_directories(d)) == 2, what=lambda: job_directories(d))
    jobs[0].delete()
    wait_for(lambda: len(job_directories(d)) == 1, what=lambda: job_directories(d))
    code, text = error_of(fetch(url))
    assert code == "FileNotFound" and "deleted" in text
    assert jobs[1].read("stdout.txt") == "x\n"


def test_a_node_that_left_has_nothing_to_show(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    cluster = place.cluster()
    job = place.job(cluster, "echo x", stdOutErrPathPrefix=TEMP).succeeded()
    url = job.link("stdout.txt")
    cluster.resized(0)
    error = refused(
        job.files(expect=400), 400, "OutputDirectoryNotOnMountRoot", "outputdirectoryid", ["has left the cluster"]
    )
    assert error["message"].startswith("The specified outputDirectoryId stdouterr is not present on a mount root")
    reply = d.fetch(url)
    assert reply.status == 404 and "has left the cluster" in reply.text


def test_a_node_keeps_the_directories_of_so_many_jobs(own_daemon):
    d = own_daemon(config={"jobs": {"kept_outputs": 2}})
    place = Place(d).make()
    cluster = place.cluster()
    jobs = []
    for i in range(4):
        jobs.append(place.job(cluster, f"echo {i}", stdOutErrPathPrefix=TEMP))
        jobs[-1].succeed()
    wait_for(lambda: len(job_directories(d)) == 2, what=lambda: job_directories(d))
    for job in jobs[:2]:
        wait_for(lambda j=job: j.list().status == 400)
        assert "does not keep" in job.files(expect=400).error["message"]
    assert [job.read("stdout.txt") for job in jobs[2:]] == ["2\n", "3\n"]


def test_a_job_whose_output_is_on_shares_leaves_nothing_on_the_node(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    job = place.job(place.cluster(), "echo x > $AZ_BATCHAI_JOB_TEMP/scratch", outputDirectories=[output(MOUNT)])
    job.succeed()
    wait_for(lambda: job_directories(d) == [], what=lambda: job_directories(d))


def test_none_are_kept_where_the_site_says_so(own_daemon):
    d = own_daemon(config={"jobs": {"kept_outputs": 0}})
    place = Place(d).make()
    job = place.job(place.cluster(), "echo x", stdOutErrPathPrefix=TEMP).succeeded()
    wait_for(lambda: job_directories(d) == [], what=lambda: job_directories(d))
    wait_for(lambda: "does not keep" in job.list().text)


def test_volumes_of_the_job_alone_are_gone_with_it(own_place, tmp_path):
    """Its directory stays, but not what was mounted in it."""
    job = own_place.job(
        own_place.cluster(),
        "echo x",
        stdOutErrPathPrefix=TEMP,
        outputDirectories=[output("$AZ_BATCHAI_JOB_MOUNT_ROOT/nowhere")],
    ).succeeded()
    assert job.read("stdout.txt") == "x\n"
    wait_for(
        lambda: job.list("OUT").status == 400,
        what="the mounts to be gone",
    )
    assert "only while the job ran" in job.files("OUT", expect=400).error["message"]


def test_after_kill_9_output_is_there_and_stray_directories_go(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    job = place.job(place.cluster(), "echo x", stdOutErrPathPrefix=TEMP).succeeded()
    wait_for(lambda: len(job_directories(d)) == 1)
    d.kill9()
    (node_roots(d)[0] / "jobs" / "00000000-0000-4000-8000-000000000000-1").mkdir()
    d.start()
    wait_for(lambda: len(job_directories(d)) == 1, what=lambda: job_directories(d))
    assert job.read("stdout.txt") == "x\n"


def test_a_directory_that_somebody_removed_is_missed(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    job = place.job(place.cluster(), "echo x", stdOutErrPathPrefix=TEMP).succeeded()
    wait_for(lambda: len(job_directories(d)) == 1)
    d.stop()
    shutil.rmtree(job_directories(d)[0])
    d.start()
    listing = {"outputdirectoryid": "stdouterr"}
    wait_for(lambda: "does not keep" in job.call("POST", "/listOutputFiles", params=listing).text)


# --- who may read what ------------------------------------------------------------------------------


@pytest.mark.parametrize("directory", ["..", "../..", "/", "/etc", "a/../..", "..%2f..", "./..", "a//.."])
def test_a_directory_that_tries_to_leave_is_refused(own_place, directory):
    job = own_place.job(own_place.cluster(), "true", stdOutErrPathPrefix=TEMP).succeeded()
    reply = job.list(directory=directory)
    assert reply.status in (400, 404), reply
    assert reply.status == 404 or reply.code == "InvalidPath", reply


def test_symbolic_links_out_of_the_output_directory_lead_nowhere(own_place, fetch, tmp_path):
    (tmp_path / "secret.txt").write_text("do not show")
    job = own_place.job(
        own_place.cluster(),
        f"cd $AZ_BATCHAI_OUTPUT_OUT; echo fine > fine.txt; ln -s fine.txt latest; ln -s {tmp_path} escape;"
        f" ln -s {tmp_path}/secret.txt escape.txt",
        outputDirectories=[output()],
    ).succeeded()
    assert [f["name"] for f in job.files("OUT")] == ["fine.txt", "latest"]
    assert job.read("latest", "OUT") == "fine\n"
    reply = job.list("OUT", directory="escape")
    assert reply.status == 400 and "leads out of" in reply.error["message"]
    for path in ("escape.txt", "escape/secret.txt", "../secret.txt"):
        reply = fetch(forge(own_place.daemon, job.link("fine.txt", "OUT"), path=path))
        assert reply.status == 404 and "do not show" not in reply.text, reply


def forge(daemon, url, path=None, expiry=None):
    """The link that the daemon itself would sign for another path or time."""
    parts = urlsplit(url)
    query = {k: v[0] for k, v in parse_qs(parts.query).items()}
    _, kind, job, rank, directory, old = parts.path.split("/", 5)
    assert kind == "nodes"
    path, expiry = path or old, expiry or query["se"]
    text = "\n".join(["link", query["sv"], query["sr"], query["sp"], expiry, job, rank, directory, path])
    key = (daemon.state_dir / "token.key").read_bytes()
    sig = base64.b64encode(hmac.new(key, text.encode(), hashlib.sha512).digest()[:32]).decode()
    return (
        f"{daemon.endpoint}/nodes/{job}/{rank}/{directory}/{quote(path)}?sv={query['sv']}&sr={query['sr']}"
        f"&sig={quote(sig, safe='')}&se={quote(expiry, safe='')}&sp={query['sp']}"
    )


def test_links_are_signed_and_expire(own_place, fetch):
    job = own_place.job(own_place.cluster(), "echo mine", stdOutErrPathPrefix=TEMP).succeeded()
    url = job.link("stdout.txt")
    assert fetch(forge(own_place.daemon, url)).text == "mine\n"
    expired = fetch(forge(own_place.daemon, url, expiry="2020-01-01T00:00:00Z"))
    assert expired.status == 403 and "expired at 2020-01-01" in expired.text
    _, _, job_id, rank, directory, _ = urlsplit(url).path.split("/", 5)
    row, guid = job_id.split("-", 1)
    changed = [
        url.replace("stdout.txt", "stderr.txt"),
        url.replace(f"/nodes/{row}-{guid}/", f"/nodes/{int(row) + 1}-{guid}/"),
        url.replace(f"/nodes/{row}-{guid}/", f"/nodes/{row}-{uuid.uuid4()}/"),
        url.replace(f"/{rank}/{directory}/", f"/1/{directory}/"),
        url.replace(f"/nodes/{job_id}/{rank}/{directory}/", f"/files/{job_id}/{rank}/{directory}/"),
        url.replace("sr=n", "sr=f"),
        url.split("?")[0],
    ]
    for bad in changed:
        assert fetch(bad).status == 403, bad
    for method in ("PUT", "POST", "DELETE"):
        assert fetch(url, method=method).status in (403, 404, 405)


# --- nodes that cannot be reached, clients that do not read -----------------------------------------


@contextmanager
def unreachable(d):
    """The one node's agent is killed, and as long as this lasts no other can begin."""
    (root,) = node_roots(d)
    with open(root / "agent.lock") as lock:
        # Waits for it before the next agent can.
        waiter = threading.Thread(target=fcntl.flock, args=(lock, fcntl.LOCK_EX))
        waiter.start()
        wait_for(lambda: is_awaited(lock), what="the queue for the agent's lock")
        wait_for(lambda: end_agents(d, waiter), what="the agent's lock")
        yield


def end_agents(d, waiter):
    """The kernel wakes all who wait for a lock: the next agent may be the first, and goes as well."""
    for pid in agents_of(d):
        os.kill(pid, signal.SIGKILL)
    waiter.join(0.1)
    return not waiter.is_alive()


def is_awaited(file):
    """Somebody waits for a lock on it: /proc/locks shows that below the lock, with an arrow."""
    inode = f":{os.fstat(file.fileno()).st_ino} "
    return any("->" in line and inode in line for line in Path("/proc/locks").read_text().splitlines())


def make_big(place, size=64 * MB):
    job = place.job(
        place.cluster(),
        f"head -c {size} /dev/zero > $AZ_BATCHAI_OUTPUT_OUT/big.bin",
        outputDirectories=[output()],
        stdOutErrPathPrefix=TEMP,
    ).succeeded()
    return job


def test_a_node_that_cannot_be_reached_is_a_503_that_says_when_to_try_again(own_daemon):
    d = own_daemon()
    d.expect_log("node.link_lost|node.link_closed|node.unusable|agent")
    place = Place(d).make()
    fetch = d.fetch
    job = place.job(place.cluster(), "echo still here", stdOutErrPathPrefix=TEMP).succeeded()
    url = job.link("stdout.txt")
    with unreachable(d):
        reply = wait_for(lambda: (r := fetch(url)).status == 503 and r, what="a 503")
        code, text = error_of(reply)
        assert code == "ServiceUnavailable" and "cannot be reached now" in text and reply.headers["Retry-After"]
        reply = job.list(validate=False)
        assert reply.status == 503 and reply.headers["Retry-After"]
        assert node_roots(d)[0].name in reply.error["message"]
    # A worker of the agent that was killed may go under one of the first requests, which says so.
    wait_for(lambda: fetch(url).text == "still here\n", what="the node to be back")
    asked = {"params": {"outputdirectoryid": "stdouterr"}, "validate": False}
    wait_for(lambda: job.call("POST", "/listOutputFiles", **asked).status == 200, what="a list")
    assert job.read("stdout.txt") == "still here\n"


def test_a_node_that_goes_during_a_download_ends_it_early(own_daemon):
    d = own_daemon()
    d.expect_log("node.link_lost|node.link_closed|node.unusable|agent")
    url = make_big(Place(d).make()).link("big.bin", "OUT")
    with requests.get(url, stream=True, verify=d.ca, timeout=60) as reply:
        assert reply.status_code == 200 and reply.headers["Content-Length"] == str(64 * MB)
        got = len(reply.raw.read(MB))
        with unreachable(d):
            assert got + rest_of(reply) < 64 * MB
    wait_for(lambda: d.fetch(url, Range="bytes=-5").content == b"\0" * 5, what="the node to be back")


def open_raw(d, url):
    """A client that asks, and does not read."""
    context = ssl.create_default_context(cafile=d.ca)
    raw = socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=30)
    client = context.wrap_socket(raw, server_hostname=urlsplit(url).hostname)
    parts = urlsplit(url)
    client.sendall(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    return client


def test_a_client_that_does_not_read_costs_little_memory_and_holds_up_nobody(own_daemon):
    d = own_daemon()
    url = make_big(Place(d).make()).link("big.bin", "OUT")
    fetch = d.fetch
    before = d.resident()
    clients = [open_raw(d, url) for _ in range(20)]
    try:
        for client in clients:
            assert client.recv(12) == b"HTTP/1.1 200"
        assert hashlib.sha256(fetch(url).content).digest() == hashlib.sha256(bytes(64 * MB)).digest()
        assert d.resident() - before < memory_bound(40 * MB)
    finally:
        for client in clients:
            client.close()
    assert fetch(url, Range="bytes=0-3").content == bytes(4)


def test_the_daemon_stops_although_a_download_stalls_and_a_node_does_not_answer(own_daemon):
    d = own_daemon()
    d.expect_log("node.link")
    d.expect_log("node.run_directory_not_removed")  # if the agent is stopped while it is asked to
    job = make_big(Place(d).make())
    client = open_raw(d, job.link("big.bin", "OUT"))
    (agent,) = agents_of(d)
    try:
        assert client.recv(12) == b"HTTP/1.1 200"
        os.kill(agent, signal.SIGSTOP)
        answers = []
        asked = threading.Thread(target=lambda: answers.append(try_files(job)))
        asked.start()
        job.get()
        assert d.stop() == 0
        asked.join(20)
        assert answers and (answers[0] is None or answers[0].status == 503)
    finally:
        with suppress(ProcessLookupError):
            os.kill(agent, signal.SIGCONT)
        client.close()


def try_files(job):
    try:
        return job.list(validate=False)
    except requests.RequestException:
        return None
