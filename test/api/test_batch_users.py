# SPDX-License-Identifier: MIT
"""Whom tasks of Azure Batch run as: automatic users of task and pool, administrators, accounts of the pool."""

import contextlib
import grp
import hashlib
import os
import pwd
import subprocess

import pytest
from support.batch import BatchGround, Plane, V
from support.batch_jobs import POOL, Jobs, add_pool, numbers, resize
from support.daemon import Daemon
from support.people import Person
from support.waiting import wait_for

ACCOUNTS = [
    {"name": "worker", "password": "pa55word-1", "elevationLevel": "nonadmin"},
    {"name": "chief", "password": "pa55word-2", "elevationLevel": "admin"},
]
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only a daemon that is root gives tasks accounts")

OWN_POOL = {"id": "users", "targetDedicatedNodes": 1, "taskSlotsPerNode": 4, "userAccounts": ACCOUNTS}


def auto(scope="pool", elevation="nonadmin"):
    return {"userIdentity": {"autoUser": {"scope": scope, "elevationLevel": elevation}}}


def named(name):
    return {"userIdentity": {"username": name}}


def said(job, task):
    job.succeed(task)
    return job.text(task).split()


@ROOT
def test_who_is_who(jobs):
    job = jobs()
    who = lambda **more: said(job, job.add("id -u", **more))[0]
    pool, again, own, other = who(**auto()), who(), who(**auto("task")), who(**auto("task"))
    worker, chief = who(**named("worker")), who(**named("chief"))
    assert pool == again and worker == who(**named("worker"))
    assert len({pool, own, other, worker, chief, "0"}) == 6


def test_each_has_its_own_directory_and_all_may_pass(jobs):
    job = jobs()
    check = "/bin/sh -ec 'echo mine > file; cat $AZ_BATCH_TASK_WORKING_DIR/file; ls $AZ_BATCH_NODE_SHARED_DIR'"
    slow = job.begin("/bin/sh -ec 'until [ -e go ]; do sleep 0.05; done'", **auto("task"))
    for identity in (auto(), auto("task"), named("worker"), named("chief")):
        assert said(job, job.add(check, **identity)) == ["mine"]
    assert job.task(slow)["state"] == "running"


def test_sudo_is_the_administrators_alone(jobs):
    job = jobs()
    command = "/bin/sh -c 'sudo -n -E NAME=value sh -c \"echo \\$NAME \\$(id -u)\"; id -u'"
    for identity in (auto("pool", "admin"), auto("task", "admin"), named("chief")):
        value, sudo, own = said(job, job.add(command, **identity))
        assert value == "value" and sudo == own
    task, _ = job.ran("/bin/sh -c 'command -v sudo'", **auto())
    assert "/sudo/sudo" not in job.plane.call("GET", f"{job.url}/tasks/{task}/files/stdout.txt").content.decode()


@ROOT
def test_an_administrator_is_not_root_here(jobs):
    job = jobs()
    assert said(job, job.add("sudo id -u", **auto("pool", "admin"))) != ["0"]


@ROOT
def test_a_site_may_make_administrators_root():
    with Daemon(config={"batch": {"admin_is_root": True}}) as d:
        g = BatchGround(d)
        add_pool(g.plane, "roots", targetDedicatedNodes=1, userAccounts=ACCOUNTS)
        jobs = Jobs(g.plane, "roots")
        job = jobs()
        assert said(job, job.add("sudo id -u", **auto("task", "admin"))) == ["0"]
        assert said(job, job.add("sudo id -u", **named("chief"))) == ["0"]
        assert said(job, job.add("id -u", **named("worker"))) != ["0"]
        jobs.remove()
        g.remove()


class Of(Plane):
    """The account as one person uses it."""

    def __init__(self, ground, person):
        p = ground.plane
        super().__init__(p.daemon, p.account, p.key, p.version, "token", p.location)
        reply = person.login(resource="https://batch.core.windows.net/")
        assert reply.status == 200, reply
        self.token = reply.json["access_token"]

    def head(self, *args, **more):
        return {**super().head(*args, **more), "Authorization": f"Bearer {self.token}"}


