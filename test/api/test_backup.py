# SPDX-License-Identifier: MIT
"""`batchaid backup` and `batchaid restore`: a copy beside a running daemon, and its way back."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess

import pytest
from support.browser import Browser, first, good, refused
from support.waiting import wait_for
from support.world import Place, wait_flag


@pytest.fixture
def kept(own_daemon, tmp_path):
    """(daemon, place, file): a copy that was made while a job ran."""
    d = own_daemon()
    place = Place(d, "kept", "ws").make()
    place.share().mkdir(parents=True, exist_ok=True)
    cluster = place.cluster(1, "c")
    place.job(cluster, "echo first; " + wait_flag("$AZ_BATCHAI_MOUNT_ROOT/out/go"), 1, "runs").wait("running")
    copy = tmp_path / "copy.db"
    d.tool("backup", str(copy))
    return d, place, copy


def restore(d, copy, check=True):
    return d.tool("restore", str(copy), check=check)


def give(folder, account):
    for path in [folder, *folder.rglob("*")]:
        shutil.chown(path, account)


def put_back(d, place, copy):
    """The daemon goes on with the copy, whose job ends."""
    d.stop()
    restore(d, copy)
    d.start()
    wait_for(lambda: place.job_at("runs").state != "running", 30, "the job of the copy to end")


def test_a_copy_is_whole_private_and_sealed(kept):
    d, place, copy = kept
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert sorted(os.listdir(copy.parent)) == [copy.name]  # no log beside it, nothing half made
    with sqlite3.connect(copy) as db:
        assert db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        assert db.execute("SELECT name FROM job").fetchall() == [("runs",)]
        for made in ("resource_group", "workspace", "experiment", "cluster", "job"):  # and by whom
            assert set(db.execute(f"SELECT created_by FROM {made}")) == {(d.env["AZURE_CLIENT_ID"],)}, made
    assert b"pw-never-shown" not in copy.read_bytes()
    again = d.tool("backup", str(copy), check=False)
    assert again.returncode == 1 and "exists already" in again.stderr


def test_it_is_not_put_back_beside_a_daemon(kept):
    d, _, copy = kept
    refused = restore(d, copy, check=False)
    assert refused.returncode == 1 and "already serving" in refused.stderr
    assert d.call("GET", "/subscriptions", validate=False).status == 200


def test_what_was_made_since_is_gone_and_what_ran_goes_on(kept):
    d, place, copy = kept
    place.job(f"{place.path}/clusters/c", "true", 1, "later")
    d.kill9()  # with a log full of what the copy does not have
    assert restore(d, copy).returncode == 0
    d.start()
    assert place.job_at("later").call("GET").status == 404
    assert place.job_at("runs").state == "running"
    (place.share() / "go").touch()
    assert place.job_at("runs").succeed()["executionInfo"]["exitCode"] == 0
    before = d.state_dir / "batchaid.db.before"
    with sqlite3.connect(before) as db:
        assert {n for (n,) in db.execute("SELECT name FROM job")} == {"runs", "later"}


def test_a_new_job_does_not_take_over_an_old_task(kept):
    """The row of the job that is made after the restore has the id of one that the copy does not know,
    whose task has ended well on the very node."""
    d, place, copy = kept
    (place.share() / "go").touch()
    place.job_at("runs").succeed()
    place.job(f"{place.path}/clusters/c", "true", 1, "old").succeed()
    put_back(d, place, copy)
    new = place.job(f"{place.path}/clusters/c", "echo new >&2; exit 5", 1, "new")
    assert new.fail()["executionInfo"]["exitCode"] == 5


def test_nodes_that_heard_of_a_later_term_work_for_the_daemon_again(kept):
    """The clock was ahead for a while, and terms come from it; the copy is older than that."""
    d, place, copy = kept
    d.stop()
    with sqlite3.connect(d.state_dir / "batchaid.db") as db:
        db.execute("UPDATE epoch SET term = term + 1000000")
    d.start()
    (place.share() / "go").touch()
    place.job_at("runs").succeed()
    put_back(d, place, copy)
    place.job(f"{place.path}/clusters/c", "true", 1, "new").succeed()


def test_a_link_shows_no_file_of_a_job_that_came_into_the_place_of_its_own(kept):
    """The job that is made after the restore has the row id of the one that the link was made for."""
    d, place, copy = kept

    def job(word):
        made = place.job(f"{place.path}/clusters/c", f"echo {word}", 1, word, stdOutErrPathPrefix="$AZ_BATCHAI_JOB_TEMP")
        made.succeed()
        return made.link("stdout.txt")

    (place.share() / "go").touch()
    place.job_at("runs").succeed()
    old = job("old")
    put_back(d, place, copy)
    new = job("new")
    row = [url.split("/nodes/")[1].split("-")[0] for url in (old, new)]
    assert row[0] == row[1]
    assert d.fetch(new, expect=200).text == "new\n"
    assert d.fetch(old).status == 404


def test_logins_of_the_page_have_ended(own_daemon, tmp_path):
    """The copy does not know who has logged out since."""
    d = own_daemon()
    out, still_in = Browser(d), Browser(d)
    for browser in out, still_in:
        browser.log_in(**first(d))
    cookie = out.cookie
    d.tool("backup", str(tmp_path / "copy.db"))
    good(out.call("DELETE", "/batchaid/session"))
    token = d.token()
    d.stop()
    restore(d, tmp_path / "copy.db")
    d.start()
    for cookie in cookie, still_in.cookie:
        refused(Browser(d, cookie=cookie).call("GET", "/batchaid/session"), 401, "InvalidAuthenticationToken", "logged out")
    again = Browser(d)
    again.log_in(token=token)
    assert again.is_in()


def test_what_does_not_fit_is_refused(kept, tmp_path):
    d, place, copy = kept
    d.stop()
    torn = tmp_path / "torn.db"
    torn.write_bytes(copy.read_bytes()[:20000])
    text = tmp_path / "text.db"
    text.write_text("no database")
    for bad, says in ((torn, "malformed"), (text, "not a database"), (tmp_path / "none.db", "does not exist")):
        refused = restore(d, bad, check=False)
        assert refused.returncode == 1 and says in refused.stderr, refused.stderr
    key = d.state_dir / "secret.key"
    right = key.read_bytes()
    key.write_bytes(bytes(32))
    refused = restore(d, copy, check=False)
    assert refused.returncode == 1 and "does not belong to" in refused.stderr
    key.write_bytes(right)
    d.start()
    (place.share() / "go").touch()
    place.job_at("runs").succeed()


def test_a_copy_comes_into_a_state_directory_without_a_database(kept):
    """As on a new machine: no old database is kept."""
    d, place, copy = kept
    d.stop()
    for as_json in False, True:
        for file in d.state_dir.glob("batchaid.db*"):
            file.unlink()
        done = d.tool("restore", *(["--json"] if as_json else []), str(copy))
        database = str(d.state_dir / "batchaid.db")
        if as_json:
            assert json.loads(done.stdout) == {"database": database}
        else:
            assert done.stderr == f"batchaid: {database} is in place\n"
    d.tool("restore", str(copy))
    assert (d.state_dir / "batchaid.db.before").exists()
    d.start()
    (place.share() / "go").touch()
    place.job_at("runs").succeed()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root restores for another account")
def test_what_root_restores_belongs_to_the_account_of_the_service(own_daemon, tmp_path):
    d, copy = own_daemon(), tmp_path / "copy.db"
    d.tool("backup", str(copy))
    d.stop()
    give(d.state_dir, "nobody")
    (d.state_dir / "lock").unlink()
    restore(d, copy)
    made = [d.state_dir / name for name in ("batchaid.db", "lock")]
    assert [(p.owner(), stat.S_IMODE(p.stat().st_mode)) for p in made] == [("nobody", 0o600)] * 2
    give(tmp_path, "nobody")
    argv = [d.program, "backup", "--state-dir", d.state_dir, tmp_path / "again.db"]
    done = subprocess.run(argv, user="nobody", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    give(d.state_dir, "root")
    d.start()


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_daemon_without_its_database_does_not_begin_anew(own_daemon, how):
    d = own_daemon()
    d.stop()
    database = d.state_dir / "batchaid.db"
    content = database.read_bytes()
    database.unlink() if how == "missing" else database.write_bytes(b"")
    refused = d.tool("serve", "--listen", "localhost:0", check=False)
    assert refused.returncode == 1
    assert "missing or empty" in refused.stderr and "batchaid restore FILE" in refused.stderr
    database.write_bytes(content)
    d.start()
