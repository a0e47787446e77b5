# SPDX-License-Identifier: MIT
"""The cloud around Batch AI, as far as az needs it: groups, providers, tenants, metadata, tokens."""

import base64
import json
import uuid
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from support.refusals import INVALID, MISSING, refused
from support.vaults import Vaults
from support.waiting import wait_for
from support.world import MOUNT, Place, fresh, wait_flag

ARM = "2021-04-01"


@pytest.fixture
def arm(daemon):
    """arm(method, path): a call below the subscription with ARM's own api-version."""

    def call(method, path="", body=None, **more):
        more.setdefault("api_version", ARM)
        return daemon.call(method, f"/subscriptions/{daemon.subscription}{path}", body, **more)

    return call


# --- resource groups ------------------------------------------------------------------------------


@pytest.fixture
def group(arm):
    name = fresh("Group")
    yield name
    arm("DELETE", f"/resourcegroups/{name}")
    wait_for(lambda: arm("HEAD", f"/resourcegroups/{name}").status == 404, what="the group to go")


def test_a_resource_group_is_created_with_201_and_updated_with_200(arm, group, daemon):
    path = f"/resourcegroups/{group}"
    created = arm("PUT", path, {"location": "northeurope", "tags": {"use": "test"}})
    assert created.status == 201
    assert created.json == {
        "id": f"/subscriptions/{daemon.subscription}/resourceGroups/{group}",
        "name": group,
        "location": "northeurope",
        "tags": {"use": "test"},
        "properties": {"provisioningState": "Succeeded"},
        **({"type": "Microsoft.Resources/resourceGroups"} if "type" in created.json else {}),
    }
    again = arm("PUT", path, {"location": "northeurope", "tags": {"use": "more"}})
    assert again.status == 200 and again.json["tags"] == {"use": "more"}
    assert arm("GET", path, expect=200).json == again.json
    assert "ETag" not in again.headers and "Server" not in again.headers
    assert arm("PATCH", path, {"tags": {"a": "b"}}, expect=200).json["tags"] == {"a": "b"}
    assert arm("GET", path.upper().replace("/RESOURCEGROUPS/", "/resourceGroups/")).json["name"] == group


def test_head_tells_whether_a_group_exists(arm, group):
    assert arm("HEAD", f"/resourcegroups/{group}").status == 404
    arm("PUT", f"/resourcegroups/{group}", {"location": "eastus"})
    reply = arm("HEAD", f"/resourcegroups/{group}")
    assert (reply.status, reply.content) == (204, b"")


def test_groups_are_listed(arm, group):
    arm("PUT", f"/resourcegroups/{group}", {"location": "eastus"})
    listed = arm("GET", "/resourcegroups", expect=200).json["value"]
    assert [g for g in listed if g["name"] == group][0]["location"] == "eastus"


def test_groups_and_resources_are_listed_by_a_tag(arm, daemon, group, temporary):
    tags = {"env": fresh("t"), "use": "other"}
    arm("PUT", f"/resourcegroups/{group}", {"location": "eastus", "tags": tags})
    vaults = temporary(Vaults(daemon).make())
    vault = vaults.vault(tags=tags)
    vaults.vault(tags={"env": "other", "use": tags["env"]})

    def names(path, filter):
        return [x["name"] for x in arm("GET", path, params={"$filter": filter}, expect=200).json["value"]]

    for path, name in (("/resourcegroups", group), ("/resources", vault)):
        assert names(path, f"tagname eq 'env' and tagvalue eq '{tags['env']}'") == [name]
        assert name in names(path, "tagname eq 'env'") and name in names(path, "startswith(tagname, 'en')")
        assert names(path, "tagName eq 'env' and tagValue eq 'none'") == []


def test_resources_of_all_types_are_listed_page_by_page(daemon, temporary):
    vaults = temporary(Vaults(daemon).make())
    names = sorted(vaults.vault() for _ in range(2))
    places = sorted(fresh("ws") for _ in range(2))
    for name in places:
        daemon.call("PUT", f"{vaults.base}/providers/Microsoft.BatchAI/workspaces/{name}", {"location": "eastus"}, expect=200)
    for filter, wanted in (("", places + names), ("resourceType eq 'Microsoft.KeyVault/vaults'", names), ("name eq 'none'", [])):
        seen, params = [], {"$top": "1", "$filter": filter}
        page = daemon.call("GET", f"{vaults.base}/resources", api_version="2021-04-01", params=params, validate=False, expect=200).json
        while "nextLink" in page:
            seen += page["value"]
            page = daemon.call("GET", page["nextLink"], validate=False, expect=200).json
        assert [x["name"] for x in seen + page["value"]] == wanted, filter


