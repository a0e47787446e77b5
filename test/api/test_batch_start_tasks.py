# SPDX-License-Identifier: MIT
"""Start tasks of Azure Batch's pools: nodes that wait for them and nodes that do not, and whom they run as."""

import os

import pytest
from support.batch import BatchGround
from support.batch_jobs import Jobs, add_pool
from support.waiting import wait_for
from support.world import fresh

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only a daemon that is root gives tasks accounts")
ACCOUNTS = [
    {"name": "worker", "password": "pa55word-1", "elevationLevel": "nonadmin"},
    {"name": "chief", "password": "pa55word-2", "elevationLevel": "admin"},
]
# Goes on until somebody says how it is to end.
WAITS = "echo began >> began; until [ -s ../../shared/end ]; do sleep 0.05; done; exit $(cat ../../shared/end)"


class Pool:
    """A pool of one node, and its start task."""

    def __init__(self, plane, **more):
        self.plane, self.name = plane, fresh("pool")
        self.jobs = Jobs(plane, self.name)
        add_pool(plane, self.name, **{"targetDedicatedNodes": 1, **more})

    def node(self):
        nodes = self.plane.all(f"/pools/{self.name}/nodes")
        return nodes[0] if nodes else {"state": None}

    def wait(self, state):
        wait_for(lambda: self.node()["state"] == state, what=f"a node that is {state}")
        return self.node()

    def ended(self):
        wait_for(lambda: self.node()["startTaskInfo"]["state"] == "completed", what="the start task's end")
        return self.node()["startTaskInfo"]

    def text(self, path):
        url = f"/pools/{self.name}/nodes/{self.node()['id']}/files/{path}"
        return self.plane.call("GET", url, expect=200).content.decode()

    def run(self, script, **more):
        """What a task of the pool says."""
        job = self.jobs()
        done = job.done(f"/bin/sh -c '{script}'", id="t", **more)
        assert done["executionInfo"].get("exitCode") == 0, done
        return job.text("t")

    def end(self, code=0):
        self.run(f"echo {code} > $AZ_BATCH_NODE_SHARED_DIR/end")

    def remove(self):
        self.jobs.remove()
        self.plane.call("DELETE", f"/pools/{self.name}", expect=202)


def start(line=WAITS, waits=False, **more):
    return {"commandLine": f"/bin/sh -c '{line}'", "waitForSuccess": waits, **more}


@pytest.fixture
def pool(plane, temporary):
    return lambda **more: temporary(Pool(plane, **more))


def test_a_node_that_does_not_wait_runs_tasks_meanwhile(pool):
    p = pool(startTask=start())
    info = p.wait("idle")["startTaskInfo"]
    assert info["state"] == "running" and "endTime" not in info and "result" not in info
    assert p.run("echo task") == "task\n"
    assert p.node()["startTaskInfo"] == info
    p.end()
    info = p.ended()
    assert info["result"] == "success" and info["exitCode"] == 0 and info["endTime"] > info["startTime"]
    assert p.node()["state"] == "idle" and p.text("startup/wd/began") == "began\n"


def test_it_may_fail(pool):
    p = pool(startTask=start())
    p.wait("idle")
    p.end(3)
    info = p.ended()
    assert info["result"] == "failure" and info["exitCode"] == 3
    assert info["failureInfo"]["code"] == "FailureExitCode"
    assert p.node()["state"] == "idle" and p.run("echo task") == "task\n"


def test_it_is_tried_again_beside_tasks(pool):
    p = pool(startTask=start(maxTaskRetryCount=2))
    p.wait("idle")
    p.end(1)
    info = p.ended()
    assert info["retryCount"] == 2 and info["exitCode"] == 1 and info["lastRetryTime"] > info["startTime"][:10]
    assert p.text("startup/wd/began") == "began\n" * 3


def test_a_node_that_waits_runs_nothing_before(pool):
    p = pool(startTask=start("until [ -e go ]; do sleep 0.05; done", waits=True))
    assert p.wait("waitingforstarttask")["startTaskInfo"]["state"] == "running"


def test_a_restart_of_the_node_runs_it_again(pool):
    p = pool(startTask=start())
    p.wait("idle")
    before = p.node()["startTaskInfo"]["startTime"]
    p.plane.call("POST", f"/pools/{p.name}/nodes/{p.node()['id']}/reboot", {}, expect=202)
    wait_for(lambda: p.node()["startTaskInfo"]["startTime"] > before, what="another run of the start task")
    assert p.wait("idle")["startTaskInfo"]["state"] == "running"
    p.end()
    assert p.ended()["result"] == "success"


def test_a_node_that_leaves_does_not_wait_for_it(pool):
    p = pool(startTask=start())
    p.wait("idle")
    p.plane.call("POST", f"/pools/{p.name}/resize", {"targetDedicatedNodes": 0}, expect=202)
    wait_for(lambda: p.plane.all(f"/pools/{p.name}/nodes") == [], what="the node is gone")


def test_without_a_start_task_a_node_that_runs_one_goes_on(pool):
    p = pool(startTask=start())
    p.wait("idle")
    p.plane.call("POST", f"/pools/{p.name}/updateproperties", {
        "applicationPackageReferences": [], "metadata": [], "certificateReferences": []
    }, expect=204)  # fmt: skip
    p.end()
    assert p.ended()["result"] == "success"


@pytest.fixture
def own(own_daemon):
    d = own_daemon()
    p = Pool(BatchGround(d).plane, startTask=start(maxTaskRetryCount=1))
    p.daemon = d
    p.wait("idle")
    wait_for(lambda: p.node()["startTaskInfo"]["state"] == "running", what="the start task")
    return p


