# SPDX-License-Identifier: MIT
"""`batchaid az` with commands as the guides of 2017 and 2018 write them; the forms alone are in the unit tests."""

import json
import re

import pytest
from support.accounts import account_name
from support.world import Place, fresh

USER = "-u demoUser -p demoPassword1"
BATCH_AI = "9fcb3732-5f52-4135-8c08-9d4bbaf203ea"


@pytest.fixture(scope="module")
def group(az, daemon, temporary_in_file):
    """A resource group whose workspace `migrated` the commands make."""
    name = fresh("old")
    az(f"group create -n {name} -l eastus")
    temporary_in_file(Place(daemon, name, "migrated"))
    return name


def today(done):
    return re.findall(r"^batchaid: today: (.*)$", done.stderr, re.MULTILINE)


def test_a_workshop(az, daemon, group, tmp_path):
    """A share with a script, a cluster of a file and one of options, a job, its output."""
    account = account_name()
    az(f"storage account create -n {account} -l eastus -g {group}")
    (daemon.share(account, "scripts") / "train.py").write_text("print('trained')\n")
    (tmp_path / "cluster.json").write_text(json.dumps({"properties": {"vmSize": "Standard_NC6", "scaleSettings": {
        "manual": {"targetNodeCount": 0}}, "userAccountSettings": {"adminUserName": "demo", "adminUserPassword": "pw"}}}))
    done = az.run(f"batchai cluster create -n configured -l eastus -g {group} -c {tmp_path}/cluster.json")
    assert today(done) == [
        f"az batchai workspace create -g {group} -n migrated -l eastus",
        f"az batchai cluster create -n configured -g {group} -f {tmp_path}/cluster.json -w migrated",
    ]
    assert json.loads(done.stdout)["vmSize"] == "STANDARD_NC6"
    done = az.run(f"batchai cluster create -n nodes -g {group} -l eastus --storage-account-name {account} -i UbuntuDSVM "
                  f"-s Standard_NC6 --min 1 --max 1 --afs-name scripts --afs-mount-path external {USER}")
    assert "-p ... -w migrated" in done.stderr and "demoPassword1" not in done.stderr
    (tmp_path / "job.json").write_text(json.dumps({"properties": {"nodeCount": 1, "customToolkitSettings": {
        "commandLine": "python3 $AZ_BATCHAI_MOUNT_ROOT/external/train.py"}, "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/external"}}))
    az.run(f"batch ai job create -g {group} -l eastus -n job -r nodes -c {tmp_path}/job.json")
    streamed = az.run(f"batchai job stream-file -j job -n stdout.txt -d stdouterr -g {group}")
    assert streamed.stdout == "trained\n"
    files = az(f"batchai job list-files -n job -g {group} -d stdouterr")
    assert {"stdout.txt", "stderr.txt"} <= {f["name"] for f in files}
    ((_, ip, _),) = az.table(f"batchai cluster list-nodes -n nodes -g {group}")[1:]
    assert ip == "127.0.0.1"


def test_file_servers(az, group):
    """az cannot make, show, mount or delete them."""
    made = az(f"batchai file-server create -l eastus -g {group} -n nfs --disk-count 2 --disk-size 10 -s Standard_D1 {USER}")
    assert (made["resourceGroup"], made["provisioningState"], made["dataDisks"]["diskCount"]) == (group, "succeeded", 2)
    mounting = az.run(f"batchai cluster create -l eastus -g {group} -n mounting --nfs nfs --nfs-mount-path here -s Standard_NC6 "
                      f"--min 0 --max 0 {USER}")
    assert "-f <(echo '{\"properties\"" in today(mounting)[0]
    (server,) = json.loads(mounting.stdout)["nodeSetup"]["mountVolumes"]["fileServers"]
    assert server["relativeMountPath"] == "here" and server["fileServer"]["id"].endswith("/workspaces/migrated/fileServers/nfs")
    listed = az.run('batchai file-server list -o table -g ""').stdout
    assert re.search(rf"^nfs +{group} +STANDARD_D1 +2 x 10 Gb ", listed, re.MULTILINE | re.IGNORECASE), listed
    az.run(f"batchai cluster delete -n mounting -g {group} -y")
    az.run(f"batchai file-server delete -n nfs -g {group} -y")
    assert "nfs" in az.fails(f"batchai file-server show -n nfs -g {group}")


def test_lists_of_all_groups_and_a_cluster_that_scales_itself(az, group):
    az.run(f"batchai cluster create -l eastus -g {group} -n scaled -s Standard_NC6 --min 0 --max 1 {USER}")
    scaled = az(f"batchai cluster auto-scale -n scaled -g {group} --min 0 --max 10")
    assert scaled["scaleSettings"]["autoScale"]["maximumNodeCount"] == 10
    everywhere = az('batchai cluster list -g ""')
    assert {"name": "scaled", "resourceGroup": group, "vmSize": "STANDARD_NC6"}.items() <= {
        k: v.lower() if k == "resourceGroup" else v
        for c in everywhere if c["name"] == "scaled" for k, v in c.items() if isinstance(v, str)}.items()
    assert "scaled" in az('batchai cluster list -g "" --query [].name')
    az.run(f"configure -d group={group}")
    try:
        assert "scaled" in az.run("batchai cluster list -o table").stdout
        assert az("batchai cluster show -n scaled --query name") == "scaled"
    finally:
        az.run("configure -d group=''")
    assert "needs a resource group" in az.fails("batchai cluster show -n scaled")


