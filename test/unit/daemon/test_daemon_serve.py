# SPDX-License-Identifier: MIT
"""A daemon's life: ready line, state directory, lock, signals, service manager, environment."""
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import threading

import pytest
from support.daemon import BATCHAID
from support.waiting import wait_for


def readable(stream, seconds=20):
    return select.select([stream], [], [], seconds)[0]


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT])
def test_life(serve, run, tmp_path, signo):
    d = serve()
    assert d.first_line == f"ready https://127.0.0.1:{d.port}\n"
    with socket.create_connection(("127.0.0.1", d.port)), socket.create_connection(("::1", d.port)):
        pass
    assert (tmp_path / "state/endpoint").exists()
    assert d.stop(signo) == (0, "")
    assert not (tmp_path / "state/endpoint").exists()
    assert "daemon.ready" in d.log and "daemon.stopped" in d.log
    assert run("env", "--state-dir", "state").returncode == 1


def test_a_signal_before_any_request_was_served_is_not_lost(serve):
    assert serve().stop()[0] == 0


def test_state_directory_is_closed_to_others(serve, tmp_path):
    (tmp_path / "state").mkdir(mode=0o755)
    serve()
    state = tmp_path / "state"
    assert mode(state) == (0o711 if os.geteuid() == 0 else 0o700)  # the accounts of jobs pass
    for name in ("credentials.json", "token.key", "ca.key", "server.key", "secret.key", "endpoint",
                 "lock"):
        assert mode(state / name) == 0o600, name
    assert (state / "token.key").stat().st_size == 32
    assert {p.name for p in state.iterdir() if p.is_dir()} == {"azure", "storage", "nodes", "packages"}


def look(state):
    return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in state.iterdir()}


def settled(state):
    """What the state directory holds once the first daemon has written what it writes when ready."""
    seen = [None]

    def same_again():
        seen.append(look(state))
        return seen[-1] if seen[-1] == seen[-2] else None

    return wait_for(same_again, every=0.1)


def test_second_daemon_says_who_is_there_and_touches_nothing(serve, run, tmp_path):
    d = serve()
    before = settled(tmp_path / "state")
    done = run("serve", "--state-dir", "state", "--listen", "localhost:0")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"process {d.process.pid}" in done.stderr and str(tmp_path / "state") in done.stderr
    assert look(tmp_path / "state") == before
    assert run("env", "--state-dir", "state").returncode == 0


F_OFD_SETLK = 37  # Linux; Python has no name for it before 3.13


