# SPDX-License-Identifier: MIT
"""docs/remote.md with the newest az that has `az batchai`, and a vault, whose secrets Debian's az cannot use; that
one is in test/e2e."""

import pytest
from support.clients import az_of_pypi
from support.machines import NoMachines, cabled
from support.remote_page import read

VAULT = """
az keyvault create -n adasvault -g lab -l eastus --enable-rbac-authorization false
"""
NAMES = "batchaid hosts 10.0.0.5 gpu-head.lab >names"
SECRET = """
sudo tee -a /etc/hosts <names
az keyvault secret set --vault-name adasvault -n first --value "from afar"
[ "$(az keyvault secret show --vault-name adasvault -n first --query value -o tsv)" = "from afar" ]
"""


def test_az_of_pypi_on_a_laptop(tmp_path):
    az = az_of_pypi("2.91.0")
    try:
        with cabled(tmp_path) as machines:
            vault = [("sh", "laptop", VAULT), ("sh", "head", NAMES), ("sh", "laptop", SECRET)]
            assert read(*machines, tmp_path, path=[az.parent], more=vault).endswith("2.91.0")
    except NoMachines as why:
        pytest.skip(f"no network namespaces here: {why}")
