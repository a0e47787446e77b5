# SPDX-License-Identifier: MIT
"""docs/remote.md, as its reader uses it: every block in order, on two machines of support/machines.py. A block says in its
first line where it belongs; shell lines are run there, others are the files that their first lines name. Files go from
one machine to the other by themselves, and a terminal answers who asks for a password."""

import os
import pty
import re
import select
import subprocess
import time

from .daemon import BUILD, ROOT, Daemon
from .waiting import PATIENCE

PAGE = (ROOT / "docs" / "remote.md").read_text()
BLOCK = re.compile(r"^```(\w+) (head|laptop)\n(.*?)^```$", re.M | re.S)
LIMIT = 200 * PATIENCE


class HeadDaemon(Daemon):
    """Started by a line of the page, on the head."""

    def __init__(self, head, line, configuration):
        super().__init__()
        self.head = head
        self.line = line.strip().replace("batchaid.yaml", str(configuration))

    def command(self):
        return self.head.enter("bash", "-c", f"exec {self.line}")


class Reader:
    def __init__(self, head, laptop, folder, path=()):
        self.machine = {"head": head, "laptop": laptop}
        self.folder = folder
        self.daemon = None
        self.password = ""
        homes = {name: folder / f"home-{name}" for name in self.machine}
        for home in homes.values():
            home.mkdir()
        found = ":".join([str(BUILD), *map(str, path), os.environ["PATH"]])
        base = {"AZURE_CORE_NO_COLOR": "1", "AZURE_CORE_COLLECT_TELEMETRY": "no", "PATH": found}
        self.env = {name: {**os.environ, **base, "HOME": str(home)} for name, home in homes.items()}
        self.env["head"]["BATCHAID_STATE_DIR"] = str(folder / "unused")

    def use(self, language, where, text):
        """What it printed."""
        if language != "sh":
            name, rest = re.match(r"# (\S+)\n(.*)", text, re.S).groups()
            (self.folder / name).write_text(rest if language == "json" else text)
            return ""
        if text.startswith("batchaid serve "):
            self.serve(text)
            return ""
        said = self.run(where, text)
        if text.startswith("batchaid user add "):
            self.password = said.splitlines()[1].strip()
        return said

    def serve(self, text):
        self.daemon = HeadDaemon(self.machine["head"], text, self.folder / "batchaid.yaml")
        self.env["head"]["BATCHAID_STATE_DIR"] = str(self.daemon.state_dir)
        self.daemon.environment = self.env["head"]
        self.daemon.start()

    def close(self):
        return self.daemon.close() if self.daemon else []

    def run(self, where, text):
        """In a shell with a terminal, which goes on with the variables of the one before."""
        kept = self.folder / f"variables-{where}"
        script = f'cd {self.folder}; set -a; [ ! -e {kept} ] || . {kept}; set -eu -o pipefail\n{text}\nset +u; export -p >{kept}'
        argv = self.machine[where].enter("setsid", "--ctty", "--wait", "bash", "-c", script)
        ours, theirs = pty.openpty()
        try:
            with subprocess.Popen(argv, env=self.env[where], stdin=theirs, stdout=theirs,
                                  stderr=theirs) as p:  # fmt: skip
                os.close(theirs)
                said = self.converse(ours, p)
        finally:
            os.close(ours)
        assert p.returncode == 0, f"{where}: {text}\n{said}"
        return said

    def converse(self, terminal, p):
        """Until the program ends; who asks for a password gets it."""
        said, asked, end = b"", 0, time.monotonic() + LIMIT
        while True:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    piece = os.read(terminal, 65536)
                except OSError:  # nobody has the other end any more
                    break
                said += piece
                if said.count(b"assword: ") > asked:
                    asked += 1
                    os.write(terminal, self.password.encode() + b"\n")
            if time.monotonic() > end:
                p.kill()
                raise AssertionError(f"no end after {LIMIT} s:\n{said.decode(errors='replace')}")
        p.wait()
        return said.decode(errors="replace").replace("\r\n", "\n")


def read(head, laptop, folder, path=(), more=()):
    """Does all that the page says, and then `more`, blocks of the same form; returns the version of az."""
    reader = Reader(head, laptop, folder, path)
    said = []
    try:
        for block in BLOCK.findall(PAGE):
            said.append(reader.use(*block))
        judge(said)
        for block in more:
            reader.use(*block)
        reader.run("laptop", "az group delete -n lab -y")
        version = reader.run("laptop", "az version --query '\"azure-cli\"' -o tsv").strip()
    finally:
        complaints = reader.close()
    assert complaints == []
    return version


def judge(said):
    whole = "\n".join(said)
    assert "hello from " in whole, whole
    assert "first/train.py" in whole, whole
    assert said[-2].split()[-1] == "ws", said[-2]
    assert said[-1].split()[-1] == "lab", said[-1]
