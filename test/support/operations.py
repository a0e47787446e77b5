# SPDX-License-Identifier: MIT
"""Which operations each client uses, as the daemon's log tells: kept in test/clients/operations.json,
from which docs/api-coverage.md has its column of clients. With UPDATE_OPERATIONS set the file is
written anew; otherwise a client that uses others than are written there fails its test."""

import json
import os
import re

from .daemon import ROOT

SEEN = ROOT / "test" / "clients" / "operations.json"
DONE = re.compile(r"request\.done .*path=\S*Microsoft\.BatchAI\S* operation=(\S+) version=(\S+) status=2", re.IGNORECASE)


# How often a client polls depends on how fast things go, and so whether it does at all.
POLLS = {"OperationResults", "OperationStatuses"}


def used(log, version):
    """Of Microsoft.BatchAI: ARM's own resources have versions of their own."""
    found = (DONE.search(line) for line in log)
    return sorted({m[1] for m in found if m and m[2] == version} - POLLS)


def judge(client, version, log):
    now = used(log, version)
    assert now, f"{client} was not seen to use {version} (is the daemon's log level debug?)"
    book = json.loads(SEEN.read_text()) if SEEN.exists() else {}
    if os.environ.get("UPDATE_OPERATIONS"):
        book.setdefault(client, {})[version] = now
        SEEN.write_text(json.dumps(book, indent=1, sort_keys=True) + "\n")
        return
    written = book.get(client, {}).get(version, [])
    assert now == written, (
        f"{client} uses other operations of {version} than {SEEN.name} says "
        f"({sorted(set(now) ^ set(written))}); run: make check-clients UPDATE_OPERATIONS=1 docs-update"
    )
