# SPDX-License-Identifier: MIT
"""docs/remote.md with the newest az that has `az batchai`; Debian's is in test/e2e."""

import pytest
from support.clients import az_of_pypi
from support.machines import NoMachines, cabled
from support.remote_page import read


def test_az_of_pypi_on_a_laptop(tmp_path):
    az = az_of_pypi("2.91.0")
    try:
        with cabled(tmp_path) as machines:
            assert read(*machines, tmp_path, path=[az.parent]).endswith("2.91.0")
    except NoMachines as why:
        pytest.skip(f"no network namespaces here: {why}")
