#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults that are seeded on purpose, and which stage of the checks finds each of them.

    seeded_faults.py --list                  a table: name, room, and where it is expected to be found
    seeded_faults.py --check                 does each patch still apply to this tree?
    seeded_faults.py [NAME...] [--expected | --stages STAGE,STAGE...] [--deep] [--json]
    seeded_faults.py --sample N [--seed S]   N faults, chosen by the seed, each on the job that is expected to find it

A fault is a patch of product code in test/seeded_faults/, with a head of three lines (Fault, Room, Found by); where
only `make check-deep` finds it, a fourth says why (Only deep). The third form clones HEAD into a temporary folder. For each fault it applies the patch there, builds what the next
stage runs, and runs the stages in the order of the check until a job fails. Then it takes the patch back.
--expected runs of each fault only the job that is expected to find it, and the stages only where that does not.
--deep runs of each stage what only `make check-deep` runs, too; so does --sample, which `make check-deep` runs itself. The clone
begins with the builds of this tree if the tree is as HEAD, and keeps them until the end: only what a patch changes is compiled again.
CC is the environment's.
"""
import argparse
import dataclasses
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTS = ROOT / "test" / "seeded_faults"
sys.path.insert(0, str(ROOT / "test"))
from checks.stages import STAGES, commit_number  # noqa: E402

HEAD = re.compile(r"Fault: (?P<text>.+)\nRoom: (?P<room>\S+)\n"
                  r"Found by: (?P<expected>(?P<stage>\w+)(?: (?P<job>[\w./-]+))?.*)\n"
                  r"(?:Only deep: (?P<deep>.+)\n)?\n")
FAILED = re.compile(r"^\[ *\d+/\d+\] (?P<stage>\w+): (?P<job>.+): \d+ passed, \d+ FAILED")
# What make builds for a stage: that of make check. Stages that are not named run what `make all` builds.
TARGETS = {
    "tools": ("all", "unit-bins", "bench-bins"),
    "collect": (),
    "replay": ("asan",),
    "fuzz": ("fuzz-bins",),
    "sim": ("sim-bins",),
    "unit": ("asan",),
    "tsan": ("tsan-bins",),
    "threads": ("tsan-all-bins",),
    "valgrind": ("all", "unit-bins"),
    "cli": ("asan",),
    "api": ("asan",),
    "e2e": ("all", "asan"),
    "fault": ("asan",),
    "bench": ("all", "bench-bins"),
}
# Where the unit test programs of a stage are built, of those that run one.
BUILDS = {"unit": "build-asan", "valgrind": "build"}
# The stage of these faults is no way to find one of them.
SEARCHED = [stage for stage in STAGES if stage != "faults"]
# The folders that make builds in.
BUILT = ("build", "build-asan", "build-tsan", "build-fuzz")
# Downloads that tests keep in a build folder: those of this tree serve, too.
KEPT = ("build/clients", "build-asan/clients", "build/image")


@dataclasses.dataclass
class Fault:
    name: str
    patch: Path
    text: str  # what a user would see
    room: str
    expected: str  # the stage, then the test file
    stage: str
    job: str | None  # None: any of the stage
    deep: str | None  # why `make check` does not find it, but `make check-deep`


@dataclasses.dataclass
class Result:
    name: str
    room: str
    expected: str
    stage: str = ""  # empty: no stage has found it
    test: str = ""
    seconds: float = 0


def read(patch):
    head = HEAD.match(patch.read_text(encoding="utf-8"))
    if not head:
        sys.exit(f"{patch.name}: it must begin with the lines Fault, Room, Found by and perhaps Only deep, and an empty one")
    return Fault(patch.stem, patch, **head.groupdict())


def load(folder=FAULTS):
    return [read(patch) for patch in sorted(folder.glob("*.patch"))]


def table(faults):
    rows = [("NAME", "ROOM", "FOUND BY"), *((f.name, f.room, f.expected) for f in faults)]
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    deep = [f"  {fault.name}: {fault.deep}" for fault in faults if fault.deep]
    return [*(f"{name:<{widths[0]}}  {room:<{widths[1]}}  {expected}" for name, room, expected in rows),
            *(["found by make check-deep only:"] if deep else []), *deep]


def git(tree, *arguments):
    return subprocess.run(["git", "-C", tree, *arguments], capture_output=True, text=True, check=False)


def complaints(faults, tree=ROOT):
    """What git says of patches that do not apply any more."""
    for fault in faults:
        done = git(tree, "apply", "--check", str(fault.patch))
        if done.returncode:
            yield f"{fault.name}: {done.stderr.strip()}"


# --- running ---------------------------------------------------------------------------------------


def must(done, what):
    if done.returncode:
        raise RuntimeError(f"{what}: {done.stderr.strip()}")


def copy_builds(tree):
    """Make compares times: a source of the clone, which is the same, gets the time that it has here."""
    for name in git(tree, "ls-files").stdout.splitlines():
        shutil.copystat(ROOT / name, tree / name, follow_symlinks=False)
    for built in BUILT:
        kept = {Path(path).name for path in KEPT if path.startswith(f"{built}/")}
        if (ROOT / built).is_dir():
            shutil.copytree(ROOT / built, tree / built, symlinks=True, ignore=lambda folder, names, top=ROOT / built, kept=kept:
                            kept.intersection(names) if Path(folder) == top else ())


def clone(folder):
    """A clone of HEAD and of what was built of it, with links to what tests find beside the tree and in its build folders."""
    tree = folder / "tree"
    must(git(ROOT, "clone", "-q", "--shared", str(ROOT), str(tree)), "the tree cannot be cloned")
    if not git(ROOT, "status", "--porcelain", "--untracked-files=no").stdout:
        copy_builds(tree)
    links = [(ROOT.parent / "shared", folder / "shared"), *((ROOT / kept, tree / kept) for kept in KEPT)]
    for there, here in links:
        if there.exists():
            here.parent.mkdir(exist_ok=True)
            here.symlink_to(there)
    return tree


def environment(fault):
    """Warnings are no errors here: a stage is to find the fault, and not a compiler."""
    env = {name: value for name, value in os.environ.items() if name not in ("WERROR", "MAKEFLAGS", "BUILD")}
    return {**env, "SEEDED_FAULT": fault.name}


def narrow(stage, job):
    """Arguments of make that leave out programs which a job does not run."""
    if job is None or stage in ("tools", "collect"):
        return []
    bins = f"{BUILDS[stage]}/unit/{job}" if stage in BUILDS else ""
    return [f"UNIT_BINS={bins}", "COVERAGE_BINS=", *([] if stage == "replay" else ["REPLAY_BINS="])]


def build(tree, stage, env, job=None):
    """The first target that cannot be built; empty: all are there."""
    cc = [f"CC={env['CC']}"] if "CC" in env else []
    for target in TARGETS.get(stage, ("all",)):
        argv = ["make", "-s", f"-j{os.cpu_count() or 1}", *cc, *narrow(stage, job), target]
        done = subprocess.run(argv, cwd=tree, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr[-2000:], file=sys.stderr)
            return target
    return ""


def read_lines(process):
    """What the checks print. They are asked to stop as soon as a job has failed."""
    lines, stopping = [], False
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if FAILED.match(line) and not stopping:
            stopping = True
            process.send_signal(signal.SIGTERM)
    return lines


def end(process):
    """The checks stop their jobs themselves, and still print meanwhile."""
    process.terminate()
    for _ in process.stdout:
        pass


def run_stage(tree, stage, env, deep, job=None):
    """The output of one stage, or of one job of it, up to its first failure."""
    more = [*(["--deep"] if deep else []), *(["--only", job] if job else [])]
    argv = [sys.executable, "test/run_checks.py", "--once", stage, *more]
    with subprocess.Popen(argv, cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        try:
            return read_lines(process)
        finally:
            end(process)


def failed_test(lines):
    """The first job that failed, and its first failed test if the checks name that; empty: none failed."""
    job = next((found["job"] for line in lines if (found := FAILED.match(line))), "")
    if not job:
        return ""
    names = lines[lines.index("failed:") + 1:] if "failed:" in lines else []
    return next((name.strip() for name in names if job in name), job)


def look(tree, fault, tries, deep):
    """Runs (stage, job) after (stage, job) until a job fails: its stage and the test, or two empty texts."""
    env = environment(fault)
    for stage, job in tries:
        target = build(tree, stage, env, job)
        if target:
            return "build", f"make {target}"
        test = failed_test(run_stage(tree, stage, env, deep, job))
        if test:
            return stage, test
    return "", ""


def try_fault(tree, fault, tries, deep):
    begin = time.monotonic()
    must(git(tree, "apply", str(fault.patch)), f"{fault.name} does not apply")
    try:
        stage, test = look(tree, fault, tries, deep)
    finally:
        must(git(tree, "checkout", "-q", "--", "."), "the clone cannot be put back")
    return Result(fault.name, fault.room, fault.expected, stage, test, round(time.monotonic() - begin))


def line_of(result):
    found = f"{result.stage}: {result.test}" if result.stage else "not found"
    return f"{result.name}: {found} ({result.seconds} s)"


def summary(results):
    found = [r for r in results if r.stage]
    yield f"{len(found)} of {len(results)} faults were found"
    for stage in [*STAGES, "build"]:
        count = sum(r.stage == stage for r in found)
        if count:
            yield f"  {stage:<10} {count:>3}"
    other = [f"{r.name} ({r.stage}, not {r.expected.split()[0]})" for r in found if r.stage != r.expected.split()[0]]
    missed = [r.name for r in results if not r.stage]
    if other:
        yield "found by another stage than expected: " + ", ".join(other)
    if missed:
        yield "not found: " + ", ".join(missed)


def run(faults, stages, deep, as_json, expected=False):
    results = []
    with tempfile.TemporaryDirectory(prefix="batchaid-faults-") as folder:
        tree = clone(Path(folder))
        for fault in faults:
            first = [(fault.stage, fault.job)] if expected else []
            results.append(try_fault(tree, fault, [*first, *((stage, None) for stage in stages)], deep))
            print(line_of(results[-1]), file=sys.stderr if as_json else sys.stdout, flush=True)
    if as_json:
        print(json.dumps([dataclasses.asdict(r) for r in results], indent=2))
    else:
        print("\n".join(summary(results)))
    return 0 if all(r.stage not in ("", "build") for r in results) else 1


# --- the command line ------------------------------------------------------------------------------


def choose(faults, names, parser):
    unknown = set(names) - {f.name for f in faults}
    if unknown:
        parser.error(f"unknown fault '{min(unknown)}'; --list names all")
    return [f for f in faults if not names or f.name in names]


def choose_stages(text, parser):
    names = text.split(",") if text else list(SEARCHED)
    unknown = [name for name in names if name not in SEARCHED]
    if unknown:
        parser.error(f"unknown stage '{unknown[0]}'; there are: {', '.join(SEARCHED)}")
    return names


def sample(faults, count, seed):
    """The same for the same seed and faults, in the order of the table."""
    chosen = random.Random(seed).sample(range(len(faults)), min(count, len(faults)))
    return [faults[at] for at in sorted(chosen)]


def stop(*_):
    """Asked to stop: the clone is removed on the way out."""
    sys.exit(130)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these faults")
    parser.add_argument("--list", action="store_true", help="print the table of faults and stop")
    parser.add_argument("--check", action="store_true", help="check that each patch applies and stop")
    parser.add_argument("--expected", action="store_true", help="first the job that is expected to find it")
    parser.add_argument("--stages", default="", metavar="A,B", help="only these stages, in this order")
    parser.add_argument("--sample", type=int, metavar="N", help="so many by chance, each on the job that is expected to find it")
    parser.add_argument("--seed", type=int, metavar="S", help="chooses them (default: the number of the commit)")
    parser.add_argument("--deep", action="store_true", help="also what only make check-deep runs")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    args = parser.parse_args()
    faults, stages = choose(load(), args.names, parser), choose_stages(args.stages, parser)
    if args.list:
        print("\n".join(table(faults)))
        return 0
    if args.check:
        wrong = list(complaints(faults))
        print("\n".join(wrong) or f"all {len(faults)} patches apply")
        return 1 if wrong else 0
    signal.signal(signal.SIGTERM, stop)
    if args.sample:
        seed = commit_number() if args.seed is None else args.seed
        print(f"{args.sample} of {len(faults)} faults, seed {seed}", flush=True)
        return run(sample(faults, args.sample, seed), [], True, args.json, expected=True)
    return run(faults, stages, args.deep, args.json, args.expected)


if __name__ == "__main__":
    sys.exit(main())
