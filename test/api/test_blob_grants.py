# SPDX-License-Identifier: MIT
"""Who may use blobs: keys, signatures, logins, leases, and anybody."""

import base64
from datetime import datetime, timedelta

import requests
from azure.core.credentials import AccessToken
from azure.storage.blob import (
    AccessPolicy,
    BlobClient,
    BlobServiceClient,
    ContainerClient,
    generate_account_sas,
    generate_blob_sas,
    generate_container_sas,
)
from support.accounts import Accounts
from support.blobs import call, client, container, daemon, put, refused  # noqa: F401 fixtures
from support.storage import ACCOUNT, KEY


def test_what_is_public_is_read_without_a_key(daemon, client):
    for access, blob, props in (("blob", 200, 401), ("container", 200, 401), (None, 401, 401)):
        c = client.create_container(f"public-{access or 'none'}".lower(), public_access=access)
        c.upload_blob("b", b"x")
        path = f"/{c.container_name}"
        assert daemon.blob.call("GET", path + "/b", signed=False).status == blob
        assert daemon.blob.call("PUT", path + "/b", b"y", signed=False, x_ms_blob_type="BlockBlob").status == 401
        c.delete_container()


def test_a_wrong_signature_is_answered_with_what_was_signed(daemon):
    got = daemon.blob.call("GET", "/c?restype=container", key=base64.b64encode(b"wrong").decode())
    assert (got.status, got.code) == (403, "AuthenticationFailed")
    assert f"/{ACCOUNT}/{ACCOUNT}/c\nrestype:container'".encode() in got.body
    assert daemon.blob.call("GET", "/c?restype=container", signed=False).status == 401


def test_a_request_from_long_ago_is_refused(daemon):
    got = daemon.blob.call("GET", "/c?restype=container", x_ms_date="Thu, 07 Jun 2018 21:34:00 GMT")
    assert got.status == 403 and b"too old" in got.body


def test_a_leased_blob_is_its_holders(container):
    blob = container.upload_blob("b", b"1")
    lease = blob.acquire_lease(-1)
    assert refused(blob.acquire_lease, 15) == "LeaseAlreadyPresent"
    assert refused(blob.upload_blob, b"2", overwrite=True) == "LeaseIdMissing"
    assert refused(blob.delete_blob) == "LeaseIdMissing"
    assert refused(blob.set_blob_metadata, {"a": "b"}, lease="00000000-0000-4000-8000-000000000000") == (
        "LeaseIdMismatchWithBlobOperation"
    )
    assert blob.download_blob().readall() == b"1"
    blob.upload_blob(b"2", overwrite=True, lease=lease)
    shown = blob.get_blob_properties().lease
    assert (shown.status, shown.state, shown.duration) == ("locked", "leased", "infinite")
    first = lease.id
    lease.change("11111111-2222-4333-8444-555555555555")
    assert lease.id != first
    lease.renew()
    assert lease.break_lease(lease_break_period=0) == 0
    assert blob.get_blob_properties().lease.state == "broken"
    assert refused(lease.renew) == "LeaseIsBrokenAndCannotBeRenewed"
    again = blob.acquire_lease(15)
    again.release()
    assert blob.get_blob_properties().lease.state == "available"
    blob.upload_blob(b"3", overwrite=True)
    assert refused(blob.delete_blob, lease=first) == "LeaseNotPresentWithBlobOperation"


def test_a_leased_container_is_not_deleted(client):
    c = client.create_container("leased")
    lease = c.acquire_lease(60)
    c.upload_blob("b", b"x")
    assert refused(c.delete_container) == "LeaseIdMissing"
    assert c.get_container_properties().lease.duration == "fixed"
    c.delete_container(lease=lease)


