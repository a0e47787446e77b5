# SPDX-License-Identifier: MIT
"""Storage accounts through the newest az that has `az batchai`; Debian's is in test/e2e."""

import subprocess

from support.accounts import Accounts, account_name
from support.clients import PROGRAMS, az_of_pypi, environment, needs, needs_names
from support.waiting import PATIENCE


def test_az_of_pypi(daemon, group, tmp_path):
    needs("az")
    needs_names()
    az = az_of_pypi("2.91.0")
    env = environment(daemon, HOME=tmp_path, AZURE_CORE_COLLECT_TELEMETRY="no")
    program = [str(a) for a in (PROGRAMS / "az" / "storage.sh", az, group, account_name(), account_name())]
    done = subprocess.run(program, capture_output=True, text=True, env=env, timeout=300 * PATIENCE)
    Accounts(daemon, "batchaiautostorage").remove()
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.splitlines()[-1] == "ok az-2.91.0 storage"
