# SPDX-License-Identifier: MIT
"""Azurite, the emulator of Blob that npm has: what ours is compared with and measured against."""

from . import packages
from .daemon import ROOT
from .peers import Peer
from .ports import free_port
from .storage import Plane

PACKAGE = ROOT / "test" / "clients" / "azurite" / "package.json"
IN_MEMORY = "--inMemoryPersistence"


def home():
    """Where it is installed; packages.Unavailable says why it cannot be."""
    npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    return packages.install("azurite", npm, files=[PACKAGE])


class Azurite(Peer):
    """Its blob service on a port of its own, with everything it writes in `directory`. `options` are added to its
    command line, which has its defaults but that it is told to send no telemetry."""

    def __init__(self, directory, *options):
        self.directory, self.options = directory, options
        self.blob = Plane(free_port(), ours=False)

    def start(self):
        program = home() / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
        argv = ["node", program, "--blobPort", self.blob.port, "--disableTelemetry"]
        if IN_MEMORY not in self.options:
            argv += ["--location", self.directory]
        with open(self.directory / "azurite.log", "ab") as log:
            return self.spawn([*argv, *self.options], log)

    def answers(self):
        try:
            return self.blob.call("GET", "/?comp=list").status == 200
        except OSError:
            return False

    def __enter__(self):
        return self.start()

    def __exit__(self, *why):
        self.close()