def test_a_bad_lease(call, put):
    put("b")
    for headers, code in (
        ({}, "MissingRequiredHeader"),
        ({"x_ms_lease_action": "borrow"}, "InvalidHeaderValue"),
        ({"x_ms_lease_action": "acquire"}, "MissingRequiredHeader"),
        ({"x_ms_lease_action": "acquire", "x_ms_lease_duration": "14"}, "InvalidHeaderValue"),
        ({"x_ms_lease_action": "acquire", "x_ms_lease_duration": "-1", "x_ms_proposed_lease_id": "x"}, "InvalidHeaderValue"),
        ({"x_ms_lease_action": "renew"}, "MissingRequiredHeader"),
        ({"x_ms_lease_action": "break"}, "LeaseNotPresentWithLeaseOperation"),
    ):
        assert call("PUT", "/b?comp=lease", **headers).code == code, headers


def signed_url(base, **how):
    how = {"account_name": ACCOUNT, "account_key": KEY, "expiry": datetime.utcnow() + timedelta(hours=1), **how}
    make = generate_blob_sas if "blob_name" in how else generate_container_sas
    return base + "?" + make(**how)


def test_a_signature_grants_what_it_says(daemon, container):
    name = container.container_name
    container.upload_blob("dir/b", b"x")
    url = f"{daemon.blob.url}/{name}/dir/b"
    read = BlobClient.from_blob_url(
        signed_url(url, container_name=name, blob_name="dir/b", permission="r", content_type="text/x", cache_control="c")
    )
    got = read.download_blob()
    assert got.readall() == b"x" and got.properties.content_settings.content_type == "text/x"
    assert refused(read.upload_blob, b"y", overwrite=True) == "AuthorizationPermissionMismatch"
    other = BlobClient.from_blob_url(read.url.replace("dir/b", "dir/c"))
    assert refused(other.download_blob) == "AuthenticationFailed"
    create = BlobClient.from_blob_url(
        signed_url(url, container_name=name, blob_name="dir/b", permission="c").replace("/dir/b?", "/dir/b?")
    )
    assert refused(create.upload_blob, b"y", overwrite=True) == "AuthorizationPermissionMismatch"
    listing = ContainerClient.from_container_url(
        signed_url(f"{daemon.blob.url}/{name}", container_name=name, permission="l")
    )
    assert [b.name for b in listing.list_blobs()] == ["dir/b"]
    assert refused(listing.delete_container) == "AuthorizationPermissionMismatch"


def test_a_signature_of_the_account(daemon, client, container):
    def sas(**how):
        how = {"resource_types": "sco", "permission": "rl", "expiry": datetime.utcnow() + timedelta(hours=1), **how}
        return BlobServiceClient(daemon.blob.url, credential=generate_account_sas(ACCOUNT, KEY, **how))

    container.upload_blob("b", b"x")
    path = (container.container_name, "b")
    assert sas().get_blob_client(*path).download_blob().readall() == b"x"
    assert refused(sas(resource_types="c").get_blob_client(*path).download_blob) == "AuthorizationResourceTypeMismatch"
    assert refused(sas(permission="l").get_blob_client(*path).download_blob) == "AuthorizationPermissionMismatch"
    assert refused(sas(ip="10.0.0.1").get_blob_client(*path).download_blob) == "AuthorizationSourceIPMismatch"
    assert refused(sas(protocol="https").get_blob_client(*path).download_blob) == "AuthorizationProtocolMismatch"
    past = datetime.utcnow() - timedelta(hours=1)
    assert refused(sas(expiry=past).get_blob_client(*path).download_blob) == "AuthenticationFailed"


def test_a_stored_policy_is_used_and_taken_back(daemon, container):
    name = container.container_name
    container.upload_blob("b", b"x")
    policy = AccessPolicy(permission="r", expiry=datetime.utcnow() + timedelta(hours=1))
    container.set_container_access_policy({"readers": policy})
    assert [p.id for p in container.get_container_access_policy()["signed_identifiers"]] == ["readers"]
    sas = generate_blob_sas(ACCOUNT, name, "b", account_key=KEY, policy_id="readers")
    blob = BlobClient.from_blob_url(f"{daemon.blob.url}/{name}/b?{sas}")
    assert blob.download_blob().readall() == b"x"
    container.set_container_access_policy({})
    assert refused(blob.download_blob) == "AuthenticationFailed"


