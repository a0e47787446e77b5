# SPDX-License-Identifier: MIT
"""The data plane of Azure Batch as a service: who may, which versions there are, what all replies have in common."""

import re
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from urllib.parse import urlsplit

import pytest
from support import batch
from support.batch import V, VERSIONS, BatchGround, Plane, operations
from support.batch_rm import RM_VERSION
from support.people import CONTRIBUTOR, READER, Person

OLD, NEW = V["8.0"], V["9.0"]


# --- who may ---------------------------------------------------------------------------------------------------------


def test_both_keys_sign_and_a_new_one_replaces_the_old(ground, plane):
    first, second = ground.accounts.keys(ground.name)
    for key in (first, second):
        Plane(plane.daemon, ground.name, key).get("/supportedimages", maxresults=1)
    name = ground.accounts.account()
    old, other = ground.accounts.keys(name)
    ground.accounts.call("POST", f"/{name}/regenerateKeys", {"keyName": "Primary"}, expect=200)
    values = Plane(plane.daemon, name, old).refused(403, "AuthenticationFailed", "GET", "/supportedimages")
    assert "same as any computed signature" in values["AuthenticationErrorDetail"]
    Plane(plane.daemon, name, other).get("/supportedimages", maxresults=1)
    Plane(plane.daemon, name, ground.accounts.keys(name)[0]).get("/supportedimages", maxresults=1)


@pytest.mark.parametrize("mode", ["SharedKey", "AAD"])
def test_an_account_may_forbid_a_way_to_log_in(ground, plane, mode):
    name = ground.accounts.account()
    by_key = Plane(plane.daemon, name, ground.accounts.keys(name)[0])
    ways = {"SharedKey": by_key, "AAD": by_key.with_token()}
    modes = {"properties": {"allowedAuthenticationModes": [m for m in ways if m != mode]}}
    ground.accounts.call("PATCH", f"/{name}", modes, expect=200)
    values = ways.pop(mode).refused(403, "AuthenticationFailed", "GET", "/supportedimages")
    assert values["AuthenticationErrorDetail"] == f"The specified type of authentication {mode} is not allowed for this account."
    for other in ways.values():
        other.get("/supportedimages", maxresults=1)


def test_names_of_parameters_are_signed_as_sent_or_in_lower_case(plane):
    for raw in (True, False):
        plane.call("GET", "/supportedimages", params={"timeOut": 30, "maxResults": 1}, raw_names=raw, expect=200)


@pytest.mark.parametrize("signed", ["wd%2Fa%5Cb.txt", "wd/a/b.txt"])
def test_slashes_in_paths_are_signed_as_sent_or_as_slashes(plane, signed):
    below = "/jobs/nosuchjob/tasks/none/files/"
    head = plane.head("GET", below + signed, [("api-version", plane.version)], None, {})
    assert plane.call("GET", below + "wd%2Fa%5Cb.txt", headers=head, expect=404).json["code"] == "JobNotFound"
    plane.refused(403, "AuthenticationFailed", "GET", below + "wd%2Fa%5Cc.txt", headers=head)


def test_a_signature_is_of_this_request(plane):
    head = plane.head("GET", "/supportedimages", [("api-version", plane.version)], None, {})
    for path in ("/supportedimages?maxresults=5", "/supportedimages?timeout=1"):
        plane.refused(403, "AuthenticationFailed", "GET", path, headers=head, validate=False)
    other = Plane(plane.daemon, "nobodyhasthis", plane.key)
    assert other.call("GET", "/supportedimages", expect=404).json["code"] == "AccountNotFound"


@pytest.mark.parametrize("by", ["key", "token"])
def test_an_account_is_in_its_region_alone(plane, by):
    there = Plane(plane.daemon, plane.account, plane.key, by=by, location=plane.location.upper())
    there.call("GET", "/supportedimages", expect=200)
    for region in ("westus", "east", f"{plane.location}2"):
        other = Plane(plane.daemon, plane.account, plane.key, by=by, location=region)
        reply = other.call("GET", "/supportedimages", expect=404)
        assert reply.json["code"] == "AccountNotFound" and region in str(reply.json)


