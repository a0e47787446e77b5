# SPDX-License-Identifier: MIT
"""Which operations each client uses, as the daemon's log tells: kept in test/clients/operations.json for Batch AI, and in
batch_operations.json and batch_management_operations.json for Azure Batch, from which docs/api-coverage.md and
docs/batch-coverage.md have their column of clients. With UPDATE_OPERATIONS set the file is written anew; otherwise a client that uses others than are written there
fails its test."""

import json
import os
import re

from .daemon import ROOT

CLIENTS = ROOT / "test" / "clients"
# How often a client polls depends on how fast things go, and so whether it does at all.
POLLS = {"OperationResults", "OperationStatuses"}


class Book:
    """The operations of one service, by the paths of its requests."""

    def __init__(self, name, path):
        self.file = CLIENTS / name
        self.done = re.compile(rf"request\.done .*path={path} operation=(\S+) version=(\S+) status=2", re.IGNORECASE)

    def used(self, log, version):
        found = (self.done.search(line) for line in log)
        return sorted({m[1] for m in found if m and m[2] == version} - POLLS)


# ARM's own resources have versions of their own.
BATCH_AI = Book("operations.json", r"\S*Microsoft\.BatchAI\S*")
BATCH = Book("batch_operations.json", r"/(?!subscriptions/)\S*")
BATCH_ACCOUNTS = Book("batch_management_operations.json", r"\S*Microsoft\.Batch/\S*")


def judge(client, version, log, of=BATCH_AI):
    now = of.used(log, version)
    assert now, f"{client} was not seen to use {version} (is the daemon's log level debug?)"
    book = json.loads(of.file.read_text()) if of.file.exists() else {}
    if os.environ.get("UPDATE_OPERATIONS"):
        book.setdefault(client, {})[version] = now
        of.file.write_text(json.dumps(book, indent=1, sort_keys=True) + "\n")
        return
    written = book.get(client, {}).get(version, [])
    assert now == written, (
        f"{client} uses other operations of {version} than {of.file.name} says "
        f"({sorted(set(now) ^ set(written))}); run: make check-clients UPDATE_OPERATIONS=1 docs-update"
    )
