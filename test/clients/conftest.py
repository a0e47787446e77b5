# SPDX-License-Identifier: MIT
import pytest
from support.daemon import Daemon
from support.world import Place, fresh


@pytest.fixture(scope="session")
def daemon():
    """Its log says which operations were used: support/operations.py."""
    with Daemon(arguments=["--log-level", "debug"]) as d:
        yield d


@pytest.fixture
def group(daemon, temporary):
    """A resource group of this test alone, empty; its name."""
    place = temporary(Place(daemon, fresh("client"), "-"))
    daemon.call("PUT", place.group_path, {"location": "northeurope"}, expect=(200, 201))
    return place.group