def test_a_filter_that_a_list_lacks_is_refused(arm):
    for text in ("colour eq 'red'", "tagname eq", "name eq 'a'"):
        refused(arm("GET", "/resourcegroups", params={"$filter": text}), 400, "InvalidQueryParameterValue", words=["$filter"])
    for kind, version in (("Storage/storageAccounts", "2022-09-01"), ("KeyVault/vaults", "2022-07-01"), ("BatchAI/workspaces", "2018-05-01")):
        reply = arm("GET", f"/providers/Microsoft.{kind}", api_version=version, params={"$filter": "name eq 'a'"}, validate=False)
        refused(reply, 400, "InvalidQueryParameterValue", words=["no filter"])


def test_a_group_that_is_not_there(arm):
    for method in ("GET", "PATCH", "DELETE"):
        reply = arm(method, "/resourcegroups/none-such", {"tags": {}} if method == "PATCH" else None)
        assert reply.status == 404 and reply.code == "ResourceGroupNotFound"
        assert "none-such" in reply.error["message"]


def test_a_group_needs_a_location_and_a_proper_name(arm):
    reply = arm("PUT", "/resourcegroups/" + fresh("g"), {})
    assert reply.status == 400 and reply.error["target"] == "location"
    reply = arm("PUT", "/resourcegroups/bad%20name", {"location": "eastus"})
    assert reply.status == 400 and "bad name" in reply.error["message"]


LONG = "x" * 257
BAD_GROUPS = {
    # what: (body, code, target)
    "no location": ({"tags": {}}, MISSING, "location"),
    "nothing": (None, "InvalidRequestContent", None),
    "a list": ([], "InvalidRequestContent", None),
    "location null": ({"location": None}, MISSING, "location"),
    "location a number": ({"location": 7}, INVALID, "location"),
    "location empty": ({"location": ""}, (INVALID, MISSING), "location"),
    "location of 300 kB": ({"location": "e" * 300_000}, INVALID, "location"),
    "location with a slash": ({"location": "east/us"}, INVALID, "location"),
    "tags a list": ({"location": "eastus", "tags": ["a"]}, INVALID, "tags"),
    "a tag a number": ({"location": "eastus", "tags": {"a": 1}}, INVALID, "tags.a"),
    "a long tag": ({"location": "eastus", "tags": {"a": LONG}}, INVALID, "tags.a"),
    "a tag without a name": ({"location": "eastus", "tags": {"": "a"}}, INVALID, "tags"),
    "51 tags": ({"location": "eastus", "tags": {f"t{i}": "" for i in range(51)}}, INVALID, "tags"),
}


@pytest.mark.parametrize("what", BAD_GROUPS)
def test_a_group_has_the_limits_of_a_workspace(arm, group, place, daemon, what):
    body, code, target = BAD_GROUPS[what]
    path = f"/resourcegroups/{group}"
    refused(arm("PUT", path, body), 400, code, target)
    assert arm("GET", path).status == 404
    refused(daemon.call("PUT", place.path + "-bad", body), 400, code, target)
    arm("PUT", path, {"location": "eastus", "tags": {"use": "test"}}, expect=201)
    if body and "tags" in body and code == INVALID:
        refused(arm("PATCH", path, {"tags": body["tags"]}), 400, code, target)
    assert arm("GET", path, expect=200).json["tags"] == {"use": "test"}


def test_tags_of_a_group_at_their_limits(arm, group):
    tags = {f"{i:02}" + "n" * 510: "v" * 256 for i in range(50)}
    path = f"/resourcegroups/{group}"
    assert arm("PUT", path, {"location": "e" * 128, "tags": tags}, expect=201).json["tags"] == tags
    assert arm("PATCH", path, {"tags": {}}, expect=200).json["tags"] == {}
    assert arm("PATCH", path, {}, expect=200).json["tags"] == {}


