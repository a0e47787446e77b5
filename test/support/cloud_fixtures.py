# SPDX-License-Identifier: MIT
"""Fixtures of tests of what is around Batch AI: vaults, people, versions without workspaces, and disks that fill."""

import pytest

from .small_disk import small_disk as make_small_disk
from .spec import OLD_VERSIONS


@pytest.fixture(scope="module")
def vaults(daemon, temporary_in_file):
    """A resource group for vaults."""
    from .vaults import Vaults

    return temporary_in_file(Vaults(daemon).make())


@pytest.fixture
def person(daemon, temporary):
    """person(role, scope) -> somebody new, who is removed at the end of the test."""
    from .people import Person

    return lambda *args, **more: temporary(Person(daemon, *args, **more))


@pytest.fixture(params=OLD_VERSIONS)
def flat(request, daemon, temporary):
    """A resource group of this test alone, seen through an old version."""
    from .flat import FlatPlace

    return temporary(FlatPlace(daemon, request.param).make())


@pytest.fixture
def small_disk():
    """A directory whose folder `state` is a disk of its own."""
    with make_small_disk() as where:
        yield where