@pytest.mark.parametrize("minutes, status", [(-14, 200), (14, 200), (-16, 403), (16, 403)])
def test_a_signature_is_good_for_a_quarter_of_an_hour(plane, minutes, status):
    when = format_datetime(datetime.now(timezone.utc) + timedelta(minutes=minutes), usegmt=True)
    plane.call("GET", "/supportedimages", headers={"ocp-date": when}, expect=status)


@pytest.mark.parametrize("header", ["SharedKey x", "SharedKeyLite a:b", "Basic YTpi", "Bearer x.y.z", None])
def test_other_ways_to_authenticate_are_refused(plane, header):
    reply = plane.call("GET", "/supportedimages", headers={"Authorization": header}, expect=(400, 401))
    assert reply.json["code"] in ("AuthenticationFailed", "InvalidAuthenticationInfo")
    if reply.status == 401:
        assert 'resource_id="https://batch.core.windows.net/"' in reply.headers["www-authenticate"]


def test_tokens_for_batch_and_for_the_resource_manager_are_good(plane):
    assert plane.with_token().get("/supportedimages")["value"]
    for resource in ("https://batch.core.windows.net/", plane.url + "/"):
        token = plane.daemon.token_reply(scope=None, resource=resource).json["access_token"]
        plane.call("GET", "/supportedimages", headers={"Authorization": f"Bearer {token}"}, expect=200)
    token = plane.daemon.token_reply(scope="https://batch.core.windows.net//.default").json["access_token"]
    plane.call("GET", "/supportedimages", headers={"Authorization": f"Bearer {token}"}, expect=200)
    token = plane.daemon.token_reply(scope="https://storage.azure.com/.default").json["access_token"]
    plane.refused(401, "AuthenticationFailed", "GET", "/supportedimages", headers={"Authorization": f"Bearer {token}"})


def test_a_token_needs_a_role_at_the_account(ground, plane, temporary):
    nobody = temporary(Person(plane.daemon, role="none"))
    reader, contributor = (temporary(Person(plane.daemon, role, ground.accounts.base)) for role in (READER, CONTRIBUTOR))

    def call(person, method, path):
        return plane.call(method, path, headers={"Authorization": f"Bearer {person.token()}"}, validate=False)

    assert [call(p, "GET", "/supportedimages").status for p in (nobody, reader, contributor)] == [403, 200, 200]
    assert call(nobody, "GET", "/supportedimages").json["code"] == "Forbidden"
    none = "/certificates(thumbprintAlgorithm=sha1,thumbprint=0)"
    assert [call(p, "DELETE", none).status for p in (nobody, reader, contributor)] == [403, 403, 404]


def test_who_only_submits_jobs_sees_nothing_of_the_account(ground, plane, temporary):
    """The role as published has no batchAccounts/read: the images that pools can have are not for it."""
    submitter = temporary(Person(plane.daemon, "Azure Batch Job Submitter", ground.accounts.base))
    head = {"Authorization": f"Bearer {submitter.token()}"}
    plane.call("GET", "/supportedimages", headers=head, expect=403)
    plane.call("GET", "/pools", headers=head, expect=200)
    submitter.may_not("GET", f"{ground.accounts.path}/{ground.name}", api_version=RM_VERSION, validate=False)


# --- the host ------------------------------------------------------------------------------------------------------


def test_the_key_names_the_account_where_the_host_does_not(plane):
    site = urlsplit(plane.daemon.endpoint).netloc
    reply = plane.call("GET", "/supportedimages", headers={"Host": site}, expect=200)
    assert reply.json["odata.metadata"] == f"https://{site}/$metadata#supportedimages"


