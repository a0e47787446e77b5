# SPDX-License-Identifier: MIT
"""Fixtures that files of tests of Azure Batch import by name. `jobs` runs in the file's own `pool`."""

import pytest

from .batch import BatchGround
from .batch_jobs import Jobs
from .batch_store import Store
from .others import Others


@pytest.fixture(scope="module")
def ground(daemon):
    """A resource group with an account."""
    g = BatchGround(daemon)
    yield g
    g.remove()


@pytest.fixture(scope="module")
def plane(ground):
    """The account's own host."""
    return ground.plane


@pytest.fixture
def jobs(plane, pool):
    """Makes jobs in `pool` that are gone at the end of the test."""
    made = Jobs(plane, pool)
    yield made
    made.remove()


@pytest.fixture(scope="module")
def store(daemon):
    """A container of blobs, and an account whose tasks write to it."""
    s = Store(daemon)
    yield s
    s.batch.remove()


@pytest.fixture(scope="module")
def others():
    """A server of somebody else."""
    o = Others()
    yield o
    o.stop()
