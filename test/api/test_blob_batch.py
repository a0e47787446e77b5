# SPDX-License-Identifier: MIT
"""Batches: requests inside the body of one, each authorized and answered on its own."""

import re
from datetime import datetime, timedelta, timezone
from email.utils import formatdate

import pytest
from azure.core.credentials import AccessToken
from azure.storage.blob import (
    BlobServiceClient,
    ContainerClient,
    PartialBatchErrorException,
    StandardBlobTier,
    generate_account_sas,
    generate_container_sas,
)
from support.accounts import Accounts
from support.blobs import client, container, daemon, put  # noqa: F401 fixtures
from support.storage import ACCOUNT, KEY, sign

BOUNDARY = "batch_1"
TYPE = f"multipart/mixed; boundary={BOUNDARY}"


def part(method, path, number=0, signed=True, **headers):
    """One request of a batch; a path of None leaves out the line."""
    sent = {"x-ms-date": formatdate(usegmt=True), "Content-Length": "0"}
    sent.update({k.replace("_", "-"): v for k, v in headers.items()})
    if signed:
        sent["Authorization"] = sign(method, path, sent)
    head = "".join(f"{k}: {v}\r\n" for k, v in sent.items())
    return (
        f"--{BOUNDARY}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
        f"Content-ID: {number}\r\n\r\n{method} {path} HTTP/1.1\r\n{head}\r\n"
    )


def body(*parts):
    return ("".join(parts) + f"--{BOUNDARY}--\r\n").encode()


def answers(got):
    """[(Content-ID or None, status, headers, body)] of a reply."""
    assert got.status == 202, got
    boundary = re.fullmatch(r"multipart/mixed; boundary=(\S+)", got.headers["Content-Type"])[1]
    first, *parts, last = got.body.decode().split(f"--{boundary}")
    assert first == "" and last == "--\r\n"
    out = []
    for one in parts:
        own, head, text = one.lstrip("\r\n").split("\r\n\r\n", 2)
        assert own.startswith("Content-Type: application/http")
        number = re.search(r"Content-ID: (\S+)", own)
        line, *headers = head.split("\r\n")
        named = dict(h.split(": ", 1) for h in headers)
        out.append((number and number[1], int(line.split(" ")[1]), named, text.rstrip("\r\n")))
    return out


@pytest.fixture
def batch(daemon, container):
    def batch(*parts, path=f"/{container.container_name}?restype=container&comp=batch", content_type=TYPE, **more):
        return daemon.blob.call("POST", path, body(*parts), Content_Type=content_type, **more)

    return batch


@pytest.fixture
def name(container):
    return f"/{ACCOUNT}/{container.container_name}"


def names(container):
    return [b.name for b in container.list_blobs()]


def test_the_sdk_deletes_with_a_key(container):
    for n in range(20):
        container.upload_blob(f"dir/b {n}", b"x")
    got = list(container.delete_blobs(*[f"dir/b {n}" for n in range(19)]))
    assert [r.status_code for r in got] == [202] * 19
    assert names(container) == ["dir/b 19"]


def test_the_sdk_sets_tiers_with_a_key(container):
    for n in range(3):
        container.upload_blob(f"b{n}", b"x")
    got = list(container.set_standard_blob_tier_blobs(StandardBlobTier.COOL, "b0", "b2"))
    assert [r.status_code for r in got] == [200, 200]
    assert [b.blob_tier for b in container.list_blobs()] == ["Cool", "Hot", "Cool"]


def test_the_sdk_deletes_with_signatures(daemon, container):
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    of_account = generate_account_sas(ACCOUNT, KEY, "sco", "rwdlac", until)
    of_container = generate_container_sas(
        ACCOUNT, container.container_name, account_key=KEY, permission="rd", expiry=until
    )
    for sas in (of_account, of_container):
        container.upload_blob("a", b"x")
        container.upload_blob("b", b"x")
        with_sas = ContainerClient(daemon.blob.url, container.container_name, credential=sas)
        assert [r.status_code for r in with_sas.delete_blobs("a", "b")] == [202, 202]
        assert names(container) == []
    reader = generate_container_sas(ACCOUNT, container.container_name, account_key=KEY, permission="r", expiry=until)
    container.upload_blob("a", b"x")
    with_sas = ContainerClient(daemon.blob.url, container.container_name, credential=reader)
    with pytest.raises(PartialBatchErrorException):
        with_sas.delete_blobs("a", "b")
    assert names(container) == ["a"]


