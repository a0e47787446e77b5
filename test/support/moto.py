# SPDX-License-Identifier: MIT
"""moto's server, the fake AWS that PyPI has: what ours is measured against. Of its services it is asked for S3."""

import http.client
import subprocess
import time

from . import packages
from .ports import free_port
from .waiting import PATIENCE

PACKAGE = "moto[server,s3]==5.2.5"
START_S = 60


def home():
    """Where it is installed; packages.Unavailable says why it cannot be."""
    make = ["/usr/bin/python3", "-m", "venv", "."]
    return packages.install("moto", make, ["bin/pip", "install", "-q", "--disable-pip-version-check", PACKAGE])


class Moto:
    """It keeps all in memory. `log`: a file for what it says."""

    def __init__(self, log):
        self.log, self.port, self.process = log, free_port(), None

    def start(self):
        argv = [home() / "bin" / "moto_server", "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        end = time.monotonic() + START_S * PATIENCE
        while not self.answers():
            assert self.process.poll() is None, "moto's server ended"
            assert time.monotonic() < end, f"moto's server did not answer in {START_S} s"
            time.sleep(0.002)
        return self

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body)
            reply = connection.getresponse()
            reply.read()
            return reply.status
        finally:
            connection.close()

    def answers(self):
        try:
            return self.call("GET", "/") == 200
        except OSError:
            return False

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