def test_it_outlives_the_daemon(own):
    wait_for(lambda: own.plane.call("GET", f"/pools/{own.name}/nodes/{own.node()['id']}/files/startup/wd/began").status == 200)
    for _ in range(2):
        own.daemon.crash()
    own.end(0)
    info = own.ended()
    assert info["result"] == "success" and info["retryCount"] == 0 and own.text("startup/wd/began") == "began\n"


def test_its_end_is_noticed_by_the_next_daemon(own):
    job = own.jobs()
    job.add("/bin/sh -c 'until [ -e now ]; do sleep 0.05; done; echo 4 > $AZ_BATCH_NODE_SHARED_DIR/end'", id="t")
    root = next(own.daemon.state_dir.glob("nodes/*/batch"))
    wd = wait_for(lambda: next(root.glob("workitems/*/*/t/wd"), None), what="the task")
    wait_for((root / "startup" / "wd" / "began").exists, what="the start task")
    own.daemon.kill9()
    wd.joinpath("now").touch()
    wait_for((root / "shared" / "end").exists, what="the file")
    own.daemon.start()
    info = own.ended()
    assert info["retryCount"] == 1 and info["exitCode"] == 4
    assert own.text("startup/wd/began") == "began\n" * 2


def auto(scope, elevation="nonadmin"):
    return {"userIdentity": {"autoUser": {"scope": scope, "elevationLevel": elevation}}}


@ROOT
@pytest.mark.parametrize("waits", [True, False])
def test_whom_it_runs_as(pool, waits):
    identities = {"pool": auto("pool"), "task": auto("task"), "worker": {"userIdentity": {"username": "worker"}}}
    for name, identity in identities.items():
        p = pool(startTask=start("id -u; touch made", waits, **identity), userAccounts=ACCOUNTS)
        p.wait("idle")
        assert p.ended()["result"] == "success", p.node()
        started, usual = p.text("startup/stdout.txt"), p.run("id -u")
        assert started != "0\n" and (started == usual) == (name == "pool")
        assert name != "worker" or started == p.run("id -u", **identity)


def test_administrators_have_sudo(pool):
    for identity in (auto("pool", "admin"), auto("task", "admin"), {"userIdentity": {"username": "chief"}}):
        pool(startTask=start("sudo true", True, **identity), userAccounts=ACCOUNTS).wait("idle")


@pytest.mark.parametrize("waits, state", [(True, "starttaskfailed"), (False, "idle")])
def test_a_program_that_is_not_there(daemon, pool, waits, state):
    if waits:
        daemon.expect_log(r"warn node\.unusable")
    p = pool(startTask={"commandLine": "no-such-program x", "waitForSuccess": waits, "maxTaskRetryCount": 2})
    p.wait(state)
    info = p.ended()
    assert info["failureInfo"]["code"] == "CommandProgramNotFound" and info["retryCount"] == 0
    assert "no-such-program" in str(info) and "exitCode" not in info


def test_what_a_failed_start_task_wrote_can_be_read_while_its_agent_answers(own_daemon):
    d = own_daemon()
    d.expect_log(r"warn node\.|node\.agent|link")
    p = Pool(BatchGround(d).plane, startTask=start("echo why >&2; exit 2", True))
    node = p.wait("starttaskfailed")
    assert p.text("startup/stderr.txt") == "why\n"
    assert "its stderr ends with: why" in str(node["startTaskInfo"]["failureInfo"]) and "why" in str(node["errors"])
    assert "startup" in str(p.plane.all(f"/pools/{p.name}/nodes/{node['id']}/files"))
    d.restart()
    url = f"/pools/{p.name}/nodes/{node['id']}/files/startup/stderr.txt"
    wait_for(lambda: p.plane.call("GET", url).content == b"why\n", what="a link for who reads")
    assert p.node()["state"] == "starttaskfailed", "it is not tried again"
    # Nothing can be started there any more.
    d.stop()
    root = d.state_dir / "nodes" / node["id"]
    root.rename(d.state_dir / "away")
    root.write_text("no directory")
    d.start()
    lost = wait_for(lambda: (r := p.plane.call("GET", url)).status != 503 and r, what="another answer")
    assert lost.status == 409 and lost.json["code"] == "NodeStateUnusable", lost.json
    assert "cannot be reached" in str(lost.json) and p.node()["state"] == "starttaskfailed"
    d.stop()
    root.unlink()
    (d.state_dir / "away").rename(root)
    d.start()
    wait_for(lambda: p.plane.call("GET", url).content == b"why\n", what="the output once the agent runs again")


@pytest.mark.parametrize("waits", [True, False])
def test_its_files_belong_to_whom_it_runs_as(pool, others, waits):
    """Also when it runs once more on the same node."""
    others.files["/s/notes"] = b"given\n"
    files = [{"httpUrl": f"{others.url}/s/notes", "filePath": "in/notes"}]
    for identity in (auto("task"), {"userIdentity": {"username": "worker"}}):
        line = "echo more >> in/notes; cat in/notes"
        p = pool(startTask=start(line, waits, resourceFiles=files, **identity), userAccounts=ACCOUNTS)
        p.wait("idle")
        assert p.ended()["result"] == "success", p.node()
        before = p.node()["startTaskInfo"]["startTime"]
        p.plane.call("POST", f"/pools/{p.name}/nodes/{p.node()['id']}/reboot", {}, expect=202)
        wait_for(lambda p=p, t=before: p.node()["startTaskInfo"]["startTime"] > t, what="another run")
        p.wait("idle")
        assert p.ended()["result"] == "success", p.node()
        assert p.text("startup/stdout.txt") == "given\nmore\n"