def test_what_fails_has_its_own_answer(container):
    container.upload_blob("there", b"x")
    container.upload_blob("leased", b"x").acquire_lease(-1)
    with pytest.raises(PartialBatchErrorException) as e:
        container.delete_blobs("there", "gone", "leased")
    assert [p.status_code for p in e.value.parts] == [202, 404, 412]
    assert names(container) == ["leased"]


def test_each_answer_is_whole(batch, put, name):
    put("b")
    got = answers(batch(part("DELETE", f"{name}/b", "first"), part("DELETE", f"{name}/none", 7)))
    assert [(n, status) for n, status, _, _ in got] == [("first", 202), ("7", 404)]
    ids = {headers["x-ms-request-id"] for _, _, headers, _ in got}
    assert len(ids) == 2 and all(h["x-ms-version"] == "2021-12-02" for _, _, h, _ in got)
    assert got[1][2]["x-ms-error-code"] == "BlobNotFound"
    assert got[1][2]["Content-Length"] == str(len(got[1][3].encode()))
    assert "<Code>BlobNotFound</Code>" in got[1][3]


def test_each_request_is_authorized_on_its_own(daemon, batch, put, name, container):
    for n in "abc":
        put(n)
    forged = part("DELETE", f"{name}/a", 1).replace("/a HTTP", "/c HTTP")
    got = answers(batch(part("DELETE", f"{name}/a"), forged, part("DELETE", f"{name}/b", 2, signed=False)))
    assert [status for _, status, _, _ in got] == [202, 403, 401]
    assert got[1][2]["x-ms-error-code"] == "AuthenticationFailed"
    assert names(container) == ["b", "c"]
    assert batch(part("DELETE", f"{name}/b"), signed=False).status == 401
    assert names(container) == ["b", "c"]


def test_a_batch_of_the_account_is_for_all_containers(batch, client, container, name, put):
    put("a")
    other = client.create_container("another")
    other.upload_blob("b", b"x")
    parts = part("DELETE", f"{name}/a"), part("DELETE", f"/{ACCOUNT}/another/b", 1)
    refused = answers(batch(*parts))
    assert [(n, s, h["x-ms-error-code"]) for n, s, h, _ in refused] == [(None, 400, "InvalidInput")]
    assert names(container) == ["a"]
    assert [s for _, s, _, _ in answers(batch(*parts, path="/?comp=batch"))] == [202, 202]
    assert names(container) == names(other) == []
    other.delete_container()


def test_conditions_are_of_each_request(batch, put, name, container):
    etag = put("a").headers["ETag"]
    put("b")
    got = answers(batch(*[part("DELETE", f"{name}/{n}", If_Match=etag) for n in "ab"]))
    assert [s for _, s, _, _ in got] == [202, 412]
    assert names(container) == ["b"]


WHOLE = {
    "other operations": (["GET /b"], "InvalidInput"),
    "a put": (["PUT /b"], "InvalidInput"),
    "a container": (["DELETE ?restype=container"], "InvalidInput"),
    "two kinds": (["DELETE /b", "PUT /b?comp=tier"], "AllBatchSubRequestsShouldBeSameApi"),
    "a batch": (["POST ?restype=container&comp=batch"], "InvalidInput"),
    "nothing": ([], "InvalidInput"),
    "too many": (["DELETE /b"] * 257, "ExceedsMaxBatchRequestCount"),
    "an escape": (["DELETE /%zz"], "InvalidInput"),
}


@pytest.mark.parametrize("lines, code", WHOLE.values(), ids=list(WHOLE))
def test_a_batch_that_is_none_changes_nothing(batch, put, name, container, lines, code):
    put("b")
    parts = [part(line.split()[0], name + line.split()[1], n) for n, line in enumerate(lines)]
    got = answers(batch(*parts))
    assert [(n, s, h["x-ms-error-code"]) for n, s, h, _ in got] == [(None, 400, code)]
    assert names(container) == ["b"]


def test_a_batch_of_256(batch, put, name, container):
    for n in range(256):
        put(f"b{n}")
    got = answers(batch(*[part("DELETE", f"{name}/b{n}", n) for n in range(256)]))
    assert [int(n) for n, _, _, _ in got] == list(range(256))
    assert {s for _, s, _, _ in got} == {202} and names(container) == []


