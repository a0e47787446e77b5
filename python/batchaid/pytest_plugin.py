# SPDX-License-Identifier: MIT
"""Fixtures: `batchaid_cloud`, a daemon for the session, and `batchaid`, a subscription of it for each test, with the
environment of clients set."""

import os

import pytest

from .cloud import Cloud


@pytest.fixture(scope="session")
def batchaid_settings():
    """Override it to start the daemon with settings of your own: {"local_nodes": 4}."""
    return {}


@pytest.fixture(scope="session")
def batchaid_cloud(batchaid_settings):
    """A daemon of the session's own, or the one that BATCHAID_ENDPOINT names."""
    try:
        cloud = Cloud.running() if os.environ.get("BATCHAID_ENDPOINT") else Cloud(**batchaid_settings).start()
    except (FileNotFoundError, RuntimeError, ValueError) as e:
        pytest.fail(f"batchaid: {e}", pytrace=False)
    yield cloud
    cloud.stop()


@pytest.fixture
def batchaid(batchaid_cloud):
    """A subscription of each test's own. A fixture of a wider scope makes one: `batchaid_cloud.subscription()`."""
    one = batchaid_cloud.subscription()
    with one.patched():
        yield one
    one.close()
