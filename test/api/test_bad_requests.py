# SPDX-License-Identifier: MIT
"""Bad requests whatever their body means: names, parents, api-versions, methods, sizes, tokens."""

import base64
import gzip
import hashlib
import hmac
import json
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from support.refusals import INVALID, MISSING, refused
from support.world import (
    cluster_body,
    file_server_body,
    fresh,
    job_body,
)

# --- what is not there ----------------------------------------------------------------------------


def test_missing_parents_are_named(place, daemon, shared_cluster):
    group, ws = "/resourceGroups/nogroup/", "/workspaces/nows"
    cases = [
        (
            place.path.replace(f"/resourceGroups/{place.group}/", group),
            {"location": "x"},
            "ResourceGroupNotFound",
            "nogroup",
        ),
        (
            place.path.replace(f"/workspaces/{place.workspace}", ws) + "/clusters/c",
            cluster_body(0),
            "WorkspaceNotFound",
            "nows",
        ),
        (
            place.path.replace(f"/workspaces/{place.workspace}", ws) + "/experiments/e",
            None,
            "WorkspaceNotFound",
            "nows",
        ),
        (
            place.experiment_path("noexp") + "/jobs/j",
            job_body(shared_cluster.path),
            "ExperimentNotFound",
            "noexp",
        ),
    ]
    for path, body, code, name in cases:
        refused(daemon.call("PUT", path, body), 404, code, words=[name])
    for path, code, message in [
        (place.path + "/clusters/x", "ClusterNotFound", "The specified cluster x is not found"),
        (place.experiment_path("x"), "ExperimentNotFound", "The specified experiment x is not found"),
        (place.path + "-x", "WorkspaceNotFound", f"The specified workspace {place.workspace}-x is not found"),
        (place.path + "/fileServers/x", "FileServerNotFound", "The specified file server x is not found"),
    ]:
        assert refused(daemon.call("GET", path), 404, code)["message"] == message


def test_a_job_on_a_cluster_that_does_not_exist_is_refused(place):
    place.experiment()
    job = place.job_at(fresh("bad"))
    reply = job.call("PUT", body=job_body(f"{place.path}/clusters/nowhere"))
    refused(reply, 404, "ClusterNotFound", words=["nowhere"])
    assert job.gone()


def test_another_subscription_is_not_found(place, daemon):
    other = "00000000-0000-0000-0000-00000000abcd"
    reply = daemon.call("GET", place.path.replace(daemon.subscription, other))
    error = refused(reply, 404, "SubscriptionNotFound")
    assert error["message"] == f"The subscription '{other}' could not be found."


def test_deleting_what_is_not_there_is_a_204(place, daemon):
    for path in (
        place.path + "/clusters/x",
        place.experiment_path("x"),
        place.path + "-x",
        place.path + "/fileServers/x",
    ):
        assert daemon.call("DELETE", path).status == 204


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.b", "a b", "ä", "x" * 65, "a+b", "a%b", "a$b", "a~b"])
def test_names_the_service_would_refuse(place, daemon, name, shared_cluster):
    place.experiment()
    q = quote(name, safe="")
    for path, body in [
        (f"{place.path}/clusters/{q}", cluster_body(0)),
        (f"{place.path}/fileServers/{q}", file_server_body()),
        (f"{place.path}/experiments/{q}", None),
        (f"{place.experiment_path()}/jobs/{q}", job_body(shared_cluster.path)),
        (place.path.rsplit("/", 1)[0] + f"/{q}", {"location": "eastus"}),
    ]:
        refused(daemon.call("PUT", path, body), 400, "InvalidResourceName", words=[name])


def test_a_name_of_64_characters_with_dash_and_underscore_is_fine(place, daemon):
    name = "-_" + "n" * 62
    place.experiment(name)
    daemon.do("DELETE", place.experiment_path(name))


# --- the request itself ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{'a': 1}",
        b'{"properties": {}} trailing',
        b"\xff\xfe{}",
        b'{"properties": {"vmSize": "\xff"}}',
        b"[" * 100000,
        b'{"a":' * 5000,
    ],
    ids=lambda d: repr(d[:20]),
)
def test_a_malformed_body_is_refused(place, data):
    cluster = place.cluster_at(fresh("bad"))
    refused(cluster.call("PUT", data=data), 400, ("InvalidRequestContent", MISSING, INVALID))
    assert cluster.gone()


