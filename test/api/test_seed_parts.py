# SPDX-License-Identifier: MIT
"""What seeds and dumps have besides bodies of requests: roles, what was deleted, schedules, certificates, files, packages."""

import base64
import hashlib
import io
import json
import uuid
import zipfile
from urllib.parse import urlsplit

import pytest
from support.batch import Plane
from support.batch_jobs import POOL
from support.certificates import Made
from support.seeds import (  # noqa: F401 (a fixture among them)
    BATCH_AI, OWNER_ROLE, ROLE_GUID, V1, V2, role, roles_at, stored, t, with_vaults,
)  # fmt: skip
from support.waiting import wait_for

# --- roles, vaults that were deleted, versions of secrets ------------------------------------------


def with_roles(tested):
    lab = "/subscriptions/{subscription}/resourceGroups/lab"
    return {
        "groups": {
            "lab": {
                "location": "eastus",
                "workspaces": {"ws": {"location": "eastus"}},
                "roles": {
                    ROLE_GUID: role(),
                    "of the workspace": {**role(), "scope": f"{lab}/providers/Microsoft.BatchAI/workspaces/ws"},
                },
            }
        },
        "roles": {"all": role(OWNER_ROLE)},
    }


def test_roles_are_seeded_dumped_and_reset(tested, t):
    at = f"/subscriptions/{tested.subscription}"
    t.seed(with_roles(tested))
    lab = f"{at}/resourceGroups/lab"
    found = roles_at(tested, at)
    assert set(found) == {"", lab.removeprefix(at), lab.removeprefix(at) + "/providers/Microsoft.BatchAI/workspaces/ws"}
    assert found[lab.removeprefix(at)] == ROLE_GUID
    first = t.dump(subscription=tested.subscription)
    assert len(first["groups"]["lab"]["roles"]) == 2 and len(first["roles"]) == 1
    assert first["groups"]["lab"]["roles"][ROLE_GUID]["properties"]["principalId"] == BATCH_AI
    assert "roles" not in t.dump(subscription=tested.subscription, resourceGroup="lab")
    t.reset(subscription=tested.subscription, resourceGroup="lab")
    assert set(roles_at(tested, at)) == {""}
    t.reset(subscription=tested.subscription)
    assert roles_at(tested, at) == {}
    t.seed(first)
    assert t.dump(subscription=tested.subscription) == first
    guid = str(uuid.uuid4())  # the assignments there have GUIDs of their own
    t.seed(first, subscription=guid)
    assert set(roles_at(tested, f"/subscriptions/{guid}")) == set(found)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"scope": "/subscriptions/{subscription}/resourceGroups/other"}, "or below it"),
        ({"properties": {"principalId": BATCH_AI}}, "roleDefinitionId"),
        ({"properties": {**role()["properties"], "principalId": str(uuid.uuid4())}}, "does not exist in the directory"),
    ],
)
def test_wrong_roles_are_refused(tested, t, change, words):
    seed = with_roles(tested)
    seed["groups"]["lab"]["roles"][ROLE_GUID].update(change)
    reply = t.seed(seed, expect=400)
    assert words in reply["error"]["message"] and f"groups.lab.roles.{ROLE_GUID}" in reply["error"]["message"]
    assert tested.get(f"/subscriptions/{tested.subscription}/resourcegroups")["value"] == []


