# SPDX-License-Identifier: MIT
"""Other people than the daemon's own principal, with az: each in a configuration directory of its own."""

import json
import os
import re
import shutil
import subprocess

import pytest
from support.people import CONTRIBUTOR
from support.waiting import wait_for

BATCH_AI = "9fcb3732-5f52-4135-8c08-9d4bbaf203ea"


class Home:
    """az as somebody who has logged in to nothing yet."""

    def __init__(self, daemon, az, folder):
        az.run("account show")  # registers the cloud
        made = {**os.environ, **az.env, **daemon.env}
        config = folder / "azure"
        shutil.copytree(made["AZURE_CONFIG_DIR"], config)
        self.env = {**made, "AZURE_CONFIG_DIR": str(config)}
        self.run("logout")

    def start(self, command):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(["az", *command.split()], env=self.env, **pipes)

    def run(self, command):
        with self.start(command) as p:
            out, err = p.communicate(timeout=100)
        return p.returncode, out, err

    def __call__(self, command):
        code, out, err = self.run(command)
        assert code == 0, err
        return json.loads(out) if out.strip() else None


@pytest.fixture
def home(daemon, az, tmp_path):
    daemon.expect_log("login.failed")
    return Home(daemon, az, tmp_path)


@pytest.fixture
def ada(person, own_place):
    return person(CONTRIBUTOR, own_place.group_path)


def sees_its_group_alone(home, place):
    assert [g["name"] for g in home("group list")] == [place.group]
    code, _, err = home.run("group create -l eastus -n another")
    assert code != 0 and "AuthorizationFailed" in err


def test_a_user_logs_in_with_a_password(home, ada, own_place):
    (account,) = home(f"login --username {ada.name} --password {ada.password}")
    assert account["user"] == {"name": ada.name, "type": "user"}
    sees_its_group_alone(home, own_place)
    code, _, err = home.run(f"login --username {ada.name} --password wrong")
    assert code != 0 and "password is wrong" in err


def test_a_user_logs_in_with_a_device_code(daemon, home, ada, own_place, tmp_path):
    said = tmp_path / "said"
    with open(said, "w") as err:
        login = subprocess.Popen(
            ["az", "login", "--use-device-code"], env=home.env, stdout=subprocess.PIPE, stderr=err, text=True
        )
    code = wait_for(lambda: re.search(r"open the page (\S+) and enter the code (\S+)", said.read_text()), 60, "a code")
    form = {"user_code": code.group(2), "username": ada.name, "password": ada.password}
    assert daemon.session().post(code.group(1), data=form, timeout=30).status_code == 200
    out, _ = login.communicate(timeout=60)
    assert login.returncode == 0 and json.loads(out)[0]["user"]["name"] == ada.name
    sees_its_group_alone(home, own_place)


def test_az_makes_a_service_principal_that_logs_in(az, home):
    assert az(f"ad sp show --id {BATCH_AI}")["displayName"] == "Azure Batch AI"
    made = az("ad sp create-for-rbac -n e2e-tool")
    assert [sp["appId"] for sp in az("ad sp list --display-name e2e-tool")] == [made["appId"]]
    login = f"login --service-principal -u {made['appId']} -p {made['password']} --tenant {made['tenant']}"
    (account,) = home(login + " --allow-no-subscriptions")
    assert account["user"]["type"] == "servicePrincipal"
    az(f"ad sp delete --id {made['appId']}")
    assert home.run(login + " --allow-no-subscriptions")[0] != 0
    az.run(f"ad app delete --id {made['appId']}")


def test_az_shows_users(az, ada):
    assert az(f"ad user show --id {ada.name}")["id"] == ada.id
