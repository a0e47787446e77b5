# SPDX-License-Identifier: MIT
"""Who may use blobs: keys, signatures, logins, leases, and anybody."""

import base64
from datetime import datetime, timedelta

import pytest
import requests
from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import (
    AccessPolicy,
    BlobClient,
    BlobLeaseClient,
    BlobServiceClient,
    ContainerClient,
    generate_account_sas,
    generate_blob_sas,
    generate_container_sas,
)
from azure.storage.fileshare import generate_file_sas
from support.accounts import Accounts
from support.blobs import call, client, container, daemon, may_read, put, refused  # noqa: F401 fixtures
from support.people import READER, Person
from support.storage import ACCOUNT, KEY
from support.two_parts import TwoParts

FOREVER = {"x_ms_lease_action": "acquire", "x_ms_lease_duration": "-1"}


def test_what_is_public_is_read_without_a_key(daemon, client):
    for access, blob, whole in (("blob", 200, 401), ("container", 200, 200), (None, 401, 401)):
        c = client.create_container(f"public-{access or 'none'}".lower(), public_access=access)
        c.upload_blob("b", b"x")
        path = f"/{c.container_name}"
        assert daemon.blob.call("GET", path + "/b", signed=False).status == blob
        for query in ("?restype=container", "?restype=container&comp=metadata", "?restype=container&comp=list"):
            assert daemon.blob.call("GET", path + query, signed=False).status == whole, (access, query)
        assert daemon.blob.call("PUT", path + "/b", b"y", signed=False, x_ms_blob_type="BlockBlob").status == 401
        c.delete_container()


def test_a_wrong_signature_is_answered_with_what_was_signed(daemon):
    got = daemon.blob.call("GET", "/c?restype=container", key=base64.b64encode(b"wrong").decode())
    assert (got.status, got.code) == (403, "AuthenticationFailed")
    assert f"/{ACCOUNT}/{ACCOUNT}/c\nrestype:container'".encode() in got.body
    assert daemon.blob.call("GET", "/c?restype=container", signed=False).status == 401


def test_values_of_a_query_are_signed_as_they_are(container):
    for name in ("run 1", "runs", " run"):
        container.upload_blob(name, b"x")
    assert [b.name for b in container.list_blobs(name_starts_with="run ")] == ["run 1"]
    assert [b.name for b in container.list_blobs(name_starts_with=" ")] == [" run"]


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
    blob.acquire_lease(15).release()
    assert blob.get_blob_properties().lease.state == "available"
    blob.upload_blob(b"3", overwrite=True)
    assert refused(blob.delete_blob, lease=first) == "LeaseNotPresentWithBlobOperation"


@pytest.mark.parametrize("way", ["small", "large", "copy", "blocks"])
def test_a_lease_goes_with_a_blob_that_a_job_removes(daemon, container, call, put, way):
    assert put("b").status == put("source").status == 201
    assert call("PUT", "/b?comp=lease", **FOREVER).status == 201
    (daemon.folder / "blobs" / container.container_name / "b").unlink()
    list_of_none = b"<BlockList></BlockList>"
    made = {
        "small": lambda: put("b"),
        "large": lambda: put("b", bytes(5 << 20)),
        "copy": lambda: call("PUT", "/b", x_ms_copy_source=f"{daemon.blob.url}/{container.container_name}/source"),
        "blocks": lambda: call("PUT", "/b?comp=blocklist", list_of_none),
    }[way]()
    assert made.status in (201, 202), made
    assert call("HEAD", "/b").headers["x-ms-lease-state"] == "available"
    assert call("DELETE", "/b").status == 202


@pytest.mark.parametrize("service", ["blob", "file"])
def test_a_lease_that_is_acquired_while_policies_are_sent_stays(daemon, service):
    plane, kind = getattr(daemon, service), "container" if service == "blob" else "share"
    assert plane.call("PUT", f"/policed?restype={kind}").status == 201
    policies = b"<SignedIdentifiers></SignedIdentifiers>"
    late = TwoParts(plane, "PUT", f"/policed?restype={kind}&comp=acl", len(policies))
    lease = plane.call("PUT", f"/policed?restype={kind}&comp=lease", **FOREVER)
    plane.call("PUT", f"/policed?restype={kind}&comp=metadata", x_ms_meta_a="b", x_ms_lease_id=lease.headers["x-ms-lease-id"])
    assert late.send(policies).status == 200
    # In a version without a published document: shares have two headers of containers.
    shown = plane.call("GET", f"/policed?restype={kind}", x_ms_version="2022-11-02").headers
    assert (shown["x-ms-lease-state"], shown["x-ms-meta-a"]) == ("leased", "b")
    plane.call("DELETE", f"/policed?restype={kind}", x_ms_lease_id=lease.headers["x-ms-lease-id"])