def test_one_account_alone_needs_no_name(own_daemon):
    d = own_daemon()
    site = urlsplit(d.endpoint).netloc
    alone = Plane(d, "none", by="token")
    assert alone.call("GET", "/supportedimages", headers={"Host": site}, expect=400).json["code"] == "RequestUrlFailedToParse"
    first = BatchGround(d)
    assert alone.call("GET", "/supportedimages", headers={"Host": site}, expect=200)
    first.accounts.account()
    assert alone.call("GET", "/supportedimages", headers={"Host": site}, expect=400)


# --- versions --------------------------------------------------------------------------------------------------------


def test_every_version_is_served_and_others_are_refused_by_name(plane):
    for version in VERSIONS:
        path = "/nodeagentskus" if batch.before(version, NEW) else "/supportedimages"
        assert plane.at(version).get(path)["value"], version
    for version in ("2015-12-01.2.2", "2017-06-01.5.1", "2025-05-01", "2022-10-01", "x"):
        values = plane.at(version).refused(400, "UnsupportedRequestVersion", "GET", "/supportedimages")
        assert values["QueryParameterName"] == "api-version" and values["QueryParameterValue"] == version
        assert version in values["Reason"] and VERSIONS[-1] in values["Reason"]
    values = plane.at(None).refused(400, "MissingRequiredQueryParameter", "GET", "/supportedimages")
    assert values["QueryParameterName"] == "api-version"


def test_an_operation_of_other_versions_is_refused_by_name(plane):
    values = plane.at(OLD).refused(400, "UnsupportedRequestVersion", "GET", "/supportedimages")
    assert OLD in values["Reason"] and f"{NEW} to {VERSIONS[-1]}" in values["Reason"]
    values = plane.at(NEW).refused(400, "UnsupportedRequestVersion", "GET", "/nodeagentskus")
    assert f"{VERSIONS[0]} to {OLD}" in values["Reason"]


# --- replies -----------------------------------------------------------------------------------------------------------


def test_headers_of_all_replies(plane):
    sent = {"client-request-id": "5f1b", "return-client-request-id": "true"}
    for path, status in (("/supportedimages", 200), ("/supportedimages?maxresults=0", 400)):
        reply = plane.call("GET", path, headers=sent, expect=status)
        assert reply.headers["client-request-id"] == "5f1b"
        assert re.fullmatch("[0-9a-f-]{36}", reply.headers["request-id"])
        assert reply.headers["dataserviceversion"] == "3.0" and reply.headers["server"] == "Microsoft-HTTPAPI/2.0"
        assert reply.headers["content-type"] == "application/json;odata=minimalmetadata"
    for echo in ("false", None):
        reply = plane.call("GET", "/supportedimages", headers={**sent, "return-client-request-id": echo}, expect=200)
        assert "client-request-id" not in reply.headers


def test_an_error_says_what_was_wrong(plane):
    reply = plane.call("GET", "/supportedimages", params={"maxresults": -5}, expect=400)
    assert reply.json["code"] == "InvalidQueryParameterValue" and reply.json["message"]["lang"] == "en-US"
    assert reply.json["odata.metadata"].endswith("$metadata#Microsoft.Azure.Batch.Protocol.Entities.Container.errors/@Element")
    assert batch.values_of(reply) == {
        "QueryParameterName": "maxresults",
        "QueryParameterValue": "-5",
        "Reason": "MaxResults cannot be less than 1",
    }
    plane.refused(405, "UnsupportedHttpVerb", "PUT", "/supportedimages", validate=False)
    plane.refused(400, "InvalidUri", "GET", "/nothing/here", validate=False)