class Token:
    """A login, for the SDK."""

    def __init__(self, daemon):
        self.daemon = daemon

    def get_token(self, *scopes, **_):
        reply = self.daemon.token_reply(scope=scopes[0]).json
        return AccessToken(reply["access_token"], reply["expires_on"])


def test_a_login_signs_for_others(daemon):
    accounts = Accounts(daemon).make()
    name = accounts.account()
    url = f"https://{name}.blob.core.localhost:{daemon.port}"
    service = BlobServiceClient(url, credential=Token(daemon), connection_verify=daemon.ca)
    container = service.create_container("shared")
    container.upload_blob("b", b"for you")
    until = datetime.utcnow() + timedelta(hours=1)
    key = service.get_user_delegation_key(datetime.utcnow() - timedelta(minutes=1), until)
    sas = generate_blob_sas(name, "shared", "b", user_delegation_key=key, permission="r", expiry=until)
    blob = BlobClient.from_blob_url(f"{url}/shared/b?{sas}", connection_verify=daemon.ca)
    assert blob.download_blob().readall() == b"for you"
    assert refused(blob.delete_blob) == "AuthorizationPermissionMismatch"
    key.value = base64.b64encode(b"another key of 32 bytes ........").decode()
    sas = generate_blob_sas(name, "shared", "b", user_delegation_key=key, permission="r", expiry=until)
    forged = BlobClient.from_blob_url(f"{url}/shared/b?{sas}", connection_verify=daemon.ca)
    assert refused(forged.download_blob) == "AuthenticationFailed"
    assert refused(service.get_user_delegation_key, datetime.utcnow(), until + timedelta(days=9)) == "InvalidXmlDocument"
    accounts.remove()


def test_an_account_may_forbid_what_is_public(daemon):
    accounts = Accounts(daemon).make()
    name = accounts.account()
    url = f"https://{name}.blob.core.localhost:{daemon.port}"
    service = BlobServiceClient(url, credential=accounts.keys(name)[0], connection_verify=daemon.ca)
    service.create_container("open", public_access="container").upload_blob("b", b"x")
    assert requests.get(f"{url}/open/b", verify=daemon.ca, timeout=30).status_code == 200
    accounts.call("PATCH", f"/{name}", {"properties": {"allowBlobPublicAccess": False}}, expect=200)
    assert requests.get(f"{url}/open/b", verify=daemon.ca, timeout=30).status_code == 401
    assert refused(service.create_container, "more", public_access="blob") == "PublicAccessNotPermitted"
    accounts.remove()


def test_an_account_may_forbid_its_keys(daemon):
    accounts = Accounts(daemon).make()
    name = accounts.account()
    url = f"https://{name}.blob.core.localhost:{daemon.port}"
    key = accounts.keys(name)[0]
    by_key = BlobServiceClient(url, credential=key, connection_verify=daemon.ca)
    by_login = BlobServiceClient(url, credential=Token(daemon), connection_verify=daemon.ca)
    by_key.create_container("shared").upload_blob("b", b"x")
    until = datetime.utcnow() + timedelta(hours=1)
    lent = generate_blob_sas(name, "shared", "b", user_delegation_key=by_login.get_user_delegation_key(datetime.utcnow(), until), permission="r", expiry=until)
    sas = generate_blob_sas(name, "shared", "b", account_key=key, permission="r", expiry=until)
    with_key, with_login = (BlobClient.from_blob_url(f"{url}/shared/b?{s}", connection_verify=daemon.ca) for s in (sas, lent))
    for allowed in (False, True):
        accounts.call("PATCH", f"/{name}", {"properties": {"allowSharedKeyAccess": allowed}}, expect=200)
        assert [c.name for c in by_login.list_containers()] == ["shared"]
        assert with_login.download_blob().readall() == b"x"
        if allowed:
            assert with_key.download_blob().readall() == b"x"
        else:
            assert refused(by_key.get_service_properties) == "KeyBasedAuthenticationNotPermitted"
            assert refused(with_key.download_blob) == "KeyBasedAuthenticationNotPermitted"
    assert accounts.get(name)["properties"]["allowSharedKeyAccess"] is True
    accounts.remove()