@pytest.fixture(scope="module")
def roots():
    """A site that makes administrators root: (the owner's ground, who submits, who also writes pools)."""
    with Daemon(config={"batch": {"admin_is_root": True}, "containers": {"user": "image"}}) as d:
        g = BatchGround(d)
        add_pool(g.plane, "plain", targetDedicatedNodes=1)
        add_pool(g.plane, "roots", targetDedicatedNodes=0, userAccounts=ACCOUNTS)
        yield g, Of(g, Person(d, "Azure Batch Job Submitter")), Of(g, Person(d, "Azure Batch Data Contributor"))
        g.remove()


AS_ADMIN = "batchaid/nodes/runAsAdmin/action"
ROOTED = {"commandLine": "/bin/true", **auto("task", "admin")}


def in_pool(name, **more):
    return {"poolInfo": {"poolId": "plain"}, "id": name, **more}


@pytest.mark.parametrize("path, body", [
    ("/jobs/j0/tasks", {"id": "t1", **ROOTED}),
    ("/jobs/j0/tasks", {"id": "t2", "commandLine": "/bin/true", **named("chief")}),
    ("/jobs/j0/tasks", {"id": "t4", "commandLine": "/bin/true", **named("later")}),
    ("/jobs/j0/tasks", {"id": "t3", "commandLine": "/bin/true", "containerSettings": {"imageName": "i"}}),
    ("/jobs", in_pool("j1", jobManagerTask={"id": "m", **ROOTED})),
    ("/jobs", in_pool("j2", jobPreparationTask=ROOTED)),
    ("/jobs", in_pool("j3", jobPreparationTask={"commandLine": "/bin/true"}, jobReleaseTask=ROOTED)),
    ("/jobs", {**in_pool("j4", jobManagerTask={"id": "m", "commandLine": "/bin/true", **named("chief")}),
               "poolInfo": {"poolId": "nowhere"}}),
    ("/jobschedules", {"id": "s1", "schedule": {}, "jobSpecification": {
        "poolInfo": {"poolId": "plain"}, "jobManagerTask": {"id": "m", **ROOTED}}}),
])  # fmt: skip
def test_what_runs_as_root_takes_a_right_that_no_submitter_has(roots, path, body):
    ground, submitter, contributor = roots
    ground.plane.call("POST", "/jobs", {"id": "j0", "poolInfo": {"poolId": "roots"}}, expect=(201, 409))
    reply = submitter.call("POST", path, body)
    assert reply.status == 403 and AS_ADMIN in reply.content.decode(), reply
    contributor.call("POST", path, body, expect=201)


def test_entries_of_a_collection_are_asked_one_by_one(roots):
    ground, submitter, _ = roots
    ground.plane.call("POST", "/jobs", {"id": "j0", "poolInfo": {"poolId": "roots"}}, expect=(201, 409))
    plain = {"id": "c1", "commandLine": "/bin/true", **named("worker")}
    reply = submitter.call("POST", "/jobs/j0/addtaskcollection", {"value": [plain, {"id": "c2", **ROOTED}]}, expect=200)
    first, second = reply.json["value"]
    assert first["status"] == "Success"
    assert second["status"] == "ClientError" and AS_ADMIN in str(second["error"])


def test_a_job_moves_to_a_pool_with_administrators_by_those_who_may(roots):
    ground, submitter, contributor = roots
    submitter.call("POST", "/jobs", in_pool("moves"), expect=201)
    submitter.call("POST", "/jobs/moves/disable", {"disableTasks": "requeue"}, expect=202)
    wait_for(lambda: submitter.get("/jobs/moves")["state"] == "disabled", what="disabled")
    move = {"poolInfo": {"poolId": "roots"}}
    reply = submitter.call("PATCH", "/jobs/moves", move)
    assert reply.status == 403 and AS_ADMIN in reply.content.decode(), reply
    contributor.call("PATCH", "/jobs/moves", move, expect=200)