def test_a_group_does_not_move(arm, group):
    arm("PUT", f"/resourcegroups/{group}", {"location": "eastus"})
    reply = arm("PUT", f"/resourcegroups/{group}", {"location": "westus"})
    assert reply.status == 409 and "eastus" in reply.error["message"]


def test_deleting_a_group_takes_everything_with_it(daemon, arm):
    place = Place(daemon).make()
    cluster = place.cluster(nodes=2)
    job = place.job(cluster, "sleep 1000")
    queued = place.job(cluster, nodes=2)
    server = place.file_server()
    job.wait("running")
    reply = daemon.call("DELETE", place.group_path, api_version=ARM, expect=202)
    assert reply.content == b""
    location = urlsplit(reply.headers["Location"])
    assert location.path.startswith(f"/subscriptions/{daemon.subscription}/operationresults/")
    assert "Retry-After" in reply.headers
    ended = wait_for(
        lambda: (r := daemon.call("GET", reply.headers["Location"])).status != 202 and r, 60, "the end"
    )
    assert ended.status == 200
    assert daemon.call("HEAD", place.group_path).status == 404
    for thing in (cluster, job, queued, server):
        gone = thing.call("GET")
        assert gone.status == 404 and gone.code == "ResourceGroupNotFound"


def test_a_group_being_deleted_takes_nothing_new(daemon, temporary):
    place = temporary(Place(daemon).make())
    job = place.job(place.cluster(nodes=1), "trap '' TERM; while :; do sleep 0.05; done").running()
    daemon.call("DELETE", place.group_path, expect=202)
    reply = daemon.call("PUT", place.path + "-new", {"location": "eastus"})
    assert reply.status in (404, 409), reply


def test_deleting_a_workspace_or_an_experiment_takes_what_is_in_it(daemon, place):
    inner = Place(daemon, place.group, fresh("inner")).make()
    cluster = inner.cluster(nodes=1)
    job = inner.job(cluster, "sleep 1000").running()
    daemon.do("DELETE", inner.experiment_path())
    assert job.call("GET").code == "ExperimentNotFound"
    wait_for(lambda: cluster.counts()["idleNodeCount"] == 1, what="the node to be free")
    inner.job(cluster, "sleep 1000").wait("running")
    daemon.do("DELETE", inner.path)
    assert cluster.call("GET").code == "WorkspaceNotFound"


def test_a_deleted_experiment_can_be_made_again_and_is_empty(place, shared_cluster):
    place.experiment("phoenix")
    place.job(shared_cluster, name="j", experiment="phoenix").succeed()
    place.daemon.do("DELETE", place.experiment_path("phoenix"))
    place.experiment("phoenix")
    assert place.daemon.get(place.experiment_path("phoenix") + "/jobs") == {"value": []}


# --- subscriptions, tenants, providers ------------------------------------------------------------


def test_the_subscription_and_the_tenant(daemon):
    listed = daemon.call("GET", "/subscriptions", api_version="2019-11-01", expect=200).json["value"]
    (subscription,) = listed
    assert subscription["subscriptionId"] == daemon.subscription
    assert subscription["id"] == f"/subscriptions/{daemon.subscription}"
    assert subscription["state"] == "Enabled" and subscription["displayName"]
    one = daemon.call(
        "GET", f"/subscriptions/{daemon.subscription}", api_version="2019-11-01", expect=200
    ).json
    assert one["subscriptionId"] == daemon.subscription
    (tenant,) = daemon.call("GET", "/tenants", api_version="2019-11-01", expect=200).json["value"]
    (claims,) = [daemon.token().split(".")[1]]
    claims = json.loads(base64.urlsafe_b64decode(claims + "=="))
    assert uuid.UUID(tenant["tenantId"])
    assert {claims["tid"], one["tenantId"], listed[0]["tenantId"]} == {tenant["tenantId"]}


def test_locations(arm):
    names = [x["name"] for x in arm("GET", "/locations").json["value"]]
    assert "eastus" in names and "northeurope" in names
    assert all(x["displayName"] for x in arm("GET", "/locations").json["value"])


