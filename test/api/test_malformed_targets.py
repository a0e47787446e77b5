# SPDX-License-Identifier: MIT
"""Paths and queries that cannot be read: the service that they are for answers, in its own form."""

import http.client
import json
import re
import ssl
from urllib.parse import urlsplit

import pytest
from support.storage import ACCOUNT, StorageDaemon

HOSTS = ("account.blob.core.localhost", "account.file.core.localhost")
VAULT = "safe.vault.localhost"
PATHS = ("/box/%zz", "/box/a%00b", "/%ff", "/box/%", "/box/%e4%f6")
QUERIES = ("/box?comp=%ff", "/?comp=list&prefix=%c3%28")
LONG = ("/box?prefix=" + "x" * 17000, "/box?" + "&".join(f"p{i}=1" for i in range(500)), "/" + "x" * 17000)


@pytest.fixture(scope="module")
def daemon():
    with StorageDaemon() as d:
        yield d


class Reply:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()


def ask(connection, path, host=None, **headers):
    try:
        connection.putrequest("GET", path, skip_host=host is not None)
        if host:
            connection.putheader("Host", host)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        return Reply(connection.getresponse())
    finally:
        connection.close()


def at_host(daemon, host, path, **headers):
    """Over TLS, with that name in the handshake too."""
    port = urlsplit(daemon.endpoint).port
    c = http.client.HTTPSConnection(host, port, timeout=30, context=ssl.create_default_context(cafile=daemon.ca))
    c._create_connection = lambda address, *rest: socket_to(port, *rest)
    return ask(c, path, f"{host}:{port}", **headers)


def socket_to(port, *rest):
    return http.client.socket.create_connection(("127.0.0.1", port), 30)


def at_port(port, path, **headers):
    return ask(http.client.HTTPConnection("127.0.0.1", port, timeout=30), path, **headers)


def is_xml(reply, status, code):
    assert reply.status == status, (reply.status, reply.body)
    assert reply.headers["Content-Type"] == "application/xml"
    assert reply.headers["x-ms-error-code"] == code
    assert f"<Error><Code>{code}</Code><Message>".encode() in reply.body, reply.body
    assert "Location" not in reply.headers


def test_the_log_says_which_service_a_port_has(daemon):
    ports = dict(re.findall(r"api\.listening .*port=(\d+) service=(\w+)", "\n".join(daemon.log())))
    assert ports == {str(daemon.blob.port): "azblob", str(daemon.file.port): "azfiles"}


@pytest.mark.parametrize("path", PATHS)
def test_storage_says_that_a_path_is_none(daemon, path):
    for reply in (
        *(at_host(daemon, host, path) for host in HOSTS),
        at_port(daemon.blob.port, f"/{ACCOUNT}{path}"),
        at_port(daemon.file.port, f"/{ACCOUNT}{path}"),
    ):
        is_xml(reply, 400, "InvalidUri")
        assert re.search(rb"<Message>[^<]*RequestId:[0-9a-f-]{36}\nTime:", reply.body)
        assert reply.headers["x-ms-request-id"]


@pytest.mark.parametrize("path", QUERIES)
def test_storage_says_that_a_query_is_none(daemon, path):
    for reply in (
        *(at_host(daemon, host, path) for host in HOSTS),
        at_port(daemon.blob.port, f"/{ACCOUNT}{path}"),
    ):
        is_xml(reply, 400, "InvalidQueryParameterValue")


@pytest.mark.parametrize("path", LONG, ids=("long", "many", "path"))
def test_storage_says_that_a_target_is_too_long(daemon, path):
    for reply in (
        *(at_host(daemon, host, path) for host in HOSTS),
        at_port(daemon.blob.port, f"/{ACCOUNT}{path}"),
        at_port(daemon.file.port, f"/{ACCOUNT}{path}"),
    ):
        is_xml(reply, 414, "InvalidUri")


@pytest.mark.parametrize("path", ("/", "//x", "/%zz/box", "/%00"))
def test_a_port_without_an_account_says_so(daemon, path):
    is_xml(at_port(daemon.blob.port, path), 400, "InvalidUri")


def test_storage_says_that_a_head_is_none(daemon):
    for headers in ({"Transfer_Encoding": "gzip"},):
        at = at_port(daemon.blob.port, f"/{ACCOUNT}/box", **headers)
        for reply in (at_host(daemon, HOSTS[0], "/box", **headers), at):
            if b"Unsupported Transfer-Encoding" in reply.body and reply.status == 400:
                continue  # so libmicrohttpd says itself from 1.0 on
            is_xml(reply, 400, "InvalidInput")


@pytest.mark.parametrize("path", (*PATHS, *QUERIES))
def test_a_vault_says_so_as_vaults_do(daemon, path):
    reply = at_host(daemon, VAULT, "/secrets" + path)
    assert (reply.status, json.loads(reply.body)["error"]["code"]) == (400, "BadParameter"), reply.body


@pytest.mark.parametrize("path", (*PATHS, *QUERIES))
def test_elsewhere_it_is_said_as_ever(daemon, path):
    reply = at_host(daemon, "localhost", path)
    assert reply.status == 400 and json.loads(reply.body)["error"]["code"] in ("InvalidPath", "InvalidQueryParameterValue"), reply.body


@pytest.mark.parametrize("path", LONG, ids=("long", "many", "path"))
def test_what_is_too_long_elsewhere(daemon, path):
    for host in ("localhost", VAULT):
        reply = at_host(daemon, host, path)
        assert (reply.status, json.loads(reply.body)["error"]["code"]) == (414, "RequestUriTooLong")


@pytest.mark.parametrize("path", ("//subscriptions", "/subscriptions//{id}", "//subscriptions///{id}//resourcegroups"))
def test_several_slashes_are_one_where_the_resource_manager_is(daemon, path):
    there = path.format(id=daemon.subscription)
    plain = daemon.call("GET", re.sub("/+", "/", there), api_version="2021-04-01")
    reply = at_host(daemon, "localhost", f"{there}?api-version=2021-04-01", Authorization="Bearer " + daemon.token())
    assert (reply.status, reply.body) == (plain.status, plain.content)
    assert at_host(daemon, "localhost", f"{there}?api-version=2021-04-01").status == 401


def test_each_slash_counts_in_names_of_blobs(daemon):
    daemon.blob.call("PUT", "/subscriptions?restype=container")
    daemon.blob.call("PUT", "/subscriptions/a//b", b"two", **{"x-ms-blob-type": "BlockBlob"})
    assert daemon.blob.call("GET", "/subscriptions/a//b").body == b"two"
    assert daemon.blob.call("GET", "/subscriptions/a/b").status == 404
