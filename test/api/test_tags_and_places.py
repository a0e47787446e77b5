# SPDX-License-Identifier: MIT
"""Tags and locations of jobs, clusters and file servers, which versions have and show differently."""

from support.flat import HOME, located
from support.refusals import INVALID, refused
from support.spec import API_VERSION
from support.world import cluster_body, file_server_body, job_body


def test_a_job_keeps_its_tags_and_is_where_its_cluster_is(flat):
    cluster = flat.cluster(nodes=0)
    path = flat.job_at("tagged").path
    body = located(job_body(cluster.path), tags={"a": "1", "b": ""})
    away = flat.daemon.call("PUT", path, {**body, "location": "westus"})
    refused(away, 400, INVALID, "location", words=["westus", "northeurope", "cluster"])
    assert flat.daemon.call("GET", path).status == 404
    flat.daemon.do("PUT", path, {**body, "location": "North Europe"})
    assert flat.daemon.get(path)["tags"] == {"a": "1", "b": ""}
    assert flat.daemon.call("PUT", path, body, expect=200).json["tags"] == {"a": "1", "b": ""}
    for change in ({"tags": {"a": "2"}}, {"location": "westus"}):
        refused(flat.daemon.call("PUT", path, {**body, **change}), 409, "PropertyChangeNotAllowed", *change)
    assert "tags" not in flat.through(API_VERSION).job_at("tagged", HOME).get()


def test_tags_of_june_are_kept_for_the_versions_that_show_them(flat):
    """Early requests of 2018-05-01 had a location and tags, as those of 2018-03-01 have."""
    newest = flat.through(API_VERSION).make()
    path = newest.cluster_at("june").path
    body = {**cluster_body(nodes=0), "location": "northeurope", "tags": {"a": "1"}}
    away = newest.daemon.call("PUT", path, {**body, "location": "westus"})
    refused(away, 400, INVALID, "location", words=["westus", "northeurope", "workspace"])
    newest.daemon.do("PUT", path, body)
    assert list(newest.daemon.get(path)) == ["id", "name", "type", "properties"]
    assert flat.cluster_at("june").get()["tags"] == {"a": "1"}
    newest.daemon.call("PATCH", path, {"tags": {"b": "2"}}, expect=200)
    assert flat.cluster_at("june").get()["tags"] == {"b": "2"}
    server = f"{newest.path}/fileServers/june"
    away = newest.daemon.call("PUT", server, {**file_server_body(), "location": "westus"})
    refused(away, 400, INVALID, "location")
