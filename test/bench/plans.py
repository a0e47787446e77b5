# SPDX-License-Identifier: MIT
"""How long the plan of a queue takes: a program of its own, as nothing else is in it."""

import re
import subprocess

from support.daemon import BUILD

from .figures import Figure

PLAN_QUEUE = BUILD / "bench" / "plan-queue"
AIM_MS = 1
CASES = {
    "busy-whole": "nodes are busy, runs want whole ones",
    "busy-parts": "nodes are busy, runs want parts",
    "idle-whole": "all nodes are idle, runs want whole ones",
    "idle-parts": "all nodes are idle, runs want parts",
}


def measure():
    figures = []
    for line in subprocess.run([PLAN_QUEUE], capture_output=True, text=True, check=True).stdout.splitlines():
        case, *rest = line.split()
        samples = [float(us) / 1000 for us in rest if "=" not in us]
        found = dict(re.findall(r"(\w+)=(\d+)", line))
        note = f"{found['started']} start, {found['waiting']} are kept nodes"
        name = f"plan, 10,000 queued, 2,000 nodes: {CASES[case]}"
        figures.append(Figure(name, "ms", samples, AIM_MS, note=note))
    return figures
