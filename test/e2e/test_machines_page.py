# SPDX-License-Identifier: MIT
"""Every block of docs/machines.md, in order, as a reader uses it, on machines of a rack: shell lines are
run, the others are the files that they speak of. Different here: the machines' names, the port that is
served, and that keys come to the machines without ssh-copy-id, which would ask for a password."""

import json
import os
import re
import shlex
import signal
import subprocess

import pytest
from support.daemon import BUILD, ROOT
from support.waiting import PATIENCE

PAGE = (ROOT / "docs" / "machines.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
HOST = re.compile(r"\bgpu0(\d)\.rack1\b")
SETTINGS = 'listen: ["localhost:0"]\nmachines: {min_free_disk_mb: 1}\n'


class Reader:
    def __init__(self, rack, home):
        self.rack, self.home, self.daemon = rack, home, None
        rack.each(lambda machine: machine.authorize(""))
        path = f"{BUILD}:{os.environ['PATH']}"
        self.env = {**os.environ, "HOME": str(home), "PATH": path, "AZURE_CORE_COLLECT_TELEMETRY": "no"}
        self.env.pop("XDG_STATE_HOME", None)

    def use(self, language, text):
        """What it printed."""
        text = text.replace("gpu[01-02].rack1", ",".join(m.address for m in self.rack[:2]))
        text = HOST.sub(lambda m: self.rack[int(m[1]) - 1].address, text)
        if language != "sh":
            return self.write(language, text)
        if "ssh-copy-id" in text:
            return self.authorize(re.search(r" -i ~/(\S+) ", text).group(1))
        if text.startswith("batchaid serve "):
            return self.serve(shlex.split(text.rstrip("&\n ")))
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=self.home, env=self.env,
                              capture_output=True, text=True, timeout=200 * PATIENCE)  # fmt: skip
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def write(self, language, text):
        if language == "json":
            json.loads(text)
            (self.home / "job.json").write_text(text)
            return ""
        name = re.match(r"# (\S+)\n", text).group(1)
        (self.home / name).write_text(text + (SETTINGS if "local:" in text else ""))
        return self.use("sh", f"batchaid check-config {name}")

    def authorize(self, public_key):
        line = (self.home / public_key).read_text()
        self.rack.each(lambda machine: machine.authorize(line))
        return ""

    def serve(self, argv):
        argv[0] = str(BUILD / "batchaid")
        with open(self.home / "serve.log", "w") as log:
            self.daemon = subprocess.Popen(
                argv, cwd=self.home, env=self.env, stdout=subprocess.PIPE, stderr=log, text=True
            )
        return self.daemon.stdout.readline()

    def close(self):
        if self.daemon:
            self.daemon.send_signal(signal.SIGTERM)
            with self.daemon:
                assert self.daemon.wait(30) == 0, (self.home / "serve.log").read_text()


@pytest.fixture
def reader(rack, tmp_path):
    r = Reader(rack, tmp_path)
    yield r
    r.close()


def test_every_block_is_fenced():
    assert len(re.findall(r"^```\w*$", PAGE, re.M)) == 2 * len(BLOCK.findall(PAGE))
    assert not re.search(r"^(    |\t)\S", BLOCK.sub("", PAGE), re.M), "a block without a fence"


def test_the_page_works(reader):
    said = "".join(reader.use(*block) for block in BLOCK.findall(PAGE))
    for machine in reader.rack[:2]:
        assert machine.address in said
    assert "ready https://" in said and "drained; running jobs continue" in said
    assert re.search(rf"^{reader.rack[0].name}$", said, re.M), f"node exec hostname: {said}"
    # The job succeeded; its cluster gave the machines back when it was deleted.
    log = (reader.home / "serve.log").read_text()
    assert "run.succeeded" in log, log
    assert "me" not in reader.rack[0].accounts()