def test_providers_can_be_listed_shown_and_registered(arm):
    listed = {p["namespace"]: p for p in arm("GET", "/providers").json["value"]}
    assert "Microsoft.BatchAI" in listed
    shown = arm("GET", "/providers/microsoft.batchai", expect=200).json
    assert shown["namespace"] == "Microsoft.BatchAI" and shown["registrationState"] == "Registered"
    kinds = {t["resourceType"].lower(): t for t in shown["resourceTypes"]}
    assert "workspaces" in kinds and "2018-05-01" in kinds["workspaces"]["apiVersions"]
    registered = arm("POST", "/providers/Microsoft.BatchAI/register", expect=200).json
    assert registered["registrationState"] in ("Registered", "Registering")
    reply = arm("GET", "/providers/Microsoft.Nothing")
    assert reply.status == 404 and reply.code == "InvalidResourceNamespace"


# --- metadata and tokens --------------------------------------------------------------------------


def metadata(daemon, version):
    return daemon.call("GET", "/metadata/endpoints", api_version=version, token=None, expect=200).json


def test_metadata_endpoints_tell_old_clients_where_to_log_in(daemon):
    old = metadata(daemon, "2015-01-01")
    assert old["authentication"]["loginEndpoint"].rstrip("/").endswith("/adfs")
    assert old["authentication"]["audiences"]


@pytest.mark.parametrize("version", ["2019-05-01", "2022-09-01", "2023-11-01"])
def test_metadata_endpoints_tell_az_where_everything_is(daemon, version):
    reply = metadata(daemon, version)
    (cloud,) = [reply] if version >= "2022" else reply
    base = cloud["resourceManager"]
    for key in ("name", "graph", "microsoftGraphResourceId", "batch", "gallery"):
        assert cloud[key], key
    login = cloud["authentication"]
    assert login["loginEndpoint"] == f"{base}/adfs" and login["audiences"] == [base]
    # Terraform's azurerm takes any other pair for Azure Stack, and refuses it
    terraforms = ("AAD", "common") if version >= "2022" else ("ADFS", "adfs")
    assert (login["identityProvider"], login["tenant"]) == terraforms
    host = base.removeprefix("https://")
    assert cloud["suffixes"]["storage"] == f"core.{host}"
    assert cloud["suffixes"]["keyVaultDns"] == f"vault.{host}"
    assert cloud["suffixes"]["acrLoginServer"] and cloud["suffixes"]["sqlServerHostname"]


def test_whoever_comes_first_is_given_the_certificate_to_trust(daemon):
    reply = daemon.call("GET", "/batchaid/ca.pem", token=None, api_version=None)
    assert reply.status == 200 and reply.content == Path(daemon.ca).read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "/adfs/.well-known/openid-configuration",
        "/adfs/adfs/.well-known/openid-configuration",
        "/adfs/adfs/v2.0/.well-known/openid-configuration",
    ],
)
def test_discovery(daemon, path):
    document = daemon.call("GET", path, token=None, api_version=None, expect=200).json
    for key in ("token_endpoint", "authorization_endpoint", "issuer"):
        assert document[key].startswith("https://"), key
    assert document["token_endpoint"].endswith("/adfs/oauth2/token")


def test_a_token_is_a_bearer_token_that_expires(daemon):
    reply = daemon.token_reply()
    assert reply.status == 200
    body = reply.json
    assert body["token_type"] == "Bearer" and int(body["expires_in"]) == 3600
    assert (
        daemon.call("GET", "/subscriptions", token=body["access_token"], api_version="2019-11-01").status
        == 200
    )


@pytest.mark.parametrize("path", ["/adfs/oauth2/token", "/adfs/adfs/oauth2/v2.0/token", f"/adfs/{uuid.UUID(int=7)}/oauth2/v2.0/token"])
def test_clients_write_the_tenant_once_or_twice(daemon, path):
    form = {
        "grant_type": "client_credentials",
        "client_id": daemon.env["AZURE_CLIENT_ID"],
        "client_secret": daemon.env["AZURE_CLIENT_SECRET"],
        "scope": f"{daemon.endpoint}/.default",
    }
    token = daemon.call("POST", path, data=form, token=None, api_version=None, expect=200).json["access_token"]
    daemon.call("GET", "/subscriptions", token=token, api_version="2022-12-01", expect=200)


