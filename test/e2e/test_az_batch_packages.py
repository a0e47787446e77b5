# SPDX-License-Identifier: MIT
"""Applications of Batch accounts and their packages by the real az: the upload goes to the auto-storage account's
blobs."""

import re
import zipfile

import pytest
from support.accounts import Accounts
from support.batch_rm import BatchAccounts
from support.daemon import ROOT
from support.pages import inline


@pytest.fixture
def batch(daemon, temporary):
    return temporary(BatchAccounts(daemon).make())


def test_the_life_of_a_package(az, daemon, batch, tmp_path):
    store = Accounts(daemon, batch.group)
    name = batch.account(autoStorage={"storageAccountId": f"{store.path}/{store.account()}"})
    file = tmp_path / "myapp-exe.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("myapp.exe", "#!/bin/sh\necho hello\n" * 1000)
    key = batch.keys(name)[0]
    data = f"--account-name {name} --account-key {key} --account-endpoint {batch.get(name)['properties']['accountEndpoint']}"
    app = f"-g {batch.group} -n {name} --application-name app01"
    made = az(f"batch application package create {app} --version-name 1.0 --package-file {file}")
    assert (made["name"], made["state"], made["format"]) == ("1.0", "Active", "zip")
    changed = az(f"batch application set {app} --default-version 1.0 --display-name 'My app'")
    assert changed is None or changed["defaultVersion"] == "1.0"
    shown = az(f"batch application show {app}")
    assert (shown["defaultVersion"], shown["displayName"], shown["allowUpdates"]) == ("1.0", "My app", True)
    assert [p["name"] for p in az(f"batch application package list {app}")] == ["1.0"]
    # This az does not pass on a false.
    batch.call("PATCH", f"/{name}/applications/app01", {"properties": {"allowUpdates": False}}, expect=200)
    assert "ApplicationPackageUpdateNotAllowed" in az.fails(f"batch application package create {app} --version-name 1.0 --package-file {file}")
    az(f"batch application create -g {batch.group} -n {name} --application-name other")
    assert [a["name"] for a in az(f"batch application list -g {batch.group} -n {name}")] == ["app01", "other"]
    summary = az(f"batch application summary show --application-id app01 {data}")
    assert (summary["id"], summary["displayName"], summary["versions"]) == ("app01", "My app", ["1.0"])
    assert [a["id"] for a in az(f"batch application summary list {data}")] == ["app01"]
    az(f"batch application package delete {app} --version-name 1.0 -y")
    assert az(f"batch application package list {app}") == []
    az(f"batch application delete {app} -y")
    assert [a["name"] for a in az(f"batch application list -g {batch.group} -n {name}")] == ["other"]


def page():
    """The commands of docs/batch-accounts.md, in order."""
    text = (ROOT / "docs" / "batch-accounts.md").read_text().replace("\\\n", " ")
    return [re.sub(r"\s+#.*", "", line).strip() for line in re.findall(r"^    (az .*)", text, re.M)]


def test_the_page_runs(az, shell, tmp_path):
    commands = page()
    assert len(commands) == 7
    with zipfile.ZipFile(tmp_path / "myapp.zip", "w") as z:
        z.writestr("myapp.exe", "x")
    for command in commands:
        az(command.removeprefix("az ").replace("myapp.zip", str(tmp_path / "myapp.zip")))
    assert az("batch account show -g testrg01 -n test01")["location"] == "westus"
    assert az("batch application show -g testrg01 -n test01 --application-name app01")["defaultVersion"] == "1.0"
    line = inline("batch-accounts.md", r'eval "[^`]+')
    shown = shell(f'{line}; echo "$AZURE_BATCH_ACCOUNT $AZURE_BATCH_ENDPOINT"; az batch application summary list --query [].id -o tsv')
    assert re.fullmatch(r"test01 https://test01\.westus\.batch\.localhost:\d+/?\napp01\n", shown)
    assert "test01.westus.batch.localhost" in shell(inline("batch-accounts.md", "batchaid hosts"))
    az("group delete -n testrg01 -y")
