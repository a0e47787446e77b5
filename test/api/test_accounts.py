# SPDX-License-Identifier: MIT
"""Whom jobs on local nodes run as."""

import os

import pytest
from support.world import Place

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: without it all jobs are the daemon's user")


def user_of_a_job(daemon):
    place = Place(daemon).make()
    job = place.job(place.cluster(1), "id -u")
    job.succeed()
    return int(job.read("stdout.txt"))


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


@as_root
def test_where_a_umask_closes_the_way_to_the_state_jobs_run_all_the_same(own_daemon):
    d = own_daemon(start=False)
    d.expect_log(r"jobs\.run_as_root")
    assert user_of_a_job(below_what_is_not_there(d, umask=0o077)) == 0


@as_root
def test_where_accounts_cannot_get_to_the_state_jobs_run_all_the_same(own_daemon):
    d = own_daemon(start=False)
    d.dir.chmod(0o700)
    d.expect_log(r"jobs\.run_as_root")
    assert user_of_a_job(d.start()) == 0
    assert any(f"jobs.run_as_root closed={d.dir} " in line for line in d.log())


def test_accounts_can_be_turned_off(own_daemon):
    assert user_of_a_job(own_daemon(config={"jobs": {"uids": 0}})) == os.geteuid()
