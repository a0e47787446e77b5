#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures the built daemon and prints its figures, with ratios to peers of the same run.

    run.py [--json] [--only NAME]...
BUILD_DIR says which build, BENCH_DIR where the states of its daemons lie (default: in the build).
"""

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import everyday, fakes, jobs, live, machines, metrics, mpi, page, plans, rates, resets, samples, scripted, shares, sim, start, storage, tasks, usage, waits  # noqa: E402
from bench.figures import table  # noqa: E402
from bench.fleet import SSHD  # noqa: E402
from support.daemon import BATCHAID  # noqa: E402

MEASUREMENTS = {
    "start": start.measure,
    "memory": start.measure_memory,
    "put": rates.measure_puts,
    "read": rates.measure_reads,
    "wait": waits.measure,
    "plan": plans.measure,
    "latency": jobs.measure_latency,
    "throughput": jobs.measure_throughput,
    "connect": machines.measure_connect,
    "dispatch": machines.measure_dispatch,
    "idle": machines.measure_idle,
    "mpi": mpi.measure,
    "tasks-added": tasks.measure_added,
    "tasks": tasks.measure_tasks,
    "task-start": tasks.measure_start,
    "tasks-large": tasks.measure_large,
    "scripted": scripted.measure,
    "blob-start": storage.measure_start,
    "blob-requests": storage.measure_requests,
    "blob-streams": storage.measure_streams,
    "blob-lists": storage.measure_lists,
    "shares": shares.measure,
    "resets": resets.measure,
    "fakes": fakes.measure,
    "everyday": everyday.measure,
    "usage": usage.measure,
    "metrics": metrics.measure,
    "samples": samples.measure,
    "page": page.measure,
    "live": live.measure,
}
PROGRAMS = ("wrk", "cc", "pkg-config", "pdsh", "parallel-ssh", "mpirun.mpich", SSHD)


def arguments():
    parser = argparse.ArgumentParser(description="Figures of batchaid and of its peers.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", action="append", choices=MEASUREMENTS, help="may be repeated")
    return parser.parse_args()


def missing():
    for program in (BATCHAID, sim.BATCHAID_SIM, sim.AGENTS, plans.PLAN_QUEUE):
        if not program.exists():
            return f"{program} is not built: make all bench-bins"
    return next((f"{p} is not installed" for p in PROGRAMS if not shutil.which(p)), None)


def main():
    chosen = arguments()
    if reason := missing():
        print(f"bench: {reason}", file=sys.stderr)
        return 1
    figures, began = [], time.monotonic()
    for name in chosen.only or MEASUREMENTS:
        print(f"bench: {name} ...", file=sys.stderr)
        figures += MEASUREMENTS[name]()
    if chosen.json:
        print(json.dumps([f.as_json() for f in figures], indent=2))
    else:
        print(table(figures))
        load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
        took = time.monotonic() - began
        print(f"\n{os.cpu_count()} cores; load at the end {load}; took {took:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