def test_a_leased_container_is_not_deleted(client):
    c = client.create_container("leased")
    lease = c.acquire_lease(60)
    c.upload_blob("b", b"x")
    assert refused(c.delete_container) == "LeaseIdMissing"
    assert c.get_container_properties().lease.duration == "fixed"
    c.delete_container(lease=lease)


@pytest.mark.parametrize("of", ["container", "account"])
def test_a_signature_to_delete_breaks_a_lease_and_acquires_none(daemon, container, of):
    until = datetime.utcnow() + timedelta(hours=1)
    if of == "container":
        sas = generate_container_sas(ACCOUNT, container.container_name, account_key=KEY, permission="d", expiry=until)
    else:
        sas = generate_account_sas(ACCOUNT, KEY, "co", "d", until)
    blob = container.upload_blob("b", b"x")
    other = BlobClient.from_blob_url(f"{daemon.blob.url}/{container.container_name}/b?{sas}")
    assert refused(other.acquire_lease) == "AuthorizationPermissionMismatch"
    lease = blob.acquire_lease()
    assert refused(BlobLeaseClient(other, lease.id).release) == "AuthorizationPermissionMismatch"
    assert BlobLeaseClient(other).break_lease(0) == 0
    assert blob.get_blob_properties().lease.state == "broken"


def test_what_is_done_with_a_lease_changes_no_etag(daemon, container, call, put):
    put("b")
    (daemon.folder / "blobs" / container.container_name / "job").write_bytes(b"x")
    lease = {"x_ms_lease_id": "11111111-2222-4333-8444-555555555555"}
    for path, lease_path in (("/b", "/b?comp=lease"), ("/job", "/job?comp=lease"),
                             ("?restype=container", "?restype=container&comp=lease")):  # fmt: skip
        etag = call("GET", path).headers["ETag"]
        for act in ("acquire", "renew", "release", "acquire", "break"):
            more = lease if act in ("renew", "release") else {}
            if act == "acquire":
                more = {**FOREVER, "x_ms_proposed_lease_id": lease["x_ms_lease_id"]}
            got = call("PUT", lease_path, **{**more, "x_ms_lease_action": act})
            assert got.status in (200, 201, 202) and got.headers["ETag"] == etag, (act, got)
            assert call("GET", path).headers["ETag"] == etag, act


@pytest.mark.parametrize("form", ["{}", "{{{}}}", "({})"])
def test_the_id_of_a_lease_is_a_guid_in_any_form(call, put, form):
    usual = "0a1b2c3d-4e5f-4a6b-8c7d-9e8f0a1b2c3d"
    put("b")
    for given in (form.format(usual), form.format(usual).upper(), usual.replace("-", "")):
        got = call("PUT", "/b?comp=lease", x_ms_proposed_lease_id=given, **FOREVER)
        assert (got.status, got.headers["x-ms-lease-id"]) == (201, usual), given
        assert put("b", x_ms_lease_id=given).status == 201
        assert call("PUT", "/b?comp=lease", x_ms_lease_action="release", x_ms_lease_id=given).status == 200
    for wrong in (usual[:-1], usual + "0", "{" + usual + ")", usual.replace("-", "")[:-1], "x" * 32):
        got = call("PUT", "/b?comp=lease", x_ms_proposed_lease_id=wrong, **FOREVER)
        assert (got.status, got.code) == (400, "InvalidHeaderValue"), wrong


def test_who_has_the_lease_puts_a_blob_that_must_be_new(call, put):
    put("b")
    lease = call("PUT", "/b?comp=lease", **FOREVER).headers["x-ms-lease-id"]
    large = b"l" * 300_000
    for body in (b"small", large):
        assert put("b", body, If_None_Match="*").code == "BlobAlreadyExists"
        assert put("b", body, If_None_Match="*", x_ms_lease_id="1" * 32).code == "BlobAlreadyExists"
        assert put("b", body, If_None_Match="*", x_ms_lease_id=lease).status == 201
        assert call("GET", "/b").body == body
    call("PUT", "/b?comp=block&blockid=MDA%3D", b"block", x_ms_lease_id=lease)
    blocks = b"<BlockList><Latest>MDA=</Latest></BlockList>"
    assert call("PUT", "/b?comp=blocklist", blocks, If_None_Match="*").code == "BlobAlreadyExists"
    assert call("PUT", "/b?comp=blocklist", blocks, If_None_Match="*", x_ms_lease_id=lease).status == 201
    assert call("GET", "/b").body == b"block"
    put("free")
    assert put("free", If_None_Match="*", x_ms_lease_id=lease).code == "BlobAlreadyExists"