def test_a_task_lets_run_as_root_only_what_it_could_itself(roots):
    ground, submitter, contributor = roots
    token = {"authenticationTokenSettings": {"access": ["job"]}}
    show = {"commandLine": '/bin/sh -c "echo $AZ_BATCH_AUTHENTICATION_TOKEN; until [ -e go ]; do sleep 0.05; done"', **token}
    contributor.call("POST", "/jobs", in_pool("tokens"), expect=201)
    for id, identity, status in (("plain", {}, 403), ("rooted", auto("task", "admin"), 201)):
        contributor.call("POST", "/jobs/tokens/tasks", {"id": id, **show, **identity}, expect=201)
        out = lambda id=id: ground.plane.call("GET", f"/jobs/tokens/tasks/{id}/files/stdout.txt", validate=False)
        wait_for(lambda: out().status == 200 and out().content.endswith(b"\n"), what="its token")
        inner = Plane(ground.plane.daemon, ground.plane.account, None, ground.plane.version, "token", ground.plane.location)
        bearer = {"Authorization": "Bearer " + out().content.decode().strip()}
        reply = inner.call("POST", "/jobs/tokens/tasks", {"id": f"by-{id}", **ROOTED}, headers=bearer)
        assert reply.status == status and (status == 201 or AS_ADMIN in reply.content.decode()), reply
        contributor.call("POST", f"/jobs/tokens/tasks/{id}/terminate", expect=204)


def test_an_account_that_the_pool_does_not_have(jobs):
    info = jobs().done("/bin/true", **named("nobody"))["executionInfo"]["failureInfo"]
    assert info["code"] == "TaskSchedulingConstraintFailed" and "nobody" in str(info)
    assert info["category"] == "UserError"


def test_a_preparation_by_an_account_that_the_pool_does_not_have(jobs):
    job = jobs(jobPreparationTask={"commandLine": "/bin/true", **named("nobody")})
    task = job.add("/bin/true")
    status = lambda: job.plane.all(f"{job.url}/jobpreparationandreleasetaskstatus")
    wait_for(lambda: [r["jobPreparationTaskExecutionInfo"]["state"] for r in status()] == ["completed"], what="its end")
    (row,) = status()
    info = row["jobPreparationTaskExecutionInfo"]["failureInfo"]
    assert (info["code"], info["category"]) == ("TaskSchedulingConstraintFailed", "UserError") and "nobody" in str(info)
    wait_for(lambda: job.task(task)["state"] == "active", what="a task that waits")


# --- numbers and keys ----------------------------------------------------------------------------------------------------


def fresh_ids(n):
    """Numbers that no account and no group has, and no other run of these tests."""
    taken = {e.pw_uid for e in pwd.getpwall()} | {e.gr_gid for e in grp.getgrall()}
    first = 20000 + os.getpid() % 20000
    return [i for i in range(first, first + 1000) if i not in taken][:n]


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """A pair: the private half, and the public one."""
    path = tmp_path_factory.mktemp("key") / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path], check=True)
    return path.read_text(), path.with_suffix(".pub").read_text().strip()


def account(name, **linux):
    return {"name": name, "password": "pa55word-1", "linuxUserConfiguration": linux}


class Numbered:
    """A pool with one node and these accounts."""

    def __init__(self, plane, *accounts, **more):
        self.plane, self.id = plane, f"numbered{next(numbers)}"
        add_pool(plane, self.id, targetDedicatedNodes=1, userAccounts=list(accounts), **more)
        self.jobs = Jobs(plane, self.id)

    def node(self):
        (node,) = self.plane.all(f"/pools/{self.id}/nodes")
        return node

    def wait_state(self, state):
        wait_for(lambda: [n["state"] for n in self.plane.all(f"/pools/{self.id}/nodes")] == [state], what=state)
        return self.node()

    def remove(self):
        self.jobs.remove()
        self.plane.remove_pool(self.id)


@pytest.fixture
def numbered(plane, temporary):
    return lambda *accounts, **more: temporary(Numbered(plane, *accounts, **more))