def test_deleted_vaults_and_older_versions_of_secrets(tested, t):
    at = f"/subscriptions/{tested.subscription}"
    t.seed(with_vaults(tested))
    assert [g["name"] for g in tested.get(f"{at}/resourcegroups")["value"]] == ["lab"]
    path = f"{at}/providers/Microsoft.KeyVault/deletedVaults"
    deleted = tested.call("GET", path, api_version="2022-07-01", validate=False, expect=200).json["value"]
    assert {v["name"] for v in deleted} == {"seeddead", "seedpast"}
    first = t.dump(subscription=tested.subscription)
    assert first["groups"]["past"]["deleted"] is True
    live = first["groups"]["lab"]["vaults"]["seedlive"]["secrets"]
    assert live["pw"]["version"] == V2 and live["pw"]["value"] == "new"
    assert live["pw"]["versions"] == {V1: {"value": "old", "attributes": {"enabled": False}}}
    assert live["gone"]["deleted"].startswith("2026-11-20T09:00:00")
    assert t.dump(subscription=tested.subscription, resourceGroup="past")["groups"] == {"past": first["groups"]["past"]}
    t.seed_again(first, subscription=tested.subscription)
    t.reset(subscription=tested.subscription, resourceGroup="lab")
    assert list(t.dump(subscription=tested.subscription)["groups"]) == ["past"]


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda g: g["past"]["vaults"]["seedpast"].pop("deleted"), "one of its vaults is not"),
        (lambda g: g["past"].update(deleted="maybe"), "deleted is 'maybe'; it must be an instant"),
        (lambda g: g["past"].update(deleted=5), "deleted is 5; it must be true, or an instant"),
        (lambda g: g["past"].update(deleted=None), "deleted is null; it must be true, or an instant"),
        (lambda g: g["past"].update(workspaces={"ws": {"location": "eastus"}}), "and nothing else"),
        (lambda g: g["lab"]["vaults"]["seeddead"].update(deleted=3), "true, or an instant"),
        (lambda g: g["lab"]["vaults"]["seedlive"]["secrets"]["pw"].update(version="x"), "32 hexadecimal digits"),
        (lambda g: g["lab"]["vaults"]["seedlive"]["secrets"]["pw"].update(version=V1), "exists already"),
        (lambda g: g["lab"]["vaults"]["seedlive"]["secrets"]["pw"].update(versions=[1]), "versions"),
    ],
)
def test_wrong_deletions_and_versions_are_refused(tested, t, change, words):
    seed = with_vaults(tested)
    change(seed["groups"])
    reply = t.seed(seed, expect=(400, 409))
    assert words in reply["error"]["message"], reply
    assert t.dump(subscription=tested.subscription) == {}


# --- Azure Batch's schedules and certificates -------------------------------------------------------


def with_schedules(made, account="seedsched"):
    spec = {"poolInfo": {"poolId": "p"}}
    later = {"doNotRunUntil": "2036-11-01T09:00:00Z"}
    return {
        "groups": {
            "lab": {
                "location": "eastus",
                "batchAccounts": {
                    account: {
                        "location": "eastus",
                        "certificates": {
                            made[0].thumbprint: {k: v for k, v in made[0].body().items() if k != "thumbprint"},
                            made[1].thumbprint: {k: v for k, v in made[1].cer().items() if k != "thumbprint"},
                        },
                        "pools": {
                            "p": {
                                **POOL, "targetDedicatedNodes": 0,
                                "certificateReferences": [{"thumbprint": made[0].thumbprint, "thumbprintAlgorithm": "sha1"}],
                            }
                        },
                        "jobSchedules": {
                            "later": {"schedule": later, "jobSpecification": spec},
                            "often": {
                                "schedule": {"recurrenceInterval": "PT1H"}, "jobSpecification": spec,
                                "state": {"state": "active", "jobs": 2, "nextRunTime": "2036-11-01T09:00:00Z"},
                            },
                            "off": {"schedule": later, "jobSpecification": spec, "state": {"state": "disabled"}},
                            "over": {"schedule": {}, "jobSpecification": spec, "state": {"state": "completed", "jobs": 1}},
                        },
                        "jobs": {
                            "often:job-1": {
                                **spec,
                                "tasks": {"t": {"commandLine": "true", "state": {"state": "completed", "exitCode": 0}}},
                                "state": {"state": "completed"},
                            },
                            "often:job-2": spec,
                        },
                    }
                },
            }
        }
    }


@pytest.fixture
def made(tmp_path):
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
    return [Made(tmp_path / "1"), Made(tmp_path / "2")]


