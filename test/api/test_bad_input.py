# SPDX-License-Identifier: MIT
"""Bad input, and what it gets: a 4xx in the service's error shape, with a code, the property and the
value at fault, and nothing changed. One row per mistake."""

import base64
import hashlib
import hmac
import json
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from support.world import (
    MOUNT,
    Place,
    cluster_body,
    file_server_body,
    file_share,
    fresh,
    job_body,
    merge,
)

INVALID, MISSING = "InvalidParameter", "MissingRequiredProperty"
QUOTA = "QuotaExceeded"  # more nodes than there can ever be: not malformed, so a 409


def refused(reply, status, codes, target=None, words=()):
    codes = (codes,) if isinstance(codes, str) else codes
    assert reply.status == status, reply
    error = reply.error
    assert error["code"] in codes, error
    if target is not None:
        assert error.get("target") == target, error
    for word in words:
        assert str(word) in error["message"], f"{word!r} is not in {error['message']!r}"
    return error


# --- bodies of clusters ---------------------------------------------------------------------------

P = "properties."
MANUAL = P + "scaleSettings.manual."
BAD_CLUSTERS = {
    # what: (change of a good body's properties, code, target, words of the message)
    "vmSize missing": ({"vmSize": None}, MISSING, P + "vmSize", []),
    "vmSize empty": ({"vmSize": ""}, (INVALID, MISSING), P + "vmSize", []),
    "vmSize a number": ({"vmSize": 5}, INVALID, P + "vmSize", ["string"]),
    "no admin account": ({"userAccountSettings": None}, MISSING, P + "userAccountSettings", []),
    "no admin name": (
        {"userAccountSettings": {"adminUserName": None}},
        MISSING,
        P + "userAccountSettings.adminUserName",
        [],
    ),
    "neither password nor key": (
        {"userAccountSettings": {"adminUserPassword": None}},
        (INVALID, MISSING),
        None,
        ["adminUser"],
    ),
    "priority unknown": (
        {"vmPriority": "spot"},
        INVALID,
        P + "vmPriority",
        ["spot", "dedicated", "lowpriority"],
    ),
    "priority a number": ({"vmPriority": 1}, INVALID, P + "vmPriority", ["string"]),
    "count negative": (
        {"scaleSettings": {"manual": {"targetNodeCount": -1}}},
        INVALID,
        MANUAL + "targetNodeCount",
        [-1],
    ),
    "count a text": (
        {"scaleSettings": {"manual": {"targetNodeCount": "two"}}},
        INVALID,
        MANUAL + "targetNodeCount",
        ["integer"],
    ),
    "count a fraction": (
        {"scaleSettings": {"manual": {"targetNodeCount": 1.5}}},
        INVALID,
        MANUAL + "targetNodeCount",
        ["integer"],
    ),
    "count above what there can be": (
        {"scaleSettings": {"manual": {"targetNodeCount": 100000}}},
        QUOTA,
        MANUAL + "targetNodeCount",
        [100000],
    ),
    "count missing": (
        {"scaleSettings": {"manual": {"targetNodeCount": None, "nodeDeallocationOption": "requeue"}}},
        MISSING,
        MANUAL + "targetNodeCount",
        [],
    ),
    "deallocation unknown": (
        {"scaleSettings": {"manual": {"nodeDeallocationOption": "drop"}}},
        INVALID,
        MANUAL + "nodeDeallocationOption",
        ["drop", "requeue"],
    ),
    "manual and automatic": (
        {"scaleSettings": {"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 1}}},
        INVALID,
        P + "scaleSettings",
        ["manual", "autoScale"],
    ),
    "scale settings a list": ({"scaleSettings": [1]}, INVALID, P + "scaleSettings", ["object"]),
    "automatic without maximum": (
        {"scaleSettings": {"manual": None, "autoScale": {"minimumNodeCount": 0}}},
        MISSING,
        P + "scaleSettings.autoScale.maximumNodeCount",
        [],
    ),
    "minimum above maximum": (
        {"scaleSettings": {"manual": None, "autoScale": {"minimumNodeCount": 3, "maximumNodeCount": 2}}},
        INVALID,
        None,
        [3, 2, "minimumNodeCount"],
    ),
    "image without sku": (
        {"virtualMachineConfiguration": {"imageReference": {"publisher": "p", "offer": "o"}}},
        MISSING,
        P + "virtualMachineConfiguration.imageReference.sku",
        [],
    ),
    "share without account": (
        {"nodeSetup": {"mountVolumes": {"azureFileShares": [file_share(accountName=None)]}}},
        (MISSING, INVALID),
        P + "nodeSetup.mountVolumes.azureFileShares[0].accountName",
        [],
    ),
    "share without credentials": (
        {"nodeSetup": {"mountVolumes": {"azureFileShares": [file_share(credentials=None)]}}},
        MISSING,
        P + "nodeSetup.mountVolumes.azureFileShares[0].credentials",
        [],
    ),
    "share with a URL that names none": (
        {"nodeSetup": {"mountVolumes": {"azureFileShares": [file_share(azureFileUrl="https://nowhere/")]}}},
        INVALID,
        P + "nodeSetup.mountVolumes.azureFileShares[0].azureFileUrl",
        ["https://nowhere/"],
    ),
    "mount path that leaves": (
        {"nodeSetup": {"mountVolumes": {"azureFileShares": [file_share(mount="../../etc")]}}},
        (INVALID, "InvalidPath"),
        P + "nodeSetup.mountVolumes.azureFileShares[0].relativeMountPath",
        ["../../etc"],
    ),
    "mount path absolute": (
        {"nodeSetup": {"mountVolumes": {"azureFileShares": [file_share(mount="/etc")]}}},
        (INVALID, "InvalidPath"),
        P + "nodeSetup.mountVolumes.azureFileShares[0].relativeMountPath",
        ["/etc"],
    ),
    "two volumes at one mount path": (
        {
            "nodeSetup": {
                "mountVolumes": {"azureFileShares": [file_share("one", "m"), file_share("two", "m")]}
            }
        },
        INVALID,
        None,
        ["m", "relativeMountPath"],
    ),
    "setup task without command": (
        {"nodeSetup": {"setupTask": {"stdOutErrPathPrefix": MOUNT}}},
        MISSING,
        P + "nodeSetup.setupTask.commandLine",
        [],
    ),
    "setup variable twice": (
        {
            "nodeSetup": {
                "setupTask": {
                    "commandLine": "true",
                    "stdOutErrPathPrefix": MOUNT,
                    "environmentVariables": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
                }
            }
        },
        INVALID,
        None,
        ["A"],
    ),
    "properties missing": (None, MISSING, "properties", []),
}


@pytest.mark.parametrize("case", BAD_CLUSTERS)
def test_a_bad_cluster_is_refused_and_not_there(place, case):
    change, codes, target, words = BAD_CLUSTERS[case]
    body = {} if change is None else cluster_body(0, **change)
    cluster = place.cluster_at(fresh("bad"))
    refused(cluster.call("PUT", body=body), 409 if codes == QUOTA else 400, codes, target, words)
    assert cluster.gone()


# --- bodies of jobs -------------------------------------------------------------------------------

BAD_JOBS = {
    "no toolkit": ({"customToolkitSettings": None}, (INVALID, MISSING), None, ["customToolkitSettings"]),
    "two toolkits": (
        {"customMpiSettings": {"commandLine": "x"}},
        INVALID,
        None,
        ["customToolkitSettings", "customMpiSettings"],
    ),
    "no command": (
        {"customToolkitSettings": {"commandLine": None}},
        (MISSING, INVALID),
        None,
        ["commandLine"],
    ),
    "nodeCount 0": ({"nodeCount": 0}, INVALID, P + "nodeCount", [0]),
    "nodeCount negative": ({"nodeCount": -3}, INVALID, P + "nodeCount", [-3]),
    "nodeCount missing": ({"nodeCount": None}, MISSING, P + "nodeCount", []),
    "nodeCount a text": ({"nodeCount": "1"}, INVALID, P + "nodeCount", ["integer"]),
    "nodeCount true": ({"nodeCount": True}, INVALID, P + "nodeCount", ["integer"]),
    "nodeCount beyond 32 bits": ({"nodeCount": 2**40}, INVALID, P + "nodeCount", [2**40]),
    "nodeCount above what the cluster can have": ({"nodeCount": 100000}, INVALID, P + "nodeCount", [100000]),
    "no standard output": ({"stdOutErrPathPrefix": None}, MISSING, P + "stdOutErrPathPrefix", []),
    "no cluster": ({"cluster": None}, MISSING, P + "cluster", []),
    "cluster without id": ({"cluster": {"id": None}}, MISSING, P + "cluster.id", []),
    "cluster id is none": ({"cluster": {"id": "c1"}}, INVALID, P + "cluster.id", ["c1"]),
    "priority unknown": (
        {"schedulingPriority": "urgent"},
        INVALID,
        P + "schedulingPriority",
        ["urgent", "high"],
    ),
    "wall clock nonsense": (
        {"constraints": {"maxWallClockTime": "1 week"}},
        INVALID,
        P + "constraints.maxWallClockTime",
        ["1 week"],
    ),
    "wall clock a number": (
        {"constraints": {"maxWallClockTime": 60}},
        INVALID,
        P + "constraints.maxWallClockTime",
        [],
    ),
    "input id twice": (
        {"inputDirectories": [{"id": "D", "path": "a"}, {"id": "D", "path": "b"}]},
        INVALID,
        None,
        ["D"],
    ),
    "output id twice": (
        {"outputDirectories": [{"id": "O", "pathPrefix": MOUNT}, {"id": "O", "pathPrefix": MOUNT}]},
        INVALID,
        None,
        ["O"],
    ),
    "output id no variable name": (
        {"outputDirectories": [{"id": "a b", "pathPrefix": MOUNT}]},
        INVALID,
        P + "outputDirectories[0].id",
        ["a b"],
    ),
    "output suffix that leaves": (
        {"outputDirectories": [{"id": "O", "pathPrefix": MOUNT, "pathSuffix": "../../x"}]},
        (INVALID, "InvalidPath"),
        P + "outputDirectories[0].pathSuffix",
        ["../../x"],
    ),
    "variable twice": (
        {"environmentVariables": [{"name": "V", "value": "1"}, {"name": "V", "value": "2"}]},
        INVALID,
        None,
        ["V"],
    ),
    "variable without value": (
        {"environmentVariables": [{"name": "V"}]},
        MISSING,
        P + "environmentVariables[0].value",
        [],
    ),
    "variable name impossible": (
        {"environmentVariables": [{"name": "A=B", "value": "1"}]},
        INVALID,
        P + "environmentVariables[0].name",
        ["A=B"],
    ),
    "secret without value": ({"secrets": [{"name": "S"}]}, (MISSING, INVALID), None, ["S"]),
    "variables no list": (
        {"environmentVariables": {"A": "1"}},
        INVALID,
        P + "environmentVariables",
        ["array"],
    ),
    "variable no object": (
        {"environmentVariables": ["A=1"]},
        INVALID,
        P + "environmentVariables[0]",
        ["object"],
    ),
    "preparation without command": ({"jobPreparation": {}}, MISSING, P + "jobPreparation.commandLine", []),
    "container without image": (
        {"containerSettings": {"imageSourceRegistry": {"serverUrl": "x"}}},
        MISSING,
        P + "containerSettings.imageSourceRegistry.image",
        [],
    ),
    "script missing": (
        {"customToolkitSettings": None, "chainerSettings": {"commandLineArgs": "x"}},
        MISSING,
        P + "chainerSettings.pythonScriptFilePath",
        [],
    ),
}


@pytest.mark.parametrize("case", BAD_JOBS)
def test_a_bad_job_is_refused_and_not_there(place, shared_cluster, case):
    change, codes, target, words = BAD_JOBS[case]
    place.experiment()
    job = place.job_at(fresh("bad"))
    body = merge(job_body(shared_cluster.path), {"properties": change})
    refused(job.call("PUT", body=body), 400, codes, target, words)
    assert job.gone()


BAD_FILE_SERVERS = {
    "no disks": ({"dataDisks": None}, MISSING, P + "dataDisks", []),
    "no disk count": ({"dataDisks": {"diskCount": None}}, MISSING, P + "dataDisks.diskCount", []),
    "storage type unknown": (
        {"dataDisks": {"storageAccountType": "Floppy"}},
        INVALID,
        P + "dataDisks.storageAccountType",
        ["Floppy", "Standard_LRS"],
    ),
    "caching unknown": (
        {"dataDisks": {"cachingType": "some"}},
        INVALID,
        P + "dataDisks.cachingType",
        ["some", "readonly"],
    ),
    "no account": ({"sshConfiguration": None}, MISSING, P + "sshConfiguration", []),
}


@pytest.mark.parametrize("case", BAD_FILE_SERVERS)
def test_a_bad_file_server_is_refused_and_not_there(place, daemon, case):
    change, codes, target, words = BAD_FILE_SERVERS[case]
    path = f"{place.path}/fileServers/{fresh('bad')}"
    refused(daemon.call("PUT", path, file_server_body(**change)), 400, codes, target, words)
    assert daemon.call("GET", path).status == 404


def test_a_workspace_needs_a_location_and_tags_are_texts(place, daemon):
    path = place.path + "-bad"
    refused(daemon.call("PUT", path, {}), 400, MISSING, "location")
    refused(daemon.call("PUT", path, {"location": 7}), 400, INVALID, "location")
    refused(daemon.call("PUT", path, {"location": "eastus", "tags": {"a": 1}}), 400, INVALID, "tags.a")
    refused(daemon.call("PUT", path, {"location": "eastus", "tags": ["a"]}), 400, INVALID, "tags")
    assert daemon.call("GET", path).status == 404


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
    reply = cluster.call("PUT", data=data)
    refused(reply, 400, ("InvalidRequestContent", MISSING, INVALID))
    assert cluster.gone()


def test_a_body_over_4_mib_is_refused_whether_its_length_was_told_or_not(place, daemon):
    cluster = place.cluster_at(fresh("big"))
    data = b'{"properties": "' + b"x" * (4 << 20) + b'"}'
    refused(cluster.call("PUT", data=data), 413, "RequestEntityTooLarge", words=["4"])

    def chunks():
        for i in range(0, len(data), 65536):
            yield data[i : i + 65536]

    refused(cluster.call("PUT", data=chunks()), 413, "RequestEntityTooLarge")
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
        "/",
        place.group_path + "/providers/Microsoft.Nothing/x/y",
    ):
        reply = daemon.call("GET", path)
        assert reply.status == 404 and reply.error["code"] in (
            "InvalidResourceType",
            "InvalidResourceNamespace",
        )


def test_a_body_of_another_media_type_is_refused(place):
    cluster = place.cluster_at(fresh("bad"))
    reply = cluster.call("PUT", body=cluster_body(0), headers={"Content-Type": "text/xml"})
    refused(reply, 415, "UnsupportedMediaType", words=["text/xml"])
    assert cluster.gone()


def test_an_over_long_url_does_no_harm(place, daemon):
    reply = daemon.call("GET", place.path + "/clusters/" + "x" * 20000)
    assert 400 <= reply.status < 500
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


# --- changes of what exists -----------------------------------------------------------------------


def test_a_put_that_changes_what_a_cluster_cannot_change_names_it(own_place):
    cluster = own_place.cluster(nodes=1)
    before = cluster.call("GET")
    for change, name in [
        ({"vmSize": "Standard_D2"}, "properties.vmSize"),
        ({"vmPriority": "lowpriority"}, "properties.vmPriority"),
        ({"userAccountSettings": {"adminUserName": "other"}}, "properties.userAccountSettings.adminUserName"),
        ({"subnet": {"id": "/subscriptions/s/x/y"}}, "properties.subnet"),
        ({"nodeSetup": None}, "properties.nodeSetup"),
    ]:
        reply = cluster.call("PUT", body=cluster_body(3, **change))
        refused(reply, 409, "PropertyChangeNotAllowed", words=[name])
    after = cluster.call("GET")
    assert after.json == before.json and after.headers["ETag"] == before.headers["ETag"]


@pytest.mark.parametrize(
    "settings, target, words",
    [
        ({"manual": {"targetNodeCount": -1}}, MANUAL + "targetNodeCount", [-1]),
        (
            {"manual": {"targetNodeCount": 1}, "autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 1}},
            P + "scaleSettings",
            ["autoScale"],
        ),
        (
            {"manual": {"targetNodeCount": 1, "nodeDeallocationOption": "no"}},
            MANUAL + "nodeDeallocationOption",
            ["no"],
        ),
        ({"autoScale": {"minimumNodeCount": 5, "maximumNodeCount": 1}}, None, ["5", "1"]),
        ("large", P + "scaleSettings", ["object"]),
    ],
)
def test_a_bad_patch_of_a_cluster_changes_nothing(shared_cluster, settings, target, words):
    before = shared_cluster.call("GET")
    reply = shared_cluster.call("PATCH", body={"properties": {"scaleSettings": settings}})
    refused(reply, 400, INVALID, target, words)
    after = shared_cluster.call("GET")
    assert after.json == before.json and after.headers["ETag"] == before.headers["ETag"]


def test_a_patch_beyond_what_there_can_be_changes_nothing(shared_cluster):
    before = shared_cluster.call("GET")
    settings = {"manual": {"targetNodeCount": 100000}}
    reply = shared_cluster.call("PATCH", body={"properties": {"scaleSettings": settings}})
    refused(reply, 409, QUOTA, MANUAL + "targetNodeCount", [100000])
    assert shared_cluster.call("GET").headers["ETag"] == before.headers["ETag"]


def test_a_different_job_under_the_same_name_is_a_conflict(place, shared_cluster):
    job = place.job(shared_cluster, "echo one")
    again = job.call("PUT", body=job_body(shared_cluster.path, "echo one"), expect=200)
    assert again.json["name"] == job.name
    for change, name in [
        ({"customToolkitSettings": {"commandLine": "echo two"}}, "customToolkitSettings"),
        ({"nodeCount": 2}, "nodeCount"),
        ({"environmentVariables": [{"name": "A", "value": "1"}]}, "environmentVariables"),
    ]:
        reply = job.call("PUT", body=merge(job_body(shared_cluster.path, "echo one"), {"properties": change}))
        refused(reply, 409, ("PropertyChangeNotAllowed", "Conflict"), words=[name])
    assert job.succeed() and job.read("stdout.txt") == "one\n"


def test_a_workspace_does_not_move(own_place, daemon):
    reply = daemon.call("PUT", own_place.path, {"location": "somewhereelse"})
    refused(reply, 409, ("PropertyChangeNotAllowed", "Conflict"), words=["location"])
    assert daemon.get(own_place.path)["location"] == own_place.location


def test_the_cluster_quota_is_told_with_its_numbers(own_daemon):
    d = own_daemon(config={"quota": {"clusters": 2}})
    place = Place(d).make()
    for _ in range(2):
        place.cluster(nodes=0)
    reply = place.cluster_at("third").call("PUT", body=cluster_body(0))
    refused(reply, 409, "ClusterQuotaReached", words=["Maximum allowed: 2", "Current in use: 2"])


def test_nodes_beyond_what_the_machine_offers_and_sizes_it_lacks(own_daemon):
    d = own_daemon(config={"local": {"nodes": 3, "vm_sizes": ["STANDARD_D1"]}})
    place = Place(d).make()
    refused(
        place.cluster_at("big").call("PUT", body=cluster_body(4)),
        409,
        QUOTA,
        MANUAL + "targetNodeCount",
        [4, 3],
    )
    reply = place.cluster_at("size").call("PUT", body=cluster_body(1, vmSize="Standard_NC6"))
    refused(reply, 400, INVALID, P + "vmSize", ["STANDARD_D1"])
    cluster = place.cluster(nodes=1)
    place.experiment()
    refused(
        place.job_at("j").call("PUT", body=job_body(cluster.path, nodes=4)),
        400,
        INVALID,
        P + "nodeCount",
        [4],
    )
