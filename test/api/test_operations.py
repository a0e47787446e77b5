# SPDX-License-Identifier: MIT
"""Asynchronous operations as clients follow them: operationresults and operationstatuses."""

import re

import pytest
from support.people import CONTRIBUTOR
from support.waiting import wait_for
from support.world import Place, cluster_body, file_server_body, fresh, instant, job_body

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,2}[1-9])?Z$")


def guid_of(reply):
    return re.search(r"/operationresults/([0-9a-f-]{36})", reply.headers["Azure-AsyncOperation"]).group(1)


def test_a_finished_operation_says_on_what_it_worked(own_place, daemon):
    reply = own_place.cluster_at("MyCluster").call("PUT", body=cluster_body(0), expect=202)
    ended = daemon.wait_operation(reply)
    url = reply.headers["Azure-AsyncOperation"]
    assert list(ended) == ["id", "name", "status", "startTime", "endTime", "properties"]
    assert ended["id"] == url.split("?")[0]
    assert ended["name"] == guid_of(reply)
    assert ended["status"] == "Succeeded"
    assert TIME.match(ended["startTime"]) and TIME.match(ended["endTime"])
    key = [daemon.subscription.lower(), own_place.group.lower(), own_place.workspace, "MyCluster"]
    assert ended["properties"] == {"resourceId": "$".join(key)}


def test_the_operation_starts_when_the_resource_was_created(own_place, daemon):
    cluster = own_place.cluster_at(fresh("c"))
    ended = daemon.wait_operation(cluster.call("PUT", body=cluster_body(0), expect=202))
    assert ended["startTime"][:19] == cluster.properties["creationTime"][:19]
    assert instant(ended["startTime"]) <= instant(ended["endTime"])


def test_every_kind_of_operation_ends_with_its_own_resource_key(own_place, daemon):
    cluster = own_place.cluster(nodes=1, name="c")
    own_place.experiment("e")
    base = "$".join([daemon.subscription.lower(), own_place.group.lower(), own_place.workspace])
    job = own_place.job_at("j", "e")
    server = own_place.path + "/fileServers/f"
    steps = [
        ("PUT", job.path, job_body(cluster.path, "sleep 60"), "$e$j"),
        ("POST", job.path + "/terminate", None, "$e$j"),
        ("DELETE", job.path, None, "$e$j"),
        ("PUT", server, file_server_body(), "$f"),
        ("DELETE", server, None, "$f"),
        ("DELETE", own_place.experiment_path("e"), None, "$e"),
        ("DELETE", cluster.path, None, "$c"),
        ("DELETE", own_place.path, None, ""),
    ]
    for method, path, body, tail in steps:
        ended = daemon.wait_operation(daemon.call(method, path, body, expect=202))
        assert (ended["status"], ended["properties"]["resourceId"]) == ("Succeeded", base + tail), path


def test_the_location_url_says_202_until_the_end_and_then_no_more(own_place, daemon):
    flag, path = own_place.flag(fresh("flag"))
    cluster = own_place.cluster()
    # The job ignores SIGTERM for a while, so that its deletion takes some time.
    job = own_place.job(cluster, f"trap '' TERM; while [ ! -e {path} ]; do sleep 0.02; done")
    job.wait("running")
    reply = job.call("DELETE", expect=202)
    url = reply.headers["Location"]
    assert guid_of(reply) in url
    under_way = daemon.call("GET", url)
    flag.touch()
    if under_way.status == 202:
        assert under_way.headers["Location"] == url and "Retry-After" in under_way.headers
    ended = wait_for(lambda: (r := daemon.call("GET", url)).status != 202 and r, 30, "the end")
    assert ended.status in (200, 204)
    assert daemon.call("GET", reply.headers["Azure-AsyncOperation"]).json["status"] == "Succeeded"


def test_an_operation_in_progress_asks_for_a_short_wait(own_place, daemon):
    job = own_place.job(own_place.cluster(), "trap '' TERM; while :; do sleep 0.05; done").running()
    reply = daemon.call("GET", job.call("DELETE", expect=202).headers["Azure-AsyncOperation"])
    body = reply.json
    assert reply.status == 200
    if body["status"] == "InProgress":
        assert list(body) == ["id", "name", "status", "startTime"]
        assert int(reply.headers["Retry-After"]) <= 2
    wait_for(job.gone, 30, "the job to go although it ignores SIGTERM")


