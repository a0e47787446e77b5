# SPDX-License-Identifier: MIT
"""The command line is a contract: other programs are written against it."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.accounts import Accounts
from support.batch_rm import BatchAccounts
from support.daemon import BATCHAID
from support.people import Person
from support.vaults import Vaults
from support.world import In, Place


def run(*arguments, env=None, **more):
    return subprocess.run(
        [str(BATCHAID), *arguments], capture_output=True, text=True, timeout=60, env=env, **more
    )


def test_env_prints_what_clients_need(daemon):
    names = [
        "BATCHAID_ENDPOINT", "AZURE_CONFIG_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
        "SSL_CERT_FILE", "AZURE_SUBSCRIPTION_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_ID",
        "AZURE_CLIENT_SECRET", "AZURE_AUTHORITY_HOST",
    ]  # fmt: skip
    lines = daemon.tool("env").stdout.splitlines()
    assert all(re.fullmatch(r"export [A-Z_]+='.*'", line) for line in lines)
    assert set(names) <= set(daemon.env)
    assert daemon.env["AZURE_TENANT_ID"] == "adfs"
    assert daemon.env["BATCHAID_ENDPOINT"].endswith(f":{daemon.port}")
    assert Path(daemon.env["REQUESTS_CA_BUNDLE"]).read_text().startswith("-----BEGIN CERTIFICATE-----")
    assert str(daemon.state_dir) in daemon.env["AZURE_CONFIG_DIR"], "never the user's own"


def test_env_of_a_daemon_that_does_not_run_says_how_to_start_one(tmp_path):
    done = run("env", "--state-dir", str(tmp_path))
    assert done.returncode != 0 and done.stdout == ""
    assert "batchaid serve" in done.stderr and str(tmp_path) in done.stderr


def test_ready_is_the_first_line_and_requests_are_served_by_then(own_daemon):
    d = own_daemon()
    assert re.fullmatch(r"https://(127\.0\.0\.1|localhost|\[::1\]):\d+", d.endpoint)
    assert d.call("GET", "/subscriptions", api_version="2019-11-01").status == 200


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_cleanly_on_both_signals(own_daemon, signo):
    d = own_daemon()
    Place(d).make()
    assert d.stop(signo) == 0
    d.start()
    assert len(d.get(f"/subscriptions/{d.subscription}/resourcegroups")["value"]) == 1


def test_the_log_can_be_json(own_daemon):
    d = own_daemon(arguments=["--log-format", "json"])
    Place(d).make()
    d.stop()
    lines = [json.loads(line) for line in d.log()]
    assert lines and all(isinstance(line, dict) for line in lines)


def test_several_addresses_can_be_listened_on(own_daemon):
    d = own_daemon(arguments=["--listen", "127.0.0.1:0"])
    assert d.call("GET", "/subscriptions", api_version="2019-11-01").status == 200


@pytest.mark.parametrize(
    "text, words",
    [
        ("compat:\n  retry_after_s: soon\n", ["retry_after_s", "2"]),
        ("quota:\n  clusters: -5\n", ["clusters", "-5"]),
        ("colour: blue\n", ["colour", "1"]),
        ("log:\n  level: loud\n", ["loud", "info"]),
        ("listen: [nowhere]\n", ["nowhere"]),
        ("log: [\n", []),
    ],
)
def test_a_bad_configuration_is_refused_with_line_and_key(tmp_path, text, words):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    for arguments in (
        ["check-config", str(path)],
        ["serve", "--config", str(path), "--state-dir", str(tmp_path / "s")],
    ):
        done = run(*arguments)
        assert done.returncode != 0
        assert all(w in done.stderr for w in words), done.stderr
        assert "bad.yaml" in done.stderr


def test_a_good_configuration_passes(tmp_path):
    path = tmp_path / "good.yaml"
    path.write_text("listen: ['127.0.0.1:0']\nlocal:\n  nodes: 5\n")
    assert run("check-config", str(path)).returncode == 0


def test_a_missing_configuration_is_named(tmp_path):
    done = run("serve", "--config", str(tmp_path / "none.yaml"), "--state-dir", str(tmp_path / "s"))
    assert done.returncode != 0 and "none.yaml" in done.stderr


def test_version_and_help(tmp_path):
    assert re.search(r"\d+\.\d+\.\d+", run("version").stdout)
    whole = run("help")
    assert whole.returncode == 0
    for command in ("serve", "env", "az-login", "az", "share-path", "check-config", "version", "help"):
        assert command in whole.stdout
        assert command in run("help", command).stdout


@pytest.mark.parametrize(
    "arguments", [["fly"], ["serve", "--fast"], ["share-path", "onlyone"], ["help", "fly"], []]
)
def test_wrong_usage_is_told_on_stderr(arguments):
    done = run(*arguments)
    assert done.returncode != 0 and done.stderr.strip()


def test_share_path_names_a_folder_below_the_state_directory(daemon):
    path = daemon.tool("share-path", "demostorage", "demo").stdout.strip()
    assert path.startswith(str(daemon.state_dir))
    for account, share in (("x.y", "demo"), ("demostorage", "../up"), ("", "demo")):
        done = daemon.tool("share-path", account, share, check=False)
        assert done.returncode != 0 and done.stdout == "" and done.stderr


def test_the_listen_address_in_use_is_named(own_daemon, tmp_path):
    d = own_daemon()
    done = run("serve", "--state-dir", str(tmp_path / "other"), "--listen", f"127.0.0.1:{d.port}")
    assert done.returncode != 0 and str(d.port) in done.stderr


def test_the_state_directory_is_closed_to_others(daemon):
    """The accounts of jobs, which there are for root, pass; nobody sees what is there."""
    passing = 0o011 if os.geteuid() == 0 else 0
    assert daemon.state_dir.stat().st_mode & 0o077 == passing
    for entry in daemon.state_dir.iterdir():
        assert entry.is_dir() or entry.stat().st_mode & 0o077 == 0 or entry.suffix == ".pem", entry
    for name in ("secret.key", "token.key", "credentials.json"):
        assert (daemon.state_dir / name).stat().st_mode & 0o077 == 0


def test_hosts_has_a_line_for_each_account_and_vault(daemon, temporary):
    accounts, vaults, batch = (temporary(kind(daemon).make()) for kind in (Accounts, Vaults, BatchAccounts))
    account, vault, other = accounts.account(), vaults.vault(), batch.account(location="North Europe")
    lines = daemon.tool("hosts").stdout.splitlines()
    assert f"127.0.0.1 {account}.blob.core.localhost {account}.file.core.localhost" in lines
    assert f"127.0.0.1 {vault}.vault.localhost" in lines
    assert f"127.0.0.1 {other}.northeurope.batch.localhost" in lines
    lines = daemon.tool("hosts", "10.0.0.5", "gpu-head.lab").stdout.splitlines()
    assert lines[0] == "10.0.0.5 gpu-head.lab"
    assert f"10.0.0.5 {vault}.vault.gpu-head.lab" in lines
    for bad, word in ((["gpu"], "'gpu' is not a valid address"), (["10.0.0.5", "a b"], "'a b' is not a valid host name")):
        done = daemon.tool("hosts", *bad, check=False)
        assert done.returncode == 2 and word in done.stderr


@pytest.fixture
def elsewhere(daemon):
    """The daemon in another subscription, whose group goes with the test."""
    guid = daemon.call("POST", "/batchaid/subscriptions", expect=201).json["subscriptionId"]
    batch = BatchAccounts(In(daemon, guid)).make()
    yield batch
    batch.remove()
    daemon.call("DELETE", f"/batchaid/subscriptions/{guid}", expect=204)


def test_accounts_of_another_subscription_are_listed_and_found(daemon, elsewhere):
    name = elsewhere.account()
    assert f"127.0.0.1 {name}.eastus.batch.localhost" in daemon.tool("hosts").stdout.splitlines()
    seen = exports(daemon.tool("env", name).stdout)
    assert (seen["AZURE_BATCH_ACCOUNT"], seen["AZURE_BATCH_ACCESS_KEY"]) == (name, elsewhere.keys(name)[0])


def exports(text):
    return dict(re.findall(r"^export (\w+)='(.*)'$", text, re.M))


def test_env_has_what_clients_of_a_batch_account_read(daemon, temporary):
    batch = temporary(BatchAccounts(daemon).make())
    name = batch.account()
    port = urlsplit(daemon.endpoint).port
    seen = exports(daemon.tool("env", name.upper()).stdout)
    assert seen["AZURE_BATCH_ACCOUNT"] == name
    assert seen["AZURE_BATCH_ENDPOINT"] == f"https://{name}.eastus.batch.localhost:{port}"
    assert seen["AZURE_BATCH_ACCESS_KEY"] == batch.keys(name)[0]
    assert not [v for v in exports(daemon.tool("env").stdout) if v.startswith("AZURE_BATCH_")]


def test_env_of_a_batch_account_for_another_machine(daemon, temporary):
    batch = temporary(BatchAccounts(daemon).make())
    name = batch.account()
    port = urlsplit(daemon.endpoint).port
    where = f"https://localhost:{port}"
    seen = exports(daemon.tool("env", "--endpoint", where + "/", name).stdout)
    assert seen["AZURE_BATCH_ENDPOINT"] == f"https://{name}.eastus.batch.localhost:{port}"
    assert seen["AZURE_BATCH_ACCESS_KEY"] == batch.keys(name)[0]
    ada = temporary(Person(daemon))
    seen = exports(daemon.tool("env", "--endpoint", where, "--user", ada.name, name).stdout)
    assert seen["AZURE_BATCH_ACCOUNT"] == name and "AZURE_BATCH_ACCESS_KEY" not in seen


def test_env_of_a_batch_account_without_keys_or_that_is_not_there(daemon, temporary):
    name = temporary(BatchAccounts(daemon).make()).account(allowedAuthenticationModes=["AAD"])
    seen = exports(daemon.tool("env", name).stdout)
    assert seen["AZURE_BATCH_ACCOUNT"] == name and "AZURE_BATCH_ACCESS_KEY" not in seen
    done = daemon.tool("env", "nothing", check=False)
    assert done.returncode == 1 and "there is no Batch account 'nothing'" in done.stderr
    assert done.stdout == ""
