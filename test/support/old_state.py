# SPDX-License-Identifier: MIT
"""State directories of older builds, as test/fixtures/make_state.py stores them:

    state.sql      the database: schema, rows, and the pragmas that say whose and which schema it is
    secret.key     the key of its secrets; made for this fixture, used nowhere else
    tree.json      what lay in the directory: the roots of nodes with the records of their tasks, and
                   shares
    replies.json   what the daemon said of every resource right before it was killed

Texts name the directory @STATE@, the daemon @ENDPOINT@, and what the machine was booted as @BOOT@.

restore() makes a state directory of one; revive() gives each task that ran a process that stands for
its supervisor (old_task.py), as processes cannot be stored."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

from .spec import API_VERSION, OLD_VERSIONS

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
STAND_IN = Path(__file__).resolve().parent / "old_task.py"
STATE, ENDPOINT, BOOT = "@STATE@", "@ENDPOINT@", "@BOOT@"
MACHINES = ("127.0.0.1:1", "127.0.0.2:1")  # nothing listens there
CONFIG = {
    "local": {"nodes": 40, "autoscale_idle_s": 86400},
    "inventory": [
        {"hosts": MACHINES[0], "user": "nobody", "vm_sizes": ["STANDARD_NC24"]},
        {"hosts": MACHINES[1], "user": "nobody", "vm_sizes": ["STANDARD_NC12"]},
    ],
    "machines": {"unusable_after_s": 86400},
}
PROVIDER = "/providers/Microsoft.BatchAI"
BATCH_ACCOUNT = "keptbatch"


def mute_agents(daemon):
    """The agents of its local nodes never answer, so that the scheduler takes no step."""
    mute = daemon.dir / "agent"
    mute.write_text("#!/bin/sh\nexec cat > /dev/null\n")
    mute.chmod(0o755)
    daemon.environment["BATCHAI_NODE"] = str(mute)


def boot_id():
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


# --- replies --------------------------------------------------------------------------------------


def _normal(d, value):
    text = json.dumps(value).replace(d.endpoint, ENDPOINT).replace(str(d.state_dir), STATE)
    return json.loads(text)


def _paths(d):
    """(api-version, path) of every resource that lists tell of, the lists among them."""
    subscription = f"/subscriptions/{d.subscription}"
    yield "2018-05-01", f"{subscription}/resourcegroups"
    for group in d.get(f"{subscription}/resourcegroups")["value"]:
        base = f"{subscription}/resourceGroups/{group['name']}"
        yield "2018-05-01", base
        for version in OLD_VERSIONS:
            for kind in ("clusters", "fileServers", "jobs"):
                yield version, f"{base}{PROVIDER}/{kind}"
        yield API_VERSION, f"{base}{PROVIDER}/workspaces"
        for workspace in d.get(f"{base}{PROVIDER}/workspaces")["value"]:
            yield from _in_workspace(d, workspace["id"])


def _in_workspace(d, workspace):
    yield API_VERSION, workspace
    for kind in ("clusters", "fileServers", "experiments"):
        yield API_VERSION, f"{workspace}/{kind}"
        for resource in d.get(f"{workspace}/{kind}")["value"]:
            yield API_VERSION, resource["id"]
            if kind == "experiments":
                yield API_VERSION, resource["id"] + "/jobs"
                for job in d.get(resource["id"] + "/jobs")["value"]:
                    yield API_VERSION, job["id"]


def take_replies(d, operations=()):
    """{"VERSION PATH": {status, etag, json}} of everything there is, these operations too, and which
    node has which job."""
    paths = list(_paths(d))
    paths += [(API_VERSION, url.replace(d.endpoint, "").split("?")[0]) for url in operations]
    replies = {}
    for version, path in paths:
        reply = d.call("GET", path, api_version=version, validate=False)
        body = _normal(d, reply.json) if reply.content else None
        replies[f"{version} {path}"] = {"status": reply.status, "etag": reply.headers.get("ETag"), "json": body}
    nodes = d.call("GET", "/batchaid/nodes", api_version=None).json["value"]
    keep = ("state", "drained", "node", "cluster", "job")
    nodes = {n["name"]: {k: n.get(k) for k in keep} for n in nodes}
    replies["nodes"] = {"status": 200, "etag": None, "json": nodes}
    return replies


def replies_again(d, stored):
    """What the daemon says now where it said `stored`."""
    return take_replies(d, [key.split(" ", 1)[1] for key in stored if "/operationresults/" in key])


# --- storing --------------------------------------------------------------------------------------

KEPT = ("nodes", "storage")
# Where nothing reads them again, or where they would differ with each run; and copies of the agent.
LEFT_OUT = re.compile(r"/agent\.lock$|\.room$|/trash(/|$)|\.sock$|/batchai-node$")


def _content(text, state):
    """A record has room behind it, mostly zeros: of those only the number is stored."""
    kept = text.rstrip("\0")
    kept, zeros = kept.replace(str(state), STATE).replace(boot_id(), BOOT), len(text) - len(kept)
    return {"text": kept, "zeros": zeros} if zeros else {"text": kept}


def _tree(state):
    found = {}
    for top in KEPT:
        for at, directories, files in os.walk(state / top):
            for name in directories + files:
                path = Path(at) / name
                key = str(path.relative_to(state))
                if LEFT_OUT.search(key) or path.is_socket():
                    continue
                status = path.lstat()
                facts = {"mode": status.st_mode & 0o7777}
                if status.st_uid or status.st_gid:  # of a job's account
                    facts["owner"] = [status.st_uid, status.st_gid]
                if path.is_symlink():
                    found[key] = {"link": os.readlink(path).replace(str(state), STATE)}
                elif path.is_dir():
                    found[key] = facts
                else:
                    found[key] = {**facts, **_content(path.read_text(), state)}
    return found


def _dump(database):
    """Of a copy that has its write-ahead log in it: the daemon was killed."""
    with sqlite3.connect(database) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        application = db.execute("PRAGMA application_id").fetchone()[0]
        lines = ["PRAGMA foreign_keys = OFF;", f"PRAGMA user_version = {version};"]
        lines += [f"PRAGMA application_id = {application};", *db.iterdump()]
    return ("\n".join(lines) + "\n").replace(boot_id(), BOOT)


def store(state_dir, out, replies):
    out.mkdir(parents=True)
    (out / "state.sql").write_text(_dump(state_dir / "batchaid.db"))
    (out / "secret.key").write_bytes((state_dir / "secret.key").read_bytes())
    for name, value in (("tree.json", _tree(state_dir)), ("replies.json", replies)):
        (out / name).write_text(json.dumps(value, indent=0, sort_keys=True) + "\n")


# --- bringing it back -----------------------------------------------------------------------------


def restore(name, state_dir):
    """Makes the state directory that fixture `name` was taken of; returns its replies."""
    source = FIXTURES / name
    state_dir.mkdir(parents=True, mode=0o700, exist_ok=True)
    with sqlite3.connect(state_dir / "batchaid.db") as db:
        db.executescript((source / "state.sql").read_text().replace(BOOT, boot_id()))
    (state_dir / "batchaid.db").chmod(0o600)
    (state_dir / "secret.key").write_bytes((source / "secret.key").read_bytes())
    (state_dir / "secret.key").chmod(0o600)
    for key, entry in sorted(json.loads((source / "tree.json").read_text()).items()):
        path = state_dir / key
        path.parent.mkdir(parents=True, exist_ok=True)
        if "link" in entry:
            path.symlink_to(entry["link"].replace(STATE, str(state_dir)))
            continue
        if "text" in entry:
            text = entry["text"].replace(STATE, str(state_dir)).replace(BOOT, boot_id())
            path.write_text(text + "\0" * entry.get("zeros", 0))
        else:
            path.mkdir(exist_ok=True)
        if "owner" in entry:
            os.chown(path, *entry["owner"])
        path.chmod(entry["mode"])
    return json.loads((source / "replies.json").read_text())


def running_tasks(state_dir):
    """The start records of tasks that have not ended."""
    for start in sorted(state_dir.glob("nodes/*/tasks/*.start")):
        if not start.with_suffix(".exit").exists():
            yield start


def revive(state_dir):
    """Starts what stands for each task that ran. Returns {task id: process}; each ends with its
    task, which waits for the flag "go" on the share."""
    flag = state_dir / "storage/acct/files/out/go"
    tasks = {}
    for start in running_tasks(state_dir):
        argv = [sys.executable, str(STAND_IN), str(start), str(flag)]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True, cwd="/")
        assert process.stdout.readline() == b"ready\n", f"{start} was not revived"
        tasks[start.stem] = process
    return tasks
