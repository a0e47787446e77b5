# SPDX-License-Identifier: MIT
"""@azure/arm-batchai of npm."""

import pytest
from support.clients import PROGRAMS, install, live, needs


@pytest.fixture(scope="module")
def node_modules():
    needs("node", "npm")
    package = PROGRAMS / "node" / "package.json"
    npm = ["npm", "install", "--no-audit", "--no-fund"]
    return install("@azure/arm-batchai", npm, files=[package]) / "node_modules"


def test_the_life_of_a_cluster_and_a_job(daemon, group, node_modules):
    said = live(daemon, ["node", PROGRAMS / "node" / "life.js"], group, NODE_PATH=node_modules)
    assert said == "ok node 2018-05-01"
