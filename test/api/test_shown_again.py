# SPDX-License-Identifier: MIT
"""A job that is asked for again and again: what is shown is what it is now, after each kind of change.

The daemon keeps what it showed last, by the words of the request. The same path in other letters
is answered anew, so the two must agree; builds with sanitizers compare them at each request."""

from support.world import Place, fresh, job_body, wait_flag

BOTH = ("Content-Length", "ETag", "Last-Modified")


def get(job, path=None, **more):
    return job.daemon.call("GET", path or job.path, **more)


def shown(job):
    """The job as it is now: asked for twice by the same words, by others, and in its list."""
    replies = [get(job), get(job), get(job, job.path.replace("/experiments/", "/EXPERIMENTS/"))]
    first, again, anew = replies
    assert first.status == 200, first
    assert first.content == again.content == anew.content
    assert [first.headers[k] for k in BOTH] == [again.headers[k] for k in BOTH]
    assert [first.headers[k] for k in BOTH] == [anew.headers[k] for k in BOTH]
    assert first.json in job.daemon.call("GET", job.path.rsplit("/", 1)[0]).json["value"]
    return first.json["properties"]


def test_each_step_of_a_job_is_seen_at_once(own_place):
    cluster = own_place.cluster(nodes=0)
    flag, path = own_place.flag(fresh("flag"))
    job = own_place.job(cluster, wait_flag(path) + "; exit 3")
    assert shown(job)["executionState"] == "queued"
    cluster.resize(1)
    job.wait("running")
    assert shown(job)["executionState"] == "running"
    flag.touch()
    job.fail()
    assert shown(job)["executionInfo"]["exitCode"] == 3


def test_a_job_that_is_terminated_says_so(own_place):
    job = own_place.job(own_place.cluster(nodes=1), "sleep 600").running()
    assert shown(job)["executionState"] == "running"
    job.terminate()
    job.fail()
    assert shown(job)["executionInfo"]["exitCode"] == 143


def test_a_job_that_is_gone_is_not_shown_and_the_next_of_its_name_is_another(own_place):
    cluster = own_place.cluster(nodes=0)
    job = own_place.job(cluster, "echo one")
    assert shown(job)["customToolkitSettings"]["commandLine"] == "echo one"
    job.delete()
    assert get(job).status == 404
    assert get(job).status == 404
    own_place.job(cluster, "echo two", name=job.name)
    assert shown(job)["customToolkitSettings"]["commandLine"] == "echo two"


def test_what_lies_above_a_job_takes_it_along(own_place):
    job = own_place.job(own_place.cluster(nodes=0), "true", experiment="above")
    shown(job)
    own_place.daemon.do("DELETE", own_place.experiment_path("above"))
    assert get(job).status == 404


def test_a_job_whose_cluster_goes_says_so(own_place):
    cluster = own_place.cluster(nodes=0)
    job = own_place.job(cluster, "true")
    assert shown(job)["executionState"] == "queued"
    cluster.delete()
    (error,) = shown(job)["executionInfo"]["errors"]
    assert error["code"] == "ClusterDeleted"


def test_whoever_may_not_see_a_job_does_not_though_it_was_shown(own_place):
    job = own_place.job(own_place.cluster(nodes=0), "true")
    shown(job)
    assert get(job, token=None).status == 401
    assert get(job, token="not.a.token").status == 401
    assert get(job).status == 200


def test_each_api_version_has_its_own_words_for_a_job(own_place):
    job = own_place.job(own_place.cluster(nodes=0), "true")
    shown(job)
    assert get(job, api_version="2018-01-01").status == 400
    assert get(job, api_version=None).status == 400
    assert get(job, params={"x": "y"}).json == job.get()


def test_a_tag_above_a_job_changes_nothing_of_it(own_place):
    job = own_place.job(own_place.cluster(nodes=0), "true")
    before = shown(job)
    own_place.daemon.call("PATCH", own_place.path, {"tags": {"a": "b"}}, expect=200)
    assert shown(job) == before


def test_a_repeated_put_shows_what_a_get_shows(own_place):
    cluster = own_place.cluster(nodes=0)
    job = own_place.job(cluster, "true")
    properties = shown(job)
    again = job.call("PUT", body=job_body(cluster.path, "true"))
    assert again.status == 200 and again.json["properties"] == properties == shown(job)


def test_a_restart_shows_the_same(own_daemon):
    daemon = own_daemon()
    place = Place(daemon).make()
    job = place.job(place.cluster(nodes=0), "true")
    before = shown(job)
    daemon.stop()
    daemon.start()
    assert shown(job) == before
