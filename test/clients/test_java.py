# SPDX-License-Identifier: MIT
"""com.microsoft.azure:azure-mgmt-batchai of Maven."""

import pytest
from support.clients import PROGRAMS, live
from support.daemon import BUILD
from support.java import compiled, truststore


@pytest.fixture(scope="module")
def classpath():
    return compiled("azure-mgmt-batchai", PROGRAMS / "java", "Life", home=BUILD / "clients" / "java")


def test_the_life_of_a_cluster_and_a_job(daemon, group, classpath, tmp_path):
    said = live(daemon, ["java", *truststore(daemon, tmp_path), "-cp", classpath, "Life"], group)
    assert said == "ok java 2018-05-01"