def test_a_child_of_a_killed_daemon_that_still_holds_the_lock_is_waited_for(serve, tmp_path):
    serve().stop()
    dead = subprocess.Popen(["true"])
    dead.wait()
    lock = tmp_path / "state" / "lock"
    lock.write_text(f"{dead.pid}\n")
    held = open(lock, "r+")
    whole = struct.pack("hh4xqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    fcntl.fcntl(held, F_OFD_SETLK, whole)
    threading.Timer(0.3, held.close).start()
    assert serve().first_line.startswith("ready ")
    assert held.closed


def test_without_its_lock_file_a_second_daemon_is_refused_all_the_same(serve, run, tmp_path):
    first = serve()
    (tmp_path / "state" / "lock").unlink()
    second = run("serve", "--state-dir", "state", "--listen", "localhost:0")
    assert second.returncode == 1 and "already serving" in second.stderr
    assert first.process.poll() is None


def test_what_a_killed_daemon_did_not_finish_writing_goes(serve, tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    left = [state / n for n in ("credentials.json.tmp-a1B2c3", "token.key.tmp-000000")]
    mine = [state / n for n in ("credentials.json.backup", "a.tmp-", "storage.tmp-1", "x.tmp-1234567")]
    for path in left + mine:
        path.write_text("x")
    serve()
    assert not any(p.exists() for p in left) and all(p.exists() for p in mine)


def test_lock_goes_with_the_process(serve, run, tmp_path):
    d = serve()
    d.process.kill()
    d.process.wait()
    assert (tmp_path / "state/endpoint").exists()  # it had no time to remove it
    assert "no batchaid daemon is serving" in run("env", "--state-dir", "state").stderr
    serve()
    assert run("env", "--state-dir", "state").returncode == 0


def test_credentials_and_authority_last(serve, run, tmp_path):
    names = ("credentials.json", "token.key", "ca.pem", "ca.key", "server.pem", "server.key")
    first = serve()
    before = [(tmp_path / "state" / n).read_bytes() for n in names]
    env = run("env", "--state-dir", "state").stdout
    first.stop()
    second = serve(listen=[f"localhost:{first.port}"])
    assert [(tmp_path / "state" / n).read_bytes() for n in names] == before
    assert run("env", "--state-dir", "state").stdout == env
    assert second.port == first.port


@pytest.mark.parametrize("name, content, words", [
    ("credentials.json", b"{", ["credentials.json:1"]),
    ("credentials.json", b"{}", ["credentials.json", "client_id"]),
    ("token.key", b"short", ["token.key", "5 bytes instead of 32"]),
    ("ca.pem", b"no certificate", ["ca.pem", "remove"]),
    ("ca.key", b"no key", ["ca.key"]),
])
def test_damaged_files_are_named(serve, run, tmp_path, name, content, words):
    serve().stop()
    (tmp_path / "state" / name).write_bytes(content)
    done = run("serve", "--state-dir", "state", "--listen", "localhost:0")
    assert (done.returncode, done.stdout) == (1, "")
    for word in words:
        assert word in done.stderr
    assert (tmp_path / "state" / name).read_bytes() == content


def test_environment_survives_the_shell(serve, tmp_path):
    from support.daemon import BATCHAID

    odd = tmp_path / "it's a $(state) \"dir\""
    d = serve("--state-dir", odd)
    script = 'set -eu; eval "$("$0" env --state-dir "$1")"; env -0'
    done = subprocess.run(["bash", "-c", script, BATCHAID, odd], capture_output=True, check=True)
    env = dict(line.split("=", 1) for line in done.stdout.decode().split("\0") if "=" in line)
    assert env["BATCHAID_ENDPOINT"] == env["AZURE_AUTHORITY_HOST"] == f"https://localhost:{d.port}"
    assert env["AZURE_CONFIG_DIR"] == str(odd / "azure")
    for name in ("REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"):
        assert env[name] == str(odd / "ca.pem")
    credentials = json.loads((odd / "credentials.json").read_text())
    assert env["AZURE_CLIENT_ID"] == credentials["client_id"]
    assert env["AZURE_CLIENT_SECRET"] == credentials["client_secret"]
    assert len(credentials["client_secret"]) == 64
    assert env["AZURE_TENANT_ID"] == "adfs"
    assert env["AZURE_SUBSCRIPTION_ID"] == "ba7c4a1d-0000-4000-8000-000000000000"


def test_no_proxy_only_where_there_is_a_proxy(serve, run):
    none = {n: "" for n in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")}
    serve()
    assert "NO_PROXY" not in run("env", "--state-dir", "state", env=none).stdout
    proxied = {**none, "https_proxy": "http://proxy:3128", "no_proxy": "corp.example"}
    assert "export NO_PROXY='corp.example,localhost,.localhost,127.0.0.1,::1'\n" in run(
        "env", "--state-dir", "state", env=proxied).stdout


def test_settings_of_the_file_count_and_options_go_before(serve, run, tmp_path):
    (tmp_path / "c.yaml").write_text(
        "state_dir: from-file\nlog: {format: json}\nlisten: [\"127.0.0.1:1\"]\n"
        "subscription: {id: 11111111-2222-4333-8444-555555555555}\n")
    serve("--config", "c.yaml", "--state-dir", "from-option")
    assert not (tmp_path / "from-file").exists()
    env = run("env", "--state-dir", "from-option").stdout
    assert "AZURE_SUBSCRIPTION_ID='11111111-2222-4333-8444-555555555555'" in env


def test_json_log(serve):
    d = serve("--log-format", "json")
    d.stop()
    events = [json.loads(line)["event"] for line in d.log.splitlines()]
    assert "daemon.ready" in events and events[-1] == "daemon.stopped"


@pytest.mark.parametrize("abstract", [False, True])
def test_service_manager_is_told(serve, tmp_path, abstract):
    name = f"batchaid-test-{os.getpid()}"
    path = f"\0{name}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(30)
        d = serve(env={"NOTIFY_SOCKET": path.replace("\0", "@")})
        assert manager.recv(100) == b"READY=1"
        d.stop()
        assert manager.recv(100) == b"STOPPING=1"


def test_descriptor_limit_is_raised(serve):
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    d = serve()
    soft = resource.prlimit(d.process.pid, resource.RLIMIT_NOFILE)[0]
    assert soft >= min(hard, 65536)


def test_agent_that_is_not_there(run, tmp_path):
    done = run("serve", "--state-dir", "state", env={"BATCHAI_NODE": "/no/agent"})
    assert done.returncode == 1
    assert "BATCHAI_NODE=/no/agent" in done.stderr


def test_agent_is_looked_for_beside_the_program(tmp_path):
    from support.daemon import BATCHAID

    shutil.copy(BATCHAID, tmp_path / "batchaid")
    env = {k: v for k, v in os.environ.items() if k != "BATCHAI_NODE"}
    done = subprocess.run([tmp_path / "batchaid", "serve", "--state-dir", tmp_path / "state"],
                          env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"batchai-node is neither in {tmp_path}" in done.stderr


def test_address_in_use(serve, run):
    d = serve()
    done = run("serve", "--state-dir", "other", "--listen", f"127.0.0.1:{d.port}")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"127.0.0.1" in done.stderr and str(d.port) in done.stderr


def test_an_address_that_another_one_includes(serve, run):
    d = serve()
    done = run("serve", "--state-dir", "other", "--listen", f"0.0.0.0:{d.port}")
    assert (done.returncode, done.stdout) == (1, "")
    assert "already in use" in done.stderr and "0.0.0.0" in done.stderr


def test_an_address_of_another_machine(run):
    done = run("serve", "--state-dir", "other", "--listen", "192.0.2.1:0")
    assert (done.returncode, done.stdout) == (1, "")
    assert "this machine does not have that address" in done.stderr


def test_a_later_address_in_use(serve, run, tmp_path):
    d = serve()
    listen = [o for p in (0, d.port) for o in ("--listen", f"127.0.0.1:{p}")]
    done = run("serve", "--state-dir", "other", *listen)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"cannot listen on 127.0.0.1 port {d.port}" in done.stderr
    assert "port 0 picks a free port" in done.stderr
    assert not (tmp_path / "other/endpoint").exists()


def test_any_shortage_of_descriptors_ends_with_a_message(clean_env, tmp_path):
    """Among them: the second of three servers cannot be made. From one limit on all is well."""
    listen = ["--listen", "127.0.0.1:0"] * 3
    for limit in range(14, 200):
        with subprocess.Popen(["prlimit", f"--nofile={limit}:{limit}", BATCHAID, "serve",
                               "--state-dir", "state", *listen], cwd=tmp_path, text=True,
                              env=clean_env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            try:
                ready = p.stdout.readline() if readable(p.stdout) else "(no exit, not ready)"
                if ready:
                    break
                error = p.communicate(timeout=60)[1]
                assert p.returncode == 1 and "batchaid: " in error, error
            finally:
                p.kill()
    assert ready.startswith("ready https://"), f"{limit} descriptors: {ready}"
