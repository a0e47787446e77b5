# SPDX-License-Identifier: MIT
"""Settings from variables of the environment: they override the file, and errors name them."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from support.daemon import BATCHAID, Daemon
from support.testing import Testing


def serve(tmp_path, *arguments, **variables):
    argv = [BATCHAID, "serve", "--state-dir", tmp_path / "state", "--listen", "localhost:0", *arguments]
    return subprocess.run(argv, env={**os.environ, **variables}, capture_output=True, text=True, timeout=30)


def test_they_override_the_file():
    variables = {"BATCHAID_QUOTA_CORES": "7", "BATCHAID_QUOTA_CLUSTERS": "3", "BATCHAID_COMPAT_STRICT": "true"}
    with Daemon({"quota": {"cores": 5}}, environment=variables) as d:
        path = f"/subscriptions/{d.subscription}/providers/Microsoft.BatchAI/locations/eastus/usages"
        reply = d.call("GET", path, params={"api-version": "2018-05-01"})
        limits = {u["name"]["value"]: u["limit"] for u in reply.json["value"]}
        assert 7 in limits.values() and 3 in limits.values() and 5 not in limits.values()
        assert "Strict-Transport-Security" in reply.headers


def test_the_file_and_a_variable_together_are_checked(tmp_path):
    """Each of them alone is incomplete."""
    with Daemon({"http": {"expose": True}}, environment={"BATCHAID_HTTP_SERVE": "true"}) as d:
        path = d.dir / "batchaid.yaml"
        done = d.tool("check-config", str(path), check=False)
        assert done.returncode == 1 and "nothing is exposed as long as http.serve is not true" in done.stderr
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*made, "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"], check=True, capture_output=True)
    with Daemon({"tls": {"certificate": str(tmp_path / "cert.pem")}}, environment={"BATCHAID_TLS_KEY": str(tmp_path / "key.pem")}) as d:
        assert d.running


def test_lists_are_separated_by_blanks():
    with Daemon(environment={"BATCHAID_LOCAL_VM_SIZES": " tiny_a  tiny_b ", "BATCHAID_TLS_NAMES": ""}) as d:
        assert d.tool("check-config", str(d.dir / "batchaid.yaml")).returncode == 0
        assert d.running


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("BATCHAID_LOCAL_NODES", "many", "'many' is not a whole number"),
        ("BATCHAID_LOCAL_NODES", "-1", "out of range"),
        ("BATCHAID_STORAGE_SYNC", "yes", "use true or false"),
        ("BATCHAID_LOG_LEVEL", "loud", "debug"),
        ("BATCHAID_LISTEN", "here", "here"),
        ("BATCHAID_LISTEN", "", "it is empty; write one item or more"),
        ("BATCHAID_LISTEN", " ", "it is empty; write one item or more"),
        ("BATCHAID_INVENTORY", "gpu1", "in a file only"),
        ("BATCHAID_TLS_KEY", "/no/key", "tls.certificate"),
    ],
)
def test_a_wrong_one_is_refused_by_its_name(tmp_path, name, value, said):
    done = serve(tmp_path, **{name: value})
    assert done.returncode == 78 and said in done.stderr, done.stderr
    assert name in done.stderr or "tls.key" in done.stderr
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    "name, meant",
    [
        ("BATCHAID_LOCAL_NOODS", "BATCHAID_LOCAL_NODES"),
        ("BATCHAID_FAKE_NODE", "BATCHAID_FAKE_NODES"),
        ("BATCHAID_ANYTHING_ELSE", None),
    ],
)
def test_a_variable_that_nobody_reads_is_refused(tmp_path, name, meant):
    done = serve(tmp_path, **{name: "3"})
    assert done.returncode == 78 and f"${name} is not a variable" in done.stderr, done.stderr
    assert ("did you mean" in done.stderr) == bool(meant) and (meant or "") in done.stderr
    assert not (tmp_path / "state").exists()


def test_variables_of_clients_jobs_and_kubernetes_are_taken():
    names = ("ENDPOINT", "TESTING_KEY", "TOKEN", "STORAGE_TOKEN", "JOB_GPUS", "ARRAY_INDEX", "SERVICE_HOST", "PORT_7443_TCP", "TEST_PATIENCE")
    with Daemon(environment={f"BATCHAID_{name}": "1" for name in names}) as d:
        again = {k: v for k, v in d.env.items() if k.startswith("BATCHAID_")}  # as `eval "$(batchaid env)"` sets them
        assert "BATCHAID_ENDPOINT" in again
        with Daemon(environment=again) as other:
            assert other.running


def test_variables_of_the_tests_and_of_the_packages_are_taken():
    page = (Path(__file__).parents[2] / "README.md").read_text()
    names = {*re.findall(r"`(BATCHAID_[A-Z_]+)`", page), "BATCHAID_PROGRAM"} - {"BATCHAID_TESTING_FAULT"}
    assert "BATCHAID_DEEP" in names
    with Daemon(environment=dict.fromkeys(names, "1")) as d:
        assert d.running


def test_switches_for_tests_are_variables_too(tmp_path):
    seed, rules = tmp_path / "seed.yaml", tmp_path / "rules.json"
    seed.write_text("groups: {lab: {location: eastus}}\n")
    rules.write_text('{"rules": [{"exitCode": 3}]}')
    variables = {"EPHEMERAL": "true", "FAKE_NODES": "true", "STRICT": "true", "SEED": str(seed), "RULES": str(rules)}
    with Daemon(environment={f"BATCHAID_{n}": v for n, v in variables.items()}, arguments=["--testing"]) as d:
        d.expect_log("testing.enabled")
        t = Testing(d)
        assert t.get("/rules")["value"][0]["exitCode"] == 3 and t.get("/strict")["value"][0]["allocation"] == "PT1M30S"
        assert [g["name"] for g in d.get(f"/subscriptions/{d.subscription}/resourcegroups")["value"]] == ["lab"]
    assert not d.state_dir.exists()


@pytest.mark.parametrize(
    "arguments, variables, said",
    [
        (["--testing"], {"BATCHAID_FAKE_NODES": "1"}, "$BATCHAID_FAKE_NODES: '1' is not a truth value; use true or false"),
        (["--testing"], {"BATCHAID_SEED": ""}, "$BATCHAID_SEED: --seed needs a value that is not empty"),
        (["--testing"], {"BATCHAID_TESTING_KEY": "k\udcff"}, "$BATCHAID_TESTING_KEY is not UTF-8"),
        (["--testing", "--seed", "-"], {}, "--seed needs a file; send standard input with: batchaid seed -"),
        ([], {"BATCHAID_STRICT": "true"}, "--strict needs --testing, and so does its variable"),
        ([], {"BATCHAID_TESTING": "true"}, "$BATCHAID_TESTING alone has no effect; use the option: batchaid serve --testing"),
    ],
)
def test_a_wrong_switch_is_refused(tmp_path, arguments, variables, said):
    done = serve(tmp_path, *arguments, **variables)
    assert done.returncode == 78 and said in done.stderr, done.stderr
    assert not (tmp_path / "state").exists()


def test_a_configuration_file_whose_name_is_not_utf8_is_refused(tmp_path):
    folder = tmp_path / "c\udcff"
    folder.mkdir()
    (folder / "c.yaml").write_text("{}\n")
    done = serve(tmp_path, "--config", folder / "c.yaml")
    assert done.returncode == 78 and "the name of the configuration file is not UTF-8" in done.stderr, done.stderr
    assert not (tmp_path / "state").exists()


def test_the_command_line_goes_before_a_switch(tmp_path):
    done = serve(tmp_path, "--testing", "--rules", "/no/rules", BATCHAID_RULES="/no/others", BATCHAID_EPHEMERAL="true")
    assert done.returncode == 1 and "cannot open /no/rules: No such file" in done.stderr, done.stderr


def test_the_file_may_be_named_by_one_too(tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("nonsense: 1\n")
    done = serve(tmp_path, BATCHAID_CONFIG=str(wrong))
    assert done.returncode == 78 and "nonsense" in done.stderr
    right = tmp_path / "right.yaml"
    right.write_text("log: {level: loud}\n")
    done = serve(tmp_path, "--config", right, BATCHAID_CONFIG=str(wrong))
    assert done.returncode == 78 and "loud" in done.stderr
