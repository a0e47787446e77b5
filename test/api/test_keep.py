# SPDX-License-Identifier: MIT
"""keep.*: what has ended is forgotten as the site wants it, in the daemon that runs, and reports of use stay."""

import sqlite3
from contextlib import closing

from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.waiting import wait_for
from support.world import Place


def keep(d, **settings):
    d.config = {**d.config, "keep": settings}
    d.write_config()
    d.call("POST", "/batchaid/reload", api_version=None, expect=200)


def directories(d):
    return list(d.state_dir.glob("nodes/*/jobs/*"))


def report(d):
    rows = d.call("GET", "/batchaid/usage", api_version=None, params={"by": "user"}, expect=200).json["value"]
    return [(row["name"], row["runs"], row["nodeMilliseconds"]) for row in rows]


def test_the_oldest_jobs_go_with_their_directories_and_the_report_stays(own_daemon):
    d = own_daemon(config={"jobs": {"kept_outputs": 10}})
    place = Place(d).make()
    cluster = place.cluster(1)
    jobs = [place.job(cluster, "echo x", stdOutErrPathPrefix="$AZ_BATCHAI_JOB_TEMP").succeeded() for _ in range(4)]
    wait_for(lambda: report(d)[0][1] == 4, what="all in the report")
    before = report(d)
    assert len(directories(d)) == 4
    keep(d, jobs=2)
    wait_for(lambda: all(d.call("GET", j.path).status == 404 for j in jobs[:2]), what="the older two gone")
    assert [j.state for j in jobs[2:]] == ["succeeded", "succeeded"]
    wait_for(lambda: len(directories(d)) == 2, what=lambda: directories(d))
    assert report(d) == before
    assert any("old_data.removed" in line and "kind=jobs count=2" in line for line in d.log())


def test_jobs_of_azure_batch_are_counted_apart(own_daemon):
    d = own_daemon(config={})
    plane = BatchGround(d).plane
    add_pool(plane, "pool")
    jobs = Jobs(plane, "pool")
    three = [jobs() for _ in range(3)]
    for job in three:
        plane.call("POST", f"{job.url}/terminate", expect=202)
        wait_for(lambda j=job: j.get()["state"] == "completed", what="a completed job")
    keep(d, jobs=1)
    wait_for(lambda: [plane.call("GET", j.url).status for j in three] == [404, 404, 200], what="the older two gone")


def test_operations_and_events_are_kept_by_count(own_daemon):
    d = own_daemon(config={})
    place = Place(d).make()
    job = place.job(place.cluster(1)).succeeded()
    reply = job.call("DELETE", "", expect=202)
    d.wait_operation(reply)
    keep(d, operations=100000, events=2)
    wait_for(lambda: len(d.rows("SELECT seq FROM event")) <= 2, what="two events")
    assert d.wait_operation(reply)["status"] == "Succeeded"
    keep(d, operations=1)
    wait_for(lambda: len(d.rows("SELECT guid FROM operation WHERE status <> 1")) == 1, what="one operation")


def test_old_output_directories_go_and_their_jobs_stay(own_daemon):
    d = own_daemon(config={"keep": {"output_days": 1}})
    place = Place(d).make()
    cluster = place.cluster(1)
    lost, old, young = (place.job(cluster, "echo x", stdOutErrPathPrefix="$AZ_BATCHAI_JOB_TEMP").succeeded() for _ in range(3))
    assert [job.read("stdout.txt") for job in (lost, old, young)] == ["x\n"] * 3
    d.stop()
    with closing(sqlite3.connect(f"{d.state_dir}/batchaid.db")) as db, db:
        runs = [run for (run,) in db.execute("SELECT run_id FROM allocation WHERE kept > 0 ORDER BY released_us")]
        db.execute("UPDATE allocation SET released_us = released_us - 2 * 86400000000 WHERE run_id IN (?, ?)", runs[:2])
        db.execute("UPDATE allocation SET node_id = NULL WHERE run_id = ?", runs[:1])  # its node has left
    d.start()
    wait_for(lambda: "does not keep" in old.list().text, what="the older directory given up")
    wait_for(lambda: len(directories(d)) == 1, what=lambda: directories(d))
    assert young.read("stdout.txt") == "x\n"
    assert old.state == "succeeded"
