# SPDX-License-Identifier: MIT
"""A state from a text and the text of a state: seeds and dumps of a daemon that was started with --testing."""

import json
import subprocess
import uuid

import pytest
from support.daemon import BATCHAID
from support.refusals import refused
from support.seeds import full, t  # noqa: F401 (a fixture among them)
from support.testing import Testing

WS = "/resourceGroups/lab/providers/Microsoft.BatchAI/workspaces/ws"


def test_a_state_is_made_of_a_text(tested, t):
    at = f"/subscriptions/{tested.subscription}"
    assert t.seed(full(tested)) == {"resourceGroups": 2, "resources": 27}
    jobs = {j["name"]: j["properties"] for j in tested.get(f"{at}{WS}/experiments/e/jobs")["value"]}
    assert {n: j["executionState"] for n, j in jobs.items()} == {
        "queued": "queued", "running": "running", "ending": "terminating", "good": "succeeded", "bad": "failed"
    }
    assert jobs["good"]["executionInfo"]["startTime"] == "2026-11-01T09:00:00Z"
    assert jobs["good"]["executionInfo"]["endTime"] == "2026-11-01T09:05:00Z"
    assert (jobs["good"]["executionInfo"]["exitCode"], jobs["bad"]["executionInfo"]["exitCode"]) == (0, 3)
    assert jobs["bad"]["executionInfo"]["errors"][0]["message"] == "It broke."
    path = f"{at}{WS}/experiments/e/jobs/good/listOutputFiles?outputdirectoryid=stdouterr"
    (found,) = tested.call("POST", path, expect=200).json["value"]
    assert (found["name"], found["properties"]["contentLength"]) == ("stdout.txt", len("all is well\n"))
    events = [e for e in tested.get("/batchaid/events?max=1000")["value"] if e["name"] == "good"]
    assert [e["to"] for e in events] == ["queued", "running", "succeeded"]


def test_what_is_dumped_seeds_again_to_the_same(tested, t):
    t.seed(full(tested))
    first = t.dump()
    t.reset()
    done = t.seed(first)
    assert t.dump() == first
    assert done["resources"] == 27
    mine = first["subscriptions"][tested.subscription]["groups"]
    batch = mine["data"]["batchAccounts"]["bseeded"]
    assert batch["pools"]["p"]["targetDedicatedNodes"] == 0
    assert {n: x["state"]["state"] for n, x in batch["jobs"]["open"]["tasks"].items()} == {
        "waits": "active", "runs": "running", "did": "completed", "broke": "completed"
    }
    assert mine["data"]["vaults"]["vseeded"]["secrets"]["pw"]["value"] == "hush"
    assert mine["data"]["storageAccounts"]["seeded"]["containers"]["box"]["blobs"] == {
        "a/b.txt": "text\n", "raw": {"base64": "AP8="}
    }
    assert mine["lab"]["workspaces"]["ws"]["experiments"]["e"]["jobs"]["bad"]["properties"]["secrets"][0]["value"] == "hidden"


def test_a_dump_of_one_group_goes_into_another_subscription(tested, t):
    t.seed(full(tested))
    lab = t.dump(subscription=tested.subscription, resourceGroup="LAB")
    assert list(lab["groups"]) == ["lab"]
    text = json.dumps(lab)
    assert tested.subscription not in text and "{subscription}" in text
    guid = str(uuid.uuid4())
    t.seed(lab, subscription=guid)
    job = tested.get(f"/subscriptions/{guid}{WS}/experiments/e/jobs/good")
    assert job["properties"]["executionState"] == "succeeded"
    assert job["properties"]["cluster"]["id"].startswith(f"/subscriptions/{guid}/")
    assert t.dump(subscription=guid) == lab


