# SPDX-License-Identifier: MIT
"""Fixtures of tests of Azure Batch. A file may say

OWN_POOL  the id and the properties of its `pool`, which `jobs` uses
OWN_STORE  the class of its `store`, to whose account `plane` leads then
"""

import pytest

# The documents of Azure Batch are read when its modules are imported: tests of other services do without.


@pytest.fixture(scope="module")
def ground(daemon, temporary_in_file):
    """A resource group with an account."""
    from .batch import BatchGround

    return temporary_in_file(BatchGround(daemon))


@pytest.fixture(scope="module")
def plane(request):
    """The account's own host."""
    own = hasattr(request.module, "OWN_STORE")
    return request.getfixturevalue("store" if own else "ground").plane


class Pool:
    def __init__(self, plane, body):
        from .batch_jobs import add_pool

        self.plane, self.id = plane, body["id"]
        add_pool(plane, **body)

    def remove(self):
        self.plane.call("DELETE", f"/pools/{self.id}", expect=202)


@pytest.fixture(scope="module")
def pool(request, plane, temporary_in_file):
    """The id of the file's pool. It is removed before its account, which pytest does not know: `plane` chooses its
    fixture by name."""
    return temporary_in_file(Pool(plane, request.module.OWN_POOL)).id


@pytest.fixture
def jobs(plane, pool, temporary):
    """Makes jobs in `pool` that are gone at the end of the test."""
    from .batch_jobs import Jobs

    return temporary(Jobs(plane, pool))


@pytest.fixture
def go(tmp_path):
    """A file that tasks can wait for."""
    tmp_path.chmod(0o755)
    return tmp_path / "go"


@pytest.fixture(scope="module")
def container(daemon, temporary_in_file):
    """A container of blobs that tasks read."""
    from .batch_blobs import Container

    return temporary_in_file(Container(daemon))


@pytest.fixture(scope="module")
def store(request, daemon, temporary_in_file):
    """A container of blobs, and an account whose tasks write to it."""
    from .batch_store import Store

    return temporary_in_file(getattr(request.module, "OWN_STORE", Store)(daemon))


@pytest.fixture(scope="module")
def others(temporary_in_file):
    """A server of somebody else."""
    from .others import Others

    return temporary_in_file(Others())
