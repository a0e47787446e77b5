# SPDX-License-Identifier: MIT
"""A job: one command of a stage, and how its results are read. The kinds differ in who counts:

    Command    the command is one check; its exit code decides
    Cmocka     a unit test program: cmocka's own lines
    Pytest     files or single tests of pytest: what checks.recorder writes
    Reported   the same, whose tests decide nothing
"""
import dataclasses
import json
import os
import re
import tempfile

from .processes import PYTHON, ROOT, Executed

# A failure that no second try may excuse: memory was misused, whoever was unlucky.
NEVER_LUCK = re.compile(r"ERROR: AddressSanitizer|ERROR: LeakSanitizer|runtime error:|ThreadSanitizer"
                        r"|==\d+== (Invalid|Conditional jump|Use of uninit|Syscall param)")


@dataclasses.dataclass
class Again:
    """What is tried once more, alone, and the failures that it decides on."""
    job: "Job"
    names: list


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    failed: list = dataclasses.field(default_factory=list)  # names
    skipped: list = dataclasses.field(default_factory=list)  # (name, reason)
    again: list = dataclasses.field(default_factory=list)  # of what failed; none: it stands
    notes: list = dataclasses.field(default_factory=list)  # shown after all jobs
    text: str = ""
    seconds: float = 0
    cpu: float = 0


@dataclasses.dataclass
class Job:
    """`load`: how many cores it keeps busy. `claims`: what only some jobs may use at a time. `cost`: about
    how many seconds it takes; the long ones begin first. `after`: stages, or
    keys of jobs, that must be over. `deep`: why `make check` leaves it to `make check-deep`."""
    stage: str
    name: str
    argv: list
    env: dict = dataclasses.field(default_factory=dict)
    load: float = 0.5
    claims: tuple = ()
    cost: float = 5
    after: tuple = ()
    limit: float = 900
    deep: str = ""

    @property
    def key(self):
        return f"{self.stage}: {self.name}"

    def prepare(self):
        """Called before the command starts; returns what is added to its environment."""
        return {}

    def start(self, env, output, _):
        return Executed(self.argv, env, output)

    def alone(self, **changes):
        return dataclasses.replace(self, **{"after": (), "claims": (), **changes})


class Command(Job):
    def read(self, rc, text):
        if not rc:
            return Outcome(passed=1, text=text)
        again = [] if NEVER_LUCK.search(text) else [Again(self.alone(), [self.name])]
        return Outcome(failed=[self.name], again=again, text=text)


class Settled(Command):
    """A command that depends on nothing but the tree: a second try would say the same."""

    def read(self, rc, text):
        return dataclasses.replace(super().read(rc, text), again=[])


class Cmocka(Job):
    def read(self, rc, text):
        begun = re.findall(r"^\[ RUN      \] (\w+)", text, re.M)
        good = set(re.findall(r"^\[       OK \] (\w+)", text, re.M))
        skipped = set(re.findall(r"^\[  SKIPPED \] ([A-Za-z_]\w*)$", text, re.M))
        bad = [name for name in dict.fromkeys(begun) if name not in good | skipped]
        outcome = Outcome(len(good), [f"{self.name}: {n}" for n in bad], text=text)
        outcome.skipped = [(f"{self.name}: {n}", self.reason(text, n)) for n in begun if n in skipped]
        whole = not re.search(r"^\[==========\] (?:.+: )?\d+ test\(s\) run", text, re.M)
        if not begun:
            outcome.failed = [f"{self.name}: no test ran (exit code {rc})"]
        elif (rc or whole) and not bad:
            outcome.failed, whole = [f"{self.name}: exit code {rc}"], True
        # A test that failed half-way leaves its memory behind: leaks are then no finding of their own.
        found = NEVER_LUCK.search(text.replace("ERROR: LeakSanitizer", "") if bad else text)
        if outcome.failed and not found:
            outcome.again = [Again(self.alone(), outcome.failed)] if whole or not begun else [
                Again(self.alone(env={**self.env, "UNIT_TEST": n}), [f"{self.name}: {n}"]) for n in bad]
        return outcome

    @staticmethod
    def reason(text, name):
        """A test says why it is skipped in a line of its own (test/unit/support/skip.h)."""
        said = re.search(rf"^\[ RUN      \] {name}\n(?:(?!\[ RUN).*\n)*?skip: (.*)$", text, re.M)
        return said[1] if said else "no reason given"


