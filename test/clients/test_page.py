# SPDX-License-Identifier: MIT
"""Every line of docs/clients.md, as a reader uses it: a section's blocks in order, in a directory of
their own. A block of shell lines is run; any other is the file that its first line names. What is
installed is installed without the daemon's environment, as the page says."""

import os
import re
import shutil
import subprocess

import pytest
from support.batch import Plane
from support.batch_jobs import add_pool
from support.batch_rm import BatchAccounts
from support.clients import environment
from support.daemon import BUILD, ROOT
from support.packages import caller_environment, reason
from support.world import Place

PAGE = (ROOT / "docs" / "clients.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
INSTALLS = re.compile(r"\b(pip|npm) install\b|\bgo (mod|get)\b|^mvn |^terraform init")
# What a section must show of the resources that the test has made.
SHOWS = {"az": "client-page", "Python: azure-mgmt-batchai 2.0.0, 1.0.1 and 0.2.0": "page-workspace page-cluster"}
SHOWS |= dict.fromkeys(re.findall(r"^## (Azure Batch: (?:Python, azure-batch 4|Node|Go|Java).*)", PAGE, re.M), "page-pool")
SHOWS |= {"Azure Batch": "clientpage", "Azure Batch: az": "UbuntuServer", "Azure Batch: Python, azure-batch 13.0 and azure-mgmt-batch 17.0": "clientpage.eastus.batch."}
SHOWS_ELSE = "page-workspace"


def sections():
    for part in re.split(r"^## ", PAGE, flags=re.M)[1:]:
        title, body = part.split("\n", 1)
        if blocks := BLOCK.findall(body):
            yield pytest.param(title, blocks, id=title)


@pytest.fixture(scope="module")
def something_to_list(daemon):
    """A workspace, a cluster where the versions without workspaces look, and a pool in the page's Batch account."""
    made = [Place(daemon, "client-page", name, "eastus").make() for name in ("page-workspace", "migrated")]
    made[1].cluster(nodes=0, name="page-cluster")
    (blocks,) = (one.values[1] for one in sections() if one.id == "Azure Batch")
    made_by_the_page = run(blocks[0][1], daemon.dir, environment(daemon, HOME=daemon.dir, AZURE_CORE_COLLECT_TELEMETRY="no"))
    assert made_by_the_page.returncode == 0, made_by_the_page.stderr
    add_pool(Plane(daemon, "clientpage", BatchAccounts(daemon, "client-page").keys("clientpage")[0]), "page-pool")
    yield
    made[0].remove()


def run(lines, cwd, env):
    argv = ["bash", "-euo", "pipefail", "-c", lines]
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)


def registries():
    """The Go modules that test_go.py fetched serve here too."""
    go = BUILD / "clients" / "go"
    more = {"GOMODCACHE": str(go / "mod"), "GOCACHE": str(go / "cache"), "GOFLAGS": "-modcacherw"}
    return {**caller_environment(), **more, "GOTOOLCHAIN": "local"}


def test_everything_on_the_page_is_run():
    assert len(re.findall(r"^```\w*$", PAGE, re.M)) == 2 * len(BLOCK.findall(PAGE))
    assert not re.search(r"^(    |\t)\S", BLOCK.sub("", PAGE), re.M), "a block without a fence"
    assert BLOCK.findall(PAGE)[0][1] == 'eval "$(batchaid env)"\n'


@pytest.mark.parametrize("title, blocks", sections())
def test_the_lines_of(daemon, something_to_list, tmp_path, title, blocks):
    installing = registries()
    home = {"HOME": tmp_path, "AZURE_CORE_COLLECT_TELEMETRY": "no", "PATH": f"{BUILD}:{os.environ['PATH']}"}
    go = {k: installing[k] for k in installing if k.startswith("GO")}
    using = environment(daemon, **home, **go)
    seen = ""
    for language, text in blocks:
        if language != "sh":
            name = re.match(r"(?:#|//|<!--) (\S+)( -->)?\n", text).group(1)
            (tmp_path / name).write_text(text)
            continue
        tool = text.split()[0]
        if tool != "eval" and "/" not in tool and "=" not in tool and not shutil.which(tool, path=using["PATH"]):
            pytest.skip(f"{tool} is not installed")
        installs = INSTALLS.search(text)
        done = run(text, tmp_path, installing if installs else using)
        if done.returncode != 0 and installs:
            pytest.skip(f"{title} cannot be installed: {reason(done)}")
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        seen += done.stdout
    for word in SHOWS.get(title, SHOWS_ELSE).split():
        assert word in seen, seen