def test_schedules_and_certificates(tested, t, made):
    t.seed(with_schedules(made))
    plane = Plane(tested, "seedsched", by="token")
    schedules = {s["id"]: s for s in plane.all("/jobschedules")}
    assert {n: s["state"] for n, s in schedules.items()} == {
        "later": "active", "often": "active", "off": "disabled", "over": "completed"
    }
    assert schedules["often"]["executionInfo"]["recentJob"]["id"] == "often:job-2"
    assert [j["id"] for j in plane.all("/jobschedules/often/jobs")] == ["often:job-1", "often:job-2"]
    assert plane.get("/jobs/often:job-1/tasks/t")["state"] == "completed"
    assert {c["thumbprint"] for c in plane.all("/certificates")} == {m.thumbprint for m in made}
    first = t.dump()
    t.seed_again(first)
    account = first["subscriptions"][tested.subscription]["groups"]["lab"]["batchAccounts"]["seedsched"]
    assert [account["certificates"][m.thumbprint]["certificateFormat"] for m in made] == ["pfx", "cer"]
    assert account["jobs"]["often:job-1"]["state"]["state"] == "completed"


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda a: a["jobSchedules"]["off"]["state"].update(state="asleep"), "active, disabled or completed"),
        (lambda a: a["jobSchedules"]["often"]["state"].update(jobs=-1), "how many jobs the schedule has made"),
        (lambda a: a["jobs"].update({"often:job-x": {"poolInfo": {"poolId": "p"}}}), "SCHEDULE:job-NUMBER"),
        (lambda a: a["jobs"].update({"never:job-1": {"poolInfo": {"poolId": "p"}}}), "no job schedule 'never'"),
        (lambda a: next(iter(a["certificates"].values())).update(password="wrong"), "password"),
    ],
)
def test_wrong_schedules_and_certificates_are_refused(tested, t, made, change, words):
    seed = with_schedules(made)
    change(seed["groups"]["lab"]["batchAccounts"]["seedsched"])
    reply = t.seed(seed, expect=400)
    assert words in reply["error"]["message"], reply
    assert tested.get(f"/subscriptions/{tested.subscription}/resourcegroups")["value"] == []


# --- files of tasks ---------------------------------------------------------------------------------


TASK_FILES = {
    "stdout.txt": "epoch 1\n",
    "stderr.txt": "",
    "wd/a/deep.bin": {"base64": "AP8="},
    "wd/a-b.txt": "beside",
    "wd/model.txt": "0123456789",
}


def with_files(state="completed"):
    over = {"state": {"state": state}, "files": TASK_FILES}
    account = {
        "location": "eastus",
        "pools": {"p": {**POOL, "targetDedicatedNodes": 0}},
        "jobs": {"j": {"poolInfo": {"poolId": "p"}, "tasks": {"t": {"commandLine": "true", **over}, "none": {"commandLine": "true"}}}},
    }
    return {"groups": {"lab": {"location": "eastus", "batchAccounts": {"seedfiles": account}}}}


def test_files_of_a_task_are_read_as_those_of_one_that_ran(tested, t):
    t.seed(with_files())
    plane = Plane(tested, "seedfiles", by="token")
    at = "/jobs/j/tasks/t/files"
    assert [(f["name"], f["isDirectory"]) for f in plane.all(at)] == [("stderr.txt", False), ("stdout.txt", False), ("wd", True)]
    names = ["stderr.txt", "stdout.txt", "wd", "wd/a", "wd/a-b.txt", "wd/a/deep.bin", "wd/model.txt"]
    assert [f["name"] for f in plane.all(at, recursive="true")] == names
    assert [f["name"] for f in plane.all(at, recursive="true", **{"$filter": "startswith(name,'wd/a')"})] == names[3:6]
    (entry,) = [f for f in plane.all(at, recursive="true") if f["name"] == "wd/model.txt"]
    assert entry["properties"]["contentLength"] == "10" and entry["url"].endswith("/files/wd/model.txt")
    assert plane.call("GET", f"{at}/stdout.txt", expect=200).content == b"epoch 1\n"
    assert plane.call("GET", f"{at}/stderr.txt", expect=200).content == b""
    assert plane.call("GET", f"{at}/wd/a/deep.bin", expect=200).content == b"\0\xff"
    part = plane.call("GET", f"{at}/wd/model.txt", headers={"ocp-range": "bytes=2-4"}, expect=200)
    assert part.content == b"234"
    assert plane.call("HEAD", f"{at}/wd/model.txt", expect=200).headers["content-length"] == "10"
    plane.refused(404, "FileNotFound", "GET", f"{at}/wd/none")
    plane.refused(409, "TaskFilesUnavailable", "GET", "/jobs/j/tasks/none/files")
    plane.call("DELETE", f"{at}/wd/model.txt", expect=200)
    plane.call("DELETE", f"{at}/wd/a", expect=409)
    plane.call("DELETE", f"{at}/wd/a?recursive=true", expect=200)
    plane.refused(404, "FileNotFound", "DELETE", f"{at}/wd/a?recursive=true")
    assert [f["name"] for f in plane.all(at, recursive="true")] == ["stderr.txt", "stdout.txt", "wd", "wd/a-b.txt"]
    first = t.dump()
    t.seed_again(first)
    task = first["subscriptions"][tested.subscription]["groups"]["lab"]["batchAccounts"]["seedfiles"]["jobs"]["j"]["tasks"]["t"]
    assert task["files"] == {"stdout.txt": "epoch 1\n", "stderr.txt": "", "wd/a-b.txt": "beside"}


