# SPDX-License-Identifier: MIT
"""Runs last: was each operation of the published spec exercised, with success, by these tests? Where
each file ran in a process of its own, BATCHAID_JUDGES is the folder in which they left what they heard."""

import copy
import os
from pathlib import Path

import pytest
from support.daemon import JUDGE


def everybody(request):
    """The judge of all tests of this folder; None where only some of them ran."""
    if "BATCHAID_JUDGES" in os.environ:
        judge = copy.copy(JUDGE)
        judge.seen, judge.complaints = set(JUDGE.seen), list(JUDGE.complaints)
        for heard in Path(os.environ["BATCHAID_JUDGES"]).glob("*.json"):
            judge.add(heard)
        return judge
    here = Path(__file__).parent
    collected = {Path(item.fspath).name for item in request.session.items}
    narrowed = request.config.getoption("keyword") or request.config.getoption("markexpr")
    if narrowed or not {f.name for f in here.glob("test_*.py")} <= collected:
        return None
    return JUDGE


def test_every_operation_of_the_spec_was_exercised(request):
    if JUDGE.spec is None:
        pytest.skip("the published spec is not here")
    judge = everybody(request)
    if judge is None:
        pytest.skip("only some of the tests run")
    print(f"{judge.checked} replies were checked against the published spec")
    assert judge.checked > 500
    assert judge.never_exercised() == []
    assert judge.complaints == []
