# SPDX-License-Identifier: MIT
"""`batchaid az-login` with the real az."""
import json
import subprocess
from pathlib import Path

import pytest
from support.daemon import BATCHAID, SANITIZER


@pytest.fixture
def state_of_az(tmp_path):
    return lambda name: (tmp_path / "state/azure" / name).read_text()


def command_lines():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes()
        except OSError:  # it has ended
            pass


@pytest.mark.parametrize("state", ["state", "st ate=@'x"])
def test_the_secret_is_on_no_command_line(serve, clean_env, tmp_path, state):
    serve("--state-dir", tmp_path / state)
    secret = json.loads((tmp_path / state / "credentials.json").read_text())["client_secret"]
    logins = 0
    with open(tmp_path / "out", "w+") as out:
        login = subprocess.Popen([BATCHAID, "az-login", "--state-dir", state], cwd=tmp_path,
                                 env=clean_env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        while login.poll() is None:
            for line in command_lines():
                logins += b"--service-principal" in line
                assert secret.encode() not in line, line
        out.seek(0)
        said = out.read()
    assert login.returncode == 0 and "logged az in" in said, said
    assert not SANITIZER.search(said), said
    assert logins > 0
    left = [p for p in (tmp_path / state / "azure").rglob("*") if p.is_file()]
    assert all(p.stat().st_mode & 0o077 == 0 for p in left if secret in p.read_text("latin-1")), left


def test_the_cloud_is_registered_whole_and_once(serve, run, state_of_az):
    d = serve()
    assert "registered the cloud" in run("az-login", "--state-dir", "state").stdout
    known = state_of_az("clouds.config")
    host = f"localhost:{d.port}"
    for line in (f"endpoint_microsoft_graph_resource_id = https://{host}",
                 f"endpoint_batch_resource_id = https://{host}",
                 f"suffix_storage_endpoint = core.{host}", f"suffix_keyvault_dns = .vault.{host}"):
        assert line in known, known
    assert "logged in" in run("az-login", "--state-dir", "state").stdout


def test_a_cloud_registered_by_an_older_version_is_completed(serve, run, state_of_az, tmp_path):
    serve()
    run("az-login", "--state-dir", "state")
    file = tmp_path / "state/azure/clouds.config"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(line for line in lines if "microsoft_graph" not in line) + "\n")
    assert "registered the cloud" in run("az-login", "--state-dir", "state").stdout
    assert "microsoft_graph" in state_of_az("clouds.config")