def test_a_seeded_end_is_explained_without_a_node(tested, t):
    done = {"commandLine": "true", "state": {"state": "completed", "exitCode": 0}}
    account = {"location": "eastus", "pools": {"p": {**POOL, "vmSize": "fake", "targetDedicatedNodes": 0}},
               "jobs": {"j": {"poolInfo": {"poolId": "p"}, "tasks": {"t": done}}}}  # fmt: skip
    t.seed({"groups": {"lab": {"location": "eastus", "batchAccounts": {"explained": account}}}})
    told = json.loads(tested.tool("explain", "--json", "lab/explained/j/t").stdout)
    assert [line["text"] for line in told["story"]][:2] == ["began", "succeeded, exit code 0"]


def test_a_running_task_may_have_files_and_a_waiting_one_not(tested, t):
    t.seed(with_files("running"))
    plane = Plane(tested, "seedfiles", by="token")
    assert plane.call("GET", "/jobs/j/tasks/t/files/stdout.txt", expect=200).content == b"epoch 1\n"
    t.reset()
    assert "has no files" in t.seed(with_files("active"), expect=400)["error"]["message"]


def test_files_of_a_task_that_ran_are_dumped_from_its_node(tested, t):
    t.rules({"match": {"name": "j/*"}, "stdout": ["it ran"], "files": [{"path": "a/b.txt", "text": "made"}]})
    seed = with_files()
    account = seed["groups"]["lab"]["batchAccounts"]["seedfiles"]
    account["pools"]["p"].update(vmSize="FAKE1", targetDedicatedNodes=1)
    account["jobs"]["j"]["tasks"] = {"ran": {"commandLine": "true"}}
    t.seed(seed)
    plane = Plane(tested, "seedfiles", by="token")
    wait_for(lambda: plane.get("/jobs/j/tasks/ran")["state"] == "completed", what="the task to run")
    first = t.dump(subscription=tested.subscription)
    task = first["groups"]["lab"]["batchAccounts"]["seedfiles"]["jobs"]["j"]["tasks"]["ran"]
    assert task["files"]["stdout.txt"] == "it ran\n" and task["files"]["wd/a/b.txt"] == "made"
    t.call("DELETE", "/rules", expect=204)
    t.reset()
    t.seed(first)
    assert plane.call("GET", "/jobs/j/tasks/ran/files/wd/a/b.txt", expect=200).content == b"made"
    assert t.dump(subscription=tested.subscription) == first


# --- what is noted of files and blobs ---------------------------------------------------------------


NOTED = {
    "text": "a model",
    "properties": {"Content-Type": "text/markdown", "Cache-Control": "no-store"},
    "metadata": {"Epoch": "7"},
    "tags": {"kind": "best"},
    "contentMD5": base64.b64encode(hashlib.md5(b"a model").digest()).decode(),
}
BLOBS = {
    "noted.md": NOTED,
    "log": {"base64": "AP8=", "type": "AppendBlob", "properties": {"x-ms-blob-sealed": True}},
    "cold": {"text": "rarely read", "properties": {"x-ms-access-tier": "Cold"}},
    "archived": {"text": "not read", "properties": {"x-ms-access-tier": "Archive"}},
    "plain": "plain",
    "a//b": "between two slashes",
    "plain/below": {"text": "below a file", "metadata": {"k": "v"}},
}


