#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs every check there is, stage by stage, and closes with "N passed, N failed[, N skipped]".

    test/run_checks.py [--list] [STAGE...]

A stage is a command, how its results are counted, and what it is for. Every stage runs, also after
one failed; the output of a stage that fails is shown whole. With real processes, kill -9 and busy
machines a test may fail by bad luck: a stage that failed is run once more, which is said at the end so
that nobody overlooks it; --once takes the first answer.
"""
import argparse
import concurrent.futures
import functools
import glob
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"
ONCE = "--once" in sys.argv
ASAN_ENV = {
    "BUILD_DIR": "build-asan",
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99",
    "LSAN_OPTIONS": "suppressions=test/lsan.supp:print_suppressions=0",
}


class Result:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def run(command, env=None, limit=1800):
    full = dict(os.environ, **(env or {}))
    try:
        done = subprocess.run(command, cwd=ROOT, env=full, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit)
        return done.returncode, done.stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired as e:
        return 124, (e.stdout or b"").decode("utf-8", "replace") + f"\nstopped after {limit} s\n"


def one(command, env=None):
    """The whole command is one check."""
    rc, text = run(command, env)
    if rc:
        print(text)
    return Result(failed=1) if rc else Result(passed=1)


def count(text, word):
    found = re.findall(r"(\d+) %s" % word, text)
    return int(found[-1]) if found else 0


def pytest(folder, env=None):
    command = [PYTHON, "-m", "pytest", "-q", "-rfEs", "-p", "no:cacheprovider", folder]
    rc, text = run(command, env)
    tail = text.strip().splitlines()[-1] if text.strip() else ""
    r = Result(count(tail, "passed"), count(tail, "failed") + count(tail, "errors?"),
               count(tail, "skipped"))
    if rc and not r.failed:
        r.failed = 1
    if r.failed:
        print(text)
    elif r.skipped:
        print("\n".join(l for l in text.splitlines() if l.startswith("SKIPPED")))
    return r


# Real sshds, accounts, mounts and long waits: minutes each under valgrind, which sees nothing there that
# the build with AddressSanitizer does not.
NOT_UNDER_VALGRIND = ("accounts", "links", "machine_mounts", "mounts", "ssh_link", "ssh_look", "ssh_trouble",
                      "stuck", "task_account", "task_ends", "task_limits")
# They wait more than they compute.
AT_ONCE = 4


def unit_programs(build, without=()):
    found = sorted(glob.glob(os.path.join(ROOT, build, "unit", "*", "test_*")))
    left_out = {f"test_{name}" for name in without}
    return [f for f in found if not f.endswith(".d") and os.path.basename(f) not in left_out]


def unit_program(build, wrapper, env, binary):
    full = {"BATCHAI_NODE": os.path.join(ROOT, build, "batchai-node"),
            "BATCHAID": os.path.join(ROOT, build, "batchaid"), **(env or {})}
    rc, text = run([*wrapper, binary], full, limit=600)
    r = Result(sum(map(int, re.findall(r"\[  PASSED  \] (\d+)", text))),
               sum(map(int, re.findall(r"\[  FAILED  \] (\d+)", text))),
               sum(map(int, re.findall(r"\[  SKIPPED \] (\d+)", text))))
    if rc and not r.failed:
        r.failed = 1
    return r, text


def cmocka(build, wrapper=(), env=None, without=()):
    """Every unit test program of a build; a program that dies counts as one failure. One that failed
    among others has another try alone, after the rest, and that is said."""
    total, programs = Result(), unit_programs(build, without)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(functools.partial(unit_program, build, wrapper, env), programs))
    for binary, (r, text) in zip(programs, results):
        if r.failed and not ONCE:
            print(f"--- {os.path.relpath(binary, ROOT)}\n{text}\n--- again, alone", flush=True)
            r, text = unit_program(build, wrapper, env, binary)
        if r.failed:
            print(f"--- {os.path.relpath(binary, ROOT)}\n{text}")
        total.add(r)
    if not total.passed and not total.failed:
        total.failed = 1
        print(f"no unit test program in {build}/unit")
    return total


VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full",
            "--errors-for-leak-kinds=definite", "--child-silent-after-fork=yes",
            "--suppressions=test/valgrind.supp"]

STAGES = {
    "layers": lambda: one(["make", "-s", "check-layers"]),
    "source": lambda: one(["make", "-s", "check-source"]),
    "tools": lambda: pytest("test/unit/tools"),
    "cli": lambda: pytest("test/unit/daemon"),
    "unit": lambda: cmocka("build"),
    "api": lambda: pytest("test/api"),
    "clients": lambda: pytest("test/clients"),
    "e2e": lambda: pytest("test/e2e"),
    "fault": lambda: pytest("test/fault"),
    "demo": lambda: one(["bash", "demo/run.sh"]),
    "valgrind": lambda: cmocka("build", VALGRIND, {"BATCHAID_SLOW_TOOL": "valgrind"},
                               NOT_UNDER_VALGRIND),
    "asan-unit": lambda: cmocka("build-asan", (), ASAN_ENV),
    "asan-cli": lambda: pytest("test/unit/daemon", ASAN_ENV),
    "asan-api": lambda: pytest("test/api", ASAN_ENV),
    "asan-e2e": lambda: pytest("test/e2e", ASAN_ENV),
    "asan-fault": lambda: pytest("test/fault", ASAN_ENV),
    "tidy": lambda: one(["make", "-s", "tidy"]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=", ".join(STAGES))
    parser.add_argument("--once", action="store_true", help="run no failed stage again")
    parser.add_argument("--list", action="store_true", help="name the stages and stop")
    args = parser.parse_args()
    if args.list:
        print("\n".join(STAGES))
        return 0
    unknown = [s for s in args.stages if s not in STAGES]
    if unknown:
        parser.error(f"unknown stage '{unknown[0]}'; there are: {', '.join(STAGES)}")
    total, twice = Result(), []
    for name in args.stages or STAGES:
        begin = time.monotonic()
        print(f"==> {name}", flush=True)
        r = STAGES[name]()
        if r.failed and not args.once:
            print(f"    {name}: {r}; once more", flush=True)
            twice.append(name)
            r = STAGES[name]()
        total.add(r)
        print(f"    {name}: {r} ({time.monotonic() - begin:.0f} s)", flush=True)
    if twice:
        print(f"run twice, as they failed the first time: {', '.join(twice)}")
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