def test_a_malformed_body_is_not_quoted(place):
    cluster = place.cluster_at(fresh("bad"))
    for data in (b'{"properties": hunter2}', b'{"hunter2": 1, "hunter2": 2}', b'"hunter2" hunter2', b'{"a": "hunter2'):
        reply = cluster.call("PUT", data=data)
        refused(reply, 400, "InvalidRequestContent", words=["line 1, column"])
        assert b"hunter2" not in reply.content


@pytest.mark.parametrize("bad", ["%FF", "a%C3", "%ED%A0%80", "%F5%80%80%80"])
def test_a_url_that_is_not_utf8_is_refused(place, daemon, bad):
    for path in (f"{place.group_path}{bad}", f"{place.path}/clusters/{bad}", f"/{bad}", f"/files/acct/out/{bad}"):
        for method in ("GET", "PUT", "DELETE"):
            body = cluster_body(0) if method == "PUT" else None
            reply = daemon.call(method, path, body, validate=False)
            refused(reply, 400, "InvalidPath", words=["UTF-8"])
    for query in (f"api-version={bad}", f"$filter={bad}", f"x{bad}=1", f"maxresults={bad}"):
        reply = daemon.call("GET", f"{place.path}/clusters?{query}&api-version=2018-05-01", validate=False)
        refused(reply, 400, "InvalidQueryParameterValue", words=["UTF-8"])


def test_a_long_name_in_another_script_is_quoted_in_its_error(place, daemon):
    """Messages are cut by bytes, perhaps inside of a character."""
    for n in range(90, 110):
        reply = daemon.call("GET", f"{place.path}/clusters/{'a' * (n % 4)}{'ü' * n}")
        assert "ü" * 20 in refused(reply, (404, 400)[reply.status == 400], ("ClusterNotFound", "InvalidResourceName"))["message"]


def test_a_body_over_4_mib_is_refused_whether_its_length_was_told_or_not(place, daemon):
    cluster = place.cluster_at(fresh("big"))
    data = b'{"properties": "' + b"x" * (4 << 20) + b'"}'
    refused(cluster.call("PUT", data=data), 413, "RequestEntityTooLarge", words=["4"])

    def chunks():
        for i in range(0, len(data), 65536):
            yield data[i : i + 65536]

    refused(cluster.call("PUT", data=chunks()), 413, "RequestEntityTooLarge")
    assert cluster.gone()


@pytest.mark.parametrize("value", ["[]", "0", '"]"', "{}", '{"a":0}'])
def test_a_body_of_very_many_values_is_refused(place, value):
    """Nobody waits while a tree of a million values is made."""
    cluster = place.cluster_at(fresh("many"))
    data = '{"properties": [' + ",".join([value] * 60_000) + "]}"
    refused(cluster.call("PUT", data=data.encode()), 400, "InvalidRequestContent", words=["50000 JSON values"])
    assert cluster.gone()


def test_a_big_body_below_the_limit_is_taken(own_place):
    variables = [{"name": f"V{i}", "value": "x" * 1000} for i in range(1000)]
    job = own_place.job(own_place.cluster(nodes=0), environmentVariables=variables)
    assert job.properties["environmentVariables"] == variables


def test_api_versions(place, daemon):
    error = refused(daemon.call("GET", place.path, api_version=None), 400, "MissingApiVersionParameter")
    assert "api-version" in error["message"]
    reply = daemon.call("GET", place.path, api_version="2016-01-01")
    refused(reply, 400, "NoRegisteredProviderFound", words=["2016-01-01", "2018-05-01"])
    refused(
        daemon.call("GET", place.path, api_version="latest"),
        400,
        "NoRegisteredProviderFound",
        words=["latest"],
    )


def test_methods_a_route_lacks_and_routes_that_are_none(place, daemon, shared_cluster):
    for method, path in [
        ("PATCH", place.experiment_path()),
        ("POST", shared_cluster.path),
        ("PUT", place.path + "/clusters"),
        ("GET", shared_cluster.path + "/listRemoteLoginInformation"),
    ]:
        reply = daemon.call(method, path)
        refused(reply, 405, "MethodNotAllowed", words=[method])
        assert reply.headers["Allow"]
    for path in (
        place.path + "/gadgets/g",
        "/nothing",
        place.group_path + "/providers/Microsoft.Nothing/x/y",
    ):
        reply = daemon.call("GET", path)
        assert reply.status == 404 and reply.code in (
            "InvalidResourceType",
            "InvalidResourceNamespace",
        )


def test_a_body_of_another_media_type_is_refused(place):
    cluster = place.cluster_at(fresh("bad"))
    reply = cluster.call("PUT", body=cluster_body(0), headers={"Content-Type": "text/xml"})
    refused(reply, 415, "UnsupportedMediaType", words=["text/xml"])
    assert cluster.gone()


