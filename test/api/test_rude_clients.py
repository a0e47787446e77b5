# SPDX-License-Identifier: MIT
"""Clients that break the rules of HTTP or TLS, vanish, or come all at once: the daemon stays."""

import contextlib
import os
import random
import resource
import socket
import ssl
import threading

import pytest
from support.daemon import Daemon, memory_bound
from support.people import OWNER, Person
from support.terminals import PROTOCOL
from support.waiting import wait_for
from support.world import MOUNT, Place, fresh, job_body


def connect(daemon, address="127.0.0.1"):
    """`address`: of the client."""
    context = ssl.create_default_context(cafile=daemon.ca)
    raw = socket.create_connection(("127.0.0.1", daemon.port), timeout=10, source_address=(address, 0))
    return context.wrap_socket(raw, server_hostname="localhost")


def answer(sock):
    """What comes back until the other side closes or has nothing more to say."""
    got = b""
    try:
        while chunk := sock.recv(65536):
            got += chunk
            if b"\r\n\r\n" in got:
                break
    except (OSError, ssl.SSLError):
        pass
    return got


def head(daemon, method="PUT", path="/subscriptions", *lines):
    fields = [f"{method} {path}?api-version=2018-05-01 HTTP/1.1", "Host: localhost"]
    fields += [f"Authorization: Bearer {daemon.token()}", *lines]
    return "\r\n".join(fields).encode() + b"\r\n\r\n"


@pytest.fixture
def many_descriptors():
    """How many this test may open: an ordinary user begins with 1,024, and has more by asking."""
    wanted = 1300
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"may not open {wanted} descriptors")
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    yield wanted
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def still_serves(daemon):
    assert daemon.call("GET", "/subscriptions", api_version="2019-11-01").status == 200


def plain(daemon, data, address="127.0.0.1"):
    with socket.create_connection((address, daemon.port), timeout=10) as sock:
        sock.sendall(data)
        return answer(sock)


def test_plain_http_is_told_to_come_by_https(daemon):
    data = f"GET /subscriptions HTTP/1.1\r\nHost: localhost:{daemon.port}\r\n\r\n".encode()
    got = plain(daemon, data)
    assert got.startswith(b"HTTP/1.1 400 "), got
    assert f"https://localhost:{daemon.port}".encode() in got, got
    still_serves(daemon)


@pytest.mark.parametrize("first", [b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff"])
def test_a_first_byte_that_begins_nothing_is_hung_up_on(daemon, first):
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=10) as sock:
        try:
            sock.sendall(first)
            assert sock.recv(1) == b""
        except (ConnectionResetError, BrokenPipeError):
            pass
    still_serves(daemon)


def test_a_body_over_plain_http_is_not_taken(daemon):
    head = b"PUT /subscriptions HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n"
    assert plain(daemon, head).startswith(b"HTTP/1.1 400 ")
    still_serves(daemon)


def test_plain_http_is_served_where_it_is_asked_for(own_daemon):
    daemon = own_daemon(config={"http": {"serve": True}})
    fields = ["GET /subscriptions?api-version=2019-11-01 HTTP/1.1", f"Host: localhost:{daemon.port}"]
    fields += [f"Authorization: Bearer {daemon.token()}", "Connection: close"]
    data = "\r\n".join(fields).encode() + b"\r\n\r\n"
    assert plain(daemon, data).startswith(b"HTTP/1.1 200 ")
    fields = ["GET /adfs/.well-known/openid-configuration HTTP/1.1", "Host: localhost:1", "Connection: close"]
    links = plain(daemon, "\r\n".join(fields).encode() + b"\r\n\r\n")
    assert b"http://localhost:1/adfs" in links, links
    fields[0] = "GET /metadata/endpoints?api-version=2022-09-01 HTTP/1.1"
    assert b'"core.localhost:1"' in plain(daemon, "\r\n".join(fields).encode() + b"\r\n\r\n")
    still_serves(daemon)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 1000,
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"NONSENSE / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X-Long: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: 1\r\n" % i for i in range(5000)) + b"\r\n",
        b"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /%00/subscriptions HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /subscriptions?api-version=%ff%fe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"PUT /subscriptions HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"PUT /subscriptions HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"PUT /subscriptions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=lambda d: repr(d[:32]),
)
def test_requests_that_are_none(daemon, data):
    with connect(daemon) as sock:
        try:
            sock.sendall(data)
        except OSError:
            pass  # it may hang up before it has heard everything
        sock.settimeout(0.3)  # some of these are not finished: nothing comes back
        got = answer(sock)
    assert not got or got.startswith(b"HTTP/1.1 4") or got.startswith(b"HTTP/1.1 5"), got[:200]
    still_serves(daemon)