def test_files_and_states_of_a_dump_have_the_id_of_another_subscription(tested, t):
    old, guid = tested.subscription, str(uuid.uuid4())
    seed = full(tested)
    account = seed["groups"]["data"]["storageAccounts"]["seeded"]
    account["containers"]["box"]["blobs"] = {f"of/{old.upper()}": {"text": f"about {old}\n", "metadata": {"of": f"about {old}"}}}
    account["containers"][old] = {}
    job = seed["groups"]["data"]["batchAccounts"]["bseeded"]["jobs"]["over"]
    job["state"]["terminateReason"] = f"enough of {old}"
    job["tasks"]["t"]["files"] = {f"wd/{old}": old}
    t.seed(seed)
    state = t.dump(subscription=old)
    assert old not in json.dumps(state).lower()
    t.reset()
    t.seed(state, subscription=guid)
    path = f"/subscriptions/{guid}{WS}/experiments/e/jobs/good/listOutputFiles?outputdirectoryid=stdouterr"
    assert [f["name"] for f in tested.call("POST", path, expect=200).json["value"]] == ["stdout.txt"]
    whole = t.dump()["subscriptions"][guid]["groups"]["data"]
    boxes = whole["storageAccounts"]["seeded"]["containers"]
    assert boxes["box"]["blobs"] == {f"of/{guid}": {"text": f"about {old}\n", "metadata": {"of": f"about {guid}"}}}
    assert guid in boxes and old not in boxes
    job = whole["batchAccounts"]["bseeded"]["jobs"]["over"]
    assert job["state"]["terminateReason"] == f"enough of {guid}"
    assert job["tasks"]["t"]["files"] == {f"wd/{guid}": old}
    assert t.dump(subscription=guid).keys() == state.keys()


YAML = """\
groups:
  lab:   # a comment
    location: eastus
    tags: {a: "1", b: '2'}
    workspaces:
      ws:
        location: eastus
        experiments:
          e: {}
"""


def test_yaml(tested, t):
    t.seed(YAML)
    group = tested.get(f"/subscriptions/{tested.subscription}/resourceGroups/lab")
    assert group["tags"] == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    "change, line, column, words",
    [
        (("      ws:\n        location: eastus", "      ws:\n        tags: []"), 6, 7, ["groups.lab.workspaces.ws.location", "is missing"]),
        (("      ws:", "      w$s:"), 6, 7, ["groups.lab.workspaces.w$s"]),
        (("groups:", "gruops:"), 1, 1, ["gruops", "it takes groups"]),
        (("e: {}", "e: 5"), 9, 11, ["groups.lab.workspaces.ws.experiments.e", "mapping"]),
        (("    location: eastus\n    tags", "    tags"), 2, 3, ["groups.lab", "location"]),
        (("e: {}", "e: {"), 10, 1, []),
        (("  lab:", "  lab: {}\n  lab:"), 3, 3, ["second time"]),
        (("    location: eastus\n    tags", "\tlocation: eastus\n    tags"), 3, 1, ["tab"]),
    ],
)
def test_a_wrong_line_is_refused_with_its_place_and_nothing_is_there(tested, t, change, line, column, words):
    text = YAML.replace(*change)
    assert text != YAML
    reply = t.seed(text, expect=400)
    for word in [f"line {line}, column {column}", *words]:
        assert word in reply["error"]["message"], reply
    assert tested.get(f"/subscriptions/{tested.subscription}/resourcegroups")["value"] == []


def test_what_comes_last_is_refused_and_nothing_of_the_rest_is_there(tested, t):
    for change in (
        lambda s: s["groups"]["lab"]["workspaces"]["ws"]["experiments"]["e"]["jobs"]["bad"]["properties"].update(nodeCount="x"),
        lambda s: s["groups"]["lab"]["workspaces"]["ws"]["experiments"]["e"]["jobs"]["bad"]["state"].update(executionState="bust"),
        lambda s: s["groups"]["data"]["storageAccounts"]["seeded"]["shares"].update(No={}),
        lambda s: s["groups"]["data"]["storageAccounts"]["seeded"]["shares"]["out"]["files"].update({"../x": ""}),
        lambda s: s["groups"]["data"]["batchAccounts"]["bseeded"]["jobs"]["over"]["tasks"].update(
            x={"commandLine": "true", "state": {"state": "running"}}
        ),
    ):
        seed = full(tested)
        change(seed)
        assert "line 1, column" in t.seed(seed, expect=400)["error"]["message"]
        assert tested.get(f"/subscriptions/{tested.subscription}/resourcegroups")["value"] == []


