# SPDX-License-Identifier: MIT
"""Copies of blobs: who may read their sources."""

from datetime import datetime, timedelta
from email.utils import formatdate
from types import SimpleNamespace

import pytest
from azure.storage.blob import BlobClient, BlobServiceClient, generate_container_sas
from support.accounts import Accounts
from support.blobs import daemon  # noqa: F401 (fixture)
from support.people import READER, Person
from support.storage import sign


@pytest.fixture(scope="module")
def two(daemon, temporary_in_file):
    """Two accounts: copies go into `to`, from /open/b or /private/b of `one`."""
    accounts = temporary_in_file(Accounts(daemon).make())
    t = SimpleNamespace(accounts=accounts, one=accounts.account(), to=accounts.account())
    t.keys = {a: accounts.keys(a)[0] for a in (t.one, t.to)}
    t.url = {a: f"https://{a}.blob.core.localhost:{daemon.port}" for a in t.keys}
    for a in t.keys:
        service = BlobServiceClient(t.url[a], credential=t.keys[a], connection_verify=daemon.ca)
        service.create_container("open", public_access="blob").upload_blob("b", b"open")
        service.create_container("private").upload_blob("b", b"private")
    return t


WAYS = {
    "Put Block From URL": ("?comp=block&blockid=AAAA", {}),
    "Put Blob From URL": ("", {"x-ms-blob-type": "BlockBlob"}),
    "Copy Blob From URL": ("", {"x-ms-requires-sync": "true"}),
    "Copy Blob": ("", {}),
}


def sent(daemon, account, way, source, by, **headers):
    """A copy to /private/copy of the account; `by`: its key, or a token."""
    more, given = WAYS[way]
    path, host = f"/private/copy{more}", f"{account}.blob.core.localhost"
    head = {"x-ms-version": "2021-12-02", "x-ms-date": formatdate(usegmt=True), "Content-Length": "0", "x-ms-copy-source": source}
    head |= {**given, **headers}
    head["Authorization"] = sign("PUT", path, head, by, account) if len(by) == 88 else f"Bearer {by}"
    return daemon.call("PUT", path, headers={"Host": host, **head}, token="", api_version=None, validate=False)


def copied(*arguments, **headers):
    """How that is answered."""
    reply = sent(*arguments, **headers)
    return reply.status if reply.status < 300 else reply.headers["x-ms-error-code"]


def sas_of(two, account, permission="r", container="private"):
    until = datetime.utcnow() + timedelta(hours=1)
    return generate_container_sas(account, container, account_key=two.keys[account], permission=permission, expiry=until)


@pytest.mark.parametrize("way", WAYS)
def test_a_source_is_read_by_its_own_grant(daemon, two, way):
    """Only Copy Blob reads without one what is in the same account."""
    good, no = (202 if "Copy" in way else 201), "CannotVerifyCopySource"
    own, other = two.url[two.to] + "/private/b", two.url[two.one] + "/private/b"
    key, token = two.keys[two.to], daemon.token_reply(scope="https://storage.azure.com/.default").json["access_token"]
    for by in (key, token):
        assert copied(daemon, two.to, way, own, by) == (good if way == "Copy Blob" else no)
    for source, account in ((own, two.to), (other, two.one)):
        for by in (key, token):
            assert copied(daemon, two.to, way, f"{source}?{sas_of(two, account)}", by) == good
            assert copied(daemon, two.to, way, f"{source}?{sas_of(two, account, 'wl')}", by) != good
            assert copied(daemon, two.to, way, source.replace("private", "open"), by) == good
    assert copied(daemon, two.to, way, other, key) == copied(daemon, two.to, way, other, token) == no


@pytest.mark.parametrize("way", WAYS)
def test_why_a_source_is_not_read_shows_in_the_status(daemon, two, way):
    def status(source, **more):
        reply = sent(daemon, two.to, way, source, two.keys[two.to], **more)
        return reply.status, reply.headers["x-ms-error-code"]

    other, no = two.url[two.one], "CannotVerifyCopySource"
    signed = sas_of(two, two.one)
    assert status(f"{other}/private/b") == (401, no)
    assert status(f"{other}/private/b", **{"x-ms-version": "2018-11-09"}) == (404, no)
    assert status(f"{other}/private/b?{signed}x") == (403, no)
    assert status(f"{other}/private/none?{signed}") == status(f"{other}/open/none") == (404, no)
    assert status(f"{other.replace(two.one, 'nosuch')}/private/b?{signed}") == (404, no)
    if way != "Copy Blob":
        assert status(f"{two.url[two.to]}/private/b") == (401, no)


