# SPDX-License-Identifier: MIT
"""docs/ten-lines.md, from nothing to the first test: each in a new folder and home, with the packages that `make` makes. Go has
a file of its own."""

import hashlib
import os
import shutil
import socket
import subprocess

import pytest
from support.clients import install, needs
from support.containers import podman_settings
from support.daemon import ROOT
from support.packaged import PAGE, first_test, made, section
from support.packages import caller_environment
from support.waiting import wait_for

# podman-compose prints what it does between the lines of what it executes.
COMPOSE = """
docker() {
    shift
    if [ "$1" = exec ]; then
        shift 3
        podman exec mine_batchaid_1 "$@"
    else
        podman-compose "$@" >&2
    fi
}
trap 'podman-compose down >&2' EXIT
"""
VITEST = """
import { expect, test } from "vitest";
import { start } from "batchaid/vitest";
const cloud = await start();
test("it answers", async () => {
  expect(process.env.BATCHAID_ENDPOINT).toBe(cloud.endpoint);
  expect((await fetch(`${cloud.endpoint}/metadata/endpoints?api-version=2019-10-01`)).status).toBe(200);
});
"""


@pytest.fixture
def bare(tmp_path):
    """An environment with nothing of the user's but the programs of the system; its folder `mine` is the test's."""
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin"}


@pytest.mark.parametrize("name", [line[4:] for line in PAGE.splitlines() if line.startswith("### ")])
def test_ten_lines_are_enough(name):
    files, commands = section(name)
    assert commands and sum(len(text.splitlines()) for text in (*files.values(), commands)) <= 10


def test_pytest(bare, tmp_path):
    registry = {k: v for k, v in caller_environment().items() if k.startswith("PIP_") or k.lower().endswith("_proxy")}
    said = first_test("pytest", tmp_path / "mine", {**registry, **bare, "DIST": str(made("wheel"))})
    assert "test_first.py::test_it_answers PASSED" in said and "1 passed" in said


def test_node_test(bare, tmp_path):
    needs("node", "npm")
    said = first_test("node:test", tmp_path / "mine", {**bare, "DIST": str(made("npm"))})
    assert "ok 1 - it answers" in said and "# fail 0" in said


def test_vitest(bare, tmp_path):
    needs("node", "npm")
    vitest = install("vitest", ["npm", "install", "--no-audit", "--no-fund", "vitest@3.2.4"])
    (tmp_path / "one.test.mjs").write_text(VITEST)
    packages = sorted((made("npm") / "npm").glob("*.tgz"))
    npm = ["npm", "install", "--save-optional", "--offline", "--no-audit", "--no-fund", *packages]
    subprocess.run(npm, cwd=tmp_path, env=bare, check=True, capture_output=True, timeout=200)
    for module in (vitest / "node_modules").iterdir():
        if not (tmp_path / "node_modules" / module.name).exists():
            (tmp_path / "node_modules" / module.name).symlink_to(module)
    run = ["node", "node_modules/vitest/vitest.mjs", "run", "--reporter=tap-flat"]
    done = subprocess.run(run, cwd=tmp_path, env=bare, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0 and "ok 1" in done.stdout, done.stdout + done.stderr


def test_github_accepts_the_workflow(tmp_path):
    """actionlint knows what GitHub accepts, and reads the inputs of the action."""
    needs("go")
    version = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"
    build = ["sh", "-c", 'GOBIN="$PWD/bin" GOTOOLCHAIN=local GOFLAGS=-modcacherw go install "$0"', version]
    actionlint = install("actionlint", build) / "bin" / "actionlint"
    files, _ = section("GitHub Actions")
    (workflow,) = files.items()
    shutil.copytree(ROOT / "etc" / "action", tmp_path / ".github" / "batchaid")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    def judge(text):
        (tmp_path / workflow[0]).parent.mkdir(exist_ok=True)
        (tmp_path / workflow[0]).write_text(text)
        return subprocess.run([actionlint, "-no-color"], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)

    done = judge(workflow[1])
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'input "packages" is not defined' in judge(workflow[1].replace("package:", "packages:")).stdout


def test_java(bare, tmp_path):
    """With the user's settings and cache of Maven."""
    needs("mvn", "javac", "keytool")
    env = {**bare, **{k: v for k, v in caller_environment().items() if k == "HOME" or k.startswith(("MAVEN_", "JAVA_"))}}
    said = first_test("Java", tmp_path / "mine", {**env, "DIST": str(made("wheel"))})
    assert "1 tests successful" in said
    wait_for(lambda: not (tmp_path / "mine" / "state").exists())


def test_docker_compose(bare, tmp_path):
    needs("podman", "podman-compose")
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", 7443))
        except OSError:
            pytest.skip("something else serves at port 7443, which the page names")
    if not os.environ.get("BATCHAID_DIST"):
        made("image")
    path = bare["PATH"] + ":/usr/sbin:/sbin"  # of the runtime
    env = {**bare, **podman_settings(tmp_path), "PATH": path, "DIST": str(ROOT / "build" / "dist")}
    (ROOT / "build" / "dist").mkdir(parents=True, exist_ok=True)
    said = first_test("docker compose", tmp_path / "mine", env, COMPOSE)
    assert '"audiences"' in said


def test_the_same_bytes_are_made_again():
    """Of the same trees; that these are the same is for the tests of the wheel."""
    if os.environ.get("BATCHAID_DIST"):
        pytest.skip("the packages are not made here")

    def sums(target, folder):
        top = made(target) / folder
        return {str(p.relative_to(top)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(top.rglob("*")) if p.is_file()}

    assert sums("npm", "npm") == sums("npm", "npm")
    assert sums("go-module", "go") == sums("go-module", "go")
