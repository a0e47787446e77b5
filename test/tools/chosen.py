#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which unit test programs are run by a further tool, besides the sanitizers that run all.

    chosen.py threads            those with more than one thread: for ThreadSanitizer
    chosen.py threads-of-check   those of them that `make check` runs
    chosen.py computing          those of rooms that compute: `make check` runs them under valgrind

prints ROOM/test_NAME, one a line. Programs with threads are found by what their sources, and the headers of tests
that these include, call.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# What starts a thread, or makes a loop whose lanes and rooms do.
STARTS = re.compile(r"\b(pthread_create|loop_uv_create|watchdog_create|uv_queue_work)\b")
# Those that are not run, and why.
NOT = {"nodeagent-proto/link/test_job_account": "forks children that go on as they are, with threads: TSan cannot do that"}
INCLUDE = re.compile(r'^#include "(test/[^"]+)"', re.M)
# What the check covers, by how it begins: transfers, folders, the journal, the watchdog, lanes.
OF_CHECK = ("scheduler/fleet/transfer/", "storage/folders/", "storage/shares/test_journal", "lib/test_watchdog", "lib/test_loop")
# Parsers, codecs, tables, signatures, plans: code where memory that was never written changes a result.
COMPUTING = ("lib/", "model/", "scheduler/formula/", "nodeagent-proto/wire/", "nodeagent-proto/windows/",
             "nodeagent-proto/agent/zip/", "api/plane/storage/", "scheduler/test_plan")  # fmt: skip


def text_of(file, seen):
    """The source with what it includes of the tests."""
    if file in seen:
        return ""
    seen.add(file)
    text = file.read_text()
    return text + "".join(text_of(ROOT / name, seen) for name in INCLUDE.findall(text))


def sources():
    """{ROOM/test_NAME: its file}"""
    tests = ROOT / "test/unit"
    return {str(f.relative_to(tests).with_suffix("")): f for f in sorted(tests.rglob("test_*.c"))}


def threads():
    return [name for name, file in sources().items() if name not in NOT and STARTS.search(text_of(file, set()))]


def threads_of_check():
    return [name for name in threads() if name.startswith(OF_CHECK)]


def computing():
    return [name for name in sources() if name.startswith(COMPUTING)]


WAYS = {"threads": threads, "threads-of-check": threads_of_check, "computing": computing}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in WAYS:
        sys.exit(__doc__)
    print("\n".join(WAYS[sys.argv[1]]()))
