# SPDX-License-Identifier: MIT
"""Who may do what, as test/rights.tsv has it: a row a route of any service. `right` is

    open             anybody, also without a credential
    login            whoever has a token for the service, or the cookie of a browser if the service takes cookies
    role             whoever has a role, whatever and wherever it is
    ACTION           whose role has this action at the scope of the path
    see ACTION       the same; and whoever has a role above or below the scope, who sees the part that theirs allow
    anywhere ACTION  whose role has this action at any scope
    data ACTION      whose role has it as an action on data
    both ACTION      whose role has it either way: so Azure Batch and containers take tokens
    link             whoever has a link that the daemon signed
    testing          whoever has the key of --testing; without that option nobody
    key              whoever has the private half of a key that a node was given for this folder; not a route of HTTP,
                     and tried by test/api/test_share_serve.py and test/e2e/test_rack_shares.py

The other columns are of the data planes. Of blobs and files: the resource (srt) and letters (sp, one is enough) that a
signature of the account needs, the letters that one of a container or share needs, and the public access by which
anybody may. Of vaults: the permission of an access policy."""

import os
import subprocess
from collections import namedtuple
from pathlib import Path

import pytest

from .published_roles import ROLES

TABLE = Path(__file__).parents[1] / "rights.tsv"
Row = namedtuple("Row", "service method path right resource account container public")
Route = namedtuple("Route", "service method path operation version bytes")


def rows():
    """Of routes: not those of keys."""
    lines = TABLE.read_text().splitlines()[1:]
    found = [Row(*(line.split("\t") + ["-"] * 4)[: len(Row._fields)]) for line in lines]
    return [row for row in found if row.right != "key"]


def routes():
    """Of the programs that are tested."""
    program = Path(os.environ.get("BUILD_DIR", "build")) / "tools" / "routes"
    if not program.exists():
        pytest.skip(f"no {program}: make unit-bins")
    out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return [Route(*line.split("\t")) for line in out.splitlines()]


class Grants:
    """Roles at scopes."""

    def __init__(self, *given):
        self.given = given

    def over(self, scope):
        """Those that count at a scope."""
        return [ROLES[role] for role, at in self.given if within(scope, at)]

    def allows(self, right, scope):
        kind, _, action = right.rpartition(" ")
        if right in ("open", "login"):
            return True
        if right == "role":
            return bool(self.given)
        if kind == "anywhere":
            return any(ROLES[role].acts(action) for role, _ in self.given)
        over = self.over(scope)
        if kind == "see" and any(within(at, scope) or within(scope, at) for _, at in self.given):
            return True
        return (kind != "data" and any(role.acts(action) for role in over)) or (
            kind in ("data", "both") and any(role.reads_data(action) for role in over)
        )


def within(scope, outer):
    return (scope + "/").lower().startswith(outer.lower() + "/")
