# SPDX-License-Identifier: MIT
"""Azurite, the emulator of Blob that npm has: what ours is compared with and measured against."""

import subprocess
import time

from . import packages
from .daemon import ROOT
from .ports import free_port
from .storage import Plane
from .waiting import PATIENCE

PACKAGE = ROOT / "test" / "clients" / "azurite" / "package.json"
START_S = 60
IN_MEMORY = "--inMemoryPersistence"


def home():
    """Where it is installed; packages.Unavailable says why it cannot be."""
    npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    return packages.install("azurite", npm, files=[PACKAGE])


class Azurite:
    """Its blob service on a port of its own, with everything it writes in `directory`. `options` are added to its
    command line, which has its defaults but that it is told to send no telemetry."""

    def __init__(self, directory, *options):
        self.directory, self.options = directory, options
        self.blob = Plane(free_port())
        self.process = None

    def start(self):
        program = home() / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
        argv = ["node", program, "--blobPort", self.blob.port, "--disableTelemetry"]
        if IN_MEMORY not in self.options:
            argv += ["--location", self.directory]
        with open(self.directory / "azurite.log", "ab") as log:
            self.process = subprocess.Popen(
                [str(a) for a in (*argv, *self.options)], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        end = time.monotonic() + START_S * PATIENCE
        while not self.answers():
            assert self.process.poll() is None, (self.directory / "azurite.log").read_text()[-2000:]
            assert time.monotonic() < end, f"Azurite did not answer in {START_S} s"
            time.sleep(0.002)
        return self

    def answers(self):
        try:
            return self.blob.call("GET", "/?comp=list").status == 200
        except OSError:
            return False

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *why):
        self.close()
