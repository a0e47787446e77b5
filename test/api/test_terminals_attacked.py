# SPDX-License-Identifier: MIT
"""Who must not enter a job, and who breaks the rules once inside."""

import os
import re
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.daemon import memory_bound
from support.people import CONTRIBUTOR, OWNER, READER, SUBMITTER
from support.terminals import PROTOCOL, Refused, Terminal, path_of, run
from support.waiting import PATIENCE, wait_for
from support.world import Place, fresh, job_body, wait_flag

OPERATOR = "Batch AI Job Operator"
# Why the daemon closes a terminal whose client does not wait for it.
TOO_MUCH = ("the client has sent too much input", "the client does not read the daemon's answers fast enough")


def running(place, cluster, command="", nodes=1, **more):
    flag, path = place.flag(fresh("go"))
    begun, there = place.flag(fresh("begun"))
    made = place.job(cluster, f"{command}\n>{there}\n{wait_flag(path)}", nodes=nodes, **more)
    wait_for(begun.exists, what="the job's command")
    made.flag = flag
    return made


@pytest.fixture(scope="module")
def ground(daemon, temporary_in_file):
    return temporary_in_file(Place(daemon).make())


@pytest.fixture(scope="module")
def cluster(ground):
    return ground.cluster(nodes=3)


@pytest.fixture(scope="module")
def job(ground, cluster):
    return running(ground, cluster)


def refused(job, status, code=None, **more):
    with pytest.raises(Refused) as e:
        Terminal(job, **{"command": "true", **more})
    assert e.value.status == status and (code is None or e.value.code == code), e.value
    return e.value.message


def lives(pid):
    """Whether the process is there, and not only its remains."""
    try:
        return re.search(r"^State:\s+[^Z]", Path(f"/proc/{pid}/status").read_text(), re.M) is not None
    except OSError:
        return False


def gone(pid, limit=30):
    wait_for(lambda: not lives(pid), limit=limit, what=f"the end of {pid}")


def sleeper(job, **more):
    """An open terminal, and the number of its process, which is the machine's: local nodes share them."""
    t = Terminal(job, command="echo $$; exec sleep 10000", **more)
    t.until(b"\n")
    return t, int(t.out)


# --- who may ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [READER, SUBMITTER, CONTRIBUTOR, OWNER])
def test_no_role_alone_opens_jobs_of_others(job, person, role):
    ada = person(role)
    message = refused(job, 403, "AuthorizationFailed", who=ada)
    assert "batchaid/jobs/enter/action" in message and f"/jobs/{job.name}" in message


def test_who_sees_no_jobs_learns_nothing(job, person):
    refused(job, 403, "AuthorizationFailed", who=person("none"))
    refused(job, 404, "JobNotFound", who=person(OPERATOR, "elsewhere"))
    refused(job, 401, token="x")


def test_a_role_that_names_the_right_enters_and_the_owner_sees_it(job, person):
    ada = person(OPERATOR)
    end, out, _ = run(job, "echo hello", who=ada)
    assert (end, out) == ((0, 0), b"hello\n")
    assert run(job, "true", who=ada)[0] == (0, 0)
    rows = job.daemon.rows("SELECT reason FROM event WHERE reason LIKE 'a terminal was opened by %'")
    told = [row[0] for row in rows if row[0] == f"a terminal was opened by {ada.name}"]
    assert len(told) == 1, "each connection of a forwarded port opens one: they must not push out the job's own events"
    bob = person(OPERATOR)
    refused(job, 400, who=bob, node="nowhere")
    assert bob.name not in str(job.daemon.rows("SELECT reason FROM event"))
    lines = [line for line in job.daemon.log() if "terminal.opened" in line and f"principal={ada.name}" in line]
    assert lines and f"job={job.name}" in lines[0]
    wait_for(lambda: any("terminal.closed" in x and f"principal={ada.name}" in x and "exit_code=0" in x for x in job.daemon.log()), what="the log")


@pytest.mark.skipif(os.geteuid() != 0, reason="local nodes serve the first principal alone without accounts for jobs")
def test_ones_own_job_as_long_as_one_may_run_jobs(ground, cluster, person, daemon):
    ada, bob = person(SUBMITTER), person(SUBMITTER)
    flag, path = ground.flag(fresh("go"))
    begun, there = ground.flag(fresh("begun"))
    mine = ground.experiment().path + "/jobs/" + fresh("mine")
    ada.call("PUT", mine, job_body(cluster.id, f">{there}\n{wait_flag(path)}"), expect=(200, 202))
    job = ground.job_at(mine.rsplit("/", 1)[1])
    wait_for(begun.exists, what="her job's command")
    end, out, _ = run(job, "id -u", who=ada)
    assert end == (0, 0) and int(out) != 0
    refused(job, 403, "AuthorizationFailed", who=bob)
    t, pid = sleeper(job, who=ada)
    ada.remove()
    assert t.finish() == "the right to enter this job was taken away"
    gone(pid)
    refused(job, 401, who=ada)
    flag.touch()