def test_a_client_that_vanishes_in_the_middle_of_its_body_changes_nothing(place, daemon):
    cluster = place.cluster_at(fresh("half"))
    with connect(daemon) as sock:
        sock.sendall(
            head(daemon, "PUT", cluster.path, "Content-Type: application/json", "Content-Length: 500")
        )
        sock.sendall(b'{"properties": {"vmSize": "x"')
    still_serves(daemon)
    assert cluster.gone()


def test_a_client_that_does_not_wait_for_its_answer(place, daemon):
    for _ in range(20):
        with connect(daemon) as sock:
            sock.sendall(head(daemon, "PUT", place.experiment_path(fresh("gone")), "Content-Length: 0"))
    still_serves(daemon)


def test_requests_one_behind_the_other_on_one_connection(place, daemon):
    with connect(daemon) as sock:
        sock.sendall(head(daemon, "GET", place.path) * 5)
        got = b""
        while got.count(b"HTTP/1.1 200") < 5:
            chunk = sock.recv(65536)
            assert chunk, got
            got += chunk


def carried_out(daemon):
    return daemon.call("GET", "/batchaid/counters", api_version=None).json["requests"]["received"]


def unread(daemon, request, enough):
    """A connection on which so many bytes of requests are sent, as far as they are taken, and no answer is read. Others are
    served in between: if nothing more is taken while ten are, nothing more will be."""
    sock = connect(daemon)
    sock.setblocking(False)
    requests, sent, refused = request * (1 + enough // len(request)), 0, 0
    while sent < len(requests) and refused < 10:
        try:
            sent += sock.send(requests[sent : sent + 65536])
            refused = 0
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            refused += 1
            still_serves(daemon)
    return sock, sent // len(request)


def test_answers_that_nobody_reads_are_not_kept_behind_each_other(own_daemon):
    """The next request is carried out when its client has taken the answer before, or the system has."""
    d = own_daemon()
    place = Place(d).make()
    d.do("PUT", place.path, {"location": "northeurope", "tags": {f"tag{i}": "x" * 250 for i in range(40)}})
    request = head(d, "GET", place.path)
    length = int(d.call("GET", place.path).headers["Content-Length"])
    assert length > 10_000
    before, count = d.resident(), carried_out(d)
    sock, sent = unread(d, request, 32 << 20)
    done = carried_out(d) - count
    assert sent * length > 48 << 20 and done < sent / 2, (sent, done)
    assert d.resident() - before < memory_bound(32 << 20)
    sock.close()
    still_serves(d)


def test_many_idle_connections_keep_nobody_out(daemon):
    idle = [connect(daemon) for _ in range(200)]
    still_serves(daemon)
    for sock in idle:
        sock.close()
    still_serves(daemon)


def test_descriptors_that_run_out_come_back(own_daemon):
    daemon = own_daemon()
    daemon.expect_log("Too many open files")
    pid = daemon.process.pid
    there = len(os.listdir(f"/proc/{pid}/fd"))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (there + 20, there + 20))
    idle = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(60)]
    wait_for(lambda: any("api.accept_paused" in line for line in daemon.log()))
    for sock in idle:
        sock.close()
    still_serves(daemon)
    assert len([line for line in daemon.log() if "api.accept_paused" in line]) == 1


