# SPDX-License-Identifier: MIT
"""The tests of somebody who tries the samples of an SDK: each has a subscription, an account or a vault in it, and the
variables that the sample asks for. ../test_sdk_samples.py says in the environment which samples, and runs this file."""

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest

KEY = base64.b64encode(b"k" * 64).decode()
FOLDER, KIND = Path(os.environ["SAMPLES"]), os.environ["SAMPLES_KIND"]
RUN = Path(__file__).with_name("run_sample.py")


def account(batchaid, name):
    """A storage account with two shares: what its user has to know of it."""
    files = {"mydirectory/myfile": "what a sample looks at"}
    made = {
        "location": "eastus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}, "keys": [KEY, KEY],
        "shares": {"myshare": {"files": files}},
    }  # fmt: skip
    batchaid.seed({"groups": {"g": {"location": "eastus", "storageAccounts": {name: made}}}})
    port = batchaid.cloud.endpoint.rsplit(":", 1)[1]
    at = {kind: f"https://{name}.{kind}.core.localhost:{port}" for kind in ("blob", "file")}
    text = f"DefaultEndpointsProtocol=https;AccountName={name};AccountKey={KEY};BlobEndpoint={at['blob']};"
    text += f"FileEndpoint={at['file']};"
    return {
        "STORAGE_CONNECTION_STRING": text, "AZURE_STORAGE_CONNECTION_STRING": text, "AZURE_STORAGE_ACCOUNT_NAME": name,
        "AZURE_STORAGE_ACCESS_KEY": KEY, "AZURE_STORAGE_ACCOUNT_URL": at[KIND],
    }  # fmt: skip


def vault(batchaid, name):
    """A vault in which the client may do all."""
    tenant = batchaid.cloud.call("GET", f"/subscriptions/{batchaid.id}?api-version=2019-06-01")["tenantId"]
    may = {"secrets": ["get", "list", "set", "delete", "backup", "restore", "recover", "purge"]}
    whose = {"tenantId": tenant, "objectId": batchaid.cloud.environment["AZURE_CLIENT_ID"], "permissions": may}
    made = {"tenantId": tenant, "sku": {"family": "A", "name": "standard"}, "accessPolicies": [whose]}
    vaults = {name: {"location": "eastus", "properties": made}}
    batchaid.seed({"groups": {"g": {"location": "eastus", "vaults": vaults}}})
    at = f"/subscriptions/{batchaid.id}/resourceGroups/g/providers/Microsoft.KeyVault/vaults/{name}"
    return {"VAULT_URL": batchaid.cloud.call("GET", at + "?api-version=2019-09-01")["properties"]["vaultUri"]}


@pytest.mark.parametrize("sample", os.environ["SAMPLES_NAMES"].split())
def test_a_sample_runs(batchaid, sample):
    name = "s" + sample.split("_samples_")[-1].replace("_", "")[:20]
    told = vault(batchaid, name) if KIND == "vault" else account(batchaid, name)
    done = subprocess.run([sys.executable, RUN, FOLDER / f"{sample}.py"], capture_output=True, text=True, timeout=400,
                          cwd=FOLDER, env={**os.environ, **told}, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