# --- where, and how ---------------------------------------------------------------------------------


def test_jobs_that_do_not_run(ground, cluster, job):
    done = ground.job(cluster, "true").succeeded()
    assert "is succeeded; a terminal needs a running job" in refused(done, 409, "Conflict")
    waits = ground.job(ground.cluster(nodes=0), "true")
    assert "is queued; a terminal needs a running job" in refused(waits, 409, "Conflict")
    waits.path = waits.path + "x"
    refused(waits, 404, "JobNotFound")


def test_nodes_of_other_jobs(ground, cluster, job):
    other = running(ground, cluster)
    name = run(other, "echo $AZ_BATCHAI_NODE_LIST")[1].decode().split(";")[0].strip()
    nodes = {n["nodeId"] for n in cluster.call("POST", "/listRemoteLoginInformation").json["value"]}
    for node in [*nodes, name, "1", "..", "", "x" * 255, "localhost"]:
        try:
            end, out, _ = run(job, "echo $AZ_BATCHAI_JOB_TEMP", node=node)
        except Refused as e:
            assert e.status == 400 and e.code in ("InvalidParameter", "MissingRequiredProperty", "InvalidPropertyValue"), e
        else:
            assert end == (0, 0) and out == run(job, "echo $AZ_BATCHAI_JOB_TEMP")[1], node
    other.flag.touch()


@pytest.mark.parametrize(
    "body",
    [{"port": 0}, {"port": 65536}, {"port": "22"}, {"port": 22, "command": "x"}, {"rows": 10}, {"rows": 0, "columns": 1},
     {"rows": 1, "columns": 1, "term": "x;reboot"}, {"term": "a b"}, {"command": 1}, {"command": "x" * 200001}, {"nodes": "1"},
     {"index": 7, "node": 1}],
)  # fmt: skip
def test_bad_wishes(job, body):
    with pytest.raises(Refused) as e:
        Terminal(job, **body)
    assert e.value.status == 400, e.value


def test_without_an_upgrade(job):
    for more in ({"upgrade": None}, {"upgrade": "websocket"}, {"alpn": "http/1.1"}):
        assert PROTOCOL in refused(job, 426, "UpgradeRequired", **more)
    assert "This port speaks HTTPS" in refused(job, 400, endpoint=job.daemon.endpoint.replace("https", "http"))


def test_old_http_and_a_request_behind_it(job):
    raw = socket.create_connection(("127.0.0.1", job.daemon.port), timeout=20 * PATIENCE)
    context = ssl.create_default_context(cafile=str(job.daemon.ca))
    context.set_alpn_protocols([PROTOCOL])
    with context.wrap_socket(raw, server_hostname="127.0.0.1") as s:
        s.sendall(
            f"POST {path_of(job)} HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer {job.daemon.token()}\r\n"
            f"Content-Length: 0\r\nConnection: Upgrade\r\nUpgrade: {PROTOCOL}\r\n\r\n".encode()
        )
        got = b""
        try:
            while piece := s.recv(65536):
                got += piece
        except (OSError, ssl.SSLError):
            pass
    assert not got.startswith(b"HTTP/1.1 101")
    assert job.daemon.call("GET", "/batchaid/queue").status == 200


# --- clients that break the rules -------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [b"o\0\0\0\1x", b"\xff\xff\xff\xff\xff", b"i\0\0\x80\1", b"w\0\0\0\1x", b"GET / HTTP/1.1\r\n\r\n", b"x\0\0\0\2\0\0", b"s\0\0\0\0"],
)
def test_what_is_no_frame_ends_the_command(job, frame):
    t, pid = sleeper(job)
    t.socket.sendall(frame)
    assert "frame" in t.finish()
    gone(pid)


def test_strange_frames_that_are_valid(job):
    with Terminal(job, command="cat; echo over", rows=1, columns=1) as t:
        for frame in (b"\0" * 4, b"\xff" * 4, b"\0\1\0\0"):
            t.send("w", frame)
        for signo in (0, 65, 200, 255, 28):
            t.send("s", bytes([signo]))
        for _ in range(200):
            t.send("p")
        t.input(b"hello\n")
        t.until(b"hello")
        t.end_input()
        t.end_input()
        t.send("i", b"late")
        assert t.finish() == (0, 0) and b"over" in t.out


def test_a_client_that_vanishes(job):
    for end in ("close", "reset", "half"):
        t, pid = sleeper(job)
        if end == "reset":
            t.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        if end == "half":
            t.socket.shutdown(socket.SHUT_WR)
        else:
            t.close()
        gone(pid)


def test_what_a_command_leaves_behind_ends_with_it(job):
    end, out, _ = run(job, "setsid sleep 10000 >/dev/null 2>&1 </dev/null & echo $!")
    assert end == (0, 0)
    gone(int(out))
    with Terminal(job, command="trap '' HUP TERM; sleep 10000 & echo $!; exit 3", rows=24, columns=80) as t:
        assert t.finish() == (3, 0)
    gone(int(t.out))