def test_connections_for_terminals_leave_half_of_the_descriptors_to_others(own_daemon):
    """Anybody may offer the protocol, before any login; such a connection has three descriptors."""
    limit = 512
    daemon = own_daemon(prefix=["prlimit", f"--nofile={limit}:{limit}"])
    pid = daemon.process.pid
    before = len(os.listdir(f"/proc/{pid}/fd"))
    context = ssl.create_default_context(cafile=daemon.ca)
    context.set_alpn_protocols([PROTOCOL])
    with contextlib.ExitStack() as open_until_then:
        for _ in range(240):
            sock = open_until_then.enter_context(socket.create_connection(("127.0.0.1", daemon.port), timeout=30))
            with contextlib.suppress(OSError):  # closed, to make room for others
                open_until_then.enter_context(context.wrap_socket(sock, server_hostname="localhost"))
            assert len(os.listdir(f"/proc/{pid}/fd")) < before + limit / 2 + 20
        still_serves(daemon)


def test_bodies_of_those_who_did_not_log_in_take_no_memory(own_daemon):
    daemon = own_daemon()
    socks = [connect(daemon) for _ in range(40)]
    before = daemon.resident()
    for path in ("/subscriptions/x/resourceGroups/y", "/adfs/oauth2/token"):
        first = [f"PUT {path}?api-version=2019-11-01 HTTP/1.1", "Host: x", f"Content-Length: {4 << 20}"]
        for sock in socks:
            try:
                sock.sendall("\r\n".join(first).encode() + b"\r\n\r\n" + b" " * (3 << 20))
            except OSError:
                pass  # it may hang up before it has heard everything
        assert daemon.resident() - before < memory_bound(16 << 20)
        for sock in socks:
            sock.close()
        socks = [connect(daemon) for _ in range(40)]
    still_serves(daemon)
    for sock in socks:
        sock.close()


def taken(daemon):
    return daemon.call("GET", "/batchaid/counters", api_version=None).json["requests"]["bodyBytes"]


@contextlib.contextmanager
def held_bodies(daemon, socks, begun, piece):
    """Bodies that have begun with this piece and do not end."""
    before = taken(daemon)
    try:
        for sock in socks:
            sock.sendall(begun + f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        wait_for(lambda: taken(daemon) - before >= len(socks) * len(piece), 30, "the bodies did not arrive")
        yield
    finally:
        for sock in socks:
            sock.close()


@pytest.mark.parametrize(("addresses", "status"), [(["127.0.0.1"], 503), (["127.0.0.2"], 200), (range(2, 20), 503)])
def test_bodies_of_strangers_share_what_memory_there_is_for_them(own_daemon, addresses, status):
    """A login may have 64 KiB, for which 128 are held; 1 MiB is for an address and 16 MiB for all addresses
    (api/http/body.h)."""
    d = own_daemon()
    begun = b"POST /adfs/oauth2/token HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    d.token()
    clients = [f"127.0.0.{one}" if isinstance(one, int) else one for one in addresses]
    socks = [connect(d, clients[i % len(clients)]) for i in range(180)]
    with held_bodies(d, socks, begun, b"x" * 65536):
        reply = d.token_reply()
        assert reply.status == status and (status == 200 or int(reply.headers["Retry-After"]) > 0)
        still_serves(d)
    wait_for(lambda: d.token_reply().status == 200, 30, "what was held is not given back")


def test_bodies_of_one_principal_leave_memory_to_others(own_daemon):
    d = own_daemon()
    ada = Person(d, OWNER)
    begun = head(d, "PUT", f"/subscriptions/{d.subscription}/resourceGroups/x", "Transfer-Encoding: chunked")
    group = f"/subscriptions/{d.subscription}/resourceGroups/y"
    body = {"location": "eastus", "properties": {"ignored": "x" * (3 << 20)}}
    with held_bodies(d, [connect(d) for _ in range(30)], begun, b" " * (3 << 20)):
        reply = d.call("PUT", group, body, api_version="2019-11-01")
        assert reply.status == 503 and int(reply.headers["Retry-After"]) > 0
        assert d.call("PUT", group, body, api_version="2019-11-01", token=ada.token()).status == 201
    wait_for(
        lambda: d.call("PUT", group, body, api_version="2019-11-01").status == 200, 30, "what was held is not given back"
    )


@pytest.mark.parametrize("cuts", [[], [1], [3], [5], [100], [1, 2, 6, 100]])
def test_a_first_message_in_pieces_offers_its_protocol_too(daemon, cuts):
    """As on a way with small packets, where the hello of a client with new keys does not fit into one."""
    context = ssl.create_default_context(cafile=daemon.ca)
    context.set_alpn_protocols([PROTOCOL])
    received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(received, to_send, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    hello = to_send.read()
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=30) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for begin, end in zip([0, *cuts], [*cuts, len(hello)]):
            sock.sendall(hello[begin:end])
            still_serves(daemon)  # so the daemon has seen this piece
        while tls.selected_alpn_protocol() is None:
            received.write(sock.recv(65536))
            with contextlib.suppress(ssl.SSLWantReadError):
                tls.do_handshake()
                break
    assert tls.selected_alpn_protocol() == PROTOCOL


@pytest.mark.parametrize("first", [b"\x16", b"\x16\x03\x01\x02\x00\x01"])
def test_a_first_message_that_never_gets_complete_is_no_burden(daemon, first):
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=10) as sock:
        sock.sendall(first)
        still_serves(daemon)
        sock.shutdown(socket.SHUT_WR)
        answer(sock)  # returns: the daemon has closed the connection


