# SPDX-License-Identifier: MIT
"""The configuration file: what is accepted, what is refused, and that the texts about it are true."""
import os
import subprocess

import pytest
import yaml
from support.daemon import BATCHAID, ROOT


def check(run, tmp_path, text):
    (tmp_path / "c.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return run("check-config", "c.yaml")


@pytest.mark.parametrize("text", [
    "", "# nothing\n", "---\n", "listen: [\"127.0.0.1:0\", \"[::1]:0\"]\n",
    "listen:\n- localhost:1\n", "log: {level: debug, format: json}\n",
    "log:\n  level: warn\n\nquota:\n  clusters: 0\n", "compat:\n  strict: true\n",
    "local:\n  vm_sizes:\n  - standard_nc6\n  nodes: 0\n", "state_dir: /var/lib/x\n",
    "auth:\n  token_lifetime_s: 86400\n", "listen: []\n",
])
def test_accepted(run, tmp_path, text):
    done = check(run, tmp_path, text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "c.yaml: ok\n", "")


@pytest.mark.parametrize("text, line, words", [
    ("foo: 1\n", 1, ["foo", "listen, state_dir, log, subscription"]),
    ("log:\n  levl: info\n", 2, ["log: ", "levl", "level, format"]),
    ("log:\n  level: info\nlog:\n  level: info\n", 3, ["log", "already seen"]),
    ("log:\n  level: info\n# twice\n  level: info\n", 4, ["log.level", "already seen"]),
    ("listen: [\"127.0.0.1:0\"]\nfoo: 1\n", 2, ["foo", "listen, state_dir"]),
    ("listen:\n- localhost:1\n\n'foo' : 1\n", 4, ["foo", "listen, state_dir"]),
    ("log: {level: info}\nlocal:\n  vm_sizes: [a]\n  level: 1\n", 4, ["local: ", "level", "nodes"]),
    # The parser is a line behind here: it names the last thing it understood.
    ("log:\n\tlevel: info\n", 1, ["log", "character that cannot start any token"]),
    ("\n\nauth:\n  token_lifetime_s: soon\n", 4, ["auth.token_lifetime_s", "'soon'", "number"]),
    ("auth:\n  token_lifetime_s: 59\n", 2, ["auth.token_lifetime_s", "59", "60 to 86400"]),
    ("auth:\n  token_lifetime_s: 86401\n", 2, ["86401", "60 to 86400"]),
    ("log: {level: info}\nquota: {cores: -1}\n", 2, ["quota.cores", "-1"]),
    ("quota:\n  clusters: 99999999999999999999\n", 2, ["quota.clusters", "99999999999999999999"]),
    ("local: {nodes: 1.5}\n", 1, ["local.nodes", "'1.5'", "number", "0 to 10000"]),
    ("quota:\n  clusters: 2\nlocal:\n  nodes: 12k\n", 4, ["local.nodes", "'12k'", "number"]),
    ("local:\n  nodes: 0x10\n", 2, ["local.nodes", "'0x10'", "number"]),
    ("local:\n  nodes: 010\n", 2, ["local.nodes", "'010'", "number"]),
    ("local:\n  nodes: +1\n", 2, ["local.nodes", "'+1'", "number"]),
    ("local:\n  nodes: '1 '\n", 2, ["local.nodes", "'1 '", "number"]),
    ("local:\n  nodes: 1e3\n", 2, ["local.nodes", "'1e3'", "number"]),
    ("local:\n  nodes:\n", 2, ["local.nodes", "''", "number"]),
    ("local:\n  nodes: ~\n", 2, ["local.nodes", "'~'", "number"]),
    ("local:\n  nodes: -\n", 2, ["local.nodes", "number"]),
    ("quota:\n  clusters: [1]\n", 2, ["quota.clusters", "number"]),
    ("compat:\n  strict: maybe\n", 2, ["compat.strict", "maybe"]),
    ("log:\n  level: loud\n", 2, ["log.level", "'loud'", "debug, info, warn or error"]),
    ("log:\n  format: xml\n", 2, ["log.format", "'xml'", "text or json"]),
    ("log: info\n", 1, ["log"]),
    ("listen: localhost:7443\n", 1, ["listen", "list"]),
    ("log:\n  level: info\nlisten:\n- localhost\n", 3, ["listen", "'localhost'", "no port"]),
    ("subscription:\n  id: main\n", 2, ["subscription.id", "'main'", "GUID"]),
    ("subscription:\n  name: ''\n", 2, ["subscription.name", "empty"]),
    ("local:\n  vm_sizes: [\"a b\"]\n", 2, ["local.vm_sizes", "'a b'"]),
    ("local:\n  nodes: 10001\n", 2, ["local.nodes", "10001", "0 to 10000"]),
    ("- a\n- b\n", None, ["MAPPING"]),
    (b"a: \xff\xfe\n", None, ["UTF-8"]),
])
def test_refused(run, tmp_path, text, line, words):
    done = check(run, tmp_path, text)
    assert (done.returncode, done.stdout) == (1, "")
    place = f"c.yaml:{line}: " if line else "c.yaml"
    assert done.stderr.startswith(f"batchaid: {place}"), done.stderr
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def test_a_file_that_is_not_there(run):
    done = run("check-config", "nowhere.yaml")
    assert done.returncode == 1
    assert "nowhere.yaml" in done.stderr and "No such file" in done.stderr


@pytest.mark.parametrize("text", ["port: 1\n", "local: {nodes: 1.5}\n"])
def test_serve_refuses_a_wrong_file_before_it_makes_anything(run, tmp_path, text):
    (tmp_path / "c.yaml").write_text(text)
    done = run("serve", "--config", "c.yaml", "--state-dir", "state")
    assert (done.returncode, done.stdout) == (78, "")
    assert "c.yaml:1: " in done.stderr
    assert not (tmp_path / "state").exists()


def test_example_sets_every_default(run, tmp_path):
    text = run("help", "config", "yaml").stdout
    assert check(run, tmp_path, text).returncode == 0
    flat = {}
    for key, value in yaml.safe_load(text).items():
        inner = value.items() if isinstance(value, dict) else [(None, value)]
        flat.update({f"{key}.{k}" if k else key: v for k, v in inner})
    listed = [line.split(" (")[0] for line in run("help", "config").stdout.splitlines()[2:]
              if line and not line.startswith(" ")]
    assert listed == list(flat)
    assert flat["listen"] == ["localhost:7443"] and flat["compat.retry_after_s"] == 1


def test_generated_texts_are_current():
    done = subprocess.run(["/usr/bin/python3", ROOT / "test/tools/config_docs.py"], text=True,
                          capture_output=True, env={**os.environ, "BATCHAID": str(BATCHAID)})
    assert done.returncode == 0, done.stdout + done.stderr