def blob(tested, name):
    port = urlsplit(tested.endpoint).port
    head = {"Host": f"seednotes.blob.core.localhost:{port}", "x-ms-version": "2020-04-08"}
    return tested.call("GET", f"/box/{name}", headers=head, token="", api_version=None, validate=False)


def test_blobs_and_files_have_what_is_noted_of_them(tested, t):
    box = {"properties": {"publicAccess": "Blob"}, "blobs": BLOBS}
    files = {"a/f.txt": {"text": "f", "metadata": {"m": "1"}, "properties": {"Content-Type": "text/x"}, "contentMD5": NOTED["contentMD5"]}}
    t.seed(stored(properties={"allowBlobPublicAccess": True}, containers={"box": box}, shares={"out": {"files": files}}))
    noted = blob(tested, "noted.md")
    assert (noted.status, noted.content) == (200, b"a model")
    assert noted.headers["Content-Type"] == "text/markdown" and noted.headers["Cache-Control"] == "no-store"
    assert noted.headers["x-ms-meta-Epoch"] == "7" and noted.headers["x-ms-tag-count"] == "1"
    assert noted.headers["Content-MD5"] == NOTED["contentMD5"]
    log = blob(tested, "log").headers
    assert (log["x-ms-blob-type"], log["x-ms-blob-sealed"]) == ("AppendBlob", "true")
    assert blob(tested, "archived").headers["x-ms-error-code"] == "BlobArchived"
    assert blob(tested, "a//b").content == b"between two slashes"
    assert blob(tested, "plain/below").content == b"below a file" and blob(tested, "plain").content == b"plain"
    first = t.dump(subscription=tested.subscription)
    got = first["groups"]["lab"]["storageAccounts"]["seednotes"]
    assert got["containers"]["box"]["blobs"] == BLOBS and got["shares"]["out"]["files"] == files
    t.seed_again(first, subscription=tested.subscription)
    assert blob(tested, "a//b").content == b"between two slashes"


@pytest.mark.parametrize(
    "value, words",
    [
        ({"text": "x", "base64": "eA=="}, "must be a text"),
        ({"text": "x", "properties": {"Content-Typo": "x"}}, "Content-Type, Content-Encoding"),
        ({"text": "x", "properties": {"x-ms-access-tier": "cold"}}, "Hot, Cool, Cold or Archive"),
        ({"text": "x", "properties": {"x-ms-blob-sealed": False}}, "x-ms-blob-sealed true"),
        ({"text": "x", "metadata": {"1a": "x"}}, "names of letters"),
        ({"text": "x", "metadata": {"a": "line\nbreak"}}, "metadata of 'f'"),
        ({"text": "x", "type": "PageBlob"}, "AppendBlob"),
        ({"text": "x", "contentMD5": "eA=="}, "16 bytes as base64"),
        ({"text": "x", "colour": "red"}, "'colour', which is not known"),
        (5, "must be a text"),
        ({"base64": "%%%"}, "must be a text"),
    ],
)
def test_wrong_notes_are_refused(tested, t, value, words):
    reply = t.seed(stored(containers={"box": {"blobs": {"f": value}}}), expect=400)
    assert words in reply["error"]["message"]
    assert tested.get(f"/subscriptions/{tested.subscription}/resourcegroups")["value"] == []


# --- packages ---------------------------------------------------------------------------------------


def archive(text):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(zipfile.ZipInfo("bin/say.sh"), text)  # without the present time
    return base64.b64encode(out.getvalue()).decode()


def with_packages():
    properties = {"displayName": "Tool", "allowUpdates": True, "defaultVersion": "2.0"}
    packages = {"1.0": {"base64": archive("one")}, "2.0": {"base64": archive("two"), "activated": "2026-11-01T09:00:00Z"}, "3.0": {}}
    account = {"location": "eastus", "applications": {"tool": {"properties": properties, "packages": packages}, "bare": {}}}
    return {"groups": {"lab": {"location": "eastus", "batchAccounts": {"seedpacks": account}}}}


