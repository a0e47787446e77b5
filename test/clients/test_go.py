# SPDX-License-Identifier: MIT
"""The three packages of github.com/Azure/azure-sdk-for-go."""

import pytest
from support.clients import PROGRAMS, live
from support.go_modules import go_programs

VERSIONS = ("2017-09-01-preview", "2018-03-01", "2018-05-01")


@pytest.fixture(scope="module")
def programs():
    return go_programs("go", PROGRAMS / "go")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_life_of_a_cluster_and_a_job(daemon, group, programs, version):
    assert live(daemon, [programs / f"v{version.replace('-', '_')}"], group) == f"ok go {version}"