def test_a_group_that_is_there_is_not_seeded(tested, t):
    t.seed(YAML)
    before = t.dump()
    assert "reset it first" in t.seed(YAML, expect=409)["error"]["message"]
    assert t.dump() == before


def test_running_ones_can_be_ended_and_deleted(tested, t):
    at = f"/subscriptions/{tested.subscription}{WS}/experiments/e/jobs"
    t.seed(full(tested))
    tested.do("POST", f"{at}/running/terminate")
    job = tested.get(f"{at}/running")["properties"]
    assert (job["executionState"], job["executionInfo"]["errors"][0]["code"]) == ("failed", "JobTerminated")
    tested.do("DELETE", f"{at}/ending")
    tested.do("DELETE", f"{at}/good")


def test_a_second_document_is_not_passed_over(t):
    reply = t.seed("groups: {g: {location: here}}\n---\ngroups: {h: {location: here}}\n", expect=400)
    assert "line 2" in reply["error"]["message"] and "one document" in reply["error"]["message"]
    refused(t.call("GET", "/dump?resourceGroup=g"), 404, "ResourceNotFound")
    t.seed("groups: {g: {location: here}}\n...\n")


@pytest.mark.parametrize(
    "query, status, code", [("subscription=x", 400, "InvalidQueryParameterValue")]
)
def test_wrong_queries(t, query, status, code):
    refused(t.call("POST", f"/seed?{query}", data=YAML.encode()), status, code)
    refused(t.call("GET", f"/dump?{query}"), 404, "SubscriptionNotFound")
    refused(t.call("GET", "/dump?resourceGroup=none"), 404, "ResourceNotFound")


# --- the command line -----------------------------------------------------------------------------


def test_a_daemon_begins_with_a_file_and_tells_it_again(own_daemon, tmp_path):
    file = tmp_path / "seed.yaml"
    file.write_text(YAML)
    d = own_daemon(arguments=["--testing", "--seed", str(file)])
    assert d.get(f"/subscriptions/{d.subscription}/resourceGroups/lab")["tags"] == {"a": "1", "b": "2"}
    state = d.tool("dump", "lab").stdout
    Testing(d).reset()
    file.write_text(state)
    assert d.tool("seed", str(file)).stdout == "3 resources in 1 resource groups\n"
    assert d.tool("dump", "lab").stdout == state
    Testing(d).reset()
    assert json.loads(d.tool("seed", "--json", str(file)).stdout)["resources"] == 3


def test_a_daemon_does_not_begin_with_a_wrong_file(tmp_path):
    file = tmp_path / "seed.yaml"
    for text, words in ((YAML.replace("groups", "gruops"), "line 1, column 1"), (None, "No such file")):
        if text:
            file.write_text(text)
        else:
            file.unlink()
        command = [str(BATCHAID), "serve", "--ephemeral", "--testing", "--listen", "localhost:0", "--seed", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert words in done.stderr and f"the seed {file} is not applied" in done.stderr


def test_a_daemon_that_is_not_for_tests_takes_no_seed(daemon, tmp_path):
    command = [str(BATCHAID), "seed", "--state-dir", str(daemon.state_dir), "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "without --testing" in done.stderr


@pytest.mark.parametrize("text", ["[]", "- a\n- b\n", "a", "[" + "1, " * 20000 + "1]"], ids=["list", "yaml", "text", "large"])
def test_a_text_that_is_no_mapping_is_refused(t, text):
    for _ in range(3):
        reply = t.call("POST", "/seed", data=text.encode(), expect=400)
        assert "it must be a mapping with groups, roles or subscriptions." in reply.error["message"]
