# SPDX-License-Identifier: MIT
"""`az batchai`, as Debian ships it."""

import re

from support.clients import PROGRAMS, live, needs


def test_the_life_of_a_cluster_and_a_job(daemon, group, tmp_path):
    needs("az", "curl")
    home = {"HOME": tmp_path, "AZURE_CORE_COLLECT_TELEMETRY": "no"}
    said = live(daemon, [PROGRAMS / "az" / "life.sh"], group, **home)
    assert re.fullmatch(r"ok az-2\.\d+\.\d+ 2018-05-01", said)
