#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs every check there is, side by side, and closes with "N passed, N failed, N skipped".

    test/run_checks.py [--list] [--once] [--deep] [--only TEXT] [STAGE...]

A stage is a list of jobs (test/checks/stages.py): a file of pytest, a unit test program, a command. The
output of a job that fails is shown whole. A test that failed is run once more, alone, when all others
are through: it may have failed because the machine was busy. One that passes then is flaky and is named
at the end, to be mended; what a sanitizer found is never run again. --once takes the first answer, --deep runs what only `make check-deep` does (job.py: deep) as well.
"""
import argparse
import collections
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks.az import az_server  # noqa: E402
from checks.processes import forks  # noqa: E402
from checks.runner import Runner  # noqa: E402
from checks.stages import STAGES  # noqa: E402


def say(text):
    print(text, flush=True)


def table(outcomes):
    """What each stage found and cost: its jobs' seconds overlap those of others."""
    rows = collections.OrderedDict()
    for job, o in outcomes:
        row = rows.setdefault(job.stage, [0, 0, 0, 0, 0.0, 0.0])
        for at, value in enumerate((1, o.passed, len(o.failed), len(o.skipped), o.seconds, o.cpu)):
            row[at] += value
    yield f"{'stage':<12}{'jobs':>6}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}{'processor':>11}"
    for stage in filter(rows.__contains__, STAGES):
        jobs, passed, failed, skipped, seconds, cpu = rows[stage]
        yield f"{stage:<12}{jobs:>6}{passed:>8}{failed:>8}{skipped:>9}{seconds:>9.0f}{cpu:>11.0f}"


def skips(outcomes):
    """reason -> what is skipped for it"""
    found = collections.defaultdict(list)
    for job, o in outcomes:
        for name, reason in o.skipped:
            found[reason.removeprefix("Skipped: ")].append(f"{job.stage}: {name}")
    for reason, names in sorted(found.items()):
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"  {reason} ({', '.join(names[:3])}{more})"


def report(runner, seconds, az):
    outcomes = runner.outcomes
    passed = sum(o.passed for _, o in outcomes)
    failed = [name for _, o in outcomes for name in o.failed]
    skipped = sum(len(o.skipped) for _, o in outcomes)
    cpu = sum(o.cpu for _, o in outcomes) + az.cpu
    say("\n".join(table(outcomes)))
    say(f"in {seconds:.0f} s; {cpu:.0f} s of processor on {runner.cores} cores, {az.cpu:.0f} of them az for many tests")
    if skipped:
        say("skipped:\n" + "\n".join(skips(outcomes)))
    for note in (note for _, o in outcomes for note in o.notes):
        say(note)
    if runner.flaky:
        say(f"flaky, {len(runner.flaky)} failed beside others and passed alone:")
        say("\n".join(f"  {name}" for name in runner.flaky))
    if failed:
        say("failed:\n" + "\n".join(f"  {name}" for name in failed))
    say(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stages", nargs="*", metavar="STAGE",
                        help=", ".join(STAGES))
    parser.add_argument("--deep", action="store_true", help="what only make check-deep runs, too")
    parser.add_argument("--once", action="store_true", help="run nothing again")
    parser.add_argument("--only", default="", metavar="TEXT", help="run only jobs that have this in their name")
    parser.add_argument("--list", action="store_true", help="name the stages and stop")
    args = parser.parse_args()
    if args.list:
        print("\n".join(STAGES))
        return 0
    unknown = [s for s in args.stages if s not in STAGES]
    if unknown:
        parser.error(f"unknown stage '{unknown[0]}'; there are: {', '.join(STAGES)}")
    begin = time.monotonic()
    jobs = [job for s in args.stages or STAGES for job in STAGES[s]()
            if (args.deep or not job.deep) and args.only in job.name]
    if args.deep:
        os.environ["BATCHAID_DEEP"] = "1"
    with az_server() as az, forks() as started:
        runner = Runner(jobs, out=say, once=args.once, forks=started)
        # Asked to stop, or Ctrl-C: the jobs are asked to stop in their turn, so that no daemon stays.
        for signo in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signo, lambda *_: runner.stop())
        runner.run()
    code = report(runner, time.monotonic() - begin, az)
    if runner.stopped:
        say("stopped before the end")
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