def test_a_copy_goes_onto_a_lease_that_does_not_end(daemon, container, call, put):
    put("from", b"new")
    put("to", b"old")
    source = {"x_ms_copy_source": f"{daemon.blob.url}/{container.container_name}/from?{may_read(container)}"}
    for duration, status, code in (("15", 412, "InfiniteLeaseDurationRequired"), ("-1", 202, None)):
        got = call("PUT", "/to?comp=lease", x_ms_lease_action="acquire", x_ms_lease_duration=duration)
        lease = {"x_ms_lease_id": got.headers["x-ms-lease-id"]}
        assert call("PUT", "/to", **source).code == "LeaseIdMissing"
        got = call("PUT", "/to", **source, **lease)
        assert (got.status, got.code) == (status, code)
        assert call("GET", "/to").body == (b"new" if status == 202 else b"old")
        assert call("PUT", "/to", x_ms_requires_sync="true", **source, **lease).status == 202
        put("to", b"old", **lease)
        call("PUT", "/to?comp=lease", x_ms_lease_action="release", **lease)


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
    assert refused(create.upload_blob, b"y", overwrite=True) == "UnauthorizedBlobOverwrite"
    listing = ContainerClient.from_container_url(
        signed_url(f"{daemon.blob.url}/{name}", container_name=name, permission="l")
    )
    assert [b.name for b in listing.list_blobs()] == ["dir/b"]
    assert refused(listing.delete_container) == "AuthorizationPermissionMismatch"


def query_of(container, permission, **how):
    return generate_container_sas(
        ACCOUNT, container, account_key=KEY, permission=permission, expiry=datetime.utcnow() + timedelta(hours=1), **how
    )


def test_a_signature_that_may_only_create_writes_over_nothing(daemon, container):
    """By none of the operations that put a blob in its place."""
    name = container.container_name
    container.upload_blob("old", b"precious", metadata={"a": "b"})
    container.get_blob_client("log").create_append_blob()
    container.get_blob_client("log").append_block(b"line")

    def call(permission, blob, more="", body=b"evil", **headers):
        url = f"/{name}/{blob}?{more}{query_of(name, permission)}"
        got = daemon.blob.call("PUT", url, body, signed=False, **headers)
        return (got.status, got.code)

    source = f"{daemon.blob.url}/{name}/old?{query_of(name, 'r')}"
    plain, append, copy = {"x_ms_blob_type": "BlockBlob"}, {"x_ms_blob_type": "AppendBlob"}, {"x_ms_copy_source": source}
    block, commit = "comp=block&blockid=AAAA&", "comp=blocklist&"
    blocks = b"<BlockList><Latest>AAAA</Latest></BlockList>"
    over, mismatch = (403, "UnauthorizedBlobOverwrite"), (403, "AuthorizationPermissionMismatch")
    large = b"x" * (1 << 20)
    for there in ("old", "log"):
        assert call("c", there, **plain) == call("c", there, body=large, **plain) == over
        assert call("c", there, body=b"", **append) == call("ca", there, body=b"", **append) == over
        assert call("c", there, body=b"", **copy) == call("c", there, body=b"", **plain, **copy) == over
        assert call("c", there, block) == call("c", there, commit, blocks) == mismatch
    assert container.download_blob("old").readall() == b"precious"
    assert container.download_blob("log").readall() == b"line"
    assert container.get_blob_client("old").get_blob_properties().metadata == {"a": "b"}
    for n, (body, headers) in enumerate(((b"new", plain), (b"", append), (b"", copy))):
        assert call("c", f"new{n}", body=body, **headers)[0] in (201, 202)
    assert call("c", "new", block) == mismatch
    assert [call("w", "old", *how, **head)[0] for how, head in (((), plain), ((block,), {}), ((commit, blocks), {}))] == [201] * 3
    assert container.download_blob("old").readall() == b"evil"