@ROOT
def test_an_account_has_the_numbers_that_it_was_given(numbered):
    uid, gid, other = fresh_ids(3)
    pool = numbered(account("first", uid=uid, gid=gid), account("second", uid=other, gid=gid))
    job = pool.jobs()
    ids = "/bin/sh -ec 'id -u; id -g; touch $AZ_BATCH_TASK_WORKING_DIR/file; stat -c \"%u %g\" $AZ_BATCH_TASK_WORKING_DIR/file'"
    assert said(job, job.add(ids, **named("first"))) == [str(n) for n in (uid, gid, uid, gid)]
    assert said(job, job.add(ids, **named("second"))) == [str(n) for n in (other, gid, other, gid)]
    again = pool.jobs()
    assert said(again, again.add("id -u", **named("first"))) == [str(uid)]


@ROOT
def test_it_keeps_them_over_restarts_and_loses_them_with_its_pool(numbered, daemon):
    daemon.expect_log("node.orphan_found")  # of a pool before, whose files were not all gone
    (uid,) = fresh_ids(1)
    pool = numbered(account("first", uid=uid, gid=uid), taskSlotsPerNode=2)
    job = pool.jobs()
    task = job.begin("sleep 1000", **named("first"))
    daemon.restart()
    assert said(job, job.add("id -u", **named("first"))) == [str(uid)]
    runs = lambda: subprocess.run(["pgrep", "-u", str(uid)], capture_output=True, text=True).stdout.split()
    assert runs()
    reboot = {"nodeRebootOption": "terminate"}
    pool.plane.call("POST", f"/pools/{pool.id}/nodes/{pool.node()['id']}/reboot", reboot, expect=202)
    wait_for(lambda: not runs(), what="its processes are gone")
    pool.wait_state("idle")
    assert said(job, job.add("id -u", **named("first"))) == [str(uid)]


@ROOT
@pytest.mark.parametrize("whose", ["uid", "gid"])
def test_numbers_of_the_machine_are_not_given_away(numbered, daemon, whose):
    daemon.expect_log("node.unusable")
    free, _ = fresh_ids(2)
    taken = {"uid": pwd.getpwnam("nobody").pw_uid, "gid": grp.getgrnam("daemon").gr_gid}[whose]
    pool = numbered(account("thief", **{"uid": free, "gid": free, whose: taken}))
    (error,) = pool.wait_state("unusable")["errors"]
    assert "thief" in str(error) and f"the {whose} {taken} belongs to" in str(error)


@ROOT
def test_a_key_pair_is_in_the_home_of_its_account(numbered, key):
    private, public = key
    pool = numbered(account("keyed", sshPrivateKey=private), enableInterNodeCommunication=True)
    job = pool.jobs()
    shown = "/bin/sh -ec 'cd ~/.ssh; stat -c %a%U . id_rsa authorized_keys; cat id_rsa.pub authorized_keys; cat id_rsa | sha256sum'"
    lines = said(job, job.add(shown.replace("%a%U", "%a"), **named("keyed")))
    sha = hashlib.sha256(private.encode()).hexdigest()
    assert lines == ["700", "600", "600", *public.split(), *public.split(), sha, "-"]
    for path in (f"/pools/{pool.id}", "/pools"):
        assert "PRIVATE KEY" not in pool.plane.call("GET", path, expect=200).content.decode()


@ROOT
def test_a_key_that_ssh_cannot_use_is_told(numbered, daemon):
    daemon.expect_log("node.unusable")
    key = "-----BEGIN PRIVATE KEY-----\nMAASECRETSECRETA\n-----END PRIVATE KEY-----"
    pool = numbered(account("keyed", sshPrivateKey=key), enableInterNodeCommunication=True)
    (error,) = pool.wait_state("unusable")["errors"]
    assert "the private key of" in str(error) and "ssh-keygen" in str(error)
    assert "SECRET" not in str(error) and "SECRETSECRET" not in "\n".join(daemon.log())


@ROOT
def test_other_numbers_are_taken_when_a_node_is_made_anew(numbered, daemon):
    daemon.expect_log("node.unusable")
    old, new = fresh_ids(2)
    pool = numbered(account("first", uid=old, gid=old))
    job = pool.jobs()
    assert said(job, job.add("id -u", **named("first"))) == [str(old)]
    newest = pool.plane.at(V["20.0"])
    resize(pool.plane, pool.id, 0)
    newest.call("PATCH", f"/pools/{pool.id}", {"userAccounts": [account("first", uid=new, gid=new)]}, expect=200)
    resize(pool.plane, pool.id, 1)
    pool.wait_state("idle")
    assert said(job, job.add("/bin/sh -c 'id -u; id -g'", **named("first"))) == [str(new), str(new)]


