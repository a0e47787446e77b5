# SPDX-License-Identifier: MIT
"""The examples of docs/testing.md for other languages, run as they stand there: by node and go against a daemon, and
the steps of the workflow against the image as a service."""

import os
import re
import shutil
import subprocess

import pytest
import yaml
from support import packaging
from support.containers import podman
from support.daemon import ROOT
from support.waiting import wait_for

PAGE = (ROOT / "docs" / "testing.md").read_text()
NAMESPACE = f"batchaid-service-{os.getpid()}"


def example(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.S)[1]


@pytest.fixture
def environment(own_daemon):
    said = own_daemon(arguments=["--ephemeral", "--testing"]).tool("env").stdout
    return {**os.environ, **dict(re.findall(r"^export (\w+)='?([^'\n]*)'?$", said, re.M))}


def needs(program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")


def run(argv, folder, env):
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_node(environment, tmp_path):
    needs("node")
    (tmp_path / "client.test.mjs").write_text(example("js"))
    assert re.search(r"pass 1\b", run(["node", "--test"], tmp_path, environment))


def test_go(environment, tmp_path):
    needs("go")
    (tmp_path / "client_test.go").write_text(example("go"))
    (tmp_path / "go.mod").write_text("module example\n")
    said = run(["go", "test", "-v", "."], tmp_path, {**environment, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"})
    assert "--- PASS: TestAClientIsToldToWaitOnce" in said


def test_they_are_short():
    for language in ("python", "js", "go"):
        assert len([line for line in example(language).splitlines() if line.strip()]) <= 14, language


@pytest.fixture
def service(tmp_path):
    """The workflow's job, its service running in a network namespace where its port is free, and a word to run
    commands there with."""
    packaging.needs("podman", "mmdebstrap", "dpkg-shlibdeps", "ip")
    (job,) = yaml.safe_load(example("yaml"))["jobs"].values()
    (wanted,) = job["services"].values()
    assert wanted["ports"] == ["7443:7443"]
    with podman() as engine:
        packaging.image(engine, wanted["image"])
        subprocess.run(["ip", "netns", "add", NAMESPACE], check=True)
        there = ["nsenter", f"--net=/run/netns/{NAMESPACE}"]
        env = {**os.environ, **engine.environment}
        try:
            subprocess.run([*there, "ip", "link", "set", "lo", "up"], check=True)
            variables = [f"--env={k}={v}" for k, v in wanted["env"].items()]
            argv = [*there, "podman", "run", "-d", "--network", "host", *variables, wanted["image"]]
            begun = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)
            assert begun.returncode == 0, begun.stderr
            name = begun.stdout.strip()
            healthy = lambda: subprocess.run([*there, "podman", "healthcheck", "run", name], env=env, capture_output=True).returncode == 0
            wait_for(healthy, 30, "the service to be healthy")
            yield job, name, there, env
            engine("rm", "-f", "-t", "5", name)
        finally:
            subprocess.run(["ip", "netns", "del", NAMESPACE], check=True)


def test_the_steps_of_the_workflow(service, tmp_path):
    needs("node")
    job, name, there, env = service
    work = tmp_path / "work"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/docker").symlink_to(shutil.which("podman"))
    work.mkdir()
    (work / "client.test.mjs").write_text(example("js"))
    env = {**env, **job["env"], "HOME": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:{env['PATH']}"}
    for step in job["steps"]:
        command = step["run"].replace("${{ job.services.batchaid.id }}", name)
        assert "${{" not in command
        said = run([*there, "bash", "-e", "-c", command], work, env)
    assert re.search(r"pass 1\b", said)
