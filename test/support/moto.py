# SPDX-License-Identifier: MIT
"""moto's server, the fake AWS that PyPI has: what ours is measured against. Of its services it is asked for S3."""

import http.client

from . import packages
from .peers import Peer
from .ports import free_port

PACKAGE = "moto[server,s3]==5.2.5"


def home():
    """Where it is installed; packages.Unavailable says why it cannot be."""
    make = ["/usr/bin/python3", "-m", "venv", "."]
    return packages.install("moto", make, ["bin/pip", "install", "-q", "--disable-pip-version-check", PACKAGE])


class Moto(Peer):
    """It keeps all in memory. `log`: a file for what it says."""

    def __init__(self, log):
        self.log, self.port = log, free_port()

    def start(self):
        return self.spawn([home() / "bin" / "moto_server", "-H", "127.0.0.1", "-p", self.port], self.log)

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
