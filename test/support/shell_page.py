# SPDX-License-Identifier: MIT
"""A page of docs/ that is one walk, as its reader uses it: the blocks in order, in one folder and one shell. The block
before the line `batchaid serve` is the configuration; shell blocks are run command by command; any other is the file
that its first line names. A command that ends with `# TEXT` prints that text at last: it is repeated until then. What is
installed is installed without the daemon's environment."""

import os
import re
import subprocess

import yaml

from .daemon import BUILD, ROOT, Daemon
from .packages import Unavailable, caller_environment, reason
from .waiting import PATIENCE, wait_for

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r"(?:#|//) (\S+)\n")
INSTALLS = re.compile(r"\bpip install\b")
WANTED = re.compile(r"  # (.+)$")


def commands(text):
    """Of a shell block, each with all of its lines."""
    command = ""
    for line in text.splitlines():
        command += line + "\n"
        whole = not line.endswith("\\") and subprocess.run(["bash", "-n", "-c", command], capture_output=True).returncode == 0
        if whole and command.strip():
            yield command.strip()
        command = "" if whole else command
    assert not command, f"a command without an end: {command}"


class ShellPage:
    def __init__(self, name):
        self.text = (ROOT / "docs" / name).read_text()
        self.blocks = BLOCK.findall(self.text)
        fences = re.findall(r"^```", self.text, re.M)
        assert len(fences) == 2 * len(self.blocks), f"{name}: a block that is not understood"
        assert not re.search(r"^(    |\t)\S", BLOCK.sub("", self.text), re.M), f"{name}: a block without a fence"

    def configuration(self):
        found = [text for language, text in self.blocks if language == "yaml"]
        return yaml.safe_load("\n".join(found)) or {}

    def walk(self, folder, path=(), **more):
        """Through the whole page, with a daemon of its own, which gets what more there is; `path`: folders before those
        of the caller."""
        with Daemon(self.configuration(), **more) as daemon:
            found = ":".join([str(BUILD), *map(str, path), os.environ["PATH"]])
            home = folder / "home"
            home.mkdir()
            quiet = {"AZURE_CORE_COLLECT_TELEMETRY": "no", "AZURE_CORE_ONLY_SHOW_ERRORS": "1"}
            self.env = {**os.environ, **quiet, "PATH": found, "HOME": str(home), "BATCHAID_STATE_DIR": str(daemon.state_dir)}
            self.folder = folder / "walk"
            self.folder.mkdir()
            for language, text in self.blocks:
                self.use(language, text)
            return daemon.log()

    def use(self, language, text):
        if language == "sh":
            for command in commands(text):
                if not command.startswith("batchaid serve "):
                    self.follow(command)
            return
        name = NAMED.match(text)
        assert name, f"a block without a name: {text}"
        (self.folder / name[1]).write_text(text[name.end() :] if language == "json" else text)

    def install(self, command):
        done = subprocess.run(["bash", "-euc", command], cwd=self.folder, env=caller_environment(), capture_output=True, text=True)
        if done.returncode != 0:
            raise Unavailable(f"{command}: {reason(done)}")

    def follow(self, command):
        if INSTALLS.search(command):
            self.install(command)
            return
        wanted = WANTED.search(command)
        if not wanted:
            self.run(command)
            return
        seen = []
        try:
            wait_for(lambda: seen.append(self.run(command, fails=True)) or seen[-1] == wanted[1], 60, wanted[1])
        except AssertionError as e:
            raise AssertionError(f"{command}\nprinted at last: {seen[-1]}") from e

    def run(self, command, fails=False):
        """In a shell that goes on with the variables of the one before. What it printed."""
        kept = self.folder.parent / "variables"
        script = f"set -a; [ ! -e {kept} ] || . {kept}; set -eu -o pipefail\n{command}\nset +u; export -p >{kept}"
        argv = ["bash", "-c", script]
        done = subprocess.run(argv, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=120 * PATIENCE)
        said = f"{command}\n{done.stdout}\n{done.stderr}"
        assert fails or done.returncode == 0, said
        return done.stdout.strip() if done.returncode == 0 else said
