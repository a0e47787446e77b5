# SPDX-License-Identifier: MIT
"""OpenTofu with Terraform's provider azurerm, both built unmodified from their published modules. Two configurations are
applied, changed in place, imported and destroyed; the plan is empty after each step. The module proxy serves one version
of azurerm, 5.2.

To build both takes an hour of a core; they stay in the user's cache. TOFU and AZURERM name programs that are there."""

import os
import re
import shutil
import subprocess

import pytest
from support.clients import PROGRAMS, environment, needs_names
from support.daemon import Daemon
from support.go_modules import go_command, go_programs
from support.waiting import PATIENCE

OPENTOFU = "github.com/opentofu/opentofu@v1.12.6"
PROVIDER = "github.com/hashicorp/terraform-provider-azurerm@v1.44.1-0.20260824201233-fae580791926"
BUILD_LIMIT = 5400  # seconds
# The provider waits by itself: for two minutes it looks whether a new vault still answers.
STEP_LIMIT = 900

RC = """
provider_installation {{
  dev_overrides {{
    "hashicorp/azurerm" = "{folder}"
  }}
  direct {{}}
}}
"""

# What the provider cannot read back, here and in Azure: secrets, a blob's source, options of its own.
UNREADABLE = ("azurerm_batch_pool.", "azurerm_batch_job.", "azurerm_storage_blob.")


@pytest.fixture
def cloud():
    with Daemon(arguments=["--testing", "--fake-nodes", "--ephemeral"]) as d:
        yield d


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """tofu, and a folder with the provider."""
    needs_names()
    tofu = os.environ.get("TOFU") or go_command(OPENTOFU, "./cmd/tofu", "tofu", BUILD_LIMIT)
    azurerm = os.environ.get("AZURERM") or go_command(PROVIDER, ".", "terraform-provider-azurerm", BUILD_LIMIT)
    folder = tmp_path_factory.mktemp("provider")
    (folder / "terraform-provider-azurerm").symlink_to(azurerm)
    return tofu, folder


class Tofu:
    """A configuration and its state."""

    def __init__(self, daemon, programs, folder, name):
        self.program, provider = programs
        self.folder = folder
        shutil.copy(PROGRAMS / "terraform" / name / "main.tf", folder)
        (folder / "tofurc").write_text(RC.format(folder=provider))
        self.env = environment(daemon, HOME=folder, TF_CLI_CONFIG_FILE=folder / "tofurc", CHECKPOINT_DISABLE=1)
        for name in ("SUBSCRIPTION_ID", "TENANT_ID", "CLIENT_ID", "CLIENT_SECRET"):
            self.env[f"ARM_{name}"] = self.env[f"AZURE_{name}"]
        self.env["ARM_METADATA_HOSTNAME"] = daemon.env["BATCHAID_ENDPOINT"].removeprefix("https://")

    def __call__(self, *arguments, generation=1):
        env = {**self.env, "TF_VAR_generation": str(generation)}
        done = subprocess.run(
            [self.program, *arguments], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=STEP_LIMIT * PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, f"{arguments} -> {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def apply(self, generation):
        """How many resources were added, changed and destroyed."""
        said = self("apply", "-auto-approve", "-no-color", generation=generation)
        return [int(n) for n in re.search(r"(\d+) added, (\d+) changed, (\d+) destroyed", said).groups()]

    def has_an_empty_plan(self, generation):
        """Any other has exit code 2."""
        self("plan", "-no-color", "-detailed-exitcode", generation=generation)

    def resources(self):
        """address -> id of each resource in the state."""
        found = {}
        for address in self("state", "list").split():
            if not address.startswith("data."):
                shown = self("state", "show", "-no-color", address)
                found[address] = re.search(r'^    id +(?:=) "(.*)"$', shown, re.M).group(1)
        return found

    def take_in(self, address, id, generation):
        """Forgets a resource and imports it."""
        self("state", "rm", address)
        self("import", "-no-color", address, id, generation=generation)


@pytest.mark.parametrize("name", ["usual", "more"])
def test_a_configuration_is_applied_changed_imported_and_destroyed(cloud, programs, tmp_path, name):
    tofu = Tofu(cloud, programs, tmp_path, name)
    added, *others = tofu.apply(1)
    assert added > 10 and others == [0, 0]
    tofu.has_an_empty_plan(1)
    added_then, changed, destroyed = tofu.apply(2)
    assert changed > 5 and (added_then, destroyed) == (0, 0)
    tofu.has_an_empty_plan(2)
    resources = tofu.resources()
    assert len(resources) == added
    for address, id in resources.items():
        if not address.startswith(UNREADABLE):
            tofu.take_in(address, id, 2)
    tofu.has_an_empty_plan(2)
    whole = (tmp_path / "terraform.tfstate").read_text()
    for address, id in resources.items():
        if address.startswith(UNREADABLE):
            tofu.take_in(address, id, 2)
    (tmp_path / "terraform.tfstate").write_text(whole)
    tofu("destroy", "-auto-approve", "-no-color", generation=2)
    groups = f"/subscriptions/{cloud.subscription}/resourceGroups"
    assert cloud.call("GET", groups, api_version="2021-04-01", expect=200).json["value"] == []


def test_the_requests_of_azapi(cloud):
    """The module proxy does not serve azapi."""
    program = go_programs("azapi", PROGRAMS / "azapi") / "azapi"
    done = subprocess.run([program, "azapi"], env=environment(cloud), capture_output=True, text=True, timeout=120 * PATIENCE)
    assert done.returncode == 0 and done.stdout == "ok azapi\n", f"{done.stdout}\n{done.stderr}"
    groups = f"/subscriptions/{cloud.subscription}/resourceGroups"
    assert cloud.call("GET", groups, api_version="2021-04-01", expect=200).json["value"] == []