def test_a_client_that_stalls_stops_the_command_and_nothing_else(job):
    """32 clients that do not read, with commands that write without end; and one whose command does not read."""
    before = job.daemon.resident()
    stalled = [Terminal(job, command="echo $$; exec yes") for _ in range(30)]
    deaf = Terminal(job, command="echo $$; exec sleep 10000")
    deaf.until(b"\n")
    for _ in range(7):
        deaf.send("i", bytes(32768))  # what it may
    slowest = 0
    for _ in range(20):
        begun = time.monotonic()
        assert job.daemon.call("GET", "/batchaid/queue").status == 200
        slowest = max(slowest, time.monotonic() - begun)
    assert slowest < 2 * PATIENCE
    assert job.daemon.resident() - before < memory_bound(64 << 20)
    pids = [int(t.until(b"\n").out.split()[0]) for t in [*stalled[:3], deaf]]
    for t in [*stalled, deaf]:
        t.close()
    for pid in pids:
        gone(pid)


def test_a_client_that_sends_more_than_it_may(job):
    for size in (32768, 1, 0):
        t = Terminal(job, command="echo $$; exec sleep 10000")
        pid = int(t.until(b"\n").out)
        frame = b"i" + size.to_bytes(4, "big") + bytes(size)
        try:
            t.socket.sendall(frame * (4 << 20 // len(frame) if size < 5 else 200))
            end = t.finish()
        except OSError:
            end = TOO_MUCH[0]
        assert any(why in end for why in TOO_MUCH)
        t.close()
        gone(pid)


def test_too_many(job):
    """33 at once; and then hundreds that are refused."""
    held, message = [], None
    for _ in range(40):
        try:
            held.append(Terminal(job, command="exec sleep 10000"))
        except Refused as e:
            assert (e.status, e.code) == (409, "QuotaExceeded")
            message = e.message
            break
    assert message == "You have 32 terminals open, which is the limit for one user; close some terminals." and 20 < len(held) <= 32

    def try_it(_):
        try:
            Terminal(job, command="true").close()
        except Refused as e:
            return e.status
        return 101

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(try_it, range(200))) == {409}
    for t in held:
        t.close()
    wait_for(lambda: run_or_none(job) == b"again\n", what="room for another")


def run_or_none(job):
    try:
        return run(job, "echo again")[1]
    except Refused:
        return None


# --- the job's own processes as the far end ---------------------------------------------------------

LIAR = r"""
import json, os, socket, struct, sys
job, many = sys.argv[1], int(sys.argv[2])
s = socket.socket(socket.AF_UNIX)
os.chdir(os.path.dirname(os.environ["JOB_SSH_SOCKET"]))
s.connect(os.path.basename(os.environ["JOB_SSH_SOCKET"]))
def say(data=b"", **m):
    j = json.dumps({"event": "remote", "to_near": True, "rank": 1000000, **m}).encode()
    if data:
        body = struct.pack(">I", len(j)) + j + data
        s.sendall(struct.pack(">I", len(body) | 1 << 31) + body)
    else:
        s.sendall(struct.pack(">I", len(j)) + j)
try:
    for i in range(many):
        say(kind="resume", session="liar", n=i)
        say(kind="data", session="liar", n=i, channel=1, data=b"x" * 1000)
        say(kind="exit", session="liar", n=i, exit_code=0, signal=0)
        say(kind="gone", session="liar")
        say(kind="ack", session="liar", n=1 << 52)
    say(kind="data", session="liar", n=0, channel=1, data=b"x" * 40000)
    s.recv(1)
except OSError as e:
    pass
print("done")
"""


def test_a_process_that_poses_as_far_end(ground, cluster):
    """It speaks for its own job alone: sessions of others are not there."""
    job = running(ground, cluster)
    t = Terminal(job, command="cat")
    t.input(b"one\n")
    t.until(b"one\n")
    end, out, err = run(job, f"cat >liar.py <<'EOF'\n{LIAR}\nEOF\nexec python3 liar.py x 300")
    assert (end, out) == ((0, 0), b"done\n"), err
    t.input(b"two\n")
    t.until(b"two\n").end_input()
    assert t.finish() == (0, 0) and t.out == b"one\ntwo\n"
    job.flag.touch()
    job.succeed()


# --- the end of the job -----------------------------------------------------------------------------


def test_a_terminal_keeps_no_job_alive_and_gives_it_no_exit_code(ground, cluster):
    job = running(ground, cluster)
    assert run(job, "exit 9")[0] == (9, 0)
    t, pid = sleeper(job)
    job.flag.touch()
    assert job.succeed()["executionInfo"]["exitCode"] == 0
    assert t.finish() != (0, 0)
    gone(pid)


def test_a_job_that_is_terminated_or_deleted(ground, cluster):
    for how in ("terminate", "delete"):
        job = running(ground, cluster)
        t, pid = sleeper(job)
        job.call("POST", "/terminate") if how == "terminate" else job.delete()
        assert isinstance(t.finish(), (str, tuple))
        gone(pid)