def test_a_job_with_properties_of_2017(az, daemon, group, tmp_path):
    (tmp_path / "job.json").write_text(json.dumps({"properties": {
        "nodeCount": 1, "priority": 7, "stdOutErrPathPrefix": "/tmp", "customToolkitSettings": {"commandLine": "true"}}}))
    az.run(f"batchai cluster create -l eastus -g {group} -n none -s Standard_NC6 --min 0 --max 0 {USER}")
    job = az(f"batchai job create -l eastus -g {group} -n ranked -r none -c {tmp_path}/job.json")
    assert (job["priority"], job["cluster"]["id"].rpartition("/")[2]) == (7, "none")
    az.run(f"batchai job delete -n ranked -g {group} -y")


def test_a_file_with_members_beside_properties(az, group, tmp_path):
    (tmp_path / "low.json").write_text('{\n  "vmPriority": "lowpriority"\n}\n')
    done = az.run(f"batchai cluster create -l eastus -g {group} -n low -s Standard_NC6 --min 0 --max 0 {USER} -c {tmp_path}/low.json")
    assert json.loads(done.stdout)["vmPriority"] == "lowpriority"
    assert 'low.json:2:3: "vmPriority" belongs into "properties"' in done.stderr


def test_a_file_from_a_pipe(az, daemon, group):
    """`-f <(...)`, as the lines for today have it: az cannot read it after batchaid."""
    az.run(f"batchai cluster create -l eastus -g {group} -n piped -s Standard_NC6 --min 0 --max 0 {USER}")
    job = json.dumps({"properties": {"nodeCount": 1, "stdOutErrPathPrefix": "/tmp", "customToolkitSettings": {"commandLine": "true"}}})
    for name, line in (("of-old", f"-g {group} -r piped -c"), ("of-today", f"-g {group} -w migrated -e migrated -c piped -f")):
        done = daemon.tool("az", "batchai", "job", "create", "-n", name, *line.split(), "/dev/stdin", env=az.env, stdin=job)
        assert json.loads(done.stdout)["customToolkitSettings"]["commandLine"] == "true", done.stderr
        az.run(f"batchai job delete -n {name} -g {group} -y")


def test_values_that_begin_with_a_dash(az, group):
    assert az(f"group create -n {group} -l eastus --tags=-x=1")["tags"] == {"-x": "1"}
    made = az(f"batchai cluster create -l eastus -g {group} -n dashed -s Standard_NC6 --min 0 --max 0 -u=user --password=-Xy12")
    assert made["userAccountSettings"]["adminUserName"] == "user"


def test_roles_and_secrets(az, daemon, group):
    """Two commands that Debian's az cannot run."""
    vault = fresh("vault")
    az(f"keyvault create -l eastus -g {group} -n {vault}")
    scope = f"/subscriptions/{daemon.subscription}/resourceGroups/{group}/providers/Microsoft.KeyVault/vaults/{vault}"
    given = az(f'role assignment create --scope {scope} --role Reader --assignee {BATCH_AI} -g ""')
    assert (given["principalId"], given["scope"]) == (BATCH_AI, scope)
    secret = az(f"keyvault secret set --vault-name {vault} --name key --value secretvalue")
    assert secret["value"] == "secretvalue"


def test_a_secret_of_a_file(az, daemon, group, tmp_path):
    """As az reads files: `@FILE` without the end of its last line, `--file` as it is, with a tag of the encoding."""
    vault = fresh("vault")
    az(f"keyvault create -l eastus -g {group} -n {vault}")
    (tmp_path / "text").write_text("first\nsecond \u00e4\n")
    (tmp_path / "bytes").write_bytes(b"\xff\x00\n")
    put = f"keyvault secret set --vault-name {vault} --name"
    assert az(f"{put} at --value @{tmp_path}/text")["value"] == "first\nsecond \u00e4"
    whole = az(f"{put} whole --file {tmp_path}/text --tags a=b")
    assert whole["value"] == "first\nsecond \u00e4\n" and whole["tags"] == {"a": "b", "file-encoding": "utf-8"}
    coded = az(f"{put} coded -f {tmp_path}/bytes --encoding base64")
    assert coded["value"] == "/wAK" and coded["tags"] == {"file-encoding": "base64"}
    piped = daemon.tool("az", *put.split(), "piped", "--value", "@-", env=az.env, stdin="from a pipe\n")
    assert json.loads(piped.stdout)["value"] == "from a pipe", piped.stderr
    assert "not text in UTF-8" in az.fails(f"{put} wrong --file {tmp_path}/bytes")
    assert "none" in az.fails(f"{put} wrong --value @{tmp_path}/none")


def test_a_login_and_help(az):
    assert az("login")[0]["cloudName"] == "batchaid"
    assert "azure-cli" in az.run("--version").stdout


@pytest.mark.parametrize("text, place", [("vmSize: 3", ":1:6: "), ('{"properties": {\n  "vmSise": "A"}}', ":2:3: vmSise is not a property")])
def test_files_are_read_before_az(az, group, tmp_path, text, place):
    (tmp_path / "c.json").write_text(text)
    for command in (f"-c {tmp_path}/c.json", f"-w migrated -f {tmp_path}/c.json"):
        said = az.fails(f"batchai cluster create -g {group} -n wrong {command}")
        assert said.startswith(f"batchaid: {tmp_path}/c.json{place}"), said
