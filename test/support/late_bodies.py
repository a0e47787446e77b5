# SPDX-License-Identifier: MIT
"""Requests of which the daemon has read all but the last byte."""

import http.client
import json
import ssl

from .waiting import wait_for


class LateBody:
    """`target`: path and query. `headers`: that name the sender."""

    def __init__(self, daemon, method, target, headers, body):
        self.last = body[-1:]
        context = ssl.create_default_context(cafile=daemon.ca)
        self.connection = http.client.HTTPSConnection("localhost", daemon.port, timeout=30, context=context)
        self.connection.putrequest(method, target, skip_host="Host" in headers)
        for name, value in {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))}.items():
            self.connection.putheader(name, value)
        before = self._read(daemon)
        self.connection.endheaders(body[:-1])
        wait_for(lambda: self._read(daemon) >= before + len(body) - 1, 30, "the body did not arrive")

    @staticmethod
    def _read(daemon):
        return daemon.call("GET", "/batchaid/counters", api_version=None).json["requests"]["bodyBytes"]

    def end(self):
        """Status and document of the reply."""
        self.connection.send(self.last)
        reply = self.connection.getresponse()
        document = json.loads(reply.read())
        self.connection.close()
        return reply.status, document