def test_the_same_blob_twice_is_deleted_once(batch, put, name):
    put("b")
    got = answers(batch(*[part("DELETE", f"{name}/b", n) for n in range(8)]))
    assert sorted(s for _, s, _, _ in got) == [202] + [404] * 7


BAD = {
    "no boundary": "",
    "no end": "--batch_1\r\nContent-Type: application/http\r\n\r\nDELETE /c/b HTTP/1.1\r\n",
    "no request": "--batch_1\r\nContent-Type: application/http\r\n\r\n--batch_1--\r\n",
    "no path": "--batch_1\r\n\r\nDELETE HTTP/1.1\r\n\r\n--batch_1--\r\n",
    "no slash": "--batch_1\r\n\r\nDELETE c/b HTTP/1.1\r\n\r\n--batch_1--\r\n",
    "no header": "--batch_1\r\n\r\nDELETE /c/b HTTP/1.1\r\nx\r\n\r\n--batch_1--\r\n",
    "a body": "--batch_1\r\n\r\nDELETE /c/b HTTP/1.1\r\na: b\r\n\r\nbody\r\n--batch_1--\r\n",
    "a NUL": "--batch_1\r\n\r\nDELETE /c/b\0 HTTP/1.1\r\n\r\n--batch_1--\r\n",
    "a long line": "--batch_1\r\n\r\nDELETE /c/" + "b" * 17000 + " HTTP/1.1\r\n\r\n--batch_1--\r\n",
    "many headers": "--batch_1\r\n\r\nDELETE /c/b HTTP/1.1\r\n" + "a: b\r\n" * 65 + "\r\n--batch_1--\r\n",
}


@pytest.mark.parametrize("text", BAD.values(), ids=list(BAD))
def test_a_body_that_is_none(daemon, text):
    got = answers(daemon.blob.call("POST", "/?comp=batch", text.encode(), Content_Type=TYPE))
    assert [(n, s, h["x-ms-error-code"]) for n, s, h, _ in got] == [(None, 400, "InvalidInput")]


def test_a_batch_is_multipart_and_not_large(batch, daemon, name):
    got = batch(part("DELETE", f"{name}/b"), content_type="multipart/mixed")
    assert (got.status, got.code) == (400, "InvalidHeaderValue")
    got = daemon.blob.call("POST", "/?comp=batch", b"x" * ((4 << 20) + 1), Content_Type=TYPE)
    assert (got.status, got.code) == (413, "RequestBodyTooLarge")
    got = batch(part("DELETE", f"{name}/b"), path="/nothere?restype=container&comp=batch")
    assert (got.status, got.code) == (404, "ContainerNotFound")


class Token:
    """What an SDK asks for a token of the first principal."""

    def __init__(self, daemon):
        self.daemon = daemon

    def get_token(self, *scopes, **more):
        reply = self.daemon.token_reply(scope=scopes[0]).json
        return AccessToken(reply["access_token"], reply["expires_on"])


def test_by_host_with_a_key_and_with_a_login(daemon, temporary):
    accounts = temporary(Accounts(daemon).make())
    name = accounts.account()
    url = f"https://{name}.blob.core.localhost:{daemon.port}"
    for credential in (accounts.keys(name)[0], Token(daemon)):
        c = BlobServiceClient(url, credential=credential, connection_verify=daemon.ca).get_container_client("shared")
        if not c.exists():
            c.create_container()
        for n in "abc":
            c.upload_blob(n, b"x")
        assert [r.status_code for r in c.delete_blobs("a", "b")] == [202, 202]
        assert [r.status_code for r in c.set_standard_blob_tier_blobs("Cool", "c")] == [200]
        assert names(c) == ["c"]
        c.delete_blob("c")


def test_quotes_preamble_and_bare_line_ends(daemon, put, name, container):
    put("b")
    text = "before\n" + body(part("DELETE", f"{name}/b")).decode().replace("\r\n", "\n") + "after"
    got = daemon.blob.call(
        "POST", "/?comp=batch", text.encode(), Content_Type=f'Multipart/Mixed; charset=x; Boundary="{BOUNDARY}"'
    )
    assert [s for _, s, _, _ in answers(got)] == [202]