def test_tags_are_set_only_with_the_permission_for_tags(daemon, container):
    name = container.container_name

    def put(permission):
        url = f"/{name}/tagged?{query_of(name, permission)}"
        return daemon.blob.call("PUT", url, b"x", signed=False, x_ms_blob_type="BlockBlob", x_ms_tags="a=b").code

    assert put("cw") == "AuthorizationPermissionMismatch"
    assert put("cwt") is None


def test_what_is_public_is_only_what_is_documented(daemon, client):
    """Blobs, committed blocks, and list and properties of a whole container; neither tags nor anything of the account."""
    c = client.create_container("public-parts", public_access="container")
    c.upload_blob("b", b"x")
    for status, path in (
        (200, "/b"), (200, "/b?comp=metadata"), (200, "/b?comp=blocklist"), (401, "/b?comp=blocklist&blocklisttype=all"),
        (401, "/b?comp=tags"), (401, "/b?restype=account&comp=properties"), (200, "?restype=container&comp=list"),
        (200, "?restype=container"), (200, "?restype=container&comp=metadata"), (401, "?restype=container&comp=acl"), (401, "?restype=account&comp=properties"),
    ):  # fmt: skip
        assert daemon.blob.call("GET", "/public-parts" + path, signed=False).status == status, path
    c.delete_container()


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


def test_a_signature_for_a_file_is_none_for_a_directory(daemon):
    """Its type of resource is not signed."""
    daemon.file.call("PUT", "/trees?restype=share")
    daemon.file.call("PUT", "/trees/d?restype=directory")
    daemon.file.call("PUT", "/trees/d/f", x_ms_type="file", x_ms_content_length="1")
    until = datetime.utcnow() + timedelta(hours=1)
    sas = generate_file_sas(ACCOUNT, "trees", ["d"], KEY, permission="r", expiry=until)
    got = daemon.file.call("GET", f"/trees/d/f?{sas.replace('sr=f', 'sr=d&sdd=1')}", signed=False)
    assert (got.status, got.code) == (403, "AuthenticationFailed")
    daemon.file.call("DELETE", "/trees?restype=share")


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


def test_a_source_is_read_by_a_stored_policy(daemon, client, container):
    name = container.container_name
    container.upload_blob("from", b"stored")
    container.set_container_access_policy({
        "readers": AccessPolicy(permission="r", expiry=datetime.utcnow() + timedelta(hours=1)),
        "writers": AccessPolicy(permission="w", expiry=datetime.utcnow() + timedelta(hours=1)),
    })  # fmt: skip
    elsewhere = client.create_container("elsewhere")
    to = BlobClient.from_blob_url(signed_url(f"{elsewhere.url}/to", container_name="elsewhere", blob_name="to", permission="cw"))

    def source(policy):
        sas = generate_blob_sas(ACCOUNT, name, "from", account_key=KEY, policy_id=policy)
        return f"{daemon.blob.url}/{name}/from?{sas}"

    assert refused(to.start_copy_from_url, source("writers")) == "AuthorizationPermissionMismatch"
    assert refused(to.start_copy_from_url, source("nobody")) == "CannotVerifyCopySource"
    assert to.start_copy_from_url(source("readers"))["copy_status"] == "success"
    assert elsewhere.get_blob_client("to").download_blob().readall() == b"stored"
    container.set_container_access_policy({})
    assert refused(to.start_copy_from_url, source("readers")) == "CannotVerifyCopySource"
    elsewhere.delete_container()


class Token:
    """A login of the first principal, or of a person, for the SDK."""

    def __init__(self, whose):
        self.whose = whose

    def get_token(self, *scopes, **_):
        login = self.whose.login if isinstance(self.whose, Person) else self.whose.token_reply
        reply = login(scope=scopes[0]).json
        return AccessToken(reply["access_token"], reply["expires_on"])


def test_a_login_signs_for_others(daemon, temporary):
    accounts = temporary(Accounts(daemon).make())
    name = accounts.account()
    url = f"https://{name}.blob.core.localhost:{daemon.port}"
    service = BlobServiceClient(url, credential=Token(daemon), connection_verify=daemon.ca)
    service.create_container("shared").upload_blob("b", b"for you")
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
    to = BlobClient.from_blob_url(f"{url}/shared/to", credential=accounts.keys(name)[0], connection_verify=daemon.ca)
    assert refused(to.start_copy_from_url, forged.url) == "CannotVerifyCopySource"
    to.start_copy_from_url(blob.url)
    assert to.download_blob().readall() == b"for you"
    reader = Person(daemon, "Storage Blob Data Reader")
    key = BlobServiceClient(url, credential=Token(reader), connection_verify=daemon.ca).get_user_delegation_key(
        datetime.utcnow() - timedelta(minutes=1), until
    )
    sas = generate_blob_sas(name, "shared", "b", user_delegation_key=key, permission="r", expiry=until)
    to.start_copy_from_url(f"{url}/shared/b?{sas}")
    reader.remove()
    assert refused(to.start_copy_from_url, f"{url}/shared/b?{sas}") == "AuthenticationFailed"