def test_applications_and_their_packages(tested, t):
    t.seed(with_packages())
    (tool,) = Plane(tested, "seedpacks", by="token").all("/applications")
    assert (tool["id"], tool["displayName"], sorted(tool["versions"])) == ("tool", "Tool", ["1.0", "2.0"])
    first = t.dump()
    t.seed_again(first)
    applications = first["subscriptions"][tested.subscription]["groups"]["lab"]["batchAccounts"]["seedpacks"]["applications"]
    assert applications["tool"]["properties"]["defaultVersion"] == "2.0" and set(applications) == {"tool", "bare"}
    packages = applications["tool"]["packages"]
    assert packages["2.0"]["base64"] == archive("two") and packages["2.0"]["activated"].startswith("2026-11-01")
    assert packages["3.0"] == {}


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda a: a["packages"]["1.0"].update(base64=1), "a base64 text"),
        (lambda a: a["packages"]["1.0"].update(colour="red"), "a package takes base64 and activated"),
        (lambda a: a["packages"].update({"b d": {}}), "b d"),
        (lambda a: a["properties"].update(defaultVersion="3.0"), "no active package"),
    ],
)
def test_wrong_packages_are_refused(tested, t, change, words):
    seed = with_packages()
    change(seed["groups"]["lab"]["batchAccounts"]["seedpacks"]["applications"]["tool"])
    assert words in t.seed(seed, expect=400)["error"]["message"]
    assert tested.get(f"/subscriptions/{tested.subscription}/resourcegroups")["value"] == []


# --- directories ----------------------------------------------------------------------------------


def test_directories_without_files_are_seeded_and_dumped(tested, t):
    files = {"a/full/f": "text", "a/none/": {}, "b/c/": {}, "d/" * 250 + "f": "deep"}
    t.seed(stored(shares={"out": {"files": files}}))
    folder = tested.share("seednotes", "out")
    assert (folder / "a" / "none").is_dir() and (folder / "b" / "c").is_dir()
    told = t.dump()
    assert told["subscriptions"][tested.subscription]["groups"]["lab"]["storageAccounts"]["seednotes"]["shares"]["out"]["files"] == files
    t.seed_again(told)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a/": "text"}, ["'a/'", "empty directory"]),
        ({"a/": {"text": "x"}}, ["'a/'", "{}"]),
        ({"../": {}}, ["'../'"]),
        ({"/": {}}, ["'/'"]),
        ({"a//": {}}, ["'a//'"]),
        ({"a": "a file", "a/b": "below it"}, ["'a/b'", "below a path that is a file"]),
        ({"a": "a file", "a/b/": {}}, ["'a/b/'", "below a path that is a file"]),
        ({"a/" * 251 + "f": "too deep"}, ["not a valid path of a file"]),
        ({"a/" * 251: {}}, ["empty directory"]),
    ],
)
def test_wrong_directories_are_refused(tested, t, files, words):
    reply = t.seed(stored(shares={"out": {"files": files}}), expect=400)
    assert all(w in reply["error"]["message"] for w in words), reply
    assert t.dump()["subscriptions"][tested.subscription] == {}


# --- states ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"exitCode": 2**31}, "exitCode is 2147483648; it must be from -2147483648 to 2147483647"),
        ({"exitCode": -(2**62)}, "exitCode is -4611686018427387904"),
        ({"exitCode": 1.5}, "whole number"),
        ({"failureInfo": "it broke"}, "failureInfo must be a mapping"),
        ({"failureInfo": [{"code": "c", "message": "m"}]}, "failureInfo must be a mapping"),
    ],
)
def test_wrong_states_are_refused(tested, t, state, words):
    tasks = {"t": {"commandLine": "true", "state": {"state": "completed", **state}}}
    job = {"poolInfo": {"poolId": "p"}, "tasks": tasks}
    account = {"location": "eastus", "pools": {"p": {**POOL, "targetDedicatedNodes": 0}}, "jobs": {"j": job}}
    reply = t.seed({"groups": {"lab": {"location": "eastus", "batchAccounts": {"seedstates": account}}}}, expect=400)
    assert words in reply["error"]["message"]
