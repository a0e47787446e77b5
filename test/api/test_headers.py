# SPDX-License-Identifier: MIT
"""Headers as the service sent them: on every reply, on single resources, on the start of operations."""

import re
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

import pytest
from support.world import Place, cluster_body, fresh, instant

GUID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
ETAG = re.compile(r'^"0x([0-9A-F]+)"$')
RATE = "x-ms-ratelimit-remaining-subscription-"


def etag_instant(etag):
    """The .NET ticks (100 ns since year 1) in an ETag, as an instant."""
    ticks = int(ETAG.match(etag).group(1), 16)
    return datetime(1, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=ticks // 10)


def test_every_reply_carries_the_headers_of_the_service(place, daemon):
    h = daemon.call("GET", place.path, expect=200).headers
    assert h["Content-Type"] == "application/json; charset=utf-8"
    assert h["Cache-Control"] == "no-cache" and h["Pragma"] == "no-cache" and h["Expires"] == "-1"
    assert h["Server"] == "Microsoft-HTTPAPI/2.0"
    assert h["X-Content-Type-Options"] == "nosniff"
    assert abs(parsedate_to_datetime(h["Date"]) - datetime.now(timezone.utc)) < timedelta(minutes=1)


def test_strict_transport_security_is_for_the_strict_mode_alone(place, daemon, own_daemon):
    name = "Strict-Transport-Security"
    assert name not in daemon.call("GET", place.path, expect=200).headers
    strict = own_daemon(config={"compat": {"strict": True}})
    theirs = Place(strict).make()
    wanted = "max-age=31536000; includeSubDomains"
    assert strict.call("GET", theirs.path, expect=200).headers[name] == wanted
    assert strict.call("GET", theirs.path + "/clusters/none", expect=404).headers[name] == wanted
    # What stands around the service is not the service.
    for path in ("/metadata/endpoints", theirs.group_path):
        assert name not in strict.call("GET", path, api_version="2021-04-01", expect=200).headers


def test_request_ids_are_guids_and_differ_from_request_to_request(place, daemon):
    first = daemon.call("GET", place.path).headers
    second = daemon.call("GET", place.path).headers
    for h in (first, second):
        assert GUID.match(h["request-id"]) and GUID.match(h["x-ms-request-id"])
        assert h["x-ms-request-id"] == h["x-ms-correlation-request-id"] != h["request-id"]
        assert re.match(r"^[A-Z0-9]+:\d{8}T\d{6}Z:[0-9a-f-]{36}$", h["x-ms-routing-request-id"])
    assert first["request-id"] != second["request-id"]
    assert first["x-ms-request-id"] != second["x-ms-request-id"]


def test_the_rate_limits_left_are_told_by_kind_of_request(place, daemon):
    def kinds(reply):
        return {k.lower()[len(RATE) :] for k in reply.headers if k.lower().startswith(RATE)}

    cluster = place.cluster_at(fresh("c"))
    assert kinds(daemon.call("GET", place.path)) == {"reads"}
    created = cluster.call("PUT", body=cluster_body(0), expect=202)
    assert kinds(created) == {"writes"}
    daemon.wait_operation(created)
    assert kinds(cluster.call("POST", "/listRemoteLoginInformation")) == {"reads"}
    assert kinds(cluster.scale(manual={"targetNodeCount": 0})) == {"writes"}
    assert kinds(cluster.call("DELETE", expect=202)) == {"deletes"}
    group = {"location": place.location}
    assert kinds(daemon.call("PUT", place.group_path, group)) == {"writes"}
    fresh_group = place.group_path + "-new"
    assert kinds(daemon.call("PUT", fresh_group, group, expect=201)) == {"writes"}
    assert kinds(daemon.call("GET", fresh_group)) == set()
    daemon.call("DELETE", fresh_group, expect=202)


def test_a_single_resource_has_an_etag_and_last_modified_of_its_last_write(own_place, daemon):
    reply = daemon.call("GET", own_place.path, expect=200)
    created = instant(reply.json["properties"]["creationTime"])
    written = etag_instant(reply.headers["ETag"])
    assert written - timedelta(milliseconds=1) < created <= written
    assert parsedate_to_datetime(reply.headers["Last-Modified"]) == written.replace(microsecond=0)


def test_a_repeated_put_of_a_workspace_or_experiment_leaves_the_etag_alone(own_place, daemon):
    own_place.experiment()
    for path, body in (
        (own_place.path, {"location": own_place.location}),
        (own_place.experiment_path(), None),
    ):
        before = daemon.call("GET", path, expect=200)
        again = daemon.call("PUT", path, body, expect=200)
        after = daemon.call("GET", path, expect=200)
        assert before.headers["ETag"] == again.headers["ETag"] == after.headers["ETag"]
        assert before.headers["Last-Modified"] == after.headers["Last-Modified"]
        assert before.json == again.json == after.json


def test_patch_and_put_of_a_cluster_move_the_etag_and_scaling_itself_does_not(own_place):
    cluster = own_place.cluster(nodes=0)
    tags = [cluster.call("GET").headers["ETag"]]
    tags.append(cluster.scale(manual={"targetNodeCount": 2}).headers["ETag"])
    cluster.wait_steady(2)
    assert cluster.call("GET").headers["ETag"] == tags[1]
    tags.append(cluster.call("PUT", body=cluster_body(1), expect=200).headers["ETag"])
    cluster.wait_steady(1)
    assert cluster.call("GET").headers["ETag"] == tags[2]
    assert etag_instant(tags[0]) < etag_instant(tags[1]) < etag_instant(tags[2])


def test_running_a_job_does_not_move_its_etag(place, shared_cluster):
    job = place.job(shared_cluster)
    before = job.call("GET").headers["ETag"]
    job.succeed()
    assert job.call("GET").headers["ETag"] == before


def test_lists_posts_operations_and_usages_have_no_etag(place, daemon, shared_cluster):
    provider = f"/subscriptions/{daemon.subscription}/providers/Microsoft.BatchAI"
    job = place.job(shared_cluster)
    replies = [
        daemon.call("GET", place.path + "/clusters"),
        daemon.call("GET", provider + "/workspaces"),
        daemon.call("GET", provider + "/locations/northeurope/usages"),
        shared_cluster.call("POST", "/listRemoteLoginInformation"),
        job.call("DELETE"),
    ]
    replies.append(daemon.call("GET", replies[-1].headers["Azure-AsyncOperation"]))
    for reply in replies:
        assert reply.status < 300 and "ETag" not in reply.headers and "Last-Modified" not in reply.headers, (
            reply
        )


def test_the_start_of_an_operation_is_told_by_headers_alone(place, daemon):
    reply = place.cluster_at(fresh("c")).call("PUT", body=cluster_body(0), expect=202)
    h = reply.headers
    assert reply.content == b"" and h["Content-Length"] == "0"
    assert "Content-Type" not in h and "ETag" not in h
    form = (
        f"^https://[^/]+:{daemon.port}/subscriptions/{daemon.subscription}/providers/Microsoft.BatchAI/locations/northeurope/%s/([0-9a-f-]{{36}})"
        r"\?api-version=2018-05-01$"
    )
    status = re.match(form % "operationstatuses", h["Location"])
    result = re.match(form % "operationresults", h["Azure-AsyncOperation"])
    assert status.group(1) == result.group(1)
    assert GUID.match(result.group(1))
    assert int(h["Retry-After"]) <= 2


def test_errors_of_the_gateway_carry_no_server_header(daemon):
    reply = daemon.call("GET", "/subscriptions/00000000-0000-0000-0000-000000000001/resourcegroups")
    assert reply.status == 404 and reply.code == "SubscriptionNotFound"
    assert reply.headers["x-ms-failure-cause"] == "gateway"
    assert "Server" not in reply.headers and "request-id" not in reply.headers


def test_head_and_get_speak_of_the_same_headers(place, daemon):
    """HEAD is only a method of resource groups."""
    assert daemon.call("HEAD", place.group_path).status == 204
    assert daemon.call("HEAD", place.group_path + "-not").status == 404


@pytest.mark.parametrize("asked", ["00000000-1111-2222-3333-444444444444"])
def test_a_clients_own_request_id_comes_back_when_it_asks_for_that(place, daemon, asked):
    headers = {"x-ms-client-request-id": asked, "x-ms-return-client-request-id": "true"}
    assert daemon.call("GET", place.path, headers=headers).headers.get("x-ms-client-request-id") == asked
    del headers["x-ms-return-client-request-id"]
    assert "x-ms-client-request-id" not in daemon.call("GET", place.path, headers=headers).headers
