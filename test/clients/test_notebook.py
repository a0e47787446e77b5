# SPDX-License-Identifier: MIT
"""etc/jobs.ipynb, executed by nbclient in an environment that has a kernel and the package, and nothing of Azure."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from support.clients import python_home
from support.daemon import ROOT
from support.waiting import PATIENCE
from support.wheel import install_wheel

NOTEBOOK = ROOT / "etc" / "jobs.ipynb"
PACKAGES = ("nbclient==0.10.2", "ipykernel==6.29.5")
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300).execute()
nbformat.write(notebook, sys.argv[2])
"""


@pytest.fixture(scope="module")
def kernel():
    return python_home(*PACKAGES) / "bin" / "python"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    here = tmp_path_factory.mktemp("package")
    install_wheel(here / "src", here / "site")
    return here / "site"


@pytest.fixture
def execute(kernel, package, daemon, tmp_path):
    """execute(cells) -> the cells with their outputs; the notebook is at a user's home without anything else."""

    def run(notebook):
        (tmp_path / "in.ipynb").write_text(json.dumps(notebook))
        env = {k: v for k, v in os.environ.items() if not k.startswith(("BATCHAID", "AZURE_", "PYTHON"))}
        variables = {k: v for k, v in daemon.env.items() if k in ("BATCHAID_ENDPOINT", "SSL_CERT_FILE") or k.startswith("AZURE_")}
        env.update(variables, HOME=str(tmp_path), PYTHONPATH=str(package), JUPYTER_PLATFORM_DIRS="1")
        argv = [kernel, "-c", EXECUTE, "in.ipynb", "out.ipynb"]
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300 * PATIENCE, check=False)
        assert done.returncode == 0, done.stderr
        return [cell for cell in json.loads((tmp_path / "out.ipynb").read_text())["cells"] if cell["cell_type"] == "code"]

    return run


def shown(cell, kind="text/html"):
    """What a cell shows as HTML, in one text."""
    return "\n".join("".join(out["data"][kind]) for out in cell["outputs"] if kind in out.get("data", {}))


class Tags(HTMLParser):
    """Which tags there are, that each of them is closed, and the text."""

    def __init__(self, text):
        super().__init__()
        self.seen, self.open, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, text

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_example_is_executed(execute, tmp_path):
    cells = execute(json.loads(NOTEBOOK.read_text()))
    assert {out["output_type"] for cell in cells for out in cell["outputs"]} == {"display_data", "execute_result", "stream"}
    connected, written, submitted, waited, logs, files, got, use, jobs = cells
    assert "as its own principal" in shown(connected, "text/plain") and "train.py" in str(written["outputs"])
    name = re.search(r"\btrain-\w{4}\b", shown(submitted))[0]
    card = Tags(shown(waited))
    assert [attributes["value"] for tag, attributes in card.seen if tag == "progress"] == ["1.0000"]
    assert {"JOB", name, "succeeded", "100%"} <= {text.strip() for text in card.text} and ("table", {}) in card.seen
    assert [out["output_type"] for out in waited["outputs"]] == ["display_data"]  # one card, which changed
    assert [line for line in "".join(Tags(shown(logs)).text).splitlines() if line][-1] == "epoch 5, loss 0.200"
    assert "model.txt" in "".join(Tags(shown(files)).text) and (tmp_path / "results" / "model.txt").read_text() == "weights"
    assert "node hours" in shown(use) and name in shown(jobs) and "model.txt" in shown(got, "text/plain")


MISTAKES = [
    "import batchaid",
    "job = batchaid.submit('echo \"<b onmouseover=x>\"; echo \"<img src=x>\" >&2; exit 3', folder=None, name='mistakes')",
    "try:\n    job.wait()\nexcept batchaid.JobFailed as e:\n    print(e)",
    "job.logs()",
    "import sys\n[name for name in sys.modules if name.startswith(('azure', 'requests'))]",
]


def test_failures_and_markup_are_shown_as_text(execute):
    cells = execute({"cells": [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text} for text in MISTAKES],
                     "metadata": {}, "nbformat": 4, "nbformat_minor": 4})  # fmt: skip
    waited, logs, modules = cells[2:]
    assert "failed with exit code 3" in str(waited["outputs"]) and "<progress" in shown(waited) and "failed" in shown(waited)
    assert {tag for tag, _ in Tags(shown(logs)).seen} == {"pre"} and "<b onmouseover=x>" in "".join(Tags(shown(logs)).text)
    assert shown(modules, "text/plain") == "[]"


def test_the_package_alone_needs_the_standard_library(package):
    code = "import sys, batchaid; print([m for m in sys.modules if m.startswith(('IPython', 'pytest', 'azure', 'requests'))])"
    env = {"PYTHONPATH": str(package), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
