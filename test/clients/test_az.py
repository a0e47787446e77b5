# SPDX-License-Identifier: MIT
"""`az batchai`: as Debian ships it, and the newest one that has it."""

import os
import re

import pytest
from support.clients import PROGRAMS, az_of_pypi, live, needs
from support.daemon import BUILD


@pytest.mark.parametrize("version", ["2.45", "2.91"])
def test_the_life_of_a_cluster_and_a_job(daemon, group, tmp_path, version):
    needs("az", "curl", "openssl")
    folder = "/usr/bin" if version == "2.45" else az_of_pypi("2.91.0").parent
    path = f"{BUILD}:{folder}:{os.environ['PATH']}"
    home = {"HOME": tmp_path, "AZURE_CORE_COLLECT_TELEMETRY": "no", "PATH": path}
    said = live(daemon, [PROGRAMS / "az" / "life.sh"], group, **home)
    assert re.fullmatch(rf"ok az-{re.escape(version)}\.\d+ 2018-05-01", said)