@ROOT
def test_without_communication_between_nodes_there_is_no_pair(numbered, key):
    job = numbered(account("keyed", sshPrivateKey=key[0])).jobs()
    assert said(job, job.add("/bin/sh -c 'ls -A ~/.ssh 2>/dev/null || echo none'", **named("keyed"))) == ["none"]


def test_a_private_key_is_in_no_file_of_the_daemons(numbered, key, daemon):
    numbered(account("keyed", sshPrivateKey=key[0]), enableInterNodeCommunication=True)
    body = key[0].splitlines()[2].encode()
    for path in daemon.state_dir.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # nodes of other tests come and go
            assert ".ssh" in path.parts or not path.is_file() or body not in path.read_bytes(), path
    assert body.decode() not in "\n".join(daemon.log())


ENCRYPTED = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----"


@pytest.mark.parametrize(
    "linux, place",
    [
        ({"uid": 1500}, ""),
        ({"gid": 1500}, ""),
        ({"uid": -1, "gid": 1500}, ".uid"),
        ({"uid": 0, "gid": 0}, ".uid"),
        ({"uid": 2**31, "gid": 1500}, ".uid"),
        ({"uid": 1500, "gid": 2**31}, ".gid"),
        ({"uid": "root", "gid": 1500}, ".uid"),
        ({"sshPrivateKey": "a secret that is no key"}, ".sshPrivateKey"),
        ({"sshPrivateKey": ENCRYPTED}, ".sshPrivateKey"),
        ({"sshPrivateKey": "x" * 20000}, ".sshPrivateKey"),
    ],
    ids=lambda v: str(v)[:40],
)
def test_what_is_no_number_and_no_key_is_refused(plane, linux, place):
    values = refused_account(plane, account("one", **linux))
    assert values["PropertyName"] == "userAccounts[0].linuxUserConfiguration" + place
    assert "secret" not in str(values) and "MAA=" not in str(values) and "xxxx" not in str(values)


def refused_account(plane, *accounts):
    return plane.refused(400, "InvalidPropertyValue", "POST", "/pools", {"id": "never", **POOL, "userAccounts": list(accounts)})


@pytest.mark.parametrize("other", [account("two", uid=1500, gid=1501), account("one")], ids=["uid", "name"])
def test_two_accounts_are_two(plane, other):
    values = refused_account(plane, account("one", uid=1500, gid=1500), other)
    assert values["PropertyName"] == "userAccounts" and "must differ" in values["Reason"]


@pytest.mark.parametrize("text", ["two\nlines", "x" * 600, "\U0001f511" * 200], ids=["lines", "long", "bytes"])
def test_a_password_is_one_line_of_a_bearable_length(plane, text):
    values = refused_account(plane, {"name": "one", "password": text})
    assert values["PropertyName"] == "userAccounts[0].password" and text not in str(values)


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a\nb", "../up", "-n", "root", "\u00fc", "x" * 21])
def test_a_name_is_that_of_an_account(plane, name):
    assert refused_account(plane, {"name": name, "password": "p"})["PropertyName"] == "userAccounts[0].name"


def test_a_start_task_of_an_administrator_has_sudo(plane):
    start = {"commandLine": "/bin/sh -c 'command -v sudo; sudo -n true'", **auto("pool", "admin")}
    add_pool(plane, "started", targetDedicatedNodes=1, startTask=start)
    wait_for(lambda: [n["state"] for n in plane.all("/pools/started/nodes")] == ["idle"], what="it succeeds")
    (node,) = plane.all("/pools/started/nodes")
    out = plane.call("GET", f"/pools/started/nodes/{node['id']}/files/startup%2Fstdout.txt", expect=200).content
    assert out.endswith(b"/sudo/sudo\n")
    plane.call("DELETE", "/pools/started", expect=202)
