# SPDX-License-Identifier: MIT
"""The state directory is one daemon's alone, and never harmed by one that cannot read it."""

import hashlib
import sqlite3
import subprocess

from support.daemon import BATCHAID
from support.world import Place


def serve(d, *more):
    """Tries to start one more daemon on the same state directory."""
    argv = [str(BATCHAID), "serve", "--state-dir", str(d.state_dir), "--listen", "127.0.0.1:0", *more]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60)


def fingerprint(folder):
    """path -> hash of every file but the lock, which has to be taken to look inside."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and not p.is_symlink() and p.name != "lock"
    }


def test_a_second_daemon_on_the_same_state_directory_says_so_and_exits(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    env_before = dict(d.env)
    done = serve(d)
    assert done.returncode != 0 and done.stdout == ""
    assert str(d.state_dir) in done.stderr and str(d.process.pid) in done.stderr
    assert d.get(place.path)["name"] == place.workspace
    d._env = None
    assert d.env == env_before, "the first one's environment stands"


def test_a_killed_daemon_does_not_keep_the_next_one_out(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    d.crash()
    assert d.get(place.path)["name"] == place.workspace


def test_a_database_from_a_newer_version_is_refused_untouched(own_daemon):
    d = own_daemon()
    place = Place(d).make()
    d.stop()
    database = d.state_dir / "batchaid.db"
    with sqlite3.connect(database) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    before = fingerprint(d.state_dir)
    done = serve(d)
    assert done.returncode != 0 and done.stdout == ""
    assert "9999" in done.stderr and "newer" in done.stderr.lower()
    assert fingerprint(d.state_dir) == before
    with sqlite3.connect(database) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    d.start()
    assert d.get(place.path)["name"] == place.workspace


def test_a_database_from_before_1_0_0_is_refused_untouched(own_daemon):
    d = own_daemon()
    Place(d).make()
    d.stop()
    with sqlite3.connect(d.state_dir / "batchaid.db") as connection:
        connection.execute("PRAGMA user_version = 50")
    connection.close()
    before = fingerprint(d.state_dir)
    done = serve(d)
    assert done.returncode == 78 and done.stdout == ""  # systemd does not start it again
    assert "before 1.0.0 (schema 50)" in done.stderr and "empty state directory" in done.stderr
    assert fingerprint(d.state_dir) == before


def test_a_damaged_database_is_refused_with_its_name(own_daemon):
    d = own_daemon()
    Place(d).make()
    d.stop()
    database = d.state_dir / "batchaid.db"
    good = database.read_bytes()
    database.write_bytes(b"this is no database at all, whatever it says" + good[44:])
    damaged = database.read_bytes()
    done = serve(d)
    assert done.returncode != 0 and "batchaid.db" in done.stderr
    assert database.read_bytes() == damaged
    database.write_bytes(good)
    d.start()


def test_the_secrets_key_cannot_be_lost_unnoticed(own_daemon):
    """With another key nothing sealed could be read: better to say so than to run jobs without."""
    d = own_daemon()
    place = Place(d).make()
    place.job(place.cluster(nodes=0), secrets=[{"name": "S", "value": "x"}])
    d.stop()
    key = d.state_dir / "secret.key"
    good = key.read_bytes()
    key.unlink()
    done = serve_briefly(d)
    assert done.returncode != 0 and "secret.key" in done.stderr
    key.write_bytes(good)
    key.chmod(0o600)
    d.start()


def serve_briefly(d):
    """Like serve(), but ends a daemon that starts after all."""
    argv = [str(BATCHAID), "serve", "--state-dir", str(d.state_dir), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if line.startswith("ready"):
        process.terminate()
    out, err = process.communicate(timeout=30)
    return subprocess.CompletedProcess(argv, 0 if line.startswith("ready") else process.returncode, out, err)
