# SPDX-License-Identifier: MIT
"""Secrets of Key Vaults through published clients."""

import socket
import subprocess

import pytest
from support.clients import PROGRAMS, environment
from support.vaults import ALL, Vaults, policy


@pytest.fixture
def vault(daemon):
    """A vault's address, in which the daemon's own principal may do all."""
    v = Vaults(daemon).make()
    name = v.vault(policy(daemon.env["AZURE_CLIENT_ID"], **ALL))
    try:
        socket.getaddrinfo(f"{name}.vault.localhost", 443)
    except OSError:
        pytest.skip("names below localhost are not known here (libnss-myhostname)")
    yield v.get(name)["properties"]["vaultUri"]
    v.remove()


def test_the_python_package_of_debian(daemon, vault):
    program = ["/usr/bin/python3", PROGRAMS / "python" / "vault_secrets.py", vault]
    done = subprocess.run(program, capture_output=True, text=True, env=environment(daemon), timeout=120)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()[-1]
    print(said)
    assert said.startswith("ok azure-keyvault-secrets-")