def test_a_role_gives_what_is_published_for_it(daemon, temporary):
    """Whoever reads everything of the resource manager reads no names of blobs; whoever reads blobs lends that."""
    accounts = temporary(Accounts(daemon).make())
    name = accounts.account()
    url = f"https://{name}.blob.core.localhost:{daemon.port}"
    first = BlobServiceClient(url, credential=accounts.keys(name)[0], connection_verify=daemon.ca)
    first.create_container("ccc").upload_blob("b", b"x")
    people = [
        Person(daemon, role, accounts.path + "/" + name)
        for role in (READER, "Storage Blob Data Reader", "Storage Blob Data Contributor", "Storage Blob Data Owner")
    ]
    until = datetime.utcnow() + timedelta(hours=1)

    def ways(person):
        service = BlobServiceClient(url, credential=Token(person), connection_verify=daemon.ca)
        c = service.get_container_client("ccc")
        blob = c.get_blob_client("b")
        for way in (
            lambda: [x.name for x in service.list_containers()],
            lambda: [x.name for x in c.list_blobs()],
            lambda: service.get_user_delegation_key(datetime.utcnow(), until),
            c.get_container_access_policy,
            blob.get_blob_tags,
            lambda: blob.set_blob_tags({"a": "b"}),
            lambda: c.upload_blob("new", b"y", overwrite=True, tags={"a": "b"}),
            lambda: c.upload_blob("new", b"y", overwrite=True),
        ):
            try:
                way()
                yield "x"
            except HttpResponseError as e:
                assert e.error_code == "AuthorizationPermissionMismatch"
                yield "-"

    assert ["".join(ways(p)) for p in people] == ["x-------", "xxx-----", "xxx----x", "xxxxxxxx"]
    for person in people:
        person.remove()


def test_a_token_for_an_account_is_for_that_alone(daemon, temporary):
    """By its audience; one for storage as a whole is good at every account, also where port 443 is named."""
    accounts = temporary(Accounts(daemon).make())
    one, two = accounts.account(), accounts.account()

    def statuses(resource):
        token = daemon.token_reply(scope=None, resource=resource).json["access_token"]
        hosts = [f"{a}.{kind}.core.localhost" for a in (two, one, f"{one}-secondary") for kind in ("blob", "file")]
        head = {"Authorization": f"Bearer {token}", "x-ms-version": "2021-12-02", "x-ms-file-request-intent": "backup"}
        calls = [daemon.call("GET", "/?comp=list", headers={"Host": host, **head}, token="", validate=False) for host in hosts]
        return [c.status for c in calls]

    for host in (f"{one}.blob.core.localhost:{daemon.port}", f"{one}.blob.core.windows.net", f"{one}.file.core.windows.net:443"):
        assert statuses(f"https://{host}/") == [401, 401, 200, 200, 200, 200]
    for host in ("storage.azure.com", "storage.azure.com:443"):
        assert statuses(f"https://{host}/") == [200] * 6


def test_an_account_may_forbid_what_is_public(daemon, temporary):
    accounts = temporary(Accounts(daemon).make())
    name = accounts.account()
    url = f"https://{name}.blob.core.localhost:{daemon.port}"
    service = BlobServiceClient(url, credential=accounts.keys(name)[0], connection_verify=daemon.ca)
    service.create_container("open", public_access="container").upload_blob("b", b"x")
    assert requests.get(f"{url}/open/b", verify=daemon.ca, timeout=30).status_code == 200
    accounts.call("PATCH", f"/{name}", {"properties": {"allowBlobPublicAccess": False}}, expect=200)
    assert requests.get(f"{url}/open/b", verify=daemon.ca, timeout=30).status_code == 401
    assert refused(service.create_container, "more", public_access="blob") == "PublicAccessNotPermitted"


def test_an_account_may_forbid_its_keys(daemon, temporary):
    accounts = temporary(Accounts(daemon).make())
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