def test_a_token_is_for_what_is_served_here(daemon):
    """Named as the client has it, or as the public cloud's clients call the resource manager."""
    for good in (
        {"scope": "https://management.azure.com/.default"},
        {"scope": None, "resource": "https://management.core.windows.net/"},
        {"scope": None, "resource": daemon.endpoint},
        {"scope": None, "resource": None},
    ):
        assert daemon.token_reply(**good).status == 200, good
    for other in (
        "https://storage.azure.com",
        "https://vault.azure.net",
        daemon.endpoint.replace("://127.0.0.1", "://vault.localhost"),
        "https://graph.microsoft.com",
    ):
        reply = daemon.token_reply(scope=None, resource=other)
        assert reply.status == 200, other
        reply = daemon.call("GET", "/subscriptions", token=reply.json["access_token"])
        refused(reply, 401, "InvalidAuthenticationToken")
        assert "another audience" in reply.error["message"]
    for bad in ("https://example.com", daemon.endpoint + "0", "https://management.azure.com.evil", "x"):
        reply = daemon.token_reply(scope=None, resource=bad)
        assert (reply.status, reply.error) == (400, "invalid_resource")
        assert bad in reply.json["error_description"]


@pytest.mark.parametrize("field", ["resource", "scope", "client_id", "client_secret", "grant_type", "x%FFy"])
@pytest.mark.parametrize("value", ["%FF", "%C3", "a%ED%A0%80b", "\xff"])
def test_a_form_that_is_not_utf8_is_refused(daemon, field, value):
    form = {
        "client_id": daemon.env["AZURE_CLIENT_ID"],
        "client_secret": daemon.env["AZURE_CLIENT_SECRET"],
        "grant_type": "client_credentials",
        field: value,
    }
    data = "&".join(f"{k}={v}" for k, v in form.items()).encode("latin-1")
    reply = daemon.call("POST", "/adfs/oauth2/token", data=data, token=None, api_version=None)
    assert (reply.status, json.loads(reply.content)["error"]) == (400, "invalid_request")
    assert daemon.token_reply().status == 200


def test_a_failed_login_is_in_the_log(own_daemon):
    d = own_daemon()
    d.expect_log("login.failed")
    d.token_reply(client_secret="guessed")
    d.token_reply(client_id="no\nbody")
    lines = [line for line in d.log() if "login.failed" in line]
    assert len(lines) == 2 and "invalid_client" in lines[0] and "unauthorized_client" in lines[1]
    assert all("from=127.0.0.1" in line or "from=::1" in line for line in lines), lines
    assert "guessed" not in "".join(d.log())


@pytest.mark.parametrize(
    "form, status, error",
    [
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"client_secret": ""}, 401, "invalid_client"),
        ({"client_secret": None}, 400, "invalid_request"),
        ({"client_id": "nobody"}, 401, "unauthorized_client"),
        ({"client_id": None}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "invalid_request"),
        ({"grant_type": "implicit"}, 400, "unsupported_grant_type"),
        ({"grant_type": None}, 400, "invalid_request"),
    ],
)
def test_a_token_is_refused_as_oauth_says(daemon, form, status, error):
    daemon.expect_log("login.failed")
    reply = daemon.token_reply(**form)
    assert reply.error == error, reply
    assert reply.status == status and reply.json["error_description"]
    assert "access_token" not in reply.json


@pytest.mark.parametrize(
    "login, status, error",
    [
        ("{id}:{secret}", 200, None),
        ("{id}:{secret}x", 401, "invalid_client"),
        ("{id}:", 401, "invalid_client"),
        ("{id}x:{secret}", 401, "unauthorized_client"),
        ("{id}", 400, "invalid_request"),
        ("", 400, "invalid_request"),
        ("x" * 600 + ":{secret}", 400, "invalid_request"),
    ],
)
def test_a_client_may_log_in_by_its_head(daemon, login, status, error):
    """RFC 6749, section 2.3.1."""
    env = daemon.env
    text = login.format(id=env["AZURE_CLIENT_ID"], secret=env["AZURE_CLIENT_SECRET"])
    head = {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}
    form = b"grant_type=client_credentials"
    daemon.expect_log("login.failed")
    reply = daemon.call("POST", "/adfs/oauth2/token", data=form, token=None, api_version=None, headers=head)
    assert (reply.status, reply.json.get("error")) == (status, error)
    assert ("access_token" in reply.json) == (error is None)


