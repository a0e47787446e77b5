# SPDX-License-Identifier: MIT
"""Tasks of Azure Batch: collections that are acknowledged, tasks through 16 local nodes of 4 slots, from a request to
a task's first line, and very many tasks in one database."""

import json
import multiprocessing
import os
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from support.batch import BatchGround
from support.batch_jobs import add_pool
from support.waiting import wait_for

from . import machine, slurm, stage
from .figures import Figure
from .jobs import instant, peer_is_here
from .load import Client
from .size import size

COLLECTION, CONNECTIONS, ROUNDS = size(100, 10), 4, size(3)
ADDED, AIM_ADDED = size(20_000, 40), 10_000
NODES, SLOTS, TASKS, PEER_TASKS = size(16, 2), 4, size(1_000, 20), size(400, 8)
MANY, MANY_S = size(100_000, 400), size(20)  # so long do many tasks run; then their job is deleted
PROBES, AIM_START_MS = size(50, 2), 10
LARGE = int(os.environ.get("BENCH_TASKS", size(1_000_000, 400)))  # tasks of one database, 100,000 a job
AIM_LARGE_MB, AIM_RESTART_S, AIM_WAIT_MS = 100, 2, 100


class Tasks:
    """Jobs in a Batch account of a daemon."""

    def __init__(self, daemon):
        self.daemon, self.ground = daemon, BatchGround(daemon)
        self.plane = self.ground.plane.with_token()

    def job(self, name, pool="nowhere", **more):
        self.plane.call("POST", "/jobs", {"id": name, "poolInfo": {"poolId": pool}, **more}, expect=201)
        return name

    @contextmanager
    def client(self):
        """A connection, and what its requests say of themselves."""
        with Client(self.daemon) as client:
            client.head |= {"Host": self.plane.host, "Content-Type": "application/json; odata=minimalmetadata"}
            yield client

    def path(self, rest):
        mark = "&" if "?" in rest else "?"
        return f"{rest}{mark}api-version={self.plane.version}"

    def get(self, client, rest):
        return json.loads(client.call("GET", self.path(rest)))

    def counts(self, client, job):
        return self.get(client, f"/jobs/{job}/taskcounts")["taskCounts"]

    def add(self, job, count, command="/bin/true", connections=CONNECTIONS):
        """Adds so many in collections, and returns the seconds that this took."""
        share = count // connections

        def send(number):
            with self.client() as client:
                for first in range(number * share, (number + 1) * share, COLLECTION):
                    tasks = [{"id": f"t{n:07}", "commandLine": command} for n in range(first, first + COLLECTION)]
                    url = self.path(f"/jobs/{job}/addtaskcollection")
                    reply = client.call("POST", url, json.dumps({"value": tasks}))
                    assert reply.count(b'"Success"') == COLLECTION, reply[:500]

        threads = [threading.Thread(target=send, args=(n,)) for n in range(connections)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.monotonic() - start

    def pool(self, name, nodes, slots=SLOTS):
        add_pool(self.plane, name, targetDedicatedNodes=nodes, taskSlotsPerNode=slots)
        wait_for(lambda: self.idle(name) == nodes, limit=60, what=f"{nodes} idle nodes")
        return name

    def idle(self, pool):
        return sum(n["state"] == "idle" for n in self.plane.all(f"/pools/{pool}/nodes"))

    def delete(self, job):
        """Seconds until it is gone."""
        start = time.monotonic()
        self.plane.call("DELETE", f"/jobs/{job}", expect=202)
        wait_for(lambda: self.plane.call("GET", f"/jobs/{job}").status == 404, limit=300, what=f"{job} gone")
        return time.monotonic() - start


def measure_added():
    rates, cpu, syncs = [], [], []
    with stage.running_daemon() as daemon:
        tasks = Tasks(daemon)
        for number in range(ROUNDS):
            job = tasks.job(f"added{number}")
            syncs.append(machine.syncs_per_second(daemon.state_dir, 0.5))
            before = machine.cpu_seconds(daemon.process.pid)
            rates.append(ADDED / tasks.add(job, ADDED))
            cpu.append((machine.cpu_seconds(daemon.process.pid) - before) * 1e6 / ADDED)
    against = {"fdatasync of 4 KiB": syncs}
    return [
        Figure(f"tasks added in collections, {CONNECTIONS} connections", "1/s", rates, AIM_ADDED, True, against),
        Figure("  CPU of the daemon for each", "us", cpu),
    ]


# --- tasks that run ---------------------------------------------------------------------------------------


def last_end(tasks, client, job):
    """The instant of the last task's end, once all have ended."""
    counts = tasks.counts(client, job)
    assert counts["failed"] == 0, counts
    if counts["succeeded"] < TASKS:
        return None
    path, ends = f"/jobs/{job}/tasks?$select=executionInfo", []
    for page in pages(tasks, client, path):
        ends += [instant(t["executionInfo"]["endTime"]) for t in page["value"]]
    return max(ends)


def pages(tasks, client, path):
    while path:
        page = tasks.get(client, path)
        yield page
        path = page.get("odata.nextLink", "").partition(tasks.plane.host)[2]


def run_tasks(tasks, client, job):
    start = time.time()
    tasks.add(job, TASKS, connections=1)
    end = wait_for(lambda: last_end(tasks, client, job), limit=120, what="all tasks to end")
    return TASKS / (end - start)


def run_many(tasks, client, pid):
    """Tasks per second while many wait, and the daemon's memory then; then the job's deletion."""
    job = tasks.job("many", "pool")
    tasks.add(job, MANY)
    start, done = time.monotonic(), tasks.counts(client, job)["completed"]
    time.sleep(MANY_S)
    rate = (tasks.counts(client, job)["completed"] - done) / (time.monotonic() - start)
    return rate, machine.rss_mb(pid), tasks.delete(job)


def measure_tasks():
    rates, spawns, cpu, peers = [], [], [], []
    with ExitStack() as stack:
        peer = stack.enter_context(slurm.Slurm(NODES)) if peer_is_here() else None
        daemon = stack.enter_context(stage.running_daemon())
        tasks = Tasks(daemon)
        client = stack.enter_context(tasks.client())
        tasks.pool("pool", NODES)
        for number in range(ROUNDS):
            before = machine.cpu_seconds(daemon.process.pid)
            rates.append(run_tasks(tasks, client, tasks.job(f"run{number}", "pool")))
            cpu.append((machine.cpu_seconds(daemon.process.pid) - before) * 1e6 / TASKS)
            spawns.append(machine.spawns_per_second(TASKS, NODES, "/bin/true"))
            if peer:
                peers.append(peer.jobs_per_second(PEER_TASKS))
        rate, memory, gone = run_many(tasks, client, daemon.process.pid)
    against = {f"xargs -P{NODES} /bin/true": spawns, **({"Slurm": peers} if peers else {})}
    return [
        Figure(f"{TASKS:,} tasks on {NODES} nodes of {SLOTS} slots", "1/s", rates, None, True, against),
        Figure("  CPU of the daemon for each", "us", cpu),
        Figure(f"  while {MANY:,} wait", "1/s", [rate]),
        Figure("  memory of the daemon then", "MB", [memory], AIM_LARGE_MB),
        Figure("  their job's deletion", "s", [gone]),
    ]


# --- the first line ---------------------------------------------------------------------------------------


def measure_start():
    waited, spawned = [], []
    with stage.running_daemon() as daemon:
        tasks = Tasks(daemon)
        tasks.pool("pool", 1)
        job = tasks.job("probes", "pool")
        with tasks.client() as client:
            for number in range(PROBES):
                out = Path(daemon.dir, f"probe-{number}")
                out.touch()
                out.chmod(0o666)
                command = f"/bin/bash -c 'echo $EPOCHREALTIME > {out}'"
                body = json.dumps({"id": f"p{number}", "commandLine": command})
                start = time.time()
                client.call("POST", tasks.path(f"/jobs/{job}/tasks"), body)
                wait_for(lambda: tasks.counts(client, job)["completed"] > number, what=f"probe {number}")
                waited.append((float(out.read_text()) - start) * 1000)
                spawned.append(machine.spawn_seconds("echo $EPOCHREALTIME") * 1000)
    return [Figure("task added to its first line, idle node", "ms", waited, AIM_START_MS,
                   against={"posix_spawn of bash": spawned})]  # fmt: skip


# --- very many --------------------------------------------------------------------------------------------


class Watch:
    """A process that asks for one job again and again while others are busy: how long it waits at most."""

    def __init__(self, tasks, job):
        self.stop, self.longest = multiprocessing.Event(), multiprocessing.Value("d", 0)
        self.process = multiprocessing.Process(target=self.run, args=(tasks, job))
        self.process.start()

    def run(self, tasks, job):
        with tasks.client() as client:
            while not self.stop.is_set():
                start = time.monotonic()
                tasks.get(client, f"/jobs/{job}")
                self.longest.value = max(self.longest.value, time.monotonic() - start)

    def end(self):
        """Milliseconds."""
        self.stop.set()
        self.process.join()
        return self.longest.value * 1000


def timed(fn):
    start = time.monotonic()
    fn()
    return time.monotonic() - start


def search(tasks, client, job):
    """A filter that no task passes."""
    path = f"/jobs/{job}/tasks?$select=id&$filter=state%20eq%20'completed'"
    assert not any(page["value"] for page in pages(tasks, client, path))


def measure_large():
    each = min(LARGE, 100_000)
    with stage.running_daemon() as daemon:
        tasks, waits = Tasks(daemon), {}
        jobs = [tasks.job(f"large{n}") for n in range(LARGE // each)]
        watched = tasks.job("watched")
        seconds = sum(tasks.add(job, each) for job in jobs)
        memory = [machine.rss_mb(daemon.process.pid)]
        with tasks.client() as client:
            work = {
                "listed": lambda: list(pages(tasks, client, f"/jobs/{jobs[0]}/tasks?$select=id")),
                "searched": lambda: search(tasks, client, jobs[0]),
                "counted": lambda: [tasks.counts(client, jobs[0]) for _ in range(100)],
                "deleted": lambda: tasks.delete(jobs[0]),
            }
            took = {}
            for name, fn in work.items():
                watch = Watch(tasks, watched)
                took[name] = timed(fn)
                waits[name] = watch.end()
        memory.append(machine.rss_mb(daemon.process.pid))
        size = sum(p.stat().st_size for p in daemon.state_dir.glob("*.db*")) / 1e6
        stopped = timed(daemon.stop)
        restarts = [timed(daemon.start)]
        tasks.add(tasks.job("last"), COLLECTION, connections=1)  # or it is as whole as when it was closed in order
        daemon.kill9()
        killed = timed(daemon.start)
    figures = [
        Figure(f"{LARGE:,} tasks: added", "1/s", [LARGE / seconds], AIM_ADDED, True),
        Figure("  memory of the daemon", "MB", memory, AIM_LARGE_MB, note=f"database {size:.0f} MB"),
        Figure("  start again", "s", restarts, AIM_RESTART_S, note=f"stopped in {stopped:.1f} s"),
        Figure("  start after kill -9", "s", [killed], AIM_RESTART_S),
    ]
    for name, ms in waits.items():
        figures.append(Figure(f"  longest wait while {each:,} are {name}", "ms", [ms], AIM_WAIT_MS,
                              note=f"took {took[name]:.2f} s"))  # fmt: skip
    return figures
