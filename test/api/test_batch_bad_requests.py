# SPDX-License-Identifier: MIT
"""What is wrong with requests to Azure Batch's data plane, out of the tables of operations, for every operation of every
version: conditions that are no dates, parameters without sense, ids of strange characters, bodies that are none. Each
is refused as the service refuses it, with what is wrong, and changes nothing."""

import re

import pytest
from support import batch
from support.batch import PRESENT, VERSIONS, BatchGround, operations
from support.batch_jobs import IMAGE, Job, add_pool
from support.deep import ends
from support.waiting import wait_for

pytestmark = pytest.mark.skipif(not PRESENT, reason="the published spec is not here")

# Its items have no table, so that nothing is known of their properties.
SELECT_ANYTHING = ("Task_ListSubtasks",)
# Bodies that are right, so that what is wrong is the rest. The others take an empty one.
RIGHT = {
    "Job_Disable": {"disableTasks": "requeue"},
    "Job_Update": {"poolInfo": {"poolId": "p"}},
    "Task_Update": {"constraints": {"maxTaskRetryCount": 1}},
    "JobSchedule_Update": {"schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "p"}}},
    "Pool_Resize": {"targetDedicatedNodes": 0},
    "Pool_RemoveNodes": {"nodeList": ["nothing"]},
    "Pool_EnableAutoScale": {"autoScaleFormula": "x=1"},
    "Pool_UpgradeOS": {"targetOSVersion": "*"},
}
DATES = ("If-Modified-Since", "If-Unmodified-Since")
WRONG = {
    "maxresults": ("0", "-1", "1001", "x", "1.5", "99999999999999999999", ""),
    "timeout": ("-1", "x", "1e3", "99999999999999999999"),
    "$filter": ("(", "nothing eq 'x'", "id eq", "id eq 'x' and", "not", "eq eq eq", "id eq 'x' or " * 300 + "id eq 'x'", "startswith(id"),
    "$select": ("nothing", "id,nothing", "id/x"),
    "$expand": ("nothing", "stats,nothing"),
    "recursive": ("yes", "1"),
    "force": ("yes", "1"),
    "starttime": ("yesterday", "12:00"),
    "endtime": ("tomorrow", "2018-13-01T00:00:00Z"),
}
BODIES = {
    "no JSON": b"{",
    "nothing": b"",
    "not UTF-8": b'{"id":"\xff\xfe"}',
    "a list": b"[]",
    "a text": b'"x"',
    "a number": b"5",
    "null": b"null",
    "two": b"{}{}",
    "deep": b"[" * 5000,
    "deep inside": b'{"id":' * 5000 + b"1" + b"}" * 5000,
    "a name twice": b'{"id":"a","id":"b"}',
}
IDS = ("%00", "%FF%FE", "%2E%2E", "a%2Fb", "a%0Ab", "%27", "a" * 65, "a" * 2000, "%F0%9F%98%80", "a%20b", "*", "a.b")


class World(BatchGround):
    """One of each thing, so that what is wrong is the request."""

    def __init__(self, daemon):
        super().__init__(daemon)
        add_pool(self.plane, "p", targetDedicatedNodes=1)
        Job(self.plane, "p", id="j").done("/bin/true", "t")
        schedule = {"id": "s", "schedule": {"doNotRunUntil": "2090-01-01T00:00:00Z"}, "jobSpecification": {"poolInfo": {"poolId": "p"}}}
        self.plane.call("POST", "/jobschedules", schedule, expect=201)
        wait_for(lambda: self.plane.get("/pools/p")["allocationState"] == "steady")
        (node,) = self.plane.all("/pools/p/nodes")
        self.ids = {
            "poolId": "p", "nodeId": node["id"], "jobId": "j", "taskId": "t", "jobScheduleId": "s", "filePath": "stdout.txt",
            "fileName": "stdout.txt", "userName": "nobody", "applicationId": "nothing", "extensionName": "nothing",
            "thumbprintAlgorithm": "sha1", "thumbprint": "00",
        }  # fmt: skip
        self.before = self.state()

    def state(self):
        """What bad requests must leave as it is."""
        paths = ("/pools/p", "/jobs/j", "/jobs/j/tasks/t", "/jobschedules/s", f"/pools/p/nodes/{self.ids['nodeId']}")
        return [self.plane.get(path) for path in paths] + [len(self.plane.all(f"/{kind}")) for kind in ("pools", "jobs", "jobschedules", "certificates")]

    def path(self, op, **other):
        return re.sub(r"\{(\w+)\}", lambda m: {**self.ids, **other}[m[1]], op.path)


@pytest.fixture(scope="module")
def world(daemon, temporary_in_file):
    return temporary_in_file(World(daemon))


@pytest.fixture(params=ends(VERSIONS))
def plane(world, request):
    yield world.plane.at(request.param)
    assert world.state() == world.before


def body_for(op):
    return None if op.body in ("", "-") else RIGHT.get(op.id, {})


def complaint(reply, statuses, names=()):
    """Why a reply is not the refusal that it must be; None: it is."""
    if reply.status not in statuses:
        return f"{reply.status} {reply.content[:300]!r}"
    if reply.method == "HEAD":
        return None
    values = batch.values_of(reply)
    if reply.status == 400 and not values:
        return f"no values in {reply.content[:400]!r}"
    if names and reply.status == 400 and not set(names) & set(values.values()):
        return f"none of {names} in {values}"
    return None


def collect(cases):
    """(what, complaint) -> the complaints."""
    wrong = [f"{what}: {why}" for what, why in cases if why]
    assert not wrong, f"{len(wrong)} of them:\n" + "\n".join(wrong[:40])


def test_parameters_without_sense(plane, world):
    def cases():
        for op in operations(plane.version):
            sent = {"$select", "$expand", "$filter", "maxresults", "starttime", "endtime", "recursive", "force"} & set(op.query)
            for name in sorted(sent | {"timeout"}):
                if name == "$select" and op.id in SELECT_ANYTHING:
                    continue
                for value in WRONG[name]:
                    if op.id == "Account_ListPoolNodeCounts" and value == "1001":
                        continue
                    reply = plane.call(op.verb, world.path(op), params={name: value})
                    yield f"{op.id} {name}={value[:40]}", complaint(reply, (400, 404, 409) if "preparation" in op.path else (400, 404), (name,))

    collect(cases())


def test_conditions_that_are_no_dates_or_exclude_each_other(plane, world):
    def cases():
        for op in operations(plane.version):
            for name in DATES:
                if name in op.conditions:
                    body = body_for(op)
                    for value in ("yesterday", "2018-06-07T21:34:00Z", "Thu, 99 Jun 2018 21:34:00 GMT", ""):
                        reply = plane.call(op.verb, world.path(op), body, headers={name: value})
                        yield f"{op.id} {name}: {value}", complaint(reply, (400, 404), (name,))
            if "If-Match" in op.conditions:
                body = body_for(op)
                reply = plane.call(op.verb, world.path(op), body, headers={"If-Match": "*", "If-None-Match": "0x1"})
                yield f"{op.id} with two conditions", complaint(reply, (400,))
                for value in ("nonsense", "0x", '"', "0x8D000000000000", "W/"):
                    reply = plane.call(op.verb, world.path(op), body, headers={"If-Match": value})
                    yield f"{op.id} If-Match: {value}", complaint(reply, (412,))

    collect(cases())


def test_bodies_that_are_none(plane, world):
    def cases():
        for op in operations(plane.version):
            if op.body in ("", "-"):
                continue
            optional = op.id in ("Job_Terminate", "ComputeNode_Reboot", "ComputeNode_Reimage", "ComputeNode_DisableScheduling", "ComputeNode_Deallocate")
            for what, data in BODIES.items():
                if data == b"" and optional:
                    continue
                reply = plane.call(op.verb, world.path(op), data=data)
                yield f"{op.id} {what}", complaint(reply, (400, 404, 409) if "{" in op.path else (400,))
            reply = plane.call(op.verb, world.path(op), data=b'{"id":"' + b"x" * 1100000 + b'"}')
            yield f"{op.id} large", complaint(reply, (413,))

    collect(cases())


def test_ids_of_strange_characters(plane, world):
    def cases():
        for op in operations(plane.version):
            for name in re.findall(r"\{(\w+)\}", op.path):
                for value in IDS:
                    body = {} if op.body not in ("", "-") else None
                    reply = plane.with_token().call(op.verb, world.path(op, **{name: value}), body, validate=False)
                    yield f"{op.id} {name}={value[:20]}", complaint(reply, (400, 403, 404, 405, 409, 414))

    collect(cases())


def test_ids_of_strange_characters_are_not_made(plane):
    vm = {"imageReference": IMAGE, "nodeAgentSKUId": "batch.node.ubuntu 22.04"}
    bodies = {
        "/pools": {"vmSize": "a", "virtualMachineConfiguration": vm},
        "/jobs": {"poolInfo": {"poolId": "p"}},
        "/jobschedules": {"schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "p"}}},
        "/jobs/j/tasks": {"commandLine": "x"},
    }

    def cases():
        for path, body in bodies.items():
            for id in ("", "a b", "a/b", "..", "a\n", "'", "a" * 65, "\U0001f600", 5, None, ["a"], "a.b", "\x00"):
                reply = plane.call("POST", path, {**body, "id": id})
                yield f"{path} {id!r}", complaint(reply, (400,), () if id == "\x00" else ("id",))

    collect(cases())


def test_tokens_of_other_pages(plane, world):
    def cases():
        for op in operations(plane.version):
            if "maxresults" in op.query and "{" not in op.path:
                for token in ("nonsense", "", "%", "\U0001f600", "a" * 3000, "-1"):
                    reply = plane.call("GET", op.path, params={"$skiptoken": token})
                    yield f"{op.id} {token[:20]}", None if reply.status == 200 else complaint(reply, (400,))
                target = f"{op.path}?$skiptoken=%FF%FE&api-version={plane.version}"
                reply = plane.daemon.call("GET", target, headers={"Host": plane.host}, api_version=None, validate=False)
                yield f"{op.id} bytes", complaint(reply, (400,))

    collect(cases())
