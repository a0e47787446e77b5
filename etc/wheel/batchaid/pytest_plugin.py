# SPDX-License-Identifier: MIT
"""Fixtures: `batchaid_cloud`, a daemon for the session, and `batchaid`, a subscription of it for each test, with the
environment of clients set."""

import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from .cloud import Cloud, Subscription
from .errors import BatchaidError


def cloud_of(settings: Mapping[str, Any]) -> Cloud:
    """The daemon that BATCHAID_ENDPOINT names, or else a new one with these settings."""
    if not os.environ.get("BATCHAID_ENDPOINT"):
        return Cloud(**settings).start()
    cloud = Cloud.running()
    cloud.check()
    if settings:
        warnings.warn(f"batchaid_settings has no effect on the daemon that BATCHAID_ENDPOINT names: {settings}", stacklevel=1)
    return cloud


@pytest.fixture(scope="session")
def batchaid_settings() -> Mapping[str, Any]:
    """Override it to start the daemon with settings of your own: {"local_nodes": 4}."""
    return {}


@pytest.fixture(scope="session")
def batchaid_cloud(batchaid_settings: Mapping[str, Any]) -> Iterator[Cloud]:
    """A daemon of the session's own, or the one that BATCHAID_ENDPOINT names."""
    try:
        cloud, why = cloud_of(batchaid_settings), None
    except (BatchaidError, ConnectionError, FileNotFoundError, RuntimeError, ValueError) as e:
        why = e
    if why:
        pytest.fail(f"batchaid: {why}", pytrace=False)
    yield cloud
    cloud.stop()


@pytest.fixture
def batchaid(batchaid_cloud: Cloud) -> Iterator[Subscription]:
    """A subscription of each test's own. A fixture of a wider scope makes one: `batchaid_cloud.subscription()`."""
    one = batchaid_cloud.subscription()
    with one.patched():
        yield one
    one.close()
