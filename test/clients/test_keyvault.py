# SPDX-License-Identifier: MIT
"""Secrets of Key Vaults through published clients."""

import subprocess

import pytest
from support.clients import PROGRAMS, az_of_pypi, environment, needs, needs_names
from support.vaults import ALL, Vaults, policy
from support.waiting import PATIENCE
from support.world import fresh


@pytest.fixture
def vaults(daemon, temporary):
    needs_names()
    return temporary(Vaults(daemon).make())


def said(daemon, program, *arguments, **env):
    """The last line of a program that has ended well."""
    argv = [str(a) for a in (*program, *arguments)]
    done = subprocess.run(
        argv, capture_output=True, text=True, env=environment(daemon, **env), timeout=300 * PATIENCE
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    print(done.stdout.splitlines()[-1])
    return done.stdout.splitlines()[-1]


def test_the_python_package_of_debian(daemon, vaults):
    name = vaults.vault(policy(daemon.env["AZURE_CLIENT_ID"], **ALL))
    program = ["/usr/bin/python3", PROGRAMS / "python" / "vault_secrets.py"]
    uri = vaults.get(name)["properties"]["vaultUri"]
    assert said(daemon, program, uri).startswith("ok azure-keyvault-secrets-")


def test_az_of_pypi(daemon, vaults, tmp_path):
    needs("az")
    az = az_of_pypi("2.91.0")
    home = {"HOME": tmp_path, "AZURE_CORE_COLLECT_TELEMETRY": "no"}
    life = [PROGRAMS / "az" / "vault.sh", az, vaults.group, fresh("azvault")]
    assert said(daemon, life, **home) == "ok az-2.91.0 keyvault"
