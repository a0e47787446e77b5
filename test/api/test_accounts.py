# SPDX-License-Identifier: MIT
"""Whom jobs on local nodes run as."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.daemon import BATCHAID, Daemon
from support.waiting import wait_for
from support.world import Place

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: without it all jobs are the daemon's user")


def user_of_a_job(daemon):
    place = Place(daemon).make()
    return int(place.job(place.cluster(1), "id -u").succeeded().read("stdout.txt"))


@as_root
def test_each_job_of_roots_daemon_has_an_account_of_its_own(own_daemon):
    assert user_of_a_job(own_daemon()) >= 2100000000


def below_what_is_not_there(d, umask):
    """As in a home that has no .local yet."""
    d.state_dir = d.dir / ".local" / "state" / "batchaid"
    before = os.umask(umask)
    try:
        return d.start()
    finally:
        os.umask(before)


@as_root
def test_directories_that_are_made_on_the_way_to_the_state_let_accounts_pass(own_daemon):
    assert user_of_a_job(below_what_is_not_there(own_daemon(start=False), umask=0o022)) >= 2100000000


# --- where accounts cannot get to the state directory ---------------------------------------------------------------------


@pytest.fixture
def closed_daemon():
    """Makes daemons whose state directory is below a closed one. What lies elsewhere goes with them."""
    made = []

    def make(*arguments):
        d = Daemon(arguments=arguments)
        d.dir.chmod(0o700)
        made.append(d)
        return d

    yield make
    for d in made:
        place = place_of(d)
        complaints = d.close()
        if place:
            shutil.rmtree(place, ignore_errors=True)
        assert not complaints, complaints


def place_of(d):
    link = d.state_dir / "open"
    return Path(os.readlink(link)) if link.is_symlink() else None


def said_once(d):
    return [line for line in d.log() if " local_nodes.relocated " in line]


@as_root
def test_where_a_umask_closes_the_way_to_the_state_jobs_have_accounts_all_the_same(closed_daemon):
    assert user_of_a_job(below_what_is_not_there(closed_daemon(), umask=0o077)) >= 2100000000


@as_root
def test_jobs_get_an_open_place_where_accounts_cannot_get_to_the_state(closed_daemon, temporary):
    d = closed_daemon().start()
    place = temporary(Place(d).make())
    job = place.job(place.cluster(1), f"id -u; cat {d.state_dir}/token.key || ls {d.state_dir} || ls $PWD/../../../..")
    job.fail()
    assert int(job.read("stdout.txt").split()[0]) >= 2100000000, "and its output is in the share"
    lies = place_of(d)
    assert lies.parent in (Path("/var/lib/batchaid"), Path("/var/lib/batchaid-nodes"), Path("/run/batchaid-nodes"))
    assert str(lies) in said_once(d)[0]
    (Path(d.share("acct", "kept")) / "file").write_text("kept")
    d.restart()
    assert user_of_a_job(d) >= 2100000000 and place_of(d) == lies and len(said_once(d)) == 1
    assert (d.state_dir / "storage/acct/files/kept/file").read_text() == "kept"


@as_root
def test_what_a_state_has_already_moves_to_the_open_place(closed_daemon):
    d = closed_daemon()
    d.dir.chmod(0o711)
    d.start()
    (Path(d.share("acct", "old")) / "file").write_text("kept")
    assert place_of(d) is None
    d.stop()
    d.dir.chmod(0o700)
    d.start()
    assert (place_of(d) / "storage/acct/files/old/file").read_text() == "kept"
    assert user_of_a_job(d) >= 2100000000


def refused(d):
    """What a daemon says that does not start there."""
    command = [str(BATCHAID), "serve", "--state-dir", str(d.state_dir), "--listen", "localhost:0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 78 and done.stdout == "", done
    return done.stderr


@as_root
def test_a_place_that_others_may_change_is_refused_and_never_replaced_by_an_empty_one(closed_daemon):
    d = closed_daemon().start()
    (Path(d.share("acct", "kept")) / "file").write_text("kept")
    place = place_of(d)
    d.stop()
    for spoil, mend in (
        (lambda: place.chmod(0o731), lambda: place.chmod(0o711)),
        (lambda: os.chown(place, 65534, 65534), lambda: os.chown(place, 0, 0)),
    ):
        spoil()
        said = refused(d)
        assert str(place) in said and "chown root" in said and "chmod go-w" in said
        assert place_of(d) == place
        mend()
    d.start()
    assert (Path(d.share("acct", "kept")) / "file").read_text() == "kept" and len(said_once(d)) == 1


@as_root
def test_a_place_that_is_gone_is_made_anew_with_a_warning_and_the_shares_are_there(closed_daemon):
    """As after a reboot if the place is below /run."""
    d = closed_daemon().start()
    lost = place_of(d)
    d.stop()
    shutil.rmtree(lost)
    d.expect_log("local_nodes.directory_missing")
    d.start()
    assert place_of(d) != lost and place_of(d).is_dir()
    (said,) = (line for line in d.log() if " local_nodes.directory_missing " in line)
    assert f"missing={lost} " in said and f"directory={place_of(d)} " in said
    folder = Path(d.tool("share-path", "acct", "new").stdout.strip())
    assert folder.is_dir() and folder.resolve().is_relative_to(place_of(d))


@as_root
def test_a_link_of_somebody_else_in_the_state_is_refused_and_kept(closed_daemon):
    d = closed_daemon()
    elsewhere = d.dir / "elsewhere"
    elsewhere.mkdir()
    d.state_dir.mkdir()
    (d.state_dir / "storage").symlink_to(elsewhere)
    said = refused(d)
    assert f"{d.state_dir}/storage is a link to {elsewhere}" in said
    assert (d.state_dir / "storage").readlink() == elsewhere


@as_root
def test_ephemeral_daemons_side_by_side_have_each_its_own_that_goes_with_them(closed_daemon):
    two = [closed_daemon("--ephemeral").start() for _ in range(2)]
    assert all(user_of_a_job(d) >= 2100000000 for d in two)
    one, other = (place_of(d) for d in two)
    assert one != other and one.exists() and other.exists()
    two[0].stop()
    assert not one.exists() and other.exists()
    two[1].kill9()
    wait_for(lambda: not other.exists(), what="the remover")


@as_root
def test_a_daemon_without_any_open_place_does_not_start_and_says_what_to_do(closed_daemon):
    d = closed_daemon()
    hide = "mount -t tmpfs -o ro none /var/lib && mount -t tmpfs -o ro none /run && exec \"$@\""
    command = ["unshare", "-m", "sh", "-c", hide, "sh", str(BATCHAID), "serve", "--state-dir", str(d.state_dir)]
    done = subprocess.run([*command, "--listen", "localhost:0"], capture_output=True, text=True, timeout=60)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 78, done
    for words in (f"{d.dir} is closed", "chmod o+x", "--state-dir", "jobs.uids: 0"):
        assert words in done.stderr


def test_accounts_can_be_turned_off(own_daemon):
    assert user_of_a_job(own_daemon(config={"jobs": {"uids": 0}})) == os.geteuid()
