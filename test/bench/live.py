# SPDX-License-Identifier: MIT
"""Pages that look on: 100 streams of events of ten people, while 200 jobs a second are put and 16 connections read a job.
How long after a PUT's answer its event is at a page, and how many reads there are, against none looking on. The pages
are a process of their own, which reads all streams over TLS, and takes apart what a few of them say."""

import json
import multiprocessing
import re
import selectors
import threading
import time
from statistics import median

from support.event_streams import Stream
from support.people import Person

from . import stage
from .figures import Figure, percentile, short
from .load import Client, wrk
from .machine import cpu_seconds
from .size import size

STREAMS, PEOPLE, WATCHED = size(100, 4), size(10, 2), size(5)
RATE, CHANGERS, SECONDS, ROUNDS, CONNECTIONS = size(200, 50), 4, size(5), size(4), 16
AIM_MEDIAN_MS, AIM_P99_MS, AIM_READS = 500, 1000, 0.9
NAME = re.compile(rb'"name":"(live-[-0-9]+)"')


def pages(daemon, tokens, ends, answer):
    """The process: sends when each job came to the first streams, as [(name, time), ...]."""
    streams = [Stream(daemon, token=tokens[i % len(tokens)]) for i in range(STREAMS)]
    waits, seen, total = selectors.DefaultSelector(), [], 0
    for i, s in enumerate(streams):
        s.socket.setblocking(False)
        waits.register(s.socket, selectors.EVENT_READ, i)
    answer.send("open")
    while not ends.is_set():
        for key, _ in waits.select(0.1):
            try:
                while got := key.fileobj.recv(65536):
                    total += len(got)
                    if key.data < WATCHED:
                        seen += [(name, time.monotonic()) for name in NAME.findall(got)]
            except (BlockingIOError, OSError):
                pass  # no more now
    answer.send((seen, total))


class Pages:
    def __init__(self, daemon, tokens):
        fork = multiprocessing.get_context("fork")
        self.ends, (self.answer, theirs) = fork.Event(), fork.Pipe()
        self.process = fork.Process(target=pages, args=(daemon, tokens, self.ends, theirs))

    def __enter__(self):
        self.process.start()
        assert self.answer.recv() == "open"
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.seen, self.bytes = self.answer.recv()
        self.process.join()


class Changes:
    """Jobs that are put meanwhile, and when each was answered."""

    def __init__(self, scene, round_number):
        self.scene, self.round, self.answered, self.over = scene, round_number, {}, threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(CHANGERS)]

    def run(self, changer):
        begin, body, made = time.monotonic(), json.dumps(self.scene.body()), 0
        with Client(self.scene.daemon) as client:
            while not self.over.is_set():
                name = f"live-{self.round}-{changer}-{made}"
                client.call("PUT", self.scene.job_path(name), body)
                self.answered[name.encode()] = time.monotonic()
                made += 1
                time.sleep(max(0, begin + made * CHANGERS / RATE - time.monotonic()))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


def reads(scene, token):
    endpoint = f"https://127.0.0.1:{scene.daemon.port}"
    return wrk(endpoint, "GET", scene.job_path("read"), token, connections=CONNECTIONS, seconds=SECONDS)["rate"]


def watched(scene, tokens, round_number):
    """A round with pages: changes, reads, milliseconds of each event, and the part of a core that the daemon took."""
    daemon = scene.daemon
    with Pages(daemon, tokens) as looking:
        before, begin = cpu_seconds(daemon.process.pid), time.monotonic()
        with Changes(scene, round_number) as changes:
            beside = reads(scene, daemon.token())
        cpu = (cpu_seconds(daemon.process.pid) - before) / (time.monotonic() - begin)
        time.sleep(1)  # the last ones arrive
    late = [(at - changes.answered[name]) * 1000 for name, at in looking.seen if name in changes.answered]
    assert len(late) == len(changes.answered) * min(WATCHED, STREAMS), "each comes once to each page"
    return len(changes.answered), beside, late, cpu


def measure():
    alone, beside, late, made, cpu = [], [], [], [], []
    with stage.running_daemon() as daemon:
        scene = stage.Stage(daemon, nodes=0)
        people = [Person(daemon, "Reader", f"/subscriptions/{daemon.subscription}") for _ in range(PEOPLE)]
        tokens = [p.token() for p in people]
        with Client(daemon) as client:
            client.call("PUT", scene.job_path("read"), json.dumps(scene.body()))
        for i in range(ROUNDS):
            with Changes(scene, 2 * i):
                alone.append(reads(scene, daemon.token()))
            count, rate, times, core = watched(scene, tokens, 2 * i + 1)
            made.append(count)
            beside.append(rate)
            cpu.append(core)
            late += times
    return [
        Figure(f"{STREAMS} pages look on: from a PUT's answer to its event there", "ms", late, AIM_MEDIAN_MS,
               note=f"{short(sum(made) / len(made) / SECONDS)} PUTs/s"),
        Figure("  p99", "ms", [percentile(late, 99)], AIM_P99_MS),
        Figure("  reads meanwhile, 16 connections, as a part of those with no page", "",
               [median(beside) / median(alone)], AIM_READS, True,
               note=f"{short(max(beside))}/s; the daemon takes {short(sum(cpu) / len(cpu) * 100)} % of a core"),
    ]  # fmt: skip
