# SPDX-License-Identifier: MIT
"""maxresults and nextLink on every list that can grow."""

import re
import threading

import pytest
from support.world import Place, fresh

N = 5


@pytest.fixture(scope="module")
def crowd(daemon, temporary_in_file):
    """A place with five of everything."""
    p = temporary_in_file(Place(daemon, fresh("crowd"), "ws0").make())
    for i in range(1, N):
        daemon.do(
            "PUT", f"{p.group_path}/providers/Microsoft.BatchAI/workspaces/ws{i}", {"location": "eastus"}
        )
    cluster = p.cluster(nodes=1, name="c0")
    job = None
    for i in range(N):
        if i:
            p.cluster(nodes=0, name=f"c{i}", steady=False)
        p.experiment(f"e{i}")
        p.file_server(f"f{i}")
        lines = (
            "mkdir -p $AZ_BATCHAI_OUTPUT_O; for i in 0 1 2 3 4; do echo $i > $AZ_BATCHAI_OUTPUT_O/o$i; done"
        )
        outputs = [{"id": "O", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/out"}]
        job = p.job(cluster, lines, name=f"j{i}", experiment="e0", outputDirectories=outputs)
    job.succeed()
    return p


# What is listed where, and how the names begin.
LISTS = {
    "workspaces of the group": ("{group}/workspaces", "ws"),
    "workspaces of the subscription": ("{subscription}/workspaces", "ws"),
    "clusters of the workspace": ("{workspace}/clusters", "c"),
    "clusters of the group": ("{group}/clusters", "c"),
    "clusters of the subscription": ("{subscription}/clusters", "c"),
    "file servers of the workspace": ("{workspace}/fileServers", "f"),
    "file servers of the group": ("{group}/fileServers", "f"),
    "file servers of the subscription": ("{subscription}/fileServers", "f"),
    "experiments": ("{workspace}/experiments", "e"),
    "jobs": ("{workspace}/experiments/e0/jobs", "j"),
    "output files": ("{workspace}/experiments/e0/jobs/j4/listOutputFiles", "o"),
}


@pytest.fixture(params=LISTS)
def listing(request, crowd, daemon):
    """The method, path and parameters of a list, and how its names begin."""
    path, prefix = LISTS[request.param]
    group, subscription = (
        f"{above}/providers/Microsoft.BatchAI"
        for above in (crowd.group_path, f"/subscriptions/{daemon.subscription}")
    )
    path = path.format(group=group, subscription=subscription, workspace=crowd.path)
    if request.param == "output files":
        return "POST", path, {"outputdirectoryid": "O"}, prefix
    return "GET", path, {}, prefix


def in_crowd(item, crowd):
    return "id" not in item or f"/resourceGroups/{crowd.group.lower()}/" in item["id"]


def test_pages_hold_what_was_asked_for_and_together_everything_once(listing, crowd, daemon):
    method, path, params, prefix = listing
    whole = daemon.call(method, path, params=params, expect=200).json
    assert "nextLink" not in whole
    names, url, params = [], path, {**params, "maxresults": 2}
    while url:
        page = daemon.call(method, url, params=params, expect=200).json
        assert 1 <= len(page["value"]) <= 2
        names += [item["name"] for item in page["value"] if in_crowd(item, crowd)]
        url, params = page.get("nextLink"), {}
        if url:
            assert len(page["value"]) == 2
            assert url.startswith("https://") and "api-version=2018-05-01" in url
    assert names == [item["name"] for item in whole["value"] if in_crowd(item, crowd)]
    assert sorted(names) == [f"{prefix}{i}" for i in range(N)]


def test_a_last_page_that_is_just_full_has_no_next_link(listing, daemon):
    method, path, params, _ = listing
    total = len(daemon.call(method, path, params=params, expect=200).json["value"])
    full = daemon.call(method, path, params={**params, "maxresults": total}, expect=200).json
    assert len(full["value"]) == total and "nextLink" not in full


@pytest.mark.parametrize("value", ["0", "-1", "1001", "two", "", "2.5"])
def test_maxresults_must_be_1_to_1000(listing, daemon, value):
    method, path, params, _ = listing
    reply = daemon.call(method, path, params={**params, "maxresults": value})
    assert reply.status == 400, reply
    assert reply.code == "InvalidQueryParameterValue"
    assert reply.error["target"] == "maxresults" and (value in reply.error["message"])


@pytest.mark.parametrize("raw", ["maxresults=1%00", "maxresults=2%", "$skiptoken=%zz"])
def test_a_malformed_escape_in_a_query_is_refused_not_ignored(crowd, daemon, raw):
    reply = daemon.call("GET", f"{daemon.endpoint}{crowd.path}/clusters?{raw}")
    assert reply.status == 400 and reply.error["target"] == raw.split("=")[0], reply
    assert raw.split("=")[1] in reply.error["message"]


def test_a_next_link_that_was_tampered_with_is_refused(crowd, daemon):
    page = daemon.call("GET", crowd.path + "/clusters", params={"maxresults": 2}, expect=200).json
    url = page["nextLink"]
    assert "skiptoken=" in url.lower()

    broken = re.sub(r"(skiptoken=)[^&]*", r"\1not-a-token", url, flags=re.IGNORECASE)
    reply = daemon.call("GET", broken)
    assert reply.status == 400 and reply.code == "InvalidQueryParameterValue"


def test_rows_that_come_and_go_between_pages_break_nothing(crowd, daemon):
    path = crowd.path + "/experiments"
    crowd.experiment("extra1")
    first = daemon.call("GET", path, params={"maxresults": N}, expect=200).json
    crowd.experiment("extra2")
    daemon.do("DELETE", path + "/extra1")
    assert [x["name"] for x in daemon.get(first["nextLink"])["value"]] == ["extra2"]
    daemon.do("DELETE", path + "/extra2")


def test_an_empty_list_is_an_empty_array(own_place, daemon):
    own_place.experiment()
    for tail in ("/clusters", "/fileServers", "/experiments/exp/jobs"):
        assert daemon.call("GET", own_place.path + tail, expect=200).text == '{"value":[]}'


def test_usages_and_operations_are_whole_lists(daemon):
    provider = "/providers/Microsoft.BatchAI"
    usages = daemon.get(f"/subscriptions/{daemon.subscription}{provider}/locations/northeurope/usages")
    families = ["D", "Dv2", "NC", "NCv2", "NCv3", "ND", "NV"]
    expected = ["Clusters"]
    for priority in ("Dedicated", "LowPriority"):
        expected.append(f"Total Cluster {priority} Regional vCPUs")
        expected += [f"Standard {f} Family Cluster {priority} vCPUs" for f in families]
    assert [u["name"]["value"] for u in usages["value"]] == expected
    assert [u["name"]["localizedValue"] for u in usages["value"]] == [
        name.replace("LowPriority", "Low Priority") for name in expected
    ]
    assert list(usages["value"][0]) == ["unit", "currentValue", "limit", "name"]
    operations = daemon.get(f"{provider}/operations")["value"]
    assert len(operations) >= 12
    names = {o["name"] for o in operations}
    assert len(names) == len(operations)
    assert {
        "Microsoft.BatchAI/workspaces/clusters/read",
        "Microsoft.BatchAI/workspaces/fileservers/read",
    } <= names
    assert any(n.endswith("jobs/terminate/action") for n in names)
    assert list(operations[0]) == ["name", "display", "origin"]
    assert list(operations[0]["display"]) == ["provider", "resource", "operation", "description"]


def test_usages_count_the_clusters_there_are(own_place, daemon):
    path = f"/subscriptions/{daemon.subscription}/providers/Microsoft.BatchAI/locations/northeurope/usages"

    def clusters():
        return daemon.get(path)["value"][0]["currentValue"]

    before = clusters()
    cluster = own_place.cluster(nodes=0)
    assert clusters() == before + 1
    cluster.delete()
    assert clusters() == before


def names_of_all_pages(daemon, path):
    """What each page has, in bytes and names."""
    sizes, names = [], []
    while path:
        reply = daemon.call("GET", path)
        assert reply.status == 200, reply
        sizes.append(len(reply.content))
        names += [row["name"] for row in reply.json["value"]]
        path = reply.json.get("nextLink")
    return sizes, names


def test_a_page_of_large_jobs_is_bounded_in_bytes(own_place):
    cluster = own_place.cluster(nodes=0, steady=False)
    own_place.experiment()
    large = [{"name": f"V{i}", "value": "x" * 120_000} for i in range(8)]
    wanted = [f"large{i:02}" for i in range(14)]
    for name in wanted:
        own_place.job(cluster, "true", name=name, environmentVariables=large)
    sizes, names = names_of_all_pages(own_place.daemon, f"{own_place.experiment_path()}/jobs")
    assert names == wanted
    assert len(sizes) > 1
    assert max(sizes) < 6 << 20


def test_a_long_list_lets_others_through(own_place):
    """While one client is given a page that takes long, another is answered time and again."""
    daemon = own_place.daemon
    cluster = own_place.cluster(nodes=0, steady=False)
    own_place.experiment()
    for i in range(40):
        large = [{"name": f"V{k}", "value": "x"} for k in range(900)]
        own_place.job(cluster, "true", name=f"wide{i}", environmentVariables=large)
    path = f"{own_place.experiment_path()}/jobs"
    daemon.session()
    others, done = 0, threading.Event()

    def page():
        assert daemon.call("GET", path, validate=False).status == 200
        done.set()

    pager = threading.Thread(target=page)
    pager.start()
    while not done.is_set():
        assert daemon.call("GET", own_place.path, validate=False).status == 200
        others += 1
    pager.join()
    assert others >= 3
