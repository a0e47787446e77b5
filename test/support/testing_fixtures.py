# SPDX-License-Identifier: MIT
"""Fixtures of tests of a daemon with --testing; `emptied` and `place` are imported by name. Such a file may say

ARGUMENTS  what its daemon is started with besides
EXPECTS    what that may log besides
CLOCK      how its clock goes when a test begins; without it, as outside
"""

import pytest

from .testing import Clock, Strict, Testing, testing_daemon
from .waiting import wait_for
from .world import Place, fresh


@pytest.fixture(scope="module")
def tested(request):
    """The file's daemon."""
    said = vars(request.module)
    with testing_daemon(*said.get("ARGUMENTS", ()), expects=said.get("EXPECTS", ())) as d:
        yield d


@pytest.fixture
def t(tested):
    """What is asked of the daemon besides its services. Rules, faults and strict mode end with the test."""
    made = Strict(tested)
    yield made
    made.forget()


@pytest.fixture
def emptied(tested):
    """As `t`, and nothing is left of what the test made."""
    made = Testing(tested)
    yield made
    made.reset()
    wait_for(lambda: tested.get("/batchaid/nodes")["value"] == [], what="nodes to go")


@pytest.fixture
def strict(t):
    """As `t`, where it is for strict mode."""
    return t


@pytest.fixture
def clock(request, tested):
    made = Clock(tested)
    if "CLOCK" in vars(request.module):
        made.change(**request.module.CLOCK)
    yield made
    made.change(real=True)


@pytest.fixture
def hurried(t, clock, temporary):
    """As temporary(); but its end waits neither for what a test holds nor for its clock."""
    yield temporary
    t.forget()
    clock.change(rate=1000)


@pytest.fixture
def place(tested, hurried):
    """A workspace of the test's own."""
    return hurried(Place(tested, fresh("group"), "ws").make())
