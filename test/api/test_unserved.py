# SPDX-License-Identifier: MIT
"""Hosts of services that are not here: a client of queues, tables or the Data Lake is told so."""

import xml.etree.ElementTree as ET

import pytest
import requests
from support.ports import free_port
from support.storage import StorageDaemon


def ask(daemon, service, method="GET", path="/?comp=list", **more):
    url = f"https://acct.{service}.core.localhost:{daemon.port}{path}"
    return requests.request(method, url, verify=str(daemon.ca), timeout=30, **more)


@pytest.mark.parametrize("service, what", [("queue", "queues"), ("table", "tables"), ("dfs", "Data Lake")])
def test_each_request_is_told_what_is_served(daemon, service, what):
    for method, path in (("GET", "/?comp=list"), ("PUT", "/q1"), ("POST", "/q1/messages"), ("PATCH", "/a/b?x=%zz"),
                         ("MERGE", "/Tables(1)"), ("DELETE", "/" + "d/" * 40), ("OPTIONS", "/")):
        got = ask(daemon, service, method, path, headers={"x-ms-client-request-id": "mine"})
        assert (got.status_code, got.headers["x-ms-error-code"]) == (501, "NotImplemented"), (method, path)
        assert got.headers["content-type"] == "application/xml"
        assert got.headers["x-ms-client-request-id"] == "mine" and got.headers["x-ms-request-id"]
        error = ET.fromstring(got.content)
        assert error.findtext("Code") == "NotImplemented"
        assert "blobs and files" in error.findtext("Message") and what in error.findtext("Message")
    got = ask(daemon, service, "HEAD")
    assert (got.status_code, got.content) == (501, b"")
    assert ask(daemon, service, "PUT", "/q", data=b"x" * 100_000).status_code == 501


def test_a_port_of_its_own_says_so_too():
    port = free_port()
    with StorageDaemon({"storage": {"queue_listen": [f"127.0.0.1:{port}"]}}):
        for method in ("GET", "PUT"):
            got = requests.request(method, f"http://127.0.0.1:{port}/devstoreaccount1/q1?comp=list", timeout=30)
            assert (got.status_code, got.headers["x-ms-error-code"]) == (501, "NotImplemented")
            assert "queues or tables" in ET.fromstring(got.content).findtext("Message")


def test_tables_answer_in_json_if_they_are_asked_to(daemon):
    got = ask(daemon, "table", headers={"Accept": "application/json;odata=minimalmetadata"})
    error = got.json()["odata.error"]
    assert (got.status_code, error["code"]) == (501, "NotImplemented")
    assert error["message"]["lang"] == "en-US" and "tables" in error["message"]["value"]
    assert ask(daemon, "queue", headers={"Accept": "application/json"}).headers["content-type"] == "application/xml"