# --- lists ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version, path", [(OLD, "/nodeagentskus"), (NEW, "/supportedimages")])
def test_pages_add_up_to_the_list(plane, version, path):
    p = plane.at(version)
    whole = p.get(path)["value"]
    assert len(whole) > 5
    for size in (1, 3, len(whole) - 1, len(whole)):
        page = p.get(path, maxresults=size, timeout=30)
        assert len(page["value"]) == size and ("odata.nextLink" in page) == (size < len(whole))
        assert p.all(path, maxresults=size) == whole
    link = p.get(path, maxresults=2, **{"$filter": "osType eq 'linux'"} if version == NEW else {})["odata.nextLink"]
    assert link.startswith(f"{plane.url}{path}?") and "$skiptoken=" in link and "api-version=" in link


def test_images_are_those_that_walkthroughs_choose(plane):
    images = plane.all("/supportedimages")
    have = {(i["imageReference"]["publisher"].lower(), i["imageReference"]["offer"].lower(), i["imageReference"]["sku"]) for i in images}
    assert ("canonical", "ubuntuserver", "18.04-LTS") in have and ("canonical", "0001-com-ubuntu-server-jammy", "22_04-lts") in have
    assert ("microsoftwindowsserver", "windowsserver", "2016-Datacenter") in have
    agents = plane.at(OLD).all("/nodeagentskus")
    assert {a["id"] for a in agents} == {i["nodeAgentSKUId"] for i in images}
    assert sum(len(a["verifiedImageReferences"]) for a in agents) == len(images)


def test_lists_are_filtered(plane):
    def filtered(text, path="/supportedimages", p=plane):
        return p.all(path, **{"$filter": text})

    whole = plane.all("/supportedimages")
    windows = filtered("osType eq 'windows'")
    assert windows and all(i["osType"] == "windows" for i in windows)
    assert filtered("osType ne 'Windows'") == [i for i in whole if i["osType"] == "linux"]
    assert filtered("startswith(nodeAgentSKUId,'batch.node.ubuntu') and not (osType eq 'windows')") == [
        i for i in whole if i["nodeAgentSKUId"].startswith("batch.node.ubuntu")
    ]
    assert filtered("verificationType eq 'unverified'") == []
    assert len(filtered("osType eq 'windows'", "/nodeagentskus", plane.at(OLD))) == 1
    for wrong in ("osType", "osType gt 'a'", "colour eq 'x'", "osType eq 5", "osType eq 'a' and", "(osType eq 'a'"):
        values = plane.refused(400, "InvalidQueryParameterValue", "GET", "/supportedimages", params={"$filter": wrong})
        assert values["QueryParameterName"] == "$filter" and "at position" in values["Reason"]
    long = " or ".join(["osType eq 'a'"] * 201)
    plane.refused(400, "InvalidQueryParameterValue", "GET", "/supportedimages", params={"$filter": long})


@pytest.mark.parametrize("value", ["0", "1001", "x", "-1", "99999999999999999999"])
def test_maxresults_has_limits(plane, value):
    plane.refused(400, "InvalidQueryParameterValue", "GET", "/supportedimages", params={"maxresults": value})


# --- all operations --------------------------------------------------------------------------------------------------

NOT_SERVED = (("UnsupportedHttpVerb", 405), ("InvalidUri", 400), ("UnsupportedRequestVersion", 400))


def is_served(plane, op, version):
    path = re.sub(r"\{\w+\}", "nothing", op.path)
    reply = plane.at(version).call(op.verb, path, validate=False)
    if op.verb == "HEAD":
        return reply.status not in (400, 405)
    return (reply.json.get("code"), reply.status) not in NOT_SERVED if reply.status >= 400 else True


@pytest.mark.skipif(not batch.PRESENT, reason="the published spec is not here")
def test_every_operation_is_served_in_its_versions_alone(plane):
    wrong = []
    for op in operations():
        for version in VERSIONS:
            known = op.known(version)
            others = [o for o in operations(version) if o.place == op.place]
            if op.known(version) or not others:
                if is_served(plane, op, version) != known:
                    wrong.append(f"{op.id} in {version} is {'not ' if known else ''}served")
    assert not wrong, "\n".join(wrong)