def test_provisioning_is_over_before_the_first_look(own_place, daemon, shared_cluster):
    """Clients wait long between two looks, so the first must already find the end."""
    own_place.experiment()
    for path, body in (
        (own_place.path + "/clusters/c", cluster_body(2)),
        (own_place.path + "/fileServers/f", file_server_body()),
        (own_place.experiment_path() + "/jobs/j", job_body(shared_cluster.path)),
    ):
        reply = daemon.call("PUT", path, body, expect=202)
        assert daemon.get(reply.headers["Azure-AsyncOperation"])["status"] == "Succeeded", path
        assert daemon.get(path)["properties"]["provisioningState"] == "succeeded"


def places(place):
    """(path, api-version) of what a deletion removes over a while, with the roles there."""
    account = f"{place.group_path}/providers/Microsoft.Batch/batchAccounts/{fresh('acct').replace('-', '')}"
    place.daemon.call("PUT", account, {"location": "eastus"}, api_version="2022-10-01", validate=False, expect=202)
    cluster = place.cluster(nodes=0)
    return [(cluster.path, "2018-05-01"), (account, "2022-10-01"), (place.path, "2018-05-01"), (place.group_path, "2019-11-01")]


def test_whoever_deletes_the_place_of_their_only_role_learns_of_its_end(own_place, daemon, person):
    stranger = person("none")
    for path, version in places(own_place):
        ada, bob = person(CONTRIBUTOR, path), person(CONTRIBUTOR, path)
        reply = ada.call("DELETE", path, api_version=version, validate=False)
        assert reply.status == 202, path
        wait_for(lambda path=path, version=version: daemon.call("GET", path, api_version=version, validate=False).status == 404, 30)
        for url in {reply.headers.get(name) for name in ("Location", "Azure-AsyncOperation")} - {None}:
            assert ada.call("GET", url, validate=False).status in (200, 204), url
            for other in (bob, stranger):
                other.may_not("GET", url, validate=False)
            ada.may_not("GET", re.sub(r"[0-9a-f]{8}\?", "00000000?", url), validate=False)
        ada.may_not("GET", path, api_version=version, validate=False)


def test_an_operation_of_ones_own_shows_no_account_of_others(own_place, daemon, person):
    """The results of a Batch account's operations are below the account, so any operation's id could be put there."""
    (path, version), (account, _) = places(own_place)[:2]
    ada = person(CONTRIBUTOR, path)
    url = ada.call("DELETE", path, api_version=version, validate=False).headers["Location"]
    wait_for(lambda: daemon.call("GET", path, validate=False).status == 404, 30)
    own = re.search(r"([0-9a-f-]{36})\?", url)[1]
    for other in (account, account + "nowhere"):
        for results in ("operationResults/", "poolOperationResults/x-", "certificateOperationResults/x-"):
            ada.may_not("GET", f"{other}/{results}{own}", api_version="2022-10-01", validate=False)


def test_what_a_principal_made_is_not_shown_without_a_role(own_place, daemon, person):
    ada = person(CONTRIBUTOR)
    reply = ada.call("PUT", own_place.path + "/clusters/c", cluster_body(0), expect=202)
    url = reply.headers["Azure-AsyncOperation"]
    assert ada.get(url)["status"] == "Succeeded"
    ada.take_all()
    ada.may_not("GET", url)


@pytest.mark.parametrize("kind", ["operationresults", "operationstatuses"])
def test_an_unknown_operation_is_a_404(daemon, kind):
    path = f"/subscriptions/{daemon.subscription}/providers/Microsoft.BatchAI/locations/northeurope/{kind}/"
    reply = daemon.call("GET", path + "00000000-0000-4000-8000-000000000009")
    assert reply.status == 404 and reply.code == "OperationNotFound"


def test_the_strict_mode_asks_clients_to_wait_as_long_as_the_service_did(own_daemon):
    d = own_daemon(config={"compat": {"strict": True}})
    reply = d.call("PUT", Place(d).make().path + "/clusters/c", cluster_body(0), expect=202)
    assert reply.headers["Retry-After"] == "15"
    assert "Retry-After" not in d.call("GET", reply.headers["Azure-AsyncOperation"]).headers