def test_a_login_by_the_head_that_is_no_base64_is_none(daemon):
    head = {"Authorization": "Basic ***"}
    form = b"grant_type=client_credentials"
    reply = daemon.call("POST", "/adfs/oauth2/token", data=form, token=None, api_version=None, headers=head)
    assert (reply.status, reply.error) == (400, "invalid_request")


def test_the_token_endpoint_refuses_what_is_no_form(daemon):
    reply = daemon.call("POST", "/adfs/oauth2/token", data=b"\xff\x00{", token=None, api_version=None)
    assert reply.status == 400 and json.loads(reply.content)["error"] == "invalid_request"
    reply = daemon.call("GET", "/adfs/oauth2/token", token=None, api_version=None)
    assert reply.status == 405


def test_a_cascade_frees_the_nodes_for_others(own_daemon):
    """Three nodes in all: a second group gets them once the first one is deleted."""
    d = own_daemon(config={"local": {"nodes": 3}})
    first, second = Place(d).make(), Place(d).make()
    job = first.job(first.cluster(nodes=3), f"echo $$ > {MOUNT}/pid; {wait_flag('/nonexistent')}")
    job.wait("running")
    d.call("DELETE", first.group_path, expect=202)
    wait_for(lambda: d.call("HEAD", first.group_path).status == 404, what="the first group to go")
    second.cluster(nodes=3)


def test_a_region_is_the_same_however_it_is_spelt(own_place, daemon):
    group, workspace = own_place.group_path, own_place.path
    for spelling in ("North Europe", "NORTHEUROPE", "northeurope"):
        daemon.call("PUT", group, {"location": spelling}, expect=200)
        reply = daemon.call("PUT", workspace, {"location": spelling}, expect=200)
        assert reply.json["location"] == "northeurope"
    daemon.call("PUT", group, {"location": "westus"}, expect=409)
    daemon.call("PUT", workspace, {"location": "westus"}, expect=409)


def test_who_asks_by_azures_name_is_told_the_sites_suffixes(own_daemon):
    """With a hosts file, clients that cannot be configured ask management.azure.com."""
    suffixes = {"storage": {"suffixes": ["core.windows.net"]}, "vault": {"suffixes": ["vault.azure.net"]}}
    d = own_daemon(config={**suffixes, "batch": {"suffixes": ["batch.azure.com"]}})
    url, token = f"{d.endpoint}/metadata/endpoints?api-version=2022-09-01", d.token()

    def told(host):
        reply = requests.get(url, headers={"Host": host}, verify=d.ca, timeout=30).json()["suffixes"]
        return reply["storage"], reply["keyVaultDns"]

    assert told("management.azure.com") == ("core.windows.net", "vault.azure.net")
    assert told(f"localhost:{d.port}") == (f"core.localhost:{d.port}", f"vault.localhost:{d.port}")
    group = f"{d.endpoint}/subscriptions/{d.subscription}/resourceGroups/told"
    azures = {"Host": "management.azure.com", "Authorization": f"Bearer {token}"}

    def put(path, version, body):
        return requests.put(f"{group}{path}?api-version={version}", json=body, headers=azures, verify=d.ca, timeout=30)

    put("", "2021-04-01", {"location": "eastus"})
    batch = put("/providers/Microsoft.Batch/batchAccounts/acct1", "2024-07-01", {"location": "eastus"})
    location = batch.headers.get("Location", f"{group}/providers/Microsoft.Batch/batchAccounts/acct1?api-version=2024-07-01")
    assert "localhost" in location or location.startswith("https://management.azure.com/")
    account = requests.get(f"{group}/providers/Microsoft.Batch/batchAccounts/acct1?api-version=2024-07-01", headers=azures,
                           verify=d.ca, timeout=30).json()  # fmt: skip
    assert account["properties"]["accountEndpoint"] == "acct1.eastus.batch.azure.com"
