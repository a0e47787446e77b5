# SPDX-License-Identifier: MIT
"""Runs last: was each operation of the published spec exercised, with success, by these tests?"""

from pathlib import Path

import pytest
from support.daemon import JUDGE


def test_every_operation_of_the_spec_was_exercised(request):
    if JUDGE.spec is None:
        pytest.skip("the published spec is not here")
    here = Path(__file__).parent
    collected = {Path(item.fspath).name for item in request.session.items}
    narrowed = request.config.getoption("keyword") or request.config.getoption("markexpr")
    if narrowed or not {f.name for f in here.glob("test_*.py")} <= collected:
        pytest.skip("only some of the tests run")
    print(f"{JUDGE.checked} replies were checked against the published spec")
    assert JUDGE.checked > 500
    assert JUDGE.never_exercised() == []
    assert JUDGE.complaints == []