def test_handshakes_that_are_never_finished_shut_nobody_out(daemon, many_descriptors):
    count = many_descriptors - 200
    half_open = [socket.create_connection(("127.0.0.1", daemon.port), timeout=10) for _ in range(count)]
    still_serves(daemon)
    with connect(daemon) as sock:
        sock.sendall(head(daemon, "GET", "/subscriptions"))
        assert answer(sock).startswith(b"HTTP/1.1 200")
    for sock in half_open:
        sock.close()
    still_serves(daemon)


def guesses(daemon):
    """Wrong secrets until one is refused unseen: what was answered to them. What is forgiven while a slow
    daemon looks at them allows for more of them, but not for ever."""
    statuses = []
    while (statuses or [401])[-1] == 401 and len(statuses) < 300:
        statuses.append(daemon.token_reply(client_secret=f"guess {len(statuses)}").status)
    return statuses


def test_whoever_guesses_secrets_has_to_wait():
    with Daemon() as own:
        own.expect_log("login.failed")
        statuses = guesses(own)
        assert statuses[:20] == [401] * 20
        assert statuses[-1] == 429
        # Every two seconds one is let in again: that may be just now, but not each time.
        for _ in range(20):
            if own.token_reply().status == 429:
                break
            assert guesses(own)[-1] == 429
        else:
            pytest.fail("the right secret must not tell itself from the others")


def test_random_bytes_for_bodies_and_paths(place, daemon):
    rng = random.Random(20180501)
    good = b'{"properties": {"vmSize": "STANDARD_D1", "userAccountSettings": {"adminUserName": "a"}}}'
    for i in range(150):
        body = bytearray(good)
        for _ in range(rng.randrange(1, 6)):
            body[rng.randrange(len(body))] = rng.randrange(256)
        reply = place.cluster_at(f"fuzz{i}").call("PUT", data=bytes(body))
        assert reply.status in (202, 400), reply
        if reply.status == 202:
            place.cluster_at(f"fuzz{i}").delete()
    still_serves(daemon)


def test_the_same_job_put_by_many_at_once_is_made_once(own_place, daemon):
    cluster = own_place.cluster(nodes=2)
    own_place.experiment()
    job, runs = own_place.job_at("race"), own_place.share() / fresh("runs")
    body = job_body(cluster.path, f"echo run >> {MOUNT}/{runs.name}")
    seen, start = [], threading.Barrier(8)

    def put():
        daemon.session()
        start.wait()
        seen.append(job.call("PUT", body=body).status)

    threads = [threading.Thread(target=put) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(seen) == [200] * 7 + [202]
    job.succeed()
    assert runs.read_text() == "run\n"
