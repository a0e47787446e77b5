# SPDX-License-Identifier: MIT
"""Runs jobs side by side, as many as the cores carry; then each that failed once more, alone.

Nothing is run again as a whole stage, and a test that passed only when it was alone is flaky: it is
named at the end."""
import collections
import os
import signal
import tempfile
import threading
import time

from .job import Outcome

# How many jobs may use a thing at the same time.
CLAIMS = {"accounts": 1, "bench": 1, "docker": 1, "rack": 2, "whole machine": 1}
# Jobs wait in between: somewhat more than all cores can be promised.
FULL = 1.3
# Where the cores idle for so much of a second nevertheless, a job more is started, up to so many for each core.
IDLE, MOST = 0.15, 4


class Cores:
    """The share of the time in which the machine's cores did nothing."""

    def __init__(self, source="/proc/stat"):
        self.source = source
        self.last, self.at = self.times(), time.monotonic()

    def times(self):
        """Of all cores since the machine started: (idle, all)."""
        try:
            with open(self.source, encoding="ascii") as f:
                spent = [int(n) for n in f.readline().split()[1:9]]
        except OSError:
            return 0, 0
        return spent[3] + spent[4], sum(spent)  # waiting for a disk is idle, too

    def idle(self):
        """Since the last answer, which is a second ago at least; until then 0."""
        if time.monotonic() - self.at < 1:
            return 0
        (idle, all), (idle_then, all_then) = now, _ = self.times(), self.last
        self.last, self.at = now, time.monotonic()
        return (idle - idle_then) / max(1, all - all_then)


class Runner:
    """`forks` starts runs of pytest (processes.forks()); None: each is executed. `machine` knows how idle the cores are."""

    def __init__(self, jobs, cores=None, out=print, once=False, forks=None, machine=None):
        self.waiting = sorted(jobs, key=lambda j: -j.cost)
        self.cores = cores or os.cpu_count() or 1
        self.machine = machine or Cores()
        self.out, self.once, self.forks = out, once, forks
        self.lock = threading.Condition()
        self.running, self.over, self.processes = [], set(), set()
        self.outcomes = []  # (job, outcome)
        self.number, self.count = 0, len(self.waiting)
        self.flaky = []
        self.stopped = False

    # --- one job --------------------------------------------------------------------------------

    def execute(self, job):
        """Runs its command; the outcome, with the time it took."""
        begin = time.monotonic()
        env = {**os.environ, **job.env, **job.prepare()}
        env.pop("MAKEFLAGS", None)  # of a make whose job server is not for these
        with tempfile.TemporaryFile() as output:
            process = job.start(env, output, self.forks)
            with self.lock:
                self.processes.add(process.pid)
            late = threading.Event()
            timer = threading.Timer(job.limit, lambda: (late.set(), self.end(process.pid)))
            timer.start()
            code, cpu = process.wait()
            timer.cancel()
            with self.lock:
                self.processes.discard(process.pid)
            output.seek(0)
            text = output.read().decode("utf-8", "replace")
        if late.is_set():
            text += f"\nstopped after {job.limit:g} s\n"
        outcome = job.read(124 if late.is_set() else code, text)
        outcome.seconds = time.monotonic() - begin
        outcome.cpu = cpu
        return outcome

    def end(self, pid):
        """Asks all of a job to stop, and makes it a little later."""
        for signo, patience in ((signal.SIGTERM, 20), (signal.SIGKILL, 0)):
            try:
                os.killpg(pid, signo)
            except (ProcessLookupError, PermissionError):
                return
            until = time.monotonic() + patience
            while pid in self.processes and time.monotonic() < until:
                time.sleep(0.1)

    def stop(self):
        with self.lock:
            self.stopped, self.waiting = True, []
            pids = list(self.processes)
            self.lock.notify_all()
        for pid in pids:
            threading.Thread(target=self.end, args=(pid,)).start()

    # --- side by side ---------------------------------------------------------------------------

    def may_start(self, job):
        """Whether nothing but the load of the others keeps it back."""
        if any({j.stage, j.key} & set(job.after) for j in self.waiting + self.running):
            return False
        if not self.running:
            return True
        used = collections.Counter(c for j in self.running for c in j.claims)
        if any(used[c] >= CLAIMS[c] for c in job.claims) or used["whole machine"]:
            return False
        return "whole machine" not in job.claims

    def has_room(self, job):
        return not self.running or sum(j.load for j in self.running) + job.load <= FULL * self.cores

    def next(self):
        """The job to start now, or None."""
        able = [j for j in self.waiting if self.may_start(j)]
        fitting = next((j for j in able if self.has_room(j)), None)
        if fitting or not able or len(self.running) >= MOST * self.cores:
            return fitting
        return able[0] if self.machine.idle() > IDLE else None

    def work(self, job):
        try:
            outcome = self.execute(job)
        except Exception as e:  # a fault of these checks must not pass for a success
            outcome = Outcome(failed=[job.name], text=f"{job.name} could not be run: {e!r}")
        with self.lock:
            self.running.remove(job)
            self.number += 1
            self.outcomes.append((job, outcome))
            self.tell(job, outcome)
            self.lock.notify_all()

    def tell(self, job, outcome):
        said = f"{outcome.passed} passed"
        said += f", {len(outcome.failed)} FAILED" if outcome.failed else ""
        said += f", {len(outcome.skipped)} skipped" if outcome.skipped else ""
        self.out(f"[{self.number:3}/{self.count}] {job.key}: {said} "
                 f"({outcome.seconds:.0f} s, {outcome.cpu:.0f} s of processor)")
        if outcome.failed:
            self.out(f"--- {job.key}\n{outcome.text.rstrip()}\n---")

    def run_all(self):
        with self.lock:
            while self.waiting or self.running:
                job = self.next()
                if job is None:
                    if not self.running and self.waiting:
                        raise RuntimeError(f"these wait for one another: {[j.name for j in self.waiting]}")
                    self.lock.wait(timeout=1)
                    continue
                self.waiting.remove(job)
                self.running.append(job)
                threading.Thread(target=self.work, args=(job,), daemon=True).start()

    # --- once more ------------------------------------------------------------------------------

    def try_again(self):
        """What failed beside others, one at a time. What passes now is forgiven, and called flaky."""
        for job, outcome in self.outcomes:
            for again in [] if self.once else outcome.again:
                if self.stopped:
                    return
                self.out(f"==> again, alone: {again.job.name}")
                second = self.execute(again.job)
                outcome.cpu += second.cpu
                if second.failed or not second.passed:
                    self.out(f"--- {again.job.name}\n{second.text.rstrip()}\n---")
                    continue
                self.flaky += again.names
                outcome.failed = [name for name in outcome.failed if name not in again.names]
                whole = again.job.argv == job.argv and again.job.env == job.env
                outcome.passed = second.passed if whole else outcome.passed + len(again.names)

    def run(self):
        self.run_all()
        self.try_again()
        return self.outcomes