def test_a_body_in_another_coding_is_refused(place):
    cluster = place.cluster_at(fresh("coded"))
    data = gzip.compress(json.dumps(cluster_body(0)).encode())
    for coding in ("gzip", "br", "deflate, gzip"):
        reply = cluster.call("PUT", data=data, headers={"Content-Encoding": coding})
        refused(reply, 415, "UnsupportedMediaType", target="Content-Encoding", words=[coding])
    assert cluster.gone()


def test_a_byte_order_mark_before_the_body_says_nothing(own_place):
    cluster = own_place.cluster_at(fresh("marked"))
    data = b"\xef\xbb\xbf" + json.dumps(cluster_body(0)).encode()
    headers = {"Content-Encoding": "identity"}
    assert cluster.call("PUT", data=data, headers=headers).status in (200, 202)
    refused(cluster.call("PUT", data=b"\xef\xbb\xbf"), 400, "InvalidRequestContent", words=["empty"])
    refused(cluster.call("PUT", data=b"\xef\xbb"), 400, "InvalidRequestContent", words=["UTF-8"])


def test_an_over_long_url_does_no_harm(place, daemon):
    assert 400 <= daemon.call("GET", place.path + "/clusters/" + "x" * 20000).status < 500
    daemon.get(place.path)


# --- who asks -------------------------------------------------------------------------------------


def jwt(key, claims, algorithm="HS256"):
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    head = part(json.dumps({"alg": algorithm, "typ": "JWT"}).encode())
    body = part(json.dumps(claims).encode())
    mac = hmac.new(key, head + b"." + body, hashlib.sha256).digest()
    return (head + b"." + body + b"." + (part(mac) if algorithm != "none" else b"")).decode()


def claims_of(token):
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def test_no_token_a_wrong_one_and_an_expired_one(place, daemon):
    good = daemon.token()
    key = (Path(daemon.state_dir) / "token.key").read_bytes()
    claims = claims_of(good)
    assert daemon.call("GET", place.path, token=jwt(key, claims)).status == 200, "the forge itself works"
    past = {
        **claims,
        "exp": int(time.time()) - 10,
        "iat": int(time.time()) - 4000,
        "nbf": int(time.time()) - 4000,
    }
    head, body, mac = good.split(".")
    cases = [
        (None, "AuthenticationFailed"),
        ("nonsense", "InvalidAuthenticationToken"),
        (f"{head}.{body}.{'A' * len(mac)}", "InvalidAuthenticationToken"),
        (f"{head}.{body[:-2]}.{mac}", "InvalidAuthenticationToken"),
        (f"{head}.{body}.", "InvalidAuthenticationToken"),
        (jwt(b"x" * 32, claims), "InvalidAuthenticationToken"),
        (jwt(key, claims, algorithm="none"), "InvalidAuthenticationToken"),
        (jwt(key, past), "ExpiredAuthenticationToken"),
        (jwt(key, {**claims, "aud": "https://vault.azure.net", "base": False}), "InvalidAuthenticationToken"),
        (jwt(key, {k: v for k, v in claims.items() if k != "aud"}), "InvalidAuthenticationToken"),
        (jwt(key, {**claims, "iss": "https://sts.windows.net/adfs/"}), "InvalidAuthenticationToken"),
        (jwt(key, {k: v for k, v in claims.items() if k != "iss"}), "InvalidAuthenticationToken"),
        (jwt(key, {**claims, "nbf": int(time.time()) + 3600}), "InvalidAuthenticationToken"),
        (jwt(key, {**claims, "exp": 1 << 62}), "ExpiredAuthenticationToken"),
    ]
    for token, code in cases:
        for method, body in (("GET", None), ("DELETE", None), ("PUT", {"location": "eastus"})):
            reply = daemon.call(method, place.path, body, token=token)
            refused(reply, 401, code)
            assert reply.headers["WWW-Authenticate"].startswith("Bearer")
    reply = daemon.call("GET", place.path, token=None, headers={"Authorization": "Basic eDp5"})
    refused(reply, 401, ("AuthenticationFailed", "InvalidAuthenticationToken"))
    assert daemon.get(place.path)["properties"]["provisioningState"] == "succeeded"


def test_a_stranger_learns_nothing_about_what_exists(daemon, place):
    for path in (place.path, place.path + "-not", place.group_path + "-not"):
        assert daemon.call("GET", path, token=None).status == 401