@pytest.mark.parametrize("way", ["Put Blob From URL", "Copy Blob From URL", "Copy Blob"])
def test_tags_of_a_source_are_copied_for_those_who_may_read_them(daemon, two, way):
    good, no = (202 if "Copy" in way else 201), "CannotVerifyCopySource"
    key, option = two.keys[two.to], {"x-ms-copy-source-tag-option": "COPY"}
    source = BlobClient.from_blob_url(f"{two.url[two.one]}/private/b", credential=two.keys[two.one], connection_verify=daemon.ca)
    source.set_blob_tags({"a": "1"})
    to = BlobClient.from_blob_url(f"{two.url[two.to]}/private/copy", credential=key, connection_verify=daemon.ca)
    signed = {p: f"{two.url[two.one]}/private/b?{sas_of(two, two.one, p)}" for p in ("r", "t", "rt")}
    assert copied(daemon, two.to, way, signed["r"], key) == good and to.get_blob_tags() == {}
    for p in ("r", "t"):
        assert copied(daemon, two.to, way, signed[p], key, **option) == "AuthorizationPermissionMismatch"
    assert copied(daemon, two.to, way, signed["rt"], key, **option) == good and to.get_blob_tags() == {"a": "1"}
    assert copied(daemon, two.to, way, two.url[two.one] + "/open/b", key, **option) == no, "public is not for tags"
    scope = f"{two.accounts.path}/{two.one}"
    for role, may in (("Storage Blob Data Reader", "AuthorizationPermissionMismatch"), ("Storage Blob Data Owner", good)):
        person = Person(daemon, role, scope)
        token = person.login(scope="https://storage.azure.com/.default").json["access_token"]
        given = {"x-ms-copy-source-authorization": f"Bearer {token}", **option}
        assert copied(daemon, two.to, way, signed["r"].partition("?")[0], key, **given) == may
        person.remove()


@pytest.mark.parametrize("way, may", [("Put Blob From URL", 201), ("Copy Blob From URL", 202)])
def test_who_sets_tags_by_copying_them_needs_the_permission_for_it(daemon, two, way, may):
    source, option = f"{two.url[two.one]}/private/b?{sas_of(two, two.one, 'rt')}", {"x-ms-copy-source-tag-option": "COPY"}
    head = {"x-ms-version": "2021-12-02", "Content-Length": "0", "x-ms-copy-source": source, **WAYS[way][1], **option}
    host = {"Host": f"{two.to}.blob.core.localhost"}
    for p, status in (("cw", 403), ("cwt", may)):
        path = f"/private/tagged?{sas_of(two, two.to, p)}"
        reply = daemon.call("PUT", path, headers={**host, **head}, token="", api_version=None, validate=False)
        assert reply.status == status, reply


@pytest.mark.parametrize("way", WAYS)
def test_a_source_is_read_by_a_token_that_comes_for_it(daemon, two, way):
    good = 202 if "Copy" in way else 201
    source, key = two.url[two.one] + "/private/b", two.keys[two.to]
    scope = f"{two.accounts.path}/{two.one}"
    people = {r: Person(daemon, r, scope) for r in ("Storage Blob Data Reader", READER)}

    def by(person, resource="https://storage.azure.com"):
        token = person.login(scope=f"{resource}/.default").json["access_token"]
        return copied(daemon, two.to, way, source, key, **{"x-ms-copy-source-authorization": f"Bearer {token}"})

    reader = people["Storage Blob Data Reader"]
    assert by(reader) == by(reader, two.url[two.one]) == good
    assert by(reader, two.url[two.to]) == by(reader, "https://management.azure.com") == "CannotVerifyCopySource"
    assert by(people[READER]) == "AuthorizationPermissionMismatch"
    for person in people.values():
        person.remove()


@pytest.mark.parametrize("way", WAYS)
def test_what_an_account_forbids_binds_sources_too(daemon, two, way):
    good = 202 if "Copy" in way else 201
    signed, public = f"{two.url[two.one]}/private/b?{sas_of(two, two.one)}", f"{two.url[two.one]}/open/b"

    def both():
        return [copied(daemon, two.to, way, s, two.keys[two.to]) for s in (signed, public)]

    for off, left in (("allowSharedKeyAccess", public), ("allowBlobPublicAccess", signed)):
        two.accounts.call("PATCH", f"/{two.one}", {"properties": {off: False}}, expect=200)
        assert both() == [good if s == left else "CannotVerifyCopySource" for s in (signed, public)], off
        two.accounts.call("PATCH", f"/{two.one}", {"properties": {off: True}}, expect=200)
    assert both() == [good, good]