@dataclasses.dataclass
class Pytest(Job):
    """`argv` holds what comes after `python3 -m pytest`."""
    results: str = ""

    def __post_init__(self):
        if self.argv[:1] != [PYTHON]:
            self.argv = [PYTHON, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider",
                         "-p", "checks.recorder", "--rootdir=test", *self.argv]

    def prepare(self):
        with tempfile.NamedTemporaryFile(prefix="checks-", delete=False) as f:
            self.results = f.name
        path = os.pathsep.join(filter(None, [os.path.join(ROOT, "test"), os.environ.get("PYTHONPATH")]))
        return {"CHECKS_RESULTS": self.results, "PYTHONPATH": path}

    def start(self, env, output, forks):
        return forks.start(self.argv[3:], env, output) if forks else super().start(env, output, forks)

    def read(self, rc, text):
        with open(self.results, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f if line.endswith("\n")]
        os.unlink(self.results)
        outcome = Outcome(text=text)
        failures = {}  # test -> its lines
        for line in lines:
            if line["outcome"] == "failed":
                failures.setdefault(line["test"], []).append(line)
            elif line["outcome"] == "skipped":
                outcome.skipped.append((line["test"], line["reason"]))
        outcome.passed = len({line["test"] for line in lines if line["outcome"] == "passed"} - set(failures))
        rc = self.excuse(rc, failures, outcome)
        outcome.failed = [f"{self.stage}: {test}" for test in failures]
        if not failures and (rc not in (0, 5) or not lines):  # 5: nothing was collected
            outcome.failed = [f"{self.name}: exit code {rc}" if rc else f"{self.name}: no test ran"]
        if outcome.failed and not NEVER_LUCK.search(text):
            outcome.again = self.once_more(rc, failures) or [Again(self.alone(results=""), outcome.failed)]
        return outcome

    def excuse(self, rc, failures, outcome):
        """Takes away the failures that decide nothing; the exit code without these."""
        return rc

    def once_more(self, rc, failures):
        """Each failed test as a job of its own; none where the file as a whole has to run: it was not
        finished, or what went wrong belongs to fixtures that are taken down, or to collecting."""
        phases = {line["phase"] for lines in failures.values() for line in lines}
        if rc != 1 or phases & {"teardown", "collect"}:
            return []
        head = self.argv[:self.argv.index("--rootdir=test") + 1]
        return [Again(self.alone(argv=[*head, f"test/{test}"], name=test, results=""),
                      [f"{self.stage}: {test}"]) for test in failures]


@dataclasses.dataclass
class Reported(Pytest):
    """A test that fails in its own lines counts as skipped; a fixture that fails is a failure. Tests write notes to the
    file that CHECKS_NOTES names."""
    notes: str = ""

    def prepare(self):
        with tempfile.NamedTemporaryFile(prefix="checks-", delete=False) as f:
            self.notes = f.name
        return {**super().prepare(), "CHECKS_NOTES": self.notes}

    def excuse(self, rc, failures, outcome):
        for test in [test for test, lines in failures.items() if {line["phase"] for line in lines} == {"call"}]:
            del failures[test]
            outcome.skipped.append((test, "it fails, and decides nothing"))
        return rc if failures or rc != 1 else 0

    def read(self, rc, text):
        outcome = super().read(rc, text)
        with open(self.notes, encoding="utf-8") as f:
            outcome.notes = f.read().splitlines()
        os.unlink(self.notes)
        return outcome
