# SPDX-License-Identifier: MIT
"""The judge itself: it must accept the published examples and must be able to refuse."""

import json

import pytest
from support import spec

SPEC = spec.load()
pytestmark = pytest.mark.skipif(SPEC is None, reason="the published spec is not here")

CLUSTER = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/clusters/c"


def judge(method, path, status, document, version=spec.API_VERSION):
    body = b"" if document is None else json.dumps(document).encode()
    headers = {"content-type": "application/json; charset=utf-8"}
    return SPEC.check(method, f"https://x{path}?api-version={version}", status, headers, body)


def examples():
    for version in spec.ALL:
        folder = spec.default_dir() / version
        document = json.loads((folder / "BatchAI.json").read_text())
        for template, methods in document["paths"].items():
            for method, op in methods.items():
                for example in op.get("x-ms-examples", {}).values():
                    content = json.loads((folder / example["$ref"]).read_text())
                    for status, reply in content["responses"].items():
                        yield version, method.upper(), template, int(status), reply.get("body")


# Some of the published examples do not follow their own schema.
WRONG_EXAMPLES = {
    (spec.API_VERSION, "Operations_List"),
    *((v, "FileServers_Create") for v in spec.ALL),
}


@pytest.mark.parametrize("version, method, template, status, body", examples() if SPEC else [])
def test_published_examples_are_accepted(version, method, template, status, body):
    path = template.replace("{", "").replace("}", "")
    op, complaints = judge(method, path, status, body, version=version)
    assert op is not None
    if (version, op.id) not in WRONG_EXAMPLES:
        assert complaints == []


def test_the_documents_of_a_version_make_one_set_of_operations():
    ids = SPEC.operation_ids()
    assert len(ids) == len(set(ids))
    newest = [i.split()[1] for i in ids if i.startswith(spec.API_VERSION)]
    assert len(newest) == 33
    assert {"Workspaces_Update", "Clusters_List", "FileServers_ListByResourceGroup"} <= set(newest)
    assert "2018-03-01 Usage_List" in ids and "2017-09-01-preview Jobs_List" in ids


def test_paths_match_whatever_their_case():
    newest = SPEC[spec.API_VERSION]
    assert newest.find("get", CLUSTER.lower()).id == "Clusters_Get"
    assert newest.find("GET", CLUSTER.replace("resourceGroups", "resourcegroups")).id == "Clusters_Get"
    assert newest.find("GET", CLUSTER + "/more") is None
    assert newest.find("POST", CLUSTER) is None


GOOD = {"id": "i", "name": "n", "type": "t", "properties": {"vmSize": "A", "allocationState": "steady"}}


@pytest.mark.parametrize(
    "change, complaint",
    [
        ({"allocationState": "Steady"}, "is not one of"),
        ({"currentNodeCount": "2"}, "is not of type 'integer'"),
        ({"nodeStateCounts": {"idleNodeCount": 1, "busyNodeCount": 1}}, "busyNodeCount"),
        ({"scaleSettings": {"autoScale": {"minimumNodeCount": 1}}}, "maximumNodeCount"),
        ({"creationTime": "2018-06-07T21:34:10.100Z"}, "date-time"),
        ({"creationTime": "2018-06-07T21:34:10"}, "date-time"),
        ({"scaleSettings": None}, "None is not of type"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_body_is_refused(change, complaint):
    assert judge("GET", CLUSTER, 200, GOOD)[1] == []
    _, complaints = judge("GET", CLUSTER, 200, {**GOOD, "properties": {**GOOD["properties"], **change}})
    assert complaint in " ".join(complaints)


def test_a_wrong_status_an_unwanted_body_and_a_bare_error_are_refused():
    assert "declares no status 201" in judge("PUT", CLUSTER, 201, GOOD)[1][0]
    assert "has no body" in judge("PUT", CLUSTER, 202, GOOD)[1][0]
    assert judge("GET", CLUSTER, 404, {"code": "x", "message": "y"})[1]
    assert judge("GET", CLUSTER, 404, {"error": {"code": "ClusterNotFound"}})[1]
    assert judge("GET", CLUSTER, 404, {"error": {"code": "ClusterNotFound", "message": "m"}})[1] == []


FLAT_CLUSTER = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/clusters/c"


def test_each_version_has_its_own_judge():
    tagged = {**GOOD, "location": "l", "tags": {"a": "b"}}
    assert judge("GET", FLAT_CLUSTER, 200, tagged, version="2018-03-01")[1] == []
    assert judge("GET", FLAT_CLUSTER, 200, {**tagged, "colour": 1}, version="2017-09-01-preview")[1]
    assert judge("GET", CLUSTER, 200, tagged)[1]
    assert judge("GET", FLAT_CLUSTER, 200, GOOD)[0] is None
    assert judge("GET", CLUSTER, 200, GOOD, version="2018-03-01")[0] is None


def test_unknown_api_versions_are_not_judged():
    assert judge("GET", CLUSTER, 200, {"anything": 1}, version="2016-01-01") == (None, [])
